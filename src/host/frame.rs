//! Frames on the pipe between daemon and reader: a little-endian `u32` length and a postcard body.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::core::wire::FRAME_LIMIT;

/// Why a frame could not be sent or taken. After any of these the pipe is of no more use.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The pipe failed.
    #[error("the pipe failed")]
    Pipe(#[from] io::Error),
    /// The other side ended inside a frame.
    #[error("the pipe ended after {got} of {wanted} bytes of a frame")]
    Short {
        /// Bytes that came.
        got: usize,
        /// Bytes that were announced.
        wanted: usize,
    },
    /// The announced length is beyond [`FRAME_LIMIT`].
    #[error("a frame of {0} bytes is longer than {FRAME_LIMIT}")]
    TooLong(usize),
    /// The body is no message.
    #[error("a frame is no message")]
    Undecodable(#[from] postcard::Error),
}

/// The bytes of one frame, ready to be written at once.
///
/// # Errors
///
/// [`FrameError::TooLong`] for a body over the limit.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut frame = postcard::to_extend(message, vec![0; LENGTH])?;
    let body = frame.len().saturating_sub(LENGTH);
    if body > FRAME_LIMIT {
        return Err(FrameError::TooLong(body));
    }
    let length = u32::try_from(body).map_err(|_| FrameError::TooLong(body))?;
    for (to, from) in frame.iter_mut().zip(length.to_le_bytes()) {
        *to = from;
    }
    Ok(frame)
}

/// Writes one message as one frame.
///
/// # Errors
///
/// As [`encode`], and [`FrameError::Pipe`].
pub fn write<T: Serialize>(pipe: &mut impl Write, message: &T) -> Result<(), FrameError> {
    pipe.write_all(&encode(message)?)?;
    Ok(pipe.flush()?)
}

/// Takes the next message; `None` when the other side has ended between two frames.
///
/// `buffer` is reused from frame to frame.
///
/// # Errors
///
/// Every [`FrameError`].
pub fn read<T: DeserializeOwned>(
    pipe: &mut impl Read,
    buffer: &mut Vec<u8>,
) -> Result<Option<T>, FrameError> {
    let mut length = [0; LENGTH];
    match fill(pipe, &mut length)? {
        0 => return Ok(None),
        LENGTH => {}
        got => {
            return Err(FrameError::Short {
                got,
                wanted: LENGTH,
            });
        }
    }
    let wanted = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if wanted > FRAME_LIMIT {
        return Err(FrameError::TooLong(wanted));
    }
    buffer.resize(wanted, 0);
    let got = fill(pipe, buffer)?;
    if got < wanted {
        return Err(FrameError::Short { got, wanted });
    }
    Ok(Some(postcard::from_bytes(buffer)?))
}

/// Bytes of the length.
const LENGTH: usize = 4;

/// Reads until `buffer` is full or the pipe ends; says how much came.
fn fill(pipe: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match pipe.read(rest) {
            Ok(0) => break,
            Ok(count) => filled = filled.saturating_add(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::catalog::LaneSet;
    use crate::core::wire::Request;

    fn poll() -> Request {
        Request::Poll {
            seq: 7,
            lanes: LaneSet::all(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut pipe = Vec::new();
        write(&mut pipe, &poll()).unwrap();
        write(&mut pipe, &poll()).unwrap();
        let (mut pipe, mut buffer) = (pipe.as_slice(), Vec::new());
        assert_eq!(
            read::<Request>(&mut pipe, &mut buffer).unwrap(),
            Some(poll())
        );
        assert_eq!(
            read::<Request>(&mut pipe, &mut buffer).unwrap(),
            Some(poll())
        );
        assert_eq!(read::<Request>(&mut pipe, &mut buffer).unwrap(), None);
    }

    #[test]
    fn half_a_frame_is_told_from_the_end() {
        let frame = encode(&poll()).unwrap();
        for length in 1..frame.len() {
            let mut pipe = &frame[..length];
            let error = read::<Request>(&mut pipe, &mut Vec::new()).unwrap_err();
            assert!(
                matches!(error, FrameError::Short { .. }),
                "{length}: {error}"
            );
        }
    }

    #[test]
    fn a_frame_that_claims_too_much_is_refused_before_memory_is_taken() {
        let mut pipe = &u32::MAX.to_le_bytes()[..];
        let error = read::<Request>(&mut pipe, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, FrameError::TooLong(_)));
    }

    #[test]
    fn junk_is_no_message() {
        let mut pipe = &[3, 0, 0, 0, 0xff, 0xff, 0xff][..];
        let error = read::<Request>(&mut pipe, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, FrameError::Undecodable(_)));
    }
}
