//! The exposition's bytes: encoded at the first request after a publish, then kept.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use flate2::{Compress, Compression, FlushCompress, Status};

use crate::core::model::snapshot::Snapshot;
use crate::core::render::metrics::{EncodeError, Encoder, OwnFamilies};

/// Level 6 gives a fifth fewer bytes and takes ten times as long.
const LEVEL: Compression = Compression::new(1);
/// The window that gzip decoders expect, as a power of two.
const WINDOW_BITS: u8 = 15;

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
    /// Kept from scrape to scrape: its tables are larger than what it makes of them.
    compress: Compress,
    encodes: u64,
}

/// The exposition cannot be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExpositionError {
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error("cannot compress the exposition: {0}")]
    Compress(#[from] flate2::CompressError),
    #[error("cannot compress the exposition: it did not fit where it must")]
    Room,
}

impl Exposition {
    pub(super) fn new(own: OwnFamilies) -> Self {
        Self {
            kept: Mutex::new(Kept {
                encoder: Encoder::new(own),
                snapshot: None,
                plain: Bytes::new(),
                gzip: None,
                compress: Compress::new_gzip(LEVEL, WINDOW_BITS),
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
                let plain = kept.plain.clone();
                let bytes = Bytes::from(gzip(&mut kept.compress, &plain)?);
                kept.gzip = Some(bytes.clone());
                Ok(bytes)
            }
        }
    }
}

/// Bytes that gzip makes at most at this level, which spends up to nine bits on a byte, with head and tail.
fn worst(plain: usize) -> usize {
    plain.saturating_add(plain / 4).saturating_add(128)
}

fn gzip(compress: &mut Compress, plain: &[u8]) -> Result<Vec<u8>, ExpositionError> {
    compress.reset();
    let mut bytes = Vec::with_capacity(worst(plain.len()));
    match compress.compress_vec(plain, &mut bytes, FlushCompress::Finish)? {
        Status::StreamEnd => {
            bytes.shrink_to_fit();
            Ok(bytes)
        }
        Status::Ok | Status::BufError => Err(ExpositionError::Room),
    }
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
