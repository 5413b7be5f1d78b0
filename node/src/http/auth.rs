//! Who may ask: the bearer of the server, the assertion for one vault, and, on a server for this machine alone, that the
//! request comes from this machine's own programs and not from a page in its browser.
//!
//! A refusal is a bare 401: neither reason nor layer is told, and it comes before anything is looked up.

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::app::App;
use super::body::says_json;
use super::errors::{Answer, Refusal};
use super::server::is_loopback;
use super::status;

/// Header of the assertion.
const ASSERTION: &str = "x-vault-assertion";
/// How far the clock of whoever minted an assertion may be from ours, in seconds, either way.
pub(super) const WINDOW_SECONDS: u64 = 120;

/// The secret with which assertions are minted. Never printed, wiped from memory when dropped.
pub struct AssertionSecret(Zeroizing<Vec<u8>>);

impl AssertionSecret {
    /// Takes a declared secret, which was judged before: it is not blank.
    #[must_use]
    pub fn new(secret: String) -> Self {
        Self(Zeroizing::new(secret.into_bytes()))
    }
}

/// The assertion that whoever sent it may use the vault `vault` at about `unix_seconds`:
/// `<ts>:<hex of HMAC-SHA256(secret, "<ts>|<vault>")>`.
#[must_use]
pub fn assertion(secret: &AssertionSecret, unix_seconds: u64, vault: &str) -> String {
    format!("{unix_seconds}:{}", hex::encode(mac(secret, unix_seconds, vault).finalize().into_bytes()))
}

/// Lets through who shows the bearer; every route but health needs it.
pub(super) async fn guard(State(app): State<App>, request: Request, next: Next) -> Answer {
    check_host(request.headers())?;
    if status::is_open(request.uri().path()) {
        return Ok(next.run(request).await);
    }
    let passed = match &app.options.bearer {
        Some(_) => shows_bearer(&app, request.headers()),
        None => {
            check_local(&request)?;
            return Ok(next.run(request).await);
        }
    };
    if !passed {
        app.metrics.rejected("bearer");
        return Err(Refusal::unauthorized());
    }
    Ok(next.run(request).await)
}

/// Whether the request carries the declared bearer, or none is declared.
pub(super) fn shows_bearer(app: &App, headers: &HeaderMap) -> bool {
    let Some(bearer) = &app.options.bearer else { return true };
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(only), None) = (shown.next(), shown.next()) else { return false };
    only.as_bytes().split_at_checked(7).is_some_and(|(scheme, token)| {
        let named = scheme.eq_ignore_ascii_case(b"Bearer ");
        bearer.is(token) && named
    })
}

/// Demands a fresh assertion for `vault`, when a secret is declared.
pub(super) fn check_assertion(app: &App, headers: &HeaderMap, vault: &str) -> Answer<()> {
    let Some(secret) = &app.options.assertions else { return Ok(()) };
    let mut shown = headers.get_all(ASSERTION).iter();
    let valid = match (shown.next().and_then(|value| value.to_str().ok()), shown.next()) {
        (Some(only), None) => is_valid(secret, only, vault, status::unix_seconds()),
        _ => false,
    };
    if valid {
        return Ok(());
    }
    app.metrics.rejected("assertion");
    Err(Refusal::unauthorized())
}

/// Judges one assertion: its age first, then its MAC in constant time.
pub(super) fn is_valid(secret: &AssertionSecret, shown: &str, vault: &str, now: u64) -> bool {
    let Some((ts, tag)) = shown.split_once(':') else { return false };
    if ts.is_empty() || !ts.bytes().all(|byte| byte.is_ascii_digit()) || ts.len() > 1 && ts.starts_with('0') {
        return false;
    }
    let Ok(minted) = ts.parse::<u64>() else { return false };
    if minted.abs_diff(now) > WINDOW_SECONDS {
        return false;
    }
    let lower = tag.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let mut bytes = [0; 32];
    lower
        && hex::decode_to_slice(tag, &mut bytes).is_ok()
        && mac(secret, minted, vault).verify_slice(&bytes).is_ok()
}

fn mac(secret: &AssertionSecret, unix_seconds: u64, vault: &str) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret.0).expect("HMAC takes keys of any length");
    mac.update(format!("{unix_seconds}|{vault}").as_bytes());
    mac
}

/// Without a bearer, only this machine's own programs are let in. What runs in a page of this machine must say that it sends
/// JSON, which no page can without asking first, and nobody answers that.
fn check_local(request: &Request) -> Answer<()> {
    if !is_local(request) {
        return Err(foreign());
    }
    let from_page = request.headers().contains_key(header::ORIGIN);
    if from_page && !request.method().is_safe() && !says_json(request.headers()) {
        let message = "a request with an Origin must say Content-Type: application/json";
        return Err(Refusal::surface(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    Ok(())
}

fn foreign() -> Refusal {
    Refusal::denied(
        "this server is for programs of this machine; declare UNDERCROFT_MCP_HTTP_TOKEN to serve others",
    )
}

/// Of two hosts, a proxy in front may have judged the other one.
fn check_host(headers: &HeaderMap) -> Answer<()> {
    match headers.get_all(header::HOST).iter().count() {
        0 | 1 => Ok(()),
        _ => Err(Refusal::invalid("invalid Host: it was sent twice; send one")),
    }
}

/// Without a bearer, a page in a browser must not reach the vaults: neither under a name that was pointed at this
/// machine (`Host`, or the whole address in the first line), nor from a page of another origin (`Origin`).
fn is_local(request: &Request) -> bool {
    let (headers, of_line) = (request.headers(), request.uri().authority());
    let hosts = headers.get_all(header::HOST).iter();
    let mut hosts = hosts.map(|host| host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()));
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let is_named = of_line.is_some() || headers.contains_key(header::HOST);
    is_named
        && of_line.is_none_or(|host| is_loopback(host.host()))
        && hosts.all(|host| host.is_some_and(|host| is_loopback(host.host())))
        && origins.all(|origin| {
            let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
            origin.is_some_and(|origin| origin.host().is_some_and(is_loopback))
        })
}
