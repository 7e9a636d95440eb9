//! What the documents share: their time and how they are written.

use serde::Serialize;

use super::node::rfc3339;

/// A document could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the document: {0}")]
pub struct DocumentError(#[from] serde_json::Error);

/// The time of a document.
#[derive(Debug, Serialize)]
pub(super) struct At {
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<String>,
    /// Seconds since 1970.
    pub(super) t: f64,
}

impl At {
    pub(super) fn new(wall: f64) -> Self {
        Self {
            at: rfc3339(wall),
            t: wall,
        }
    }
}

/// JSON and a line feed.
pub(super) fn written(document: &impl Serialize) -> Result<Vec<u8>, DocumentError> {
    let mut bytes = serde_json::to_vec(document)?;
    bytes.push(b'\n');
    Ok(bytes)
}
