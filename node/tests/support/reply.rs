//! An answer of the server, and what a test asks of it.

use hyper::header::HeaderMap;
use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header as text; empty when it is missing.
    pub(crate) fn header(&self, name: &str) -> String {
        self.headers.get(name).map_or_else(String::new, |value| value.to_str().expect("text").to_owned())
    }

    /// The message of a refusal.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().expect("an error").to_owned()
    }

    /// The body, once the status is the expected one.
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }
}
