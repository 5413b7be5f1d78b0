//! One spelling of each path, before anything looks at it: who is let in, which route it is and what an `Idempotency-Key` is
//! remembered for all see the same.

use axum::body::Body;
use axum::http::{Request, Uri};

/// Slashes around a path mean nothing, and a character that needs no percent-encoding is itself (RFC 3986, section 6.2.2).
pub(super) fn normal(mut request: Request<Body>) -> Request<Body> {
    let path = request.uri().path();
    let core = decoded(path.trim_matches('/'));
    if path.len() != core.len() + 1 || path.get(1..) != Some(core.as_str()) {
        let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = format!("/{core}{query}").parse().ok();
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }
    request
}

/// The path as its segments are read, for comparing: `/` inside of one stays encoded.
pub(super) fn plain(path: &str) -> String {
    decode(path, |byte| byte != b'/' && byte != b'%')
}

/// Decodes what is unreserved; what stays encoded is in capitals.
fn decoded(path: &str) -> String {
    decode(path, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

fn decode(path: &str, is_itself: impl Fn(u8) -> bool) -> String {
    let mut parts = path.split('%');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (value, digits) {
            (Some(byte), _) if byte.is_ascii() && is_itself(byte) => {
                whole.push(char::from(byte));
                whole.push_str(&part[2..]);
            }
            (Some(_), Some(digits)) => {
                whole.push('%');
                whole.push_str(&digits.to_ascii_uppercase());
                whole.push_str(&part[2..]);
            }
            _ => {
                whole.push('%');
                whole.push_str(part);
            }
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_has_one_spelling() {
        let cases = [
            ("/v1/vaults", "/v1/vaults"),
            ("/v1/vaults/", "/v1/vaults"),
            ("//v1/vaults//?a=/b/", "/v1/vaults?a=/b/"),
            ("/", "/"),
            ("/v1//vaults", "/v1//vaults"),
            ("/v1/a%2F/", "/v1/a%2F"),
            ("http://host/v1/", "http://host/v1"),
            ("/v1/%76aults/%6Fne", "/v1/vaults/one"),
            ("/v1/vaults/%c3%bc%2f%41?a=%41", "/v1/vaults/%C3%BC%2FA?a=%41"),
            ("/v1/%", "/v1/%"),
            ("/v1/%4", "/v1/%4"),
            ("/v1/%zz%2541", "/v1/%zz%2541"),
        ];
        for (given, expected) in cases {
            let request = Request::builder().uri(given).body(Body::empty()).unwrap();
            assert_eq!(normal(request).uri().to_string(), expected.to_owned(), "{given}");
        }
    }

    #[test]
    fn paths_are_compared_as_they_are_read() {
        assert_eq!(plain("/a%21%20%2Fb%25"), "/a! %2Fb%25");
        assert_eq!(plain("/a! %2fb%25"), plain("/a%21%20%2Fb%25"));
    }
}
