//! The kernel's text forms, one file a form family. Bytes in, [`Outcome`](super::model::outcome::Outcome) out.
