//! What a device gets from the catalog: whose spelling, of which file, how many series.

use std::collections::BTreeSet;

use railwatch::core::catalog::{self, At, AtTop, Directory, Driver, File, Scope, Spelling};

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
        (Driver::Mlx4, bytes, Scope::Port, 64, AtTop::WrapOrStick),
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
