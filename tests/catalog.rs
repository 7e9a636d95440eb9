//! What holds for every row and entry of the catalog, and what a device gets from it.

use std::collections::{BTreeMap, BTreeSet};

use railwatch::core::catalog::{
    self, At, AtTop, Directory, Driver, Entry, File, Form, GROUPS, Kind, Lane, Row, Scope,
    Spelling, Unit,
};

#[test]
fn every_metric_has_one_row_with_a_legal_name_of_its_group() {
    let mut seen = BTreeSet::new();
    for group in GROUPS {
        let prefix = match group.name {
            "ib_port" | "state" => "railwatch_port_",
            "rdma_hw" => "railwatch_rdma_",
            "netdev" => "railwatch_netdev_",
            "pci" => "railwatch_pcie_link_",
            other => panic!("{other}"),
        };
        for row in group.rows {
            assert!(seen.insert(row.metric), "{} twice", row.metric);
            assert!(row.metric.starts_with(prefix), "{}", row.metric);
            let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(row.metric.chars().all(legal), "{}", row.metric);
            assert!(!row.metric.contains("__"), "{}", row.metric);
        }
    }
    assert_eq!(seen.len(), catalog::rows().len());
    assert!(u16::try_from(seen.len()).is_ok());
}

#[test]
fn a_name_says_whether_it_counts_and_in_which_unit() {
    for row in catalog::rows() {
        let counter = row.kind == Kind::Counter;
        assert_eq!(row.metric.ends_with("_total"), counter, "{}", row.metric);
        let stem = row.metric.strip_suffix("_total").unwrap_or(row.metric);
        let suffix = match row.unit {
            Unit::Bytes => "_bytes",
            Unit::BytesPerSecond => "_bytes_per_second",
            Unit::TransfersPerSecond => "_transfers_per_second",
            Unit::Ticks => "_ticks",
            Unit::Lanes => "_lanes",
            Unit::Id => "_id",
            Unit::Packets | Unit::Events | Unit::Flag => "",
        };
        assert!(stem.ends_with(suffix), "{} in {:?}", row.metric, row.unit);
        if row.unit != Unit::Bytes {
            assert!(!stem.ends_with("_bytes"), "{}", row.metric);
        }
        let counted = matches!(
            row.unit,
            Unit::Bytes | Unit::Packets | Unit::Events | Unit::Ticks
        );
        assert!(counted || !counter, "{}", row.metric);
    }
}

#[test]
fn help_is_one_sentence_without_a_full_stop() {
    for row in catalog::rows() {
        let help = row.help;
        assert!((10..=160).contains(&help.len()), "{}: {help}", row.metric);
        let proper = help.starts_with(char::is_uppercase) || help.starts_with("iWARP");
        assert!(proper, "{help}");
        assert!(
            !help.ends_with('.') && !help.contains(['\n', '\\', '|']),
            "{help}"
        );
    }
}

#[test]
fn no_driver_has_one_file_in_two_entries() {
    let mut seen: BTreeMap<(Driver, String), &str> = BTreeMap::new();
    for row in catalog::rows() {
        assert!(!row.entries.is_empty(), "{}", row.metric);
        for entry in row.entries {
            let file = (entry.driver, format!("{:?}", entry.file));
            let earlier = seen.insert(file, row.metric);
            assert_eq!(earlier, None, "{:?} of {}", entry.file, row.metric);
        }
    }
}

#[test]
fn every_named_driver_but_siw_has_entries() {
    let used: BTreeSet<Driver> = catalog::rows()
        .iter()
        .flat_map(|row| row.entries)
        .map(|entry| entry.driver)
        .collect();
    for driver in Driver::NAMED {
        // Soft iWARP has no counters at all (K:drivers/infiniband/sw/siw).
        assert_eq!(used.contains(&driver), driver != Driver::Siw, "{driver:?}");
    }
}

#[test]
fn widths_and_tops_are_those_of_counters() {
    for row in catalog::rows() {
        for entry in row.entries {
            let what = format!("{} {:?}", row.metric, entry.file);
            assert!([4, 8, 16, 32, 64].contains(&entry.width), "{what}");
            assert!(entry.scale > 0, "{what}");
            match entry.at_top {
                AtTop::Saturate | AtTop::Trunc => assert!(entry.width < 64, "{what}"),
                AtTop::Wrap => {}
            }
            if row.kind == Kind::Gauge {
                assert_eq!((entry.width, entry.at_top), (64, AtTop::Wrap), "{what}");
            } else {
                assert_eq!(entry.form, Form::Number, "{what}");
            }
        }
    }
}

