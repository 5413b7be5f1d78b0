//! Where the Admin API is: `http://` on this machine, `https://` anywhere, perhaps below a path.

use std::fmt;
use std::net::IpAddr;

use crate::Error;

/// An address that requests with the operator's token may be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Whether connections are TLS.
    pub(super) tls: bool,
    /// The host, IPv6 without brackets.
    host: String,
    port: u16,
    /// What stands before every route: empty, or `/…` without a slash at its end.
    pub(super) base: String,
}

impl Address {
    /// Reads `http://host:port/path` or `https://host:port/path`; port and path may be left out.
    ///
    /// # Errors
    /// [`Error::AdminUrl`] for anything else, and for plain HTTP to another machine: the token would travel in the clear. The
    /// text is not repeated, since it may hold a login.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let no_url = "is none: expected http://127.0.0.1:8900 or https://host:8900";
        let (scheme, rest) = url.split_once("://").ok_or(Error::AdminUrl(no_url))?;
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(Error::AdminUrl(no_url)),
        };
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if authority.contains('@') {
            return Err(Error::AdminUrl("has a login in it; the token is given by UNDERCROFT_ADMIN_TOKEN"));
        }
        if !path.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\\".contains(&byte)) {
            return Err(Error::AdminUrl("has a query, a fragment or other characters that no path has"));
        }
        let (host, port) = split(authority).ok_or(Error::AdminUrl(no_url))?;
        let port = match port {
            Some(port) => port.parse().map_err(|_| Error::AdminUrl("has no port from 1 to 65535"))?,
            None if tls => 443,
            None => 80,
        };
        let here = host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if !tls && !here {
            return Err(Error::AdminUrl(
                "is plain HTTP to another machine, where the token could be read on the way; use https with --ca, or ask from that machine",
            ));
        }
        let base = path.trim_end_matches('/').to_owned();
        Ok(Self { tls, host: host.to_ascii_lowercase(), port, base })
    }

    /// Whether connections are TLS, and so need somebody to trust.
    #[must_use]
    pub const fn is_tls(&self) -> bool {
        self.tls
    }

    /// `host:port`, as a connection and a `Host` line take it.
    pub(super) fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.base)
    }
}

/// Host and port of an authority.
fn split(authority: &str) -> Option<(&str, Option<&str>)> {
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (host, after) = bracketed.split_once(']')?;
        let port = match after {
            "" => None,
            _ => Some(after.strip_prefix(':')?),
        };
        return host.parse::<std::net::Ipv6Addr>().is_ok().then_some((host, port));
    }
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let of_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    (!host.is_empty() && host.bytes().all(of_host)).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Address;

    #[test]
    fn addresses_that_a_token_may_be_sent_to() {
        for (url, shown) in [
            ("http://127.0.0.1:8900", "http://127.0.0.1:8900"),
            ("http://LocalHost:8900/", "http://localhost:8900"),
            ("HTTP://[::1]:1", "http://[::1]:1"),
            ("http://127.9.0.1", "http://127.9.0.1:80"),
            ("https://fleet.example.org", "https://fleet.example.org:443"),
            ("https://10.0.0.7:8900/under/croft/", "https://10.0.0.7:8900/under/croft"),
        ] {
            assert_eq!(Address::parse(url).expect(url).to_string(), shown);
        }
    }

    #[test]
    fn plain_http_to_another_machine_is_refused_with_the_remedy() {
        for url in
            ["http://10.0.0.7:8900", "http://localhost.example.org", "http://0.0.0.0:1", "http://[::2]:1"]
        {
            let told = Address::parse(url).expect_err(url).to_string();
            assert!(told.contains("https with --ca") && told.contains("UNDERCROFT_ADMIN_URL"), "{told}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_and_not_repeated() {
        for url in [
            "",
            "127.0.0.1:8900",
            "ftp://localhost",
            "http://",
            "http://:80",
            "http://localhost:x",
            "http://localhost:65536",
            "http://localhost:1:2",
            "http://[::1",
            "http://[::1]x",
            "http://[x]:1",
            "http://me:hunter2@localhost:1",
            "http://localhost/a?b=hunter2",
            "http://localhost/#hunter2",
            "http://localhost/a b",
            "http://loc\u{1b}alhost",
        ] {
            let told = Address::parse(url).expect_err(url).to_string();
            assert!(!told.contains("hunter2"), "{told}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it_and_what_is_shown_reads_back(url in "(http|https)?(://)?[ -~]{0,24}") {
            if let Ok(address) = Address::parse(&url) {
                prop_assert_eq!(Address::parse(&address.to_string()).expect("again"), address);
            }
        }
    }
}
