//! Finding the fleet, asking its Admin API, and saying what to do when it refuses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use undercroft_certs::{SystemTime, Trust};
use undercroft_control_plane::client::{Address, Client, Method, Reply};
use undercroft_palace::ErrorClass;
use undercroft_palace::env::{Environment, Finding, parse, resolve};
use zeroize::Zeroizing;

use super::given;
use crate::args::FleetArgs;
use crate::context::Context;
use crate::error::{Failure, Outcome};

/// Where a member's Admin API is when nobody says.
const DEFAULT: &str = "http://127.0.0.1:8900";
/// The names under which a file of variables has the token.
const TOKEN_LINES: [&str; 2] = ["UNDERCROFT_ADMIN_TOKEN=", "UNDERCROFT_ORCH_ADMIN_TOKEN="];

/// The fleet, as one command asks it.
pub(super) struct Fleet {
    client: Client,
    /// What says where the token is from.
    token_from: String,
    /// The command that lists what may be named here.
    list: &'static str,
}

/// An answer: its bytes as they came, and what they say.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) value: Value,
}

impl Fleet {
    /// The fleet that was named; `list` is the command that shows what this command could have named.
    ///
    /// # Errors
    /// An address, a token or an authority that is missing or cannot be used.
    pub(super) fn of(args: &FleetArgs, context: &Context, list: &'static str) -> Outcome<Self> {
        let environment = &context.environment;
        let declared = resolve::admin_url(environment).accept().map_err(refusal)?;
        let url = args.admin_url.clone().or(declared).unwrap_or_else(|| DEFAULT.to_owned());
        let address = Address::parse(&url)?;
        let (token, token_from) = token(args.admin_token_file.as_deref(), environment)?;
        let declared = resolve::admin_authority(environment).accept().map_err(refusal)?;
        let ca = args.ca.clone().or(declared.map(PathBuf::from)).filter(|_| address.is_tls());
        let trust = ca.map(|file| Trust::open(&file, Arc::new(SystemTime))).transpose()?;
        Ok(Self { client: Client::new(address, &token, trust)?, token_from, list })
    }

    /// Reads a route.
    ///
    /// # Errors
    /// Why there is no answer, with what to do.
    pub(super) fn get(&self, route: &str) -> Outcome<Said> {
        self.said(self.client.ask(Method::GET, route, None)?)
    }

    /// Asks for a change.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(super) fn post(&self, route: &str, body: &Value) -> Outcome<Said> {
        self.said(self.client.ask(Method::POST, route, Some(body.to_string()))?)
    }

    /// Asks for a removal.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(super) fn delete(&self, route: &str) -> Outcome<Said> {
        self.said(self.client.ask(Method::DELETE, route, None)?)
    }

    /// Gets bytes.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(super) fn fetch(&self, route: &str) -> Outcome<Vec<u8>> {
        let reply = self.client.fetch(route)?;
        if reply.status == 200 { Ok(reply.body) } else { Err(self.refused(&reply)) }
    }

    fn said(&self, reply: Reply) -> Outcome<Said> {
        if reply.status != 200 {
            return Err(self.refused(&reply));
        }
        let value = serde_json::from_slice(&reply.body).map_err(|_| self.stranger(reply.status))?;
        let text = String::from_utf8(reply.body).map_err(|_| self.stranger(200))?;
        Ok(Said { text, value })
    }

    /// What a refusal means to who typed the command.
    fn refused(&self, reply: &Reply) -> Failure {
        let said: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let Some(error) = said["error"].as_str() else { return self.stranger(reply.status) };
        let (at, status) = (self.client.address(), reply.status);
        let named = said["class"].as_str();
        let class = named.and_then(|named| ErrorClass::ALL.into_iter().find(|c| c.as_str() == named));
        let (class, message) = match (status, class) {
            (401, _) => (
                ErrorClass::Denied,
                format!(
                    "the Admin API at {at} does not take the token of {}; give the one that its members have as UNDERCROFT_ORCH_ADMIN_TOKEN, by UNDERCROFT_ADMIN_TOKEN or --admin-token-file",
                    self.token_from
                ),
            ),
            (404, None) | (405, None) => (
                ErrorClass::NotFound,
                format!(
                    "{error}; the member at {at} is of another version than this command: upgrade the older of the two"
                ),
            ),
            (_, Some(ErrorClass::NotFound)) => {
                (ErrorClass::NotFound, format!("{error}; see what there is: undercroft {}", self.list))
            }
            (_, Some(class)) => (class, error.to_owned()),
            (_, None) => (ErrorClass::Invalid, error.to_owned()),
        };
        Failure::Refused { class, message }
    }

    /// Somebody else answers there.
    fn stranger(&self, status: u16) -> Failure {
        let message = format!(
            "{} answered with status {status}, and not as an Admin API; correct --admin-url or UNDERCROFT_ADMIN_URL",
            self.client.address()
        );
        Failure::Refused { class: ErrorClass::Unavailable, message }
    }
}

