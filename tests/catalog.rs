//! What holds for every row and entry of the catalog.

use std::collections::{BTreeMap, BTreeSet};

use railwatch::core::catalog::{
    self, AtTop, Driver, Entry, File, Form, GROUPS, Kind, Lane, Row, Unit,
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
                AtTop::WrapOrStick => assert_eq!(entry.width, 64, "{what}"),
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
