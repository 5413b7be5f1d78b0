//! One message as it arrived, read once: whoever carries it can see what it asks for before it is carried out.

use serde_json::Value;

use super::{strict, tools};

/// One message of a client.
#[derive(Debug)]
pub struct Message(pub(super) Result<Value, serde_json::Error>);

impl Message {
    /// Reads the bytes of one message. What is no JSON is kept as what is wrong with it, and answered as such.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        // Some programs write a mark of the byte order in front of what they say.
        Self(strict::read(bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)))
    }

    /// Whether carrying it out takes as long as reading the whole vault.
    #[must_use]
    pub fn is_long(&self) -> bool {
        let Ok(message) = &self.0 else { return false };
        let name = message["params"]["name"].as_str();
        message["method"] == "tools/call" && name.and_then(tools::find).is_some_and(|tool| tool.is_long)
    }
}
