//! Rows of the `pci` family.

use crate::core::catalog::Row;

/// The rows.
pub(super) const ROWS: &[Row] = &[];
