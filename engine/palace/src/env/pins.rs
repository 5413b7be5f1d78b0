//! The files of pinned certificate authorities: whether one is there and holds certificates at all.
//!
//! This looks at the armour and the first byte inside it. Whether a certificate is valid is decided by the client that
//! connects with it; no key and no certificate is kept.

use std::io::Read;
use std::path::Path;

use undercroft_crypto::regular;

use super::finding::Complaint;

/// No authority file of any kind is larger; reading stops here.
const MAX_BYTES: u64 = 4 << 20;
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Accepts a PEM file that holds at least one certificate.
///
/// # Errors
/// A complaint when the file cannot be read, is cut short, or holds no certificate.
pub fn certificate_file(path: &str) -> Result<(), Complaint> {
    let mut text = String::new();
    regular::open(Path::new(path))
        .and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text))
        .map_err(|error| Complaint::unreadable(format!("the certificate file cannot be read: {error}")))?;
    let mut rest = text.as_str();
    let mut found = 0_usize;
    while let Some((_, after)) = rest.split_once(BEGIN) {
        let Some((body, next)) = after.split_once(END) else {
            return Err(Complaint::unreadable(
                "the certificate file is cut short: a BEGIN line has no END line",
            ));
        };
        if !is_certificate_body(body) {
            return Err(Complaint::unreadable(format!(
                "certificate {} of the file cannot be decoded",
                found + 1
            )));
        }
        found += 1;
        rest = next;
    }
    if found == 0 {
        return Err(Complaint::unreadable("the file holds no certificate (expected PEM)"));
    }
    Ok(())
}

/// Base64 of a DER sequence: the alphabet, padding at the end only, whole quanta, and the letter that 0x30 begins with.
fn is_certificate_body(body: &str) -> bool {
    let packed: Vec<u8> = body.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let unpadded = match packed.iter().position(|&byte| byte == b'=') {
        Some(end) if packed.len() - end <= 2 && packed[end..].iter().all(|&byte| byte == b'=') => {
            &packed[..end]
        }
        Some(_) => return false,
        None => &packed[..],
    };
    packed.len().is_multiple_of(4)
        && unpadded.first() == Some(&b'M')
        && unpadded.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: impl AsRef<[u8]>) -> Result<(), Complaint> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ca.pem");
        std::fs::write(&path, text).unwrap();
        certificate_file(path.to_str().unwrap())
    }

    fn pem(body: &str) -> String {
        format!("{BEGIN}\n{body}\n{END}\n")
    }

    #[test]
    fn a_file_with_certificates_is_accepted_with_whatever_stands_around_them() {
        assert_eq!(judged(pem("MIIBszCCAVmg\r\nAwIBAgIUXg==")), Ok(()));
        assert_eq!(judged(format!("# first\n{}# second\n{}", pem("MIIB"), pem("MIIC"))), Ok(()));
    }

    #[test]
    fn a_file_that_pins_nothing_is_refused() {
        let key = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n";
        for text in ["", "MIIB", key, &pem(""), &pem("MII"), &pem("MI=B"), &pem("AAAA"), &pem("MI*B"), BEGIN]
        {
            assert!(judged(text).is_err(), "{text}");
        }
        assert!(judged(format!("{}{BEGIN}\nMIIB", pem("MIIB"))).is_err(), "cut short");
        assert!(judged([0xff, 0xfe]).is_err());
        assert!(certificate_file("/no/such/file.pem").is_err());
    }
}
