//! The HTTP server on real sockets, fed with a hand-made snapshot.

#[cfg(test)]
#[path = "http/client.rs"]
mod client;
#[cfg(test)]
#[path = "http/server.rs"]
mod server;

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use client::{Client, ask, get, over_socket, unpack};
use railwatch::daemon::config::Web;
use railwatch::daemon::http::ServeError;
use server::{Server, until, web};

#[test]
fn every_route_answers() {
    let server = Server::with_snapshot(web());
    for (path, kind, part) in [
        (
            "/metrics",
            "text/plain; version=0.0.4; charset=utf-8",
            "railwatch_build_info{",
        ),
        ("/-/healthy", "text/plain; charset=utf-8", "healthy\n"),
        ("/healthz", "text/plain; charset=utf-8", "healthy\n"),
        ("/-/ready", "text/plain; charset=utf-8", "ready\n"),
        ("/readyz", "text/plain; charset=utf-8", "ready\n"),
        (
            "/api/v1/node",
            "application/json",
            "\"schema\":\"railwatch-node/1\"",
        ),
        ("/", "text/html; charset=utf-8", "mlx5_0/1"),
    ] {
        let answer = get(server.address(), path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert_eq!(answer.header("content-type"), Some(kind), "{path}");
        assert!(answer.text().contains(part), "{path}: {}", answer.text());
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
    }
}

#[test]
fn the_telemetry_path_is_the_configured_one() {
    let server = Server::with_snapshot(Web {
        telemetry_path: "/probe/x".to_owned(),
        ..web()
    });
    assert_eq!(get(server.address(), "/probe/x").status, 200);
    let missing = get(server.address(), "/metrics");
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("/probe/x"));
    assert!(
        get(server.address(), "/")
            .text()
            .contains("href=\"/probe/x\"")
    );
}

#[test]
fn a_telemetry_path_that_is_taken_or_odd_is_refused() {
    for path in ["/healthz", "metrics", "/{x}", "/a b", "/*y", "", "/-/ready"] {
        let refused = Server::start(Web {
            telemetry_path: path.to_owned(),
            ..web()
        });
        let error = refused.err().unwrap();
        assert!(matches!(error, ServeError::TelemetryPath { .. }), "{error}");
    }
}

#[test]
fn gzip_goes_out_when_it_is_wanted() {
    let server = Server::with_snapshot(web());
    let plain = get(server.address(), "/metrics");
    assert_eq!(plain.header("content-encoding"), None);
    let refused = ask(
        server.address(),
        "GET",
        "/metrics",
        "Accept-Encoding: gzip;q=0\r\n",
    );
    assert_eq!(refused.header("content-encoding"), None);
    let packed = ask(
        server.address(),
        "GET",
        "/metrics",
        "Accept-Encoding: br, gzip;q=0.8\r\n",
    );
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(packed.header("vary"), Some("accept-encoding"));
    assert_eq!(unpack(&packed.body), plain.body);
}

#[test]
fn head_gives_the_headers_alone() {
    let server = Server::with_snapshot(web());
    let whole = get(server.address(), "/metrics");
    let head = ask(server.address(), "HEAD", "/metrics", "");
    assert_eq!(head.status, 200);
    assert_eq!(
        head.header("content-length"),
        whole.header("content-length")
    );
    assert!(head.body.is_empty());
}

#[test]
fn what_is_not_served_is_told_politely() {
    let server = Server::with_snapshot(web());
    let unknown = get(server.address(), "/metricz");
    assert_eq!(unknown.status, 404);
    assert!(unknown.text().contains("/metrics"), "{}", unknown.text());
    for path in ["/metrics", "/", "/-/healthy", "/api/v1/node"] {
        let answer = ask(server.address(), "POST", path, "Content-Length: 0\r\n");
        assert_eq!(answer.status, 405, "{path}");
        assert!(answer.text().contains("GET"), "{path}");
        assert_eq!(answer.header("allow"), Some("GET,HEAD"), "{path}");
    }
    let long = format!("/{}", "a".repeat(4000));
    assert_eq!(get(server.address(), &long).status, 414);
    let huge = format!("X-Pad: {}\r\n", "a".repeat(40_000));
    assert_eq!(ask(server.address(), "GET", "/metrics", &huge).status, 431);
}

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
fn before_the_first_snapshot_a_scrape_waits_no_longer_than_its_scraper() {
    let server = Server::start(web()).unwrap();
    let header = "X-Prometheus-Scrape-Timeout-Seconds: 0.6\r\n";
    let early = ask(server.address(), "GET", "/metrics", header);
    assert_eq!(early.status, 503);
    assert!(early.text().contains("no snapshot yet"), "{}", early.text());
    let unready = get(server.address(), "/readyz");
    assert_eq!(unready.status, 503);
    assert!(unready.text().contains("no snapshot yet"));
    assert_eq!(get(server.address(), "/healthz").status, 200);
    let page = get(server.address(), "/");
    assert!(page.text().contains("has not ended yet"), "{}", page.text());
}

#[test]
fn a_scrape_that_waits_gets_the_first_snapshot() {
    let server = Server::start(web()).unwrap();
    let mut client = Client::connect(server.address());
    client.send(
        "GET",
        "/metrics",
        "X-Prometheus-Scrape-Timeout-Seconds: 30\r\n",
    );
    // The second connection is served after the first has been read.
    assert_eq!(get(server.address(), "/readyz").status, 503);
    server.publish();
    assert_eq!(client.answer().status, 200);
}

