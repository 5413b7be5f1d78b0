//! The transport policy, as far as a declaration can be judged by its form: https to any host, http to this machine only.
//!
//! It opens no connection and looks up no name. A complaint never repeats the address, which may hold credentials.

use std::net::IpAddr;

use super::finding::Complaint;

/// Whether `host` names this machine: `localhost`, or a loopback address in digits.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let literal = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Accepts an address that text may be sent to: `https://host…` anywhere, `http://host…` on this machine.
///
/// # Errors
/// A complaint when the address is in clear text to another machine, or cannot be read (which counts as clear text).
pub fn outward_url(url: &str) -> Result<(), Complaint> {
    let unreadable = || Complaint::unreadable("not a web address: expected https://host or http://localhost");
    let (scheme, rest) = url.split_once("://").ok_or_else(unreadable)?;
    let host = host_of(rest).ok_or_else(unreadable)?;
    match scheme.to_ascii_lowercase().as_str() {
        "https" => Ok(()),
        "http" if is_loopback(host) => Ok(()),
        "http" => Err(Complaint::unreadable(
            "clear text to another machine is refused: use https, or a service on this machine",
        )),
        _ => Err(unreadable()),
    }
}

/// The host of what follows `://`; what stands before an `@` is a login, never a host.
fn host_of(rest: &str) -> Option<&str> {
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host_and_port = authority.rsplit('@').next()?;
    if let Some(bracketed) = host_and_port.strip_prefix('[') {
        let end = bracketed.find(']')?;
        let (address, after) = bracketed.split_at(end);
        let port_is_fine =
            after == "]" || after.strip_prefix("]:").is_some_and(|port| port.parse::<u16>().is_ok());
        return (port_is_fine && address.parse::<IpAddr>().is_ok()).then_some(address);
    }
    let host = match host_and_port.split_once(':') {
        Some((host, port)) => port.parse::<u16>().ok().map(|_| host)?,
        None => host_and_port,
    };
    let is_host_char = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    (!host.is_empty() && host.chars().all(is_host_char)).then_some(host)
}

/// Accepts a PostgreSQL connection string: another machine only with an `sslmode` that encrypts for certain.
///
/// Both written forms are read: `postgres://user@host/db?sslmode=require` and `host=… sslmode=…`.
///
/// # Errors
/// A complaint when the string names no host or another machine without `require`, `verify-ca` or `verify-full`.
pub fn postgres_dsn(dsn: &str) -> Result<(), Complaint> {
    let (host, sslmode) = if let Some((scheme, rest)) = dsn.split_once("://") {
        if !matches!(scheme, "postgres" | "postgresql") {
            return Err(Complaint::unreadable("expected postgres://… or host=… sslmode=…"));
        }
        let query = rest.split_once('?').map_or("", |(_, query)| query);
        (host_of(rest), last_value(query.split('&'), "sslmode"))
    } else {
        (last_value(dsn.split_whitespace(), "host"), last_value(dsn.split_whitespace(), "sslmode"))
    };
    let host = host.ok_or_else(|| Complaint::unreadable("names no host"))?;
    let encrypted = matches!(sslmode, Some("require" | "verify-ca" | "verify-full"));
    // A path is a socket on this machine.
    if encrypted || is_loopback(host) || host.starts_with('/') {
        return Ok(());
    }
    Err(Complaint::unreadable("another machine needs sslmode=require, verify-ca or verify-full"))
}

fn last_value<'a>(pairs: impl Iterator<Item = &'a str>, key: &str) -> Option<&'a str> {
    pairs
        .filter_map(|pair| pair.split_once('='))
        .filter(|(name, _)| *name == key)
        .last()
        .map(|(_, value)| value)
}
