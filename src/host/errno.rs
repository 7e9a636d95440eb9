//! Kernel error numbers as fault reasons, in one place.

use rustix::io::Errno;

use crate::core::model::outcome::FaultReason;

/// The reason an error number stands for.
#[must_use]
pub fn reason(errno: Errno) -> FaultReason {
    match errno {
        Errno::NOENT => FaultReason::NotExposed,
        Errno::ACCESS | Errno::PERM => FaultReason::Permission,
        Errno::IO => FaultReason::Io,
        Errno::INVAL => FaultReason::InvalidArgument,
        Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOTTY => FaultReason::NotSupported,
        Errno::NODEV | Errno::NXIO | Errno::STALE => FaultReason::NoDevice,
        Errno::NOMEM => FaultReason::OutOfMemory,
        Errno::ISDIR | Errno::NOTDIR => FaultReason::NotAFile,
        Errno::LOOP => FaultReason::SymlinkLoop,
        Errno::AGAIN | Errno::BUSY | Errno::INTR | Errno::TIMEDOUT => FaultReason::Busy,
        _ => FaultReason::OtherErrno,
    }
}

/// The reason of a standard library error.
#[must_use]
pub fn of_io(error: &std::io::Error) -> FaultReason {
    Errno::from_io_error(error).map_or(FaultReason::OtherErrno, reason)
}