#[test]
fn a_snapshot_that_is_not_replaced_is_not_served_for_ever() {
    let server = Server::with_snapshot(web());
    server.clock.seconds.fetch_add(60, Ordering::Relaxed);
    for path in ["/metrics", "/readyz"] {
        let answer = get(server.address(), path);
        assert_eq!(answer.status, 503, "{path}");
        assert!(
            answer.text().contains("the poller has stopped"),
            "{}",
            answer.text()
        );
    }
    assert_eq!(get(server.address(), "/healthz").status, 200);
    assert!(
        get(server.address(), "/")
            .text()
            .contains("the poller has stopped")
    );
    server.publish();
    assert_eq!(get(server.address(), "/metrics").status, 200);
}

#[test]
fn scrapes_of_one_snapshot_get_the_same_bytes() {
    let server = Server::with_snapshot(web());
    let address = server.address();
    let bodies: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|_| scope.spawn(move || get(address, "/metrics").body))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(bodies.iter().all(|body| *body == bodies[0]));
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
        .set_write_timeout(Some(Duration::from_millis(100)))
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
fn a_hostile_device_name_stays_text() {
    let server = Server::with_snapshot(web());
    let page = get(server.address(), "/").text();
    assert!(!page.contains("<script"), "{page}");
    assert!(page.contains("&#60;script&#62;"), "{page}");
    let metrics = get(server.address(), "/metrics").text();
    assert!(metrics.contains(r#"device="<script>\"\\?""#), "{metrics}");
}

#[test]
fn the_node_document_tells_what_is_known_and_nothing_else() {
    let server = Server::with_snapshot(web());
    let node: serde_json::Value =
        serde_json::from_slice(&get(server.address(), "/api/v1/node").body).unwrap();
    assert_eq!(node["schema"], "railwatch-node/1");
    assert_eq!(node["at"], "2026-03-01T12:00:00.250Z");
    assert_eq!(node["host"]["hostname"], "gpu-17");
    assert_eq!(node["host"].get("os"), None);
    let port = &node["ports"][0];
    assert_eq!(port["device"], "mlx5_0");
    assert_eq!(port["port"], 1);
    assert_eq!(port["pci"], "0000:c1:00.0");
    assert_eq!(port["faults"][0]["reason"], "permission");
    assert_eq!(node["gpus"], serde_json::json!([]));
    assert_eq!(node["sources"][0]["name"], "infiniband");
    assert_eq!(node["sources"][0]["state"], "ok");
    assert_eq!(node["sources"][0]["skipped"][0]["reason"], "restricted");
}

#[test]
fn a_reload_that_hangs_holds_nobody_back() {
    let mut server = Server::with_snapshot(Web {
        request_timeout: Duration::from_millis(300),
        ..web()
    });
    let path = server.handle().socket().unwrap().to_owned();
    let answers = [(); 3].map(|()| over_socket(&path, "POST", "/api/v1/reload"));
    assert_eq!(
        answers.each_ref().map(|answer| answer.status),
        [200, 422, 503]
    );
    assert_eq!(answers[2].text(), "the answer took too long\n");
    assert_eq!(get(server.address(), "/metrics").status, 200);
    server.stop(Duration::from_secs(20));
}

#[test]
fn a_reload_comes_in_over_the_socket_alone() {
    let server = Server::with_snapshot(web());
    for method in ["POST", "GET"] {
        let refused = ask(
            server.address(),
            method,
            "/api/v1/reload",
            "Content-Length: 0\r\n",
        );
        assert_eq!(refused.status, 403);
        assert!(refused.text().contains("api.sock"), "{}", refused.text());
    }
    assert_eq!(server.reloads(), 0);
    let path = server.handle().socket().unwrap().to_owned();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
    let done = over_socket(&path, "POST", "/api/v1/reload");
    assert_eq!(
        (done.status, done.text().as_str()),
        (200, "reloaded: 0 changes\n")
    );
    let refused = over_socket(&path, "POST", "/api/v1/reload");
    assert_eq!(
        (refused.status, refused.text().as_str()),
        (422, "kept: line 3 is wrong\n")
    );
    assert_eq!(over_socket(&path, "GET", "/api/v1/reload").status, 405);
    assert_eq!(over_socket(&path, "GET", "/metrics").status, 200);
    assert_eq!(server.reloads(), 2);
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
    server.stop(Duration::from_secs(20));
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

#[test]
fn without_its_socket_the_server_runs_on() {
    let server = Server::start_in(web(), Path::new("/proc/nowhere")).unwrap();
    server.publish();
    assert_eq!(server.handle().socket(), None);
    assert_eq!(get(server.address(), "/metrics").status, 200);
}

#[test]
#[expect(clippy::print_stdout, reason = "a skipped check is told")]
fn promtool_finds_nothing_to_say_about_the_exposition() {
    let server = Server::with_snapshot(web());
    let metrics = get(server.address(), "/metrics").body;
    #[expect(clippy::disallowed_methods, reason = "a test may start a linter")]
    let started = std::process::Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn();
    let Ok(mut promtool) = started else {
        println!("skipped: promtool is not installed");
        return;
    };
    promtool.stdin.take().unwrap().write_all(&metrics).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // In `railwatch_counter_…` the word names what the kernel has, not the type of the family.
    let meant = |line: &&str| {
        !line.starts_with("railwatch_counter_")
            || !line.ends_with("metric name should not include type 'counter'")
    };
    let problems: Vec<&str> = said
        .lines()
        .filter(|line| !line.is_empty())
        .filter(meant)
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
    // 3 is a lint; anything else but 0 says that it could not read the exposition at all.
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{:?}",
        output.status
    );
}
