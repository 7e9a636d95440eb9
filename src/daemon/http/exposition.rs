//! The exposition's bytes: encoded at the first request after a publish, then kept.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::core::model::snapshot::Snapshot;
use crate::core::render::metrics::{EncodeError, Encoder, OwnFamilies};

/// Level 1 takes a tenth of the bytes away again that level 6 would, and half its time.
const LEVEL: Compression = Compression::new(1);

/// How an answer's body is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// As it is.
    Plain,
    /// `Content-Encoding: gzip`.
    Gzip,
}

/// The bytes of the newest snapshot that was asked for.
#[derive(Debug)]
pub(super) struct Exposition {
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    encoder: Encoder,
    snapshot: Option<Arc<Snapshot>>,
    plain: Bytes,
    gzip: Option<Bytes>,
    encodes: u64,
}

/// The exposition cannot be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExpositionError {
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error("cannot compress the exposition: {0}")]
    Compress(#[from] std::io::Error),
}

impl Exposition {
    pub(super) fn new(own: OwnFamilies) -> Self {
        Self {
            kept: Mutex::new(Kept {
                encoder: Encoder::new(own),
                snapshot: None,
                plain: Bytes::new(),
                gzip: None,
                encodes: 0,
            }),
        }
    }

    /// The bytes of a snapshot. Whoever asks while they are made waits for the same bytes.
    pub(super) fn bytes(
        &self,
        snapshot: &Arc<Snapshot>,
        coding: Coding,
    ) -> Result<Bytes, ExpositionError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let same = kept.snapshot.as_ref();
        if !same.is_some_and(|newest| Arc::ptr_eq(newest, snapshot)) {
            kept.plain = kept.encoder.encode(snapshot)?.into();
            kept.gzip = None;
            kept.snapshot = Some(Arc::clone(snapshot));
            kept.encodes = kept.encodes.saturating_add(1);
        }
        match (coding, &kept.gzip) {
            (Coding::Plain, _) => Ok(kept.plain.clone()),
            (Coding::Gzip, Some(bytes)) => Ok(bytes.clone()),
            (Coding::Gzip, None) => {
                let bytes = Bytes::from(compress(&kept.plain)?);
                kept.gzip = Some(bytes.clone());
                Ok(bytes)
            }
        }
    }
}

fn compress(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let room = Vec::with_capacity(plain.len() / 4);
    let mut encoder = GzEncoder::new(room, LEVEL);
    encoder.write_all(plain)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Coding, Exposition, OwnFamilies};
    use crate::core::model::snapshot::Snapshot;

    fn encodes(exposition: &Exposition) -> u64 {
        exposition.kept.lock().unwrap().encodes
    }

    #[test]
    fn a_snapshot_is_encoded_once_however_often_it_is_asked_for() {
        let exposition = Exposition::new(OwnFamilies::Shown);
        let snapshot = Arc::new(Snapshot::default());
        std::thread::scope(|scope| {
            for coding in [Coding::Plain, Coding::Gzip, Coding::Plain, Coding::Gzip] {
                let (exposition, snapshot) = (&exposition, &snapshot);
                scope.spawn(move || exposition.bytes(snapshot, coding).unwrap());
            }
        });
        assert_eq!(encodes(&exposition), 1);
        let later = Arc::new(Snapshot::default());
        exposition.bytes(&later, Coding::Plain).unwrap();
        assert_eq!(encodes(&exposition), 2);
    }

    #[test]
    fn the_gzip_bytes_hold_the_plain_ones() {
        use std::io::Read;
        let exposition = Exposition::new(OwnFamilies::Shown);
        let snapshot = Arc::new(Snapshot::default());
        let plain = exposition.bytes(&snapshot, Coding::Plain).unwrap();
        let gzip = exposition.bytes(&snapshot, Coding::Gzip).unwrap();
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&*gzip)
            .read_to_end(&mut unpacked)
            .unwrap();
        assert_eq!(unpacked, plain);
    }
}