#[test]
fn what_any_driver_has_is_where_the_kernel_core_puts_it() {
    for row in catalog::rows() {
        for entry in row.entries {
            let drivers_own = matches!(
                entry.file,
                File::PortHwCounters(_) | File::DeviceHwCounters(_)
            );
            if drivers_own {
                assert_ne!(entry.driver, Driver::Any, "{} {:?}", row.metric, entry.file);
            }
            let name = entry.file.name();
            assert!(!name.is_empty() && !name.contains('/'), "{}", row.metric);
            assert!(entry.file.path().ends_with(name));
            let cited = entry.source.starts_with("K:") || entry.source.starts_with("IBA ");
            assert!(cited, "{} {}", row.metric, entry.source);
        }
    }
}

#[test]
fn what_one_fetch_brings_is_read_on_one_lane() {
    let of_driver = |entry: &Entry| {
        matches!(
            entry.file,
            File::PortHwCounters(_) | File::DeviceHwCounters(_)
        )
    };
    for row in catalog::rows() {
        if row.entries.iter().all(of_driver) {
            assert_eq!(row.lane, Lane::Fast, "{}", row.metric);
        }
    }
}

#[test]
fn a_row_that_gives_way_does_so_to_one_of_its_own_concept() {
    let rows = catalog::rows();
    for row in rows {
        if let Some(concept) = row.concept {
            let legal = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(concept.chars().all(legal), "{concept}");
        }
        let Some(better) = row.yields_to else {
            continue;
        };
        let better = rows.iter().find(|other| other.metric == better).unwrap();
        assert_eq!(better.concept, row.concept, "{}", row.metric);
        assert!(row.concept.is_some(), "{}", row.metric);
        assert_eq!(better.yields_to, None, "{}", better.metric);
        assert_eq!((better.unit, better.kind), (row.unit, row.kind));
    }
}

#[test]
fn what_pma_and_driver_both_count_is_added_once() {
    for concept in [
        "rdma_transmit_bytes",
        "rdma_receive_bytes",
        "rdma_transmit_packets",
        "rdma_receive_packets",
    ] {
        let (giving_way, adding): (Vec<&Row>, Vec<&Row>) = catalog::rows()
            .iter()
            .filter(|row| row.concept == Some(concept))
            .partition(|row| row.yields_to.is_some());
        let of = |driver: Driver| {
            let has = |row: &&&Row| row.entries.iter().any(|entry| entry.driver == driver);
            adding.iter().filter(has).count()
        };
        assert_eq!(giving_way.len(), 1, "{concept}");
        assert_eq!(of(Driver::Any), 0, "{concept}");
        for driver in [Driver::BnxtRe, Driver::Efa, Driver::Rxe] {
            assert_eq!(of(driver), 1, "{driver:?} {concept}");
        }
        // IPv4 and IPv6.
        assert_eq!(of(Driver::Irdma), 2, "{concept}");
    }
}

#[test]
fn the_families_that_others_build_on_are_there() {
    let port = "transmit_bytes_total receive_bytes_total transmit_packets_total \
        receive_packets_total unicast_transmit_packets_total unicast_receive_packets_total \
        multicast_transmit_packets_total multicast_receive_packets_total symbol_errors_total \
        link_error_recoveries_total link_downed_total receive_errors_total \
        receive_remote_physical_errors_total receive_switch_relay_errors_total \
        transmit_discards_total transmit_constraint_errors_total \
        receive_constraint_errors_total local_link_integrity_errors_total \
        excessive_buffer_overrun_errors_total vl15_dropped_total transmit_wait_ticks_total \
        state_id physical_state_id rate_bytes_per_second";
    let netdev = "carrier up speed_bytes_per_second mtu_bytes carrier_down_total \
        receive_bytes_total receive_packets_total receive_errors_total receive_dropped_total \
        transmit_bytes_total transmit_packets_total transmit_errors_total \
        transmit_dropped_total";
    let link = "speed_transfers_per_second width_lanes max_speed_transfers_per_second \
        max_width_lanes";
    let there: BTreeSet<&str> = catalog::rows().iter().map(|row| row.metric).collect();
    for (prefix, names) in [("port", port), ("netdev", netdev), ("pcie_link", link)] {
        for name in names.split_whitespace() {
            let metric = format!("railwatch_{prefix}_{name}");
            assert!(there.contains(metric.as_str()), "{metric}");
        }
    }
    // Each table is whole: a lost one would show here.
    for (group, at_least) in [("ib_port", 21), ("rdma_hw", 120), ("state", 3)] {
        let rows = GROUPS
            .iter()
            .find(|other| other.name == group)
            .unwrap()
            .rows;
        assert!(rows.len() >= at_least, "{group} has {} rows", rows.len());
    }
}

