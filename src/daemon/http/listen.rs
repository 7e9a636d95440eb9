//! From `host:port` to listening sockets.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::holder::{self, Holder};
use crate::host::clock::Clock;

/// Connections the kernel keeps for us while every place is taken.
const BACKLOG: i32 = 128;
/// The search for a port's holder ends by then; the error matters more than the name.
const SEARCH: Duration = Duration::from_millis(500);

/// An address cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// It is no address.
    #[error("cannot listen on {address:?}: not of the form host:port, [host]:port or :port")]
    Form {
        /// As configured.
        address: String,
    },
    /// Its host name gives no address.
    #[error("cannot listen on {address}: cannot resolve its host: {source}")]
    Resolve {
        /// As configured.
        address: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// Somebody listens there.
    #[error("cannot listen on {address}: in use by {}; choose another with --web.listen-address",
        .holder.as_ref().map_or_else(|| "a process this user may not see".to_owned(), Holder::to_string))]
    InUse {
        /// As configured.
        address: String,
        /// Who, when it can be known.
        holder: Option<Holder>,
    },
    /// The kernel refused.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// As configured.
        address: String,
        /// Why.
        source: io::Error,
    },
}

/// Listens on a configured address; a name may stand for several.
pub(super) fn bind(address: &str, clock: &dyn Clock) -> Result<Vec<TcpListener>, ListenError> {
    let bound = match address.strip_prefix(':') {
        Some(port) => match port.parse() {
            Ok(port) => every_address(port).map(|listener| vec![listener]),
            Err(_) => return Err(no_address(address)),
        },
        None => bind_all(&resolve(address)?),
    };
    bound.map_err(|(at, errno)| explain(address, at, errno, clock))
}

/// Every address of the host: both families by one socket, or IPv4 where there is no IPv6.
fn every_address(port: u16) -> Result<TcpListener, (SocketAddr, Errno)> {
    let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    match listen(any) {
        Err((_, Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL)) => {
            listen(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))
        }
        result => result,
    }
}

fn resolve(address: &str) -> Result<Vec<SocketAddr>, ListenError> {
    let (host, port) = address
        .rsplit_once(':')
        .ok_or_else(|| no_address(address))?;
    if host.is_empty() || port.parse::<u16>().is_err() {
        return Err(no_address(address));
    }
    let found = address
        .to_socket_addrs()
        .map_err(|source| ListenError::Resolve {
            address: address.to_owned(),
            source,
        })?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(addresses)
}

fn no_address(address: &str) -> ListenError {
    ListenError::Form {
        address: address.to_owned(),
    }
}

/// A name's addresses: those that this host does not have are left out while one remains.
fn bind_all(addresses: &[SocketAddr]) -> Result<Vec<TcpListener>, (SocketAddr, Errno)> {
    let mut listeners = Vec::new();
    let mut missing = None;
    for address in addresses {
        match listen(*address) {
            Ok(listener) => listeners.push(listener),
            Err((at, errno @ (Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL))) => {
                missing = Some((at, errno));
            }
            Err(failure) => return Err(failure),
        }
    }
    match missing {
        Some(failure) if listeners.is_empty() => Err(failure),
        _ => Ok(listeners),
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener, (SocketAddr, Errno)> {
    open(address).map_err(|errno| (address, errno))
}

fn open(address: SocketAddr) -> Result<TcpListener, Errno> {
    let family = if address.is_ipv6() {
        AddressFamily::INET6
    } else {
        AddressFamily::INET
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        sockopt::set_ipv6_v6only(&socket, false)?;
    }
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}

fn explain(address: &str, at: SocketAddr, errno: Errno, clock: &dyn Clock) -> ListenError {
    let address = address.to_owned();
    if errno != Errno::ADDRINUSE {
        return ListenError::Bind {
            address,
            source: errno.into(),
        };
    }
    let began = clock.now();
    let go_on = || clock.real(clock.now().since(began)) < SEARCH;
    let holder = holder::find(Path::new("/proc"), at.port(), &go_on);
    ListenError::InUse { address, holder }
}

#[cfg(test)]
mod tests {
    use super::bind;
    use crate::host::clock::BootClock;

    fn refusal(address: &str) -> String {
        bind(address, &BootClock::new(1)).unwrap_err().to_string()
    }

    #[test]
    fn a_port_in_use_names_its_holder() {
        let taken = bind("127.0.0.1:0", &BootClock::new(1)).unwrap();
        let address = taken[0].local_addr().unwrap().to_string();
        let message = refusal(&address);
        let pid = std::process::id();
        assert!(
            message.starts_with(&format!("cannot listen on {address}: in use by "))
                && message.contains(&format!("(pid {pid})"))
                && message.ends_with("choose another with --web.listen-address"),
            "{message}"
        );
    }

    #[test]
    fn what_is_no_address_is_told() {
        for address in ["", ":", ":x", "29400", "localhost", "localhost:", ":70000"] {
            assert!(refusal(address).contains("host:port"), "{address:?}");
        }
    }

    #[test]
    fn a_bare_port_listens_on_every_address() {
        let listeners = bind(":0", &BootClock::new(1)).unwrap();
        let address = listeners[0].local_addr().unwrap();
        assert!(address.ip().is_unspecified() && address.port() != 0);
        std::net::TcpStream::connect(("127.0.0.1", address.port())).unwrap();
    }
}
