//! The smallest HTTP/1.1 client that keeps its connection. Knows `Content-Length` and nothing else: the server under
//! measurement sends whole bodies.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Nothing takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A request as it goes over the wire.
#[derive(Debug, Clone)]
pub(super) struct Prepared(Vec<u8>);

impl Prepared {
    /// A request with a JSON body; an empty one is no body.
    pub(super) fn new(method: &str, path: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
        Self([head.as_bytes(), body.as_bytes()].concat())
    }

    /// A save of `text`.
    pub(super) fn save(vault: &str, room: &str, text: &str) -> Self {
        let body = serde_json::json!({ "text": text, "wing": "bench", "room": room });
        Self::new("POST", &format!("/v1/vaults/{vault}/drawers"), &body.to_string())
    }

    /// A search for `query`.
    pub(super) fn search(vault: &str, query: &str) -> Self {
        let body = serde_json::json!({ "query": query });
        Self::new("POST", &format!("/v1/vaults/{vault}/search"), &body.to_string())
    }
}

/// One kept connection.
pub(super) struct Client {
    stream: TcpStream,
    answer: Vec<u8>,
}

/// An answer that is still in its client's buffer.
pub(super) struct Answered<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// When nobody listens there.
    pub(super) fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, answer: Vec::with_capacity(32 << 10) })
    }

    /// Sends and reads the whole answer.
    ///
    /// # Errors
    /// When the connection ends before the answer does.
    pub(super) fn send(&mut self, request: &Prepared) -> io::Result<Answered<'_>> {
        self.stream.write_all(&request.0)?;
        self.answer.clear();
        let (head, length) = loop {
            self.more()?;
            if let Some(head) = self.answer.windows(4).position(|end| end == b"\r\n\r\n") {
                break (head + 4, content_length(&self.answer[..head])?);
            }
        };
        while self.answer.len() < head + length {
            self.more()?;
        }
        let status = std::str::from_utf8(&self.answer[9..12]).ok().and_then(|text| text.parse().ok());
        Ok(Answered { status: status.ok_or_else(|| wrong("a status"))?, body: &self.answer[head..] })
    }

    /// Sends what must succeed, and reads the answer as JSON.
    ///
    /// # Errors
    /// When it does not succeed.
    pub(super) fn expect(&mut self, request: &Prepared) -> io::Result<Value> {
        let Answered { status, body } = self.send(request)?;
        if !(200..300).contains(&status) {
            return Err(io::Error::other(format!("{status}: {}", String::from_utf8_lossy(body))));
        }
        Ok(serde_json::from_slice(body)?)
    }

    fn more(&mut self) -> io::Result<()> {
        let mut part = [0; 16 << 10];
        match self.stream.read(&mut part)? {
            0 => Err(wrong("the rest of an answer")),
            read => {
                self.answer.extend_from_slice(&part[..read]);
                Ok(())
            }
        }
    }
}

fn content_length(head: &[u8]) -> io::Result<usize> {
    let head = std::str::from_utf8(head).map_err(|_| wrong("a head of text"))?;
    let named = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    };
    head.lines().find_map(named).ok_or_else(|| wrong("a Content-Length"))
}

fn wrong(missing: &str) -> io::Error {
    io::Error::other(format!("the server did not send {missing}"))
}