/// A place that has these files.
fn having(paths: &[&str]) -> impl Fn(File) -> bool {
    let paths: BTreeSet<String> = paths.iter().map(|&path| path.to_owned()).collect();
    move |file| paths.contains(&file.path())
}

fn file_of(chosen: &[Spelling], metric: &str) -> Option<String> {
    chosen
        .iter()
        .find(|spelling| spelling.of.metric == metric)
        .map(|spelling| spelling.how.file.path())
}

#[test]
fn a_drivers_own_entry_wins_and_the_first_name_that_exists_is_taken() {
    for (driver, files, expected) in [
        (
            Driver::Mlx5,
            &["out_of_sequence"][..],
            Some("out_of_sequence"),
        ),
        (Driver::Mlx4, &["rq_num_oos"], Some("rq_num_oos")),
        (Driver::BnxtRe, &["oos_drop_count"], Some("oos_drop_count")),
        (
            Driver::BnxtRe,
            &["oos_drop_count", "out_of_sequence"],
            Some("out_of_sequence"),
        ),
        (
            Driver::Irdma,
            &["Rcvd Out of order packets"],
            Some("Rcvd Out of order packets"),
        ),
        (
            Driver::Rxe,
            &["out_of_seq_request"],
            Some("out_of_seq_request"),
        ),
        (Driver::Efa, &["out_of_sequence"], None),
    ] {
        let exists =
            |file: File| matches!(file, File::PortHwCounters(name) if files.contains(&name));
        let chosen = catalog::choose(Some(driver), At::Port, &exists);
        let expected = expected.map(|name| format!("hw_counters/{name}"));
        assert_eq!(
            file_of(&chosen, "railwatch_rdma_out_of_sequence_total"),
            expected,
            "{driver:?} {files:?}"
        );
    }
}

#[test]
fn an_unknown_driver_gets_what_every_driver_has() {
    let exists = having(&[
        "counters/port_xmit_data",
        "hw_counters/out_of_sequence",
        "state",
    ]);
    let chosen = catalog::choose(None, At::Port, &exists);
    let of_any = |spelling: &Spelling| spelling.how.driver == Driver::Any;
    assert!(chosen.iter().all(of_any));
    for (metric, expected) in [
        (
            "railwatch_port_transmit_bytes_total",
            Some("counters/port_xmit_data"),
        ),
        ("railwatch_rdma_out_of_sequence_total", None),
        ("railwatch_port_state_id", Some("state")),
    ] {
        assert_eq!(file_of(&chosen, metric).as_deref(), expected);
    }
}

#[test]
fn a_missing_standard_counter_is_chosen_so_that_reading_tells_it() {
    let one = having(&["counters/link_downed"]);
    let chosen = catalog::choose(Some(Driver::Mlx5), At::Port, &one);
    let all = |file: File| matches!(file, File::PortCounters(_));
    let full = catalog::choose(Some(Driver::Mlx5), At::Port, &all);
    assert_eq!((chosen.len(), full.len()), (16, 21));
    for optional in [
        "railwatch_port_transmit_wait_ticks_total",
        "railwatch_port_multicast_receive_packets_total",
    ] {
        assert_eq!(file_of(&chosen, optional), None);
    }
    // A driver without the directory misses nothing.
    let other = having(&["hw_counters/cnpSent"]);
    assert_eq!(
        catalog::choose(Some(Driver::Irdma), At::Port, &other).len(),
        1
    );
}

#[test]
fn older_kernels_64_bit_counters_go_before_their_32_bit_ones() {
    for driver in [Some(Driver::Mlx5), Some(Driver::Mlx4), None] {
        let exists = having(&["counters/port_rcv_data", "counters_ext/port_rcv_data_64"]);
        let chosen = catalog::choose(driver, At::Port, &exists);
        assert_eq!(
            file_of(&chosen, "railwatch_port_receive_bytes_total").as_deref(),
            Some("counters_ext/port_rcv_data_64")
        );
    }
}

