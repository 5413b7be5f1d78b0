//! The gate of a read-only server: in front of every handler, and closed for whatever it does not know.

use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;

use super::app::App;
use super::errors::{Answer, Refusal};

/// Ends of paths whose `POST` reads.
const READS: [&str; 4] = ["search", "verify", "verify-forgetting", "witness"];
/// The agent protocol has a fence of its own in front of every tool.
const AGENTS: &str = "mcp";

/// Refuses what could change anything.
pub(super) async fn gate(State(app): State<App>, request: Request, next: Next) -> Answer {
    if app.serving.is_read_only() && !reads(request.method(), request.uri().path()) {
        return Err(Refusal::denied("server is read-only"));
    }
    Ok(next.run(request).await)
}

/// Whether a request changes nothing, by its method and path.
pub(super) fn reads(method: &Method, path: &str) -> bool {
    match *method {
        Method::GET => true,
        Method::POST => {
            let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
            match segments.as_slice() {
                ["mcp"] | ["v1", "vaults", _, AGENTS] => true,
                ["v1", "vaults", _, last] => READS.contains(last),
                _ => false,
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_pass_and_everything_else_does_not() {
        let passing = [
            ("GET", "/v1/vaults"),
            ("GET", "/v1/vaults/one/export"),
            ("GET", "/anything"),
            ("POST", "/v1/vaults/one/search"),
            ("POST", "/v1/vaults/one/verify/"),
            ("POST", "/v1/vaults/one/verify-forgetting"),
            ("POST", "/v1/vaults/one/witness"),
            ("POST", "/mcp"),
            ("POST", "/v1/vaults/one/mcp"),
        ];
        let stopped = [
            ("POST", "/v1/vaults"),
            ("POST", "/v1/vaults/search"),
            ("POST", "/v1/vaults/one/search/more"),
            ("POST", "/v1/vaults/one/drawers/search"),
            ("POST", "/v1/vaults/one/verify-"),
            ("POST", "/v1/vaults/one//verify"),
            ("POST", "/search"),
            ("PUT", "/v1/vaults/one/search"),
            ("DELETE", "/v1/vaults/one"),
            ("PATCH", "/v1/vaults/one/search"),
            ("HEAD", "/v1/vaults"),
            ("OPTIONS", "/v1/vaults"),
            ("SEARCH", "/v1/vaults/one/search"),
        ];
        for (method, path) in passing {
            assert!(reads(&method.parse().unwrap(), path), "{method} {path}");
        }
        for (method, path) in stopped {
            assert!(!reads(&method.parse().unwrap(), path), "{method} {path}");
        }
    }
}
