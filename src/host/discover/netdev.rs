//! What a netdev is.

use crate::core::ids::NetdevName;
use crate::core::model::facts::{NetdevFacts, NetdevRole};
use crate::core::parse::facts as parse;
use crate::host::discover::Facts;

/// Facts of one netdev; its numbers are slots.
pub(super) fn facts(facts: &mut Facts<'_>, name: &str) -> NetdevFacts {
    let path = format!("sys/class/net/{name}");
    let members = members(facts, name);
    let phys_port_name = port_name(facts, &path);
    let role = if facts.tree.exists(&format!("{path}/bonding")) {
        NetdevRole::Bond
    } else if !facts.tree.exists(&format!("{path}/device")) {
        NetdevRole::Software
    } else if phys_port_name.as_deref().is_some_and(parse::is_representor) {
        NetdevRole::Representor
    } else {
        NetdevRole::Uplink
    };
    NetdevFacts {
        name: NetdevName::new(name),
        role,
        master: facts
            .link_name(&format!("{path}/master"))
            .map(NetdevName::new),
        members,
        phys_port_name,
    }
}

/// Members of a bond; empty for anything else.
pub(super) fn members(facts: &mut Facts<'_>, name: &str) -> Vec<NetdevName> {
    let path = format!("sys/class/net/{name}/bonding/slaves");
    facts
        .list_text(&path)
        .map_or_else(Vec::new, |text| parse::netdev_names(&text))
}

/// `phys_port_name`; drivers without one answer `EOPNOTSUPP`, which says just that.
fn port_name(facts: &mut Facts<'_>, path: &str) -> Option<String> {
    let known = facts.faults.len();
    let name = facts.text(&format!("{path}/phys_port_name"));
    if name.is_none() {
        facts.faults.truncate(known);
    }
    name
}
