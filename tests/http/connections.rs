//! Connections: who is cut, who waits, who is let go; and addresses.

use std::io::{Read, Write};
use std::time::Duration;

use railwatch::daemon::config::Web;

use crate::client::{Client, ask, get};
use crate::server::{Server, until, web};

#[test]
fn a_request_body_is_not_waited_for() {
    let server = Server::with_snapshot(web());
    let answer = ask(
        server.address(),
        "GET",
        "/metrics",
        "Content-Length: 1000000\r\n",
    );
    assert_eq!(answer.status, 200);
}

#[test]
fn a_connection_serves_one_request_after_another() {
    let server = Server::with_snapshot(web());
    let mut client = Client::connect(server.address());
    for _ in 0..3 {
        client.send("GET", "/metrics", "");
        assert_eq!(client.answer().status, 200);
    }
}

#[test]
fn a_client_that_sends_no_head_is_cut() {
    let server = Server::with_snapshot(Web {
        header_timeout: Duration::from_millis(200),
        ..web()
    });
    for start in ["", "GET /metrics HTTP/1.1\r\nHos"] {
        let mut client = Client::connect(server.address());
        client.stream.write_all(start.as_bytes()).unwrap();
        assert!(client.is_cut(), "{start:?}");
    }
    // Also on a connection that has served before.
    let mut client = Client::connect(server.address());
    client.send("GET", "/healthz", "");
    assert_eq!(client.answer().status, 200);
    client.stream.write_all(b"GET /heal").unwrap();
    assert!(client.is_cut());
}

#[test]
fn a_client_that_takes_no_answer_is_cut() {
    let server = Server::with_snapshot(Web {
        request_timeout: Duration::from_millis(300),
        ..web()
    });
    let mut client = Client::connect(server.address());
    client
        .stream
        .set_write_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    // Requests without end whose answers nobody reads fill both directions' buffers.
    let requests = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100);
    let cut = until(|| match client.stream.write(requests.as_bytes()) {
        Ok(_) => false,
        Err(error) => !matches!(
            error.kind(),
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
        ),
    });
    assert!(cut);
    assert_eq!(get(server.address(), "/healthz").status, 200);
}

#[test]
fn a_full_house_asks_idle_connections_to_leave() {
    let server = Server::with_snapshot(Web {
        max_connections: 2,
        ..web()
    });
    let mut idle: Vec<Client> = (0..2)
        .map(|_| {
            let mut client = Client::connect(server.address());
            client.send("GET", "/healthz", "");
            assert_eq!(client.answer().status, 200);
            client
        })
        .collect();
    assert_eq!(get(server.address(), "/healthz").status, 200);
    assert!(idle[0].is_cut());
}

#[test]
fn no_more_connections_are_served_than_allowed() {
    let server = Server::start(Web {
        max_connections: 2,
        ..web()
    })
    .unwrap();
    let mut waiting: Vec<Client> = (0..3)
        .map(|_| {
            let mut client = Client::connect(server.address());
            client.send(
                "GET",
                "/metrics",
                "X-Prometheus-Scrape-Timeout-Seconds: 3\r\n",
            );
            client
        })
        .collect();
    // Two wait for the first snapshot; the third is served when one of them has been answered, and
    // by then its own time has begun anew.
    let last = waiting.pop().unwrap();
    for client in &mut waiting {
        assert_eq!(client.answer().status, 503);
    }
    server.publish();
    let mut last = last;
    assert_eq!(last.answer().status, 200);
}

#[test]
fn a_port_in_use_names_who_holds_it() {
    let server = Server::with_snapshot(web());
    let address = server.address().to_string();
    let taken = Server::start(Web {
        listen_address: vec![address.clone()],
        ..web()
    });
    let message = taken.err().unwrap().to_string();
    assert!(
        message.starts_with(&format!("cannot listen on {address}: in use by ")),
        "{message}"
    );
    assert!(
        message.contains(&format!("(pid {})", std::process::id())),
        "{message}"
    );
    assert!(
        message.ends_with("choose another with --web.listen-address"),
        "{message}"
    );
}

#[test]
fn several_addresses_are_served() {
    let server = Server::with_snapshot(Web {
        listen_address: vec!["127.0.0.1:0".to_owned(), "localhost:0".to_owned()],
        ..web()
    });
    assert!(server.handle().addresses().len() >= 2);
    for address in server.handle().addresses() {
        assert_eq!(get(*address, "/healthz").status, 200, "{address}");
    }
}

#[test]
fn stopping_answers_who_waits_and_removes_the_socket() {
    let mut server = Server::start(web()).unwrap();
    let address = server.address();
    let socket = server.handle().socket().unwrap().to_owned();
    let mut client = Client::connect(address);
    client.send(
        "GET",
        "/metrics",
        "X-Prometheus-Scrape-Timeout-Seconds: 30\r\n",
    );
    assert_eq!(get(address, "/readyz").status, 503);
    server.stop(Duration::from_secs(3));
    assert_eq!(client.answer().status, 503);
    assert!(std::net::TcpStream::connect(address).is_err());
    assert!(!socket.exists());
}

#[test]
fn stopping_cuts_who_does_not_leave() {
    let mut server = Server::with_snapshot(Web {
        header_timeout: Duration::from_secs(3600),
        ..web()
    });
    let mut slow = Client::connect(server.address());
    slow.stream.write_all(b"GET /metrics HT").unwrap();
    assert_eq!(get(server.address(), "/healthz").status, 200);
    server.stop(Duration::from_millis(200));
    let mut rest = Vec::new();
    assert!(slow.stream.read_to_end(&mut rest).is_err() || rest.is_empty());
}
