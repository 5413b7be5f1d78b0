//! A fresh vault behind the protocol, for tests: calls in, results out.

use std::io::Cursor;

use serde_json::{Value, json};
use tempfile::TempDir;
use undercroft_palace::{Access, CreateKeys, Home, KeySource, Level, Palace, VaultSettings, standard_tools};
use undercroft_vault::{BypassReason, Screening, Vault};

use super::{Answer, Failure, Message, Posture, Server, serve_stdio};

/// A server and everything that it stands on.
pub(super) struct Served {
    pub(super) server: Server,
    pub(super) vault: Vault,
    _dir: TempDir,
}

/// What a tool answered.
#[derive(Debug)]
pub(super) struct Called {
    pub(super) text: String,
    pub(super) structured: Value,
    pub(super) is_error: bool,
}

impl Served {
    /// A writable server over an empty vault.
    pub(super) fn new() -> Self {
        Self::with(Posture::Writable, |_| {})
    }

    /// A read-only server over a vault that was opened read-only, after `fill` wrote to it.
    pub(super) fn read_only(fill: impl FnOnce(&Self)) -> Self {
        Self::with(Posture::ReadOnly, fill)
    }

    fn with(posture: Posture, fill: impl FnOnce(&Self)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("palace"));
        let (settings, tools) = (VaultSettings::default(), standard_tools());
        let palace = Palace::open(home, &KeySource::KeyFile, CreateKeys::IfEmpty, &settings, tools).unwrap();
        let written = Self::over(palace.create_vault("v", Level::Sealed).unwrap(), Posture::Writable, dir);
        fill(&written);
        if posture == Posture::Writable {
            return written;
        }
        let Self { _dir: dir, vault, .. } = written;
        vault.close().unwrap();
        Self::over(palace.open_vault("v", Access::ReadOnly).unwrap(), posture, dir)
    }

    fn over(vault: Vault, posture: Posture, dir: TempDir) -> Self {
        Self { server: Server::new(posture), vault, _dir: dir }
    }

    /// What becomes of a message, and what the log is told.
    pub(super) fn answer(&self, bytes: &[u8]) -> Answer {
        self.server.begin(&self.vault, &Message::read(bytes)).answer(|change| {
            let written = self.vault.write(vec![change], Screening::Bypass(BypassReason::NotDeclared));
            Ok(written?.pop().unwrap()?)
        })
    }

    /// What is written for these lines, and what the log is told.
    pub(super) fn over_lines(&self, input: &[u8]) -> (Vec<u8>, Vec<Failure>) {
        let (mut output, mut told) = (Vec::new(), Vec::new());
        let mut log = |failure: &Failure| told.push(failure.clone());
        serve_stdio(self.server, &self.vault, Cursor::new(input), &mut output, &mut log).unwrap();
        (output, told)
    }

    /// The reply to one message, read as JSON.
    pub(super) fn reply(&self, message: &Value) -> Value {
        match self.answer(message.to_string().as_bytes()) {
            Answer::Accepted => Value::Null,
            Answer::Reply { reply, .. } | Answer::Invalid(reply) | Answer::Unreadable { reply, .. } => {
                serde_json::from_str(&reply).unwrap()
            }
        }
    }

    /// The result of a method.
    pub(super) fn result(&self, method: &str, params: Value) -> Value {
        let reply = self.reply(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        assert!(reply.get("error").is_none(), "{reply}");
        reply["result"].clone()
    }

    /// What a tool answers.
    pub(super) fn call(&self, name: &str, arguments: Value) -> Called {
        let result = self.result("tools/call", json!({ "name": name, "arguments": arguments }));
        let content = result["content"].as_array().unwrap();
        assert!(content.len() == 1 && content[0]["type"] == "text", "{result}");
        Called {
            text: content[0]["text"].as_str().unwrap().to_owned(),
            structured: result["structuredContent"].clone(),
            is_error: result["isError"].as_bool().unwrap(),
        }
    }

    /// What a tool answers that must succeed.
    pub(super) fn ok(&self, name: &str, arguments: Value) -> Called {
        let called = self.call(name, arguments);
        assert!(!called.is_error && called.structured.is_object(), "{name}: {called:?}");
        called
    }

    /// What a tool says that must refuse.
    pub(super) fn refusal(&self, name: &str, arguments: Value) -> String {
        let called = self.call(name, arguments);
        assert!(called.is_error && called.text.starts_with("error: "), "{name}: {called:?}");
        called.text
    }

    /// Saves a text and gives its id.
    pub(super) fn save(&self, content: &str) -> String {
        let saved = self.ok("undercroft_save", json!({ "content": content }));
        saved.structured["id"].as_str().unwrap().to_owned()
    }
}
