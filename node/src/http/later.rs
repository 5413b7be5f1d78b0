//! Routes that are documented and not built: known, so that a client learns what is missing instead of guessing.

use axum::extract::MatchedPath;
use axum::http::Method;

use super::errors::Refusal;
use super::vault_route::VaultRoute;

/// Answers 501 with the method and the route, after the same checks that a built one makes.
pub(super) async fn later(_vault: VaultRoute, method: Method, path: MatchedPath) -> Refusal {
    Refusal::not_implemented(format!("{method} {}", path.as_str()))
}

/// The same for a route that is about no vault.
pub(super) async fn later_anywhere(method: Method, path: MatchedPath) -> Refusal {
    Refusal::not_implemented(format!("{method} {}", path.as_str()))
}
