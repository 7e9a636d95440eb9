//! Which driver's spellings apply to a device.
//!
//! The device's name says nothing: udev and administrators rename devices. What is bound to the
//! function does, and for software devices what the RDMA core shows.

use super::row::Driver;

/// What is known of an RDMA device when its driver is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clues<'a> {
    /// Basename of `device/driver`; for a driver of the auxiliary bus the PCI function's.
    pub module: Option<&'a str>,
    /// The device has a file `parent`, which soft RoCE alone has (`K:drivers/infiniband/sw/rxe`).
    pub has_parent_file: bool,
    /// Id of `node_type`; 4 is an iWARP device.
    pub node_type: Option<u32>,
}

/// `node_type` of an iWARP device (`RDMA_NODE_RNIC` of `K:include/uapi/rdma/rdma_netlink.h`).
const IWARP: u32 = 4;

/// The driver of an RDMA device, as far as its counters are concerned; `None` if the catalog has
/// no table for it, so that only what every driver has is read.
///
/// Software devices hang on nothing on current kernels, but had the NIC's function as their device
/// on kernels before 5.12. So what the RDMA core shows goes first: a `parent` file is soft RoCE's,
/// and an iWARP device is never one of a driver without iWARP.
#[must_use]
pub fn of(clues: Clues<'_>) -> Option<Driver> {
    if clues.has_parent_file {
        return Some(Driver::Rxe);
    }
    let iwarp = clues.node_type == Some(IWARP);
    match clues.module.map(bound) {
        Some(Some(driver)) if iwarp && !may_be_iwarp(driver) => Some(Driver::Siw),
        Some(driver) => driver,
        None if iwarp => Some(Driver::Siw),
        None => None,
    }
}

/// The driver of a bound kernel module: Ethernet drivers whose RDMA half is an auxiliary driver
/// stand for it, and a sub-function's driver (`mlx5_core.sf`) for its parent.
fn bound(module: &str) -> Option<Driver> {
    let module = module.split('.').next().unwrap_or(module);
    Some(match module {
        "mlx5_core" | "mlx5_ib" => Driver::Mlx5,
        "mlx4_core" | "mlx4_ib" | "mlx4_en" => Driver::Mlx4,
        "bnxt_en" | "bnxt_re" => Driver::BnxtRe,
        // i40iw of older kernels sits on i40e too and spells its counters as irdma first did.
        "ice" | "i40e" | "idpf" | "iavf" | "irdma" | "i40iw" => Driver::Irdma,
        "efa" => Driver::Efa,
        "hfi1" => Driver::Hfi1,
        "rdma_rxe" => Driver::Rxe,
        "siw" => Driver::Siw,
        _ => return None,
    })
}

fn may_be_iwarp(driver: Driver) -> bool {
    matches!(driver, Driver::Irdma | Driver::Siw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clues(module: Option<&str>) -> Clues<'_> {
        Clues {
            module,
            ..Clues::default()
        }
    }

    #[test]
    fn the_bound_module_tells_the_driver() {
        for (module, driver) in [
            ("mlx5_core", Some(Driver::Mlx5)),
            ("mlx5_core.sf", Some(Driver::Mlx5)),
            ("mlx4_core", Some(Driver::Mlx4)),
            ("bnxt_en", Some(Driver::BnxtRe)),
            ("ice", Some(Driver::Irdma)),
            ("i40e", Some(Driver::Irdma)),
            ("idpf", Some(Driver::Irdma)),
            ("efa", Some(Driver::Efa)),
            ("hfi1", Some(Driver::Hfi1)),
            ("qib", None),
            ("e1000e", None),
            ("", None),
        ] {
            assert_eq!(of(clues(Some(module))), driver, "{module}");
        }
    }

    #[test]
    fn a_software_device_is_told_by_what_the_rdma_core_shows() {
        let rxe = Clues {
            has_parent_file: true,
            node_type: Some(1),
            ..clues(None)
        };
        let siw = Clues {
            node_type: Some(IWARP),
            ..clues(None)
        };
        assert_eq!(of(rxe), Some(Driver::Rxe));
        assert_eq!(of(siw), Some(Driver::Siw));
        assert_eq!(of(clues(None)), None);
    }

    #[test]
    fn a_software_device_on_an_older_kernel_is_not_taken_for_its_nic() {
        let on_mlx5 = clues(Some("mlx5_core"));
        let rxe = Clues {
            has_parent_file: true,
            ..on_mlx5
        };
        let siw = Clues {
            node_type: Some(IWARP),
            ..on_mlx5
        };
        assert_eq!(of(rxe), Some(Driver::Rxe));
        assert_eq!(of(siw), Some(Driver::Siw));
    }

    #[test]
    fn an_intel_nic_may_be_an_iwarp_device() {
        let iwarp = Clues {
            node_type: Some(IWARP),
            ..clues(Some("i40e"))
        };
        assert_eq!(of(iwarp), Some(Driver::Irdma));
    }
}
