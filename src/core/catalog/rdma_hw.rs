//! Rows of the `rdma_hw` family.

use crate::core::catalog::Row;

/// The rows.
pub(super) const ROWS: &[Row] = &[];
