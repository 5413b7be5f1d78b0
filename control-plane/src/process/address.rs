//! Which addresses are of this machine.

use std::net::IpAddr;

use crate::Error;

/// Refuses an address that others reach, as long as connections are plain.
pub(super) fn only_here(what: &'static str, address: &str) -> Result<(), Error> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if here { Ok(()) } else { Err(Error::Exposed { what, address: address.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::only_here;

    #[test]
    fn only_addresses_of_this_machine_pass() {
        for here in ["127.0.0.1:7800", "localhost:0", "[::1]:7800", "127.9.9.9:1"] {
            assert!(only_here("--listen", here).is_ok(), "{here}");
        }
        for beyond in
            ["0.0.0.0:7800", "[::]:7800", "10.0.0.1:1", "localhost.example.org:1", "", ":7800", "::1"]
        {
            assert!(only_here("--listen", beyond).is_err(), "{beyond}");
        }
    }
}
