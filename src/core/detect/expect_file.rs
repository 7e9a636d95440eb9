//! The expectation file: what nodes of a fleet should have, one entry for each product.

use std::fmt::Write as _;

use serde::Deserialize;

use crate::core::detect::scene::{Function, Link, Scene};
use crate::core::ids::{PciAddress, PortNumber};
use crate::core::model::expectation::{Expectation, ExpectedFunction, ExpectedLink, Speaker};
use crate::core::model::subject::{Hardware, SubjectKey};

/// The file's name and version.
pub const SCHEMA: &str = "railwatch-expect/1";

/// The file cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum ExpectError {
    /// It is not of the right form.
    #[error("{0}")]
    Form(String),
    /// It is of another version.
    #[error("its schema is {0:?}, allowed {SCHEMA:?}")]
    Schema(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    #[serde(default)]
    node: Vec<Node>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    /// DMI product name; every product if absent.
    product: Option<String>,
    #[serde(default)]
    nic: Vec<Nic>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nic {
    pci: PciAddress,
    name: Option<String>,
    #[serde(default = "yes")]
    rdma: bool,
    model: Option<String>,
    firmware: Option<String>,
    pcie_width_lanes: Option<u64>,
    pcie_speed_transfers_per_second: Option<u64>,
    #[serde(default)]
    port: Vec<Port>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Port {
    /// Number of the RDMA port, where the device has several.
    number: Option<u32>,
    /// Position of the netdev, for a netdev without an RDMA port or a member of a bond.
    netdev: Option<u32>,
    rate_bytes_per_second: Option<u64>,
}

fn yes() -> bool {
    true
}

/// What the file says of a product.
///
/// # Errors
///
/// [`ExpectError`], with the line.
pub fn parse(text: &str, product: Option<&str>) -> Result<Expectation, ExpectError> {
    let file: File = toml::from_str(text).map_err(|error| ExpectError::Form(error.to_string()))?;
    if file.schema != SCHEMA {
        return Err(ExpectError::Schema(file.schema));
    }
    let mut expectation = Expectation::default();
    let mine = file.node.into_iter().filter(|node| {
        let wanted = node.product.as_deref();
        wanted.is_none_or(|wanted| Some(wanted) == product)
    });
    for nic in mine.flat_map(|node| node.nic) {
        add(&mut expectation, nic);
    }
    Ok(expectation)
}

fn add(expectation: &mut Expectation, nic: Nic) {
    let name = nic.name.unwrap_or_else(|| nic.pci.to_string());
    let hardware = Hardware {
        pci: Some(nic.pci),
        guid: None,
        name: name.clone(),
    };
    for port in nic.port {
        let key = match port.netdev {
            Some(ordinal) => SubjectKey::netdev(&hardware, ordinal),
            None => SubjectKey::of(&hardware, port.number.map(PortNumber)),
        };
        expectation.links.push(ExpectedLink {
            key,
            pci: Some(nic.pci),
            up: true,
            rate: port.rate_bytes_per_second,
            name: name.clone(),
            by: Speaker::File,
        });
    }
    expectation.functions.push(ExpectedFunction {
        key: SubjectKey::of(&hardware, None),
        pci: Some(nic.pci),
        slot: None,
        guid: None,
        is_rdma: nic.rdma,
        model: nic.model,
        width: nic.pcie_width_lanes,
        speed: nic.pcie_speed_transfers_per_second,
        firmware: nic.firmware,
        name,
        by: Speaker::File,
    });
}

/// A file that expects what a node has now. Firmware is written as a comment: a fleet rarely has
/// one version.
#[must_use]
pub fn write(scene: &Scene, product: Option<&str>) -> String {
    let mut text = format!(
        "# What nodes should have. One [[node]] for each product; without `product` for every node.\n\
         schema = \"{SCHEMA}\"\n\n[[node]]\n"
    );
    if let Some(product) = product {
        writeln!(text, "product = {}", quoted(product)).ok();
    }
    for function in &scene.functions {
        if let Some(pci) = function.hardware.pci {
            nic(&mut text, function, pci, scene);
        }
    }
    text
}

fn nic(text: &mut String, function: &Function, pci: PciAddress, scene: &Scene) {
    writeln!(text, "\n[[node.nic]]\npci = \"{pci}\"").ok();
    writeln!(text, "name = {}", quoted(function.name.as_str())).ok();
    writeln!(text, "rdma = {}", function.is_rdma).ok();
    if let Some(model) = &function.model {
        writeln!(text, "model = {}", quoted(model)).ok();
    }
    if let Some(firmware) = &function.identity.firmware {
        writeln!(text, "# firmware = {}", quoted(firmware)).ok();
    }
    let path = function.path.iter();
    if let Some(width) = path.clone().filter_map(|hop| hop.width).min() {
        writeln!(text, "pcie_width_lanes = {width}").ok();
    }
    if let Some(speed) = path.filter_map(|hop| hop.max_speed).min() {
        writeln!(text, "pcie_speed_transfers_per_second = {speed}").ok();
    }
    let up = scene.links.iter().filter(|link| link.up == Some(true));
    for link in up.filter(|link| link.identity.pci == Some(pci)) {
        port(text, link, function);
    }
}

fn port(text: &mut String, link: &Link, function: &Function) {
    let mut parts = Vec::new();
    let whole = SubjectKey::of(&function.hardware, None);
    if let Some(number) = link.port.filter(|_| link.key != whole) {
        parts.push(format!("number = {number}"));
    }
    let netdev =
        (0..64).find(|ordinal| link.key == SubjectKey::netdev(&function.hardware, *ordinal));
    if let Some(ordinal) = netdev {
        parts.push(format!("netdev = {ordinal}"));
    }
    if let Some(rate) = link.rate {
        parts.push(format!("rate_bytes_per_second = {rate}"));
    }
    writeln!(text, "\n[[node.nic.port]]").ok();
    for part in parts {
        writeln!(text, "{part}").ok();
    }
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
