//! The operator's token. Who does not show it learns nothing, not even whether a route exists.

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::app::App;
use super::errors::{Answer, Refused};
use crate::Error;

/// Fewest characters of a token.
const SHORTEST: usize = 16;

/// The token that an operator must show. Never printed, wiped from memory when dropped.
pub struct AdminToken(Zeroizing<Vec<u8>>);

impl AdminToken {
    /// Takes a declared token.
    ///
    /// # Errors
    /// [`Error::AdminToken`] for one of fewer than 16 characters, or with white space at its end.
    pub fn new(token: String) -> Result<Self, Error> {
        let token = Zeroizing::new(token);
        let characters = token.chars().count();
        if characters < SHORTEST || token.ends_with(char::is_whitespace) {
            return Err(Error::AdminToken(characters));
        }
        Ok(Self(Zeroizing::new(token.as_bytes().to_vec())))
    }

    /// Whether `shown` is this token, in a time that does not depend on where they part.
    fn is(&self, shown: &[u8]) -> bool {
        self.0.as_slice().ct_eq(shown).into()
    }
}

/// Lets through who shows the token, once and in one header.
pub(super) async fn guard(State(app): State<App>, request: Request, next: Next) -> Answer<Response> {
    let mut shown = request.headers().get_all(header::AUTHORIZATION).iter();
    let passed = match (shown.next(), shown.next()) {
        (Some(only), None) => only.as_bytes().split_at_checked(7).is_some_and(|(scheme, token)| {
            let named = scheme.eq_ignore_ascii_case(b"Bearer ");
            app.token.is(token) && named
        }),
        _ => false,
    };
    if passed { Ok(next.run(request).await) } else { Err(Refused::unauthorized()) }
}

#[cfg(test)]
mod tests {
    use super::AdminToken;

    #[test]
    fn a_short_or_ragged_token_is_refused() {
        for bad in ["", "0123456789abcde", "0123456789abcdef\n", "0123456789abcdef "] {
            assert!(AdminToken::new(bad.into()).is_err(), "{bad:?}");
        }
        let token = AdminToken::new("0123456789abcdef".into()).expect("long enough");
        assert!(token.is(b"0123456789abcdef"));
        assert!(!token.is(b"0123456789abcdeg") && !token.is(b"") && !token.is(b"0123456789abcdef0"));
    }
}
