//! Whether the member runs, and whether it can decide. Open to everybody, and says no more than that.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use super::app::App;

#[derive(Serialize)]
pub(super) struct Healthz {
    ok: bool,
    mode: &'static str,
    /// Seconds since 1970 of the newest decision that is applied here.
    last_write: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct Ready {
    ready: bool,
    /// Whether the group has a leader that this member hears.
    leader: bool,
    /// Whether the cluster is founded.
    initialised: bool,
    /// Why this member takes part in nothing any more, most often its disk: make room, then start it again; or that it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

pub(super) async fn healthz(State(app): State<App>) -> Json<Healthz> {
    let now = app.read(crate::state::State::now);
    Json(Healthz { ok: true, mode: "writer", last_write: (now > 0).then_some(now / 1000) })
}

pub(super) async fn livez() -> StatusCode {
    StatusCode::NO_CONTENT
}

/// Ready is a member that hears a leader: what it is asked can be decided.
pub(super) async fn readyz(State(app): State<App>) -> (StatusCode, Json<Ready>) {
    let (leader, fault) = (app.desk.member.leader().is_some(), app.desk.member.fault());
    let ready = leader && fault.is_none();
    let initialised = app.read(|state| state.cluster().settings().is_some());
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Ready { ready, leader, initialised, fault }))
}
