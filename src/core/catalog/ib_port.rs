//! Rows of the `ib_port` family.

use crate::core::catalog::Row;

/// The rows.
pub(super) const ROWS: &[Row] = &[];
