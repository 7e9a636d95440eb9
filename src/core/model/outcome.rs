//! What one attempt to read one value gave.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The result of one attempt. A fault is never a number, and neither is `Absent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The number as the file gives it, before the row's scale.
    Value(u64),
    /// The kernel answered that there is nothing to say (speed of a link without carrier).
    Absent,
    /// The read failed or gave no number.
    Fault(FaultReason),
}

/// Why a read gave nothing. The list is closed so that it can be a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultReason {
    /// The file is not there although its directory is (`ENOENT`).
    NotExposed,
    /// `EACCES`, `EPERM`.
    Permission,
    /// `EIO`.
    Io,
    /// `EINVAL`.
    InvalidArgument,
    /// `EOPNOTSUPP`, `ENOSYS`.
    NotSupported,
    /// The text `N/A (no PMA)` of older kernels.
    NotAvailable,
    /// `ENODEV`, `ENXIO`: the device went away under the read.
    NoDevice,
    /// `ENOMEM`.
    OutOfMemory,
    /// `EISDIR`, `ENOTDIR`: not a file where a file belongs.
    NotAFile,
    /// `ELOOP`.
    SymlinkLoop,
    /// `EAGAIN`, `EBUSY`, `EINTR`, `ETIMEDOUT`.
    Busy,
    /// Any other errno.
    OtherErrno,
    /// The file is empty.
    Empty,
    /// Longer than the bound of one read.
    TooLong,
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// Text that is no number, or not of the form the row asks for.
    NotANumber,
    /// A number below zero where none may be.
    Negative,
    /// A number beyond what the counter's width or the row's range allows.
    OutOfRange,
    /// A number followed by something else.
    TrailingText,
    /// The read did not return within its deadline.
    Stalled,
}

impl FaultReason {
    /// Every reason, in the order of the type.
    pub const ALL: [Self; 20] = [
        Self::NotExposed,
        Self::Permission,
        Self::Io,
        Self::InvalidArgument,
        Self::NotSupported,
        Self::NotAvailable,
        Self::NoDevice,
        Self::OutOfMemory,
        Self::NotAFile,
        Self::SymlinkLoop,
        Self::Busy,
        Self::OtherErrno,
        Self::Empty,
        Self::TooLong,
        Self::NotUtf8,
        Self::NotANumber,
        Self::Negative,
        Self::OutOfRange,
        Self::TrailingText,
        Self::Stalled,
    ];

    /// The label's and the document's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotExposed => "not_exposed",
            Self::Permission => "permission",
            Self::Io => "io",
            Self::InvalidArgument => "invalid_argument",
            Self::NotSupported => "not_supported",
            Self::NotAvailable => "not_available",
            Self::NoDevice => "no_device",
            Self::OutOfMemory => "out_of_memory",
            Self::NotAFile => "not_a_file",
            Self::SymlinkLoop => "symlink_loop",
            Self::Busy => "busy",
            Self::OtherErrno => "other_errno",
            Self::Empty => "empty",
            Self::TooLong => "too_long",
            Self::NotUtf8 => "not_utf8",
            Self::NotANumber => "not_a_number",
            Self::Negative => "negative",
            Self::OutOfRange => "out_of_range",
            Self::TrailingText => "trailing_text",
            Self::Stalled => "stalled",
        }
    }
}

impl fmt::Display for FaultReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