#[test]
fn what_is_counted_by_function_or_masked_by_a_driver_is_told() {
    let bytes = "railwatch_port_transmit_bytes_total";
    let downed = "railwatch_port_link_downed_total";
    let discards = "railwatch_port_transmit_discards_total";
    let constraint = "railwatch_port_receive_constraint_errors_total";
    for (driver, metric, scope, width, at_top) in [
        (Driver::Mlx5, bytes, Scope::Function, 64, AtTop::Wrap),
        (Driver::Mlx4, bytes, Scope::Port, 64, AtTop::Wrap),
        (Driver::Mlx5, discards, Scope::Port, 16, AtTop::Saturate),
        (Driver::BnxtRe, discards, Scope::Function, 16, AtTop::Trunc),
        (Driver::BnxtRe, constraint, Scope::Function, 8, AtTop::Trunc),
        (Driver::Hfi1, downed, Scope::Port, 8, AtTop::Saturate),
        (Driver::Rxe, downed, Scope::Device, 8, AtTop::Saturate),
    ] {
        let standard = |file: File| matches!(file, File::PortCounters(_));
        let how = catalog::choose(Some(driver), At::Port, &standard)
            .into_iter()
            .find(|spelling| spelling.of.metric == metric)
            .unwrap()
            .how;
        assert_eq!(
            (how.scope, how.width, how.at_top),
            (scope, width, at_top),
            "{driver:?} {metric}"
        );
    }
}

#[test]
fn counters_of_a_switchdev_function_are_found_at_the_device() {
    let at_device = having(&["hw_counters/out_of_sequence", "hw_counters/np_cnp_sent"]);
    let of_vport = having(&["hw_counters/vport_out_of_sequence"]);
    let count =
        |at, exists: &dyn Fn(File) -> bool| catalog::choose(Some(Driver::Mlx5), at, exists).len();
    assert_eq!(count(At::Device, &at_device), 2);
    assert_eq!(count(At::Port, &of_vport), 0);
}

#[test]
fn what_a_port_counts_is_not_counted_again_at_the_device() {
    let both = having(&[
        "hw_counters/rq_num_oos",
        "hw_counters/num_cqovf",
        "current_link_speed",
    ]);
    let mlx4 = Some(Driver::Mlx4);
    let ports = catalog::choose(mlx4, At::Port, &both);
    let device = catalog::choose_at_device(mlx4, &ports, &both);
    let metrics: Vec<&str> = device.iter().map(|spelling| spelling.of.metric).collect();
    assert_eq!(ports.len(), 1);
    assert_eq!(
        metrics,
        [
            "railwatch_rdma_cq_overflows_total",
            "railwatch_pcie_link_speed_transfers_per_second"
        ]
    );
    assert_eq!(catalog::choose_at_device(mlx4, &[], &both).len(), 3);
}

#[test]
fn what_the_catalog_names_is_no_raw_counter() {
    let mlx5 = Some(Driver::Mlx5);
    let irdma = Some(Driver::Irdma);
    for directory in Directory::ALL {
        assert!(catalog::is_known(mlx5, directory, "lifespan"));
        assert!(!catalog::is_known(mlx5, directory, "made_up"));
    }
    for (driver, directory, name, known) in [
        (mlx5, Directory::PortHwCounters, "out_of_sequence", true),
        (mlx5, Directory::DeviceHwCounters, "out_of_sequence", true),
        (mlx5, Directory::PortHwCounters, "rq_num_oos", false),
        (mlx5, Directory::PortHwCounters, "VL15_dropped", false),
        (None, Directory::PortHwCounters, "out_of_sequence", false),
        (None, Directory::PortCounters, "VL15_dropped", true),
        (irdma, Directory::PortHwCounters, "CRC errors", true),
    ] {
        let answer = catalog::is_known(driver, directory, name);
        assert_eq!(answer, known, "{driver:?} {directory:?} {name}");
    }
}

#[test]
fn eight_nics_leave_room_in_the_budget_of_series() {
    let everything = |at| {
        catalog::choose(Some(Driver::Mlx5), at, &|file| {
            !matches!(file, File::PortCountersExt(_))
        })
    };
    let port = everything(At::Port);
    let of_device_alone = catalog::choose_at_device(Some(Driver::Mlx5), &port, &|_| true);
    let series: Vec<Spelling> = port
        .iter()
        .copied()
        .chain(of_device_alone)
        .chain(everything(At::Netdev))
        .collect();
    let named = series.iter().filter(|spelling| spelling.of.has_synonyms());
    // Two more say what port and device are.
    let per_nic = series.len() + named.count() + 2;
    // Of 1 500 a node; the rest is for sources, GPUs and findings.
    assert!(per_nic * 8 <= 850, "{per_nic} series a NIC");
}
