//! Rows of the `netdev` family.

use crate::core::catalog::Row;

/// The rows.
pub(super) const ROWS: &[Row] = &[];
