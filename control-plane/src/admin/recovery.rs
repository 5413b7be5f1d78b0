//! The whole state, for an operator's recovery kit.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::app::App;
use super::asked::Asking;
use super::errors::Answer;
use crate::Error;
use crate::state::Refusal;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    /// What this member has, without asking the leader: for a group that has lost its majority.
    #[serde(default)]
    stale: bool,
}

/// The state as [`crate::recovery::Kit::new`] takes it: everything that was acknowledged before the call. What is sealed in it
/// stays so; of tokens it has HMACs.
pub(super) async fn kit(State(app): State<App>, Asking(which): Asking<Which>) -> Answer<Response> {
    if !which.stale {
        // A decision about nothing: once it is applied here, so is all that was decided before it.
        app.desk.decide(Vec::new()).await?;
    }
    if app.read(|state| state.cluster().settings().is_none()) {
        return Err(Refusal::NotInitialised.into());
    }
    let map = app.desk.member.map().clone();
    let encoded = tokio::task::spawn_blocking(move || map.read(crate::state::State::encode)).await;
    let encoded = encoded.map_err(|error| Error::Stopped(error.to_string()))??;
    tracing::info!(bytes = encoded.len(), stale = which.stale, "a recovery kit was handed out");
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], encoded).into_response())
}
