//! A snapshot shown: text exposition, JSON documents, page.
