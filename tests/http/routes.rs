//! What is answered, before and after there is something to show.

use std::io::Write;
use std::sync::atomic::Ordering;

use railwatch::daemon::config::Web;
use railwatch::daemon::http::ServeError;

use crate::client::{Client, ask, get, unpack};
use crate::server::{BROKEN, Server, web};

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
fn a_handler_that_panics_is_an_answer_and_the_rest_goes_on() {
    let server = Server::with_snapshot(web());
    let good = server.clock.seconds.swap(BROKEN, Ordering::Relaxed);
    for _ in 0..3 {
        let answer = get(server.address(), "/metrics");
        assert_eq!(answer.status, 500);
        assert!(
            answer.text().contains("internal error"),
            "{}",
            answer.text()
        );
    }
    server.clock.seconds.store(good, Ordering::Relaxed);
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
