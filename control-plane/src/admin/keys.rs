//! The keys of assertions: which there are, and another one. No key is ever shown.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::app::App;
use super::asked::Asked;
use super::errors::Answer;
use crate::leading::mint;
use crate::limits;
use crate::state::{self, Command, KeyCommand};

#[derive(Serialize)]
pub(super) struct Keys {
    current: Option<Key>,
    previous: Option<Key>,
}

#[derive(Serialize)]
struct Key {
    id: u32,
    /// Seconds since 1970.
    since: u64,
    /// When it is good no more at the latest; null for the present one.
    until: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rotate {
    #[serde(default)]
    at_once: bool,
}

pub(super) async fn show(State(app): State<App>) -> Json<Keys> {
    Json(app.read(|state| {
        let keys = state.assertion_keys();
        let key = |key: &state::SealedKey, until| Key { id: key.id, since: key.at / 1000, until };
        let until = keys.current().map(|current| (current.at + limits::OLD_KEY_MS) / 1000);
        Keys {
            current: keys.current().map(|current| key(current, None)),
            previous: keys.previous().map(|previous| key(previous, until)),
        }
    }))
}

/// Mints another key. The one before it stays good until it is needed no more, or ends at once when somebody may have it.
pub(super) async fn rotate(
    State(app): State<App>,
    Asked { body, request }: Asked<Rotate>,
) -> Answer<Json<Keys>> {
    let sealed = mint(&app.desk.key, &app.desk.ports)?;
    let command = KeyCommand::Rotate { sealed, at_once: body.at_once };
    app.decide(request, Command::Key(command)).await?;
    Ok(show(State(app)).await)
}
