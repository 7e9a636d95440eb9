//! The local socket and what only it can do.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use railwatch::daemon::config::Web;

use crate::client::{ask, get, over_socket};
use crate::server::{Server, web};

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
fn without_its_socket_the_server_runs_on() {
    let server = Server::start_in(web(), Path::new("/proc/nowhere")).unwrap();
    server.publish();
    assert_eq!(server.handle().socket(), None);
    assert_eq!(get(server.address(), "/metrics").status, 200);
}
