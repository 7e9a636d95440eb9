//! The HTTP server on real sockets, fed with a hand-made snapshot.

#[cfg(test)]
#[path = "http/client.rs"]
mod client;
#[cfg(test)]
#[path = "http/connections.rs"]
mod connections;
#[cfg(test)]
#[path = "http/local.rs"]
mod local;
#[cfg(test)]
#[path = "http/routes.rs"]
mod routes;
#[cfg(test)]
#[path = "http/server.rs"]
mod server;
