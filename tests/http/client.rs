//! A small HTTP client that sees every byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// No test waits longer for one answer.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Client<S = TcpStream> {
    pub(crate) stream: S,
}

pub(crate) trait Patient {
    fn be_patient(&self);
}

impl Patient for TcpStream {
    fn be_patient(&self) {
        self.set_read_timeout(Some(PATIENCE)).unwrap();
    }
}

impl Patient for UnixStream {
    fn be_patient(&self) {
        self.set_read_timeout(Some(PATIENCE)).unwrap();
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self {
            stream: TcpStream::connect(address).unwrap(),
        }
    }
}

impl<S: Read + Write + Patient> Client<S> {
    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &str) {
        let request = format!("{method} {path} HTTP/1.1\r\nHost: test\r\n{headers}\r\n");
        // A server that refuses a long head closes before it has read it.
        drop(self.stream.write_all(request.as_bytes()));
    }

    pub(crate) fn answer(&mut self) -> Answer {
        self.answer_to("GET")
    }

    pub(crate) fn answer_to(&mut self, method: &str) -> Answer {
        self.stream.be_patient();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            self.stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers: Vec<(String, String)> = lines
            .map(|line| {
                let (name, value) = line.split_once(": ").unwrap();
                (name.to_owned(), value.to_owned())
            })
            .collect();
        let mut answer = Answer {
            status: status.parse().unwrap(),
            headers,
            body: Vec::new(),
        };
        if method != "HEAD" {
            let length = answer
                .header("content-length")
                .map_or(0, |n| n.parse().unwrap());
            answer.body = vec![0; length];
            self.stream.read_exact(&mut answer.body).unwrap();
        }
        answer
    }

    /// Waits until the server closes, with or without a last word.
    pub(crate) fn is_cut(&mut self) -> bool {
        self.stream.be_patient();
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

pub(crate) fn ask(address: SocketAddr, method: &str, path: &str, headers: &str) -> Answer {
    let mut client = Client::connect(address);
    client.send(method, path, headers);
    client.answer_to(method)
}

pub(crate) fn over_socket(path: &Path, method: &str, target: &str) -> Answer {
    let mut client = Client {
        stream: UnixStream::connect(path).unwrap(),
    };
    client.send(method, target, "Content-Length: 0\r\n");
    client.answer()
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Answer {
    ask(address, "GET", path, "")
}

pub(crate) fn unpack(gzip: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(gzip)
        .read_to_end(&mut plain)
        .unwrap();
    plain
}