fn refusal(finding: Finding) -> Failure {
    undercroft_palace::Error::Declaration(finding).into()
}

/// The operator's token and where it is from.
fn token(file: Option<&Path>, environment: &Environment) -> Outcome<(Zeroizing<String>, String)> {
    if let Some(path) = file {
        let flag = "--admin-token-file";
        let text = given::small_file(flag, path)?;
        let of_line =
            |line: &str| TOKEN_LINES.iter().find_map(|name| line.strip_prefix(name).map(str::to_owned));
        let token = match text.lines().find_map(of_line) {
            Some(token) => Zeroizing::new(token),
            None => given::first_line(flag, path)?,
        };
        let from = format!("{flag} {}", path.display());
        return match parse::admin_token(&token) {
            Ok(()) => Ok((token, from)),
            Err(_) => Err(Failure::invalid(format!(
                "{from}: it holds no token of at least 16 characters without white space at its end"
            ))),
        };
    }
    let own = resolve::operator_token(environment).accept().map_err(refusal)?;
    let shared = || resolve::admin_token(environment).accept().map_err(refusal);
    let (token, from) = match own {
        Some(token) => (Some(token), "UNDERCROFT_ADMIN_TOKEN"),
        None => (shared()?, "UNDERCROFT_ORCH_ADMIN_TOKEN"),
    };
    let token = token.ok_or_else(|| {
        Failure::invalid(
            "no token for the Admin API: declare UNDERCROFT_ADMIN_TOKEN, or name a file with --admin-token-file",
        )
    })?;
    Ok((Zeroizing::new(token), from.to_owned()))
}

/// A name as one segment of a route: everything but letters, digits, `-` and `_` as its bytes in hexadecimal (RFC 3986, 2.1).
pub(super) fn segment(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(pairs: &[(&str, &str)]) -> Environment {
        Environment::from_pairs(pairs.iter().copied())
    }

    #[test]
    fn a_name_stays_one_segment_and_steers_no_route() {
        assert_eq!(segment("berlin-1_a"), "berlin-1_a");
        assert_eq!(segment("../members/1?x#y"), "%2E%2E%2Fmembers%2F1%3Fx%23y");
        assert_eq!(segment("a b%é"), "a%20b%25%C3%A9");
    }

    #[test]
    fn the_nearest_token_is_taken_and_where_it_is_from_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        let both = declared(&[
            ("UNDERCROFT_ADMIN_TOKEN", "own-own-own-own-own"),
            ("UNDERCROFT_ORCH_ADMIN_TOKEN", "shared-shared-shared"),
        ]);
        let (found, from) = token(None, &both).expect("a token");
        assert_eq!((found.as_str(), from.as_str()), ("own-own-own-own-own", "UNDERCROFT_ADMIN_TOKEN"));
        let shared = declared(&[("UNDERCROFT_ORCH_ADMIN_TOKEN", "shared-shared-shared")]);
        assert_eq!(token(None, &shared).expect("a token").1, "UNDERCROFT_ORCH_ADMIN_TOKEN");
        for text in [
            "filed-filed-filed\n",
            "filed-filed-filed",
            "UNDERCROFT_ORCH_KEY=00\nUNDERCROFT_ORCH_ADMIN_TOKEN=filed-filed-filed\n",
        ] {
            std::fs::write(&file, text).expect("a file");
            let (found, from) = token(Some(&file), &both).expect("a token");
            assert!(
                found.as_str() == "filed-filed-filed" && from.starts_with("--admin-token-file"),
                "{from}"
            );
        }
    }

    #[test]
    fn a_token_that_is_none_is_refused_and_not_repeated() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        assert!(token(None, &declared(&[])).is_err());
        assert!(token(None, &declared(&[("UNDERCROFT_ADMIN_TOKEN", "hunter2")])).is_err());
        for text in ["", "\nhunter2-hunter2-hunter2\n", "hunter2", "hunter2-hunter2-hunter2 \n"] {
            std::fs::write(&file, text).expect("a file");
            let told = token(Some(&file), &declared(&[])).expect_err(text).to_string();
            assert!(!told.contains("hunter2") && told.contains("--admin-token-file"), "{told}");
        }
        assert!(token(Some(&folder.path().join("no")), &declared(&[])).is_err());
        assert!(token(Some(folder.path()), &declared(&[])).is_err());
    }
}
