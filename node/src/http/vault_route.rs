//! The vault that a request is about: named in the path, asserted, spelt as it is kept, and only then opened.
//!
//! A handler cannot name a vault but through [`VaultRoute`], so none can forget the assertion.

use std::sync::{Arc, OnceLock};

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use std::collections::HashMap;
use undercroft_palace::registry;

use super::app::App;
use super::arriving::{OfVault, Visit};
use super::auth::check_assertion;
use super::contract::{Asks, Draft, named};
use super::errors::{Answer, Refusal};
use crate::serving::{LongPlace, VaultHandle};

/// What a vault's name looks like: a name without white space at its ends, and without a dot at its start.
pub(super) const VAULT_NAME: &str =
    r"^[^\x00-\x20\x7f-\xa0./\\]([^\x00-\x1f\x7f-\x9f/\\]*[^\x00-\x20\x7f-\xa0/\\])?$";

/// Where the envelope finds the vault whose position the answer carries.
#[derive(Clone, Default)]
pub(super) struct Opened(Arc<OnceLock<VaultHandle>>);

impl Opened {
    pub(super) fn position(&self) -> Option<u64> {
        self.0.get().map(VaultHandle::position)
    }
}

/// A vault that the caller may use; whether it exists is not known yet.
pub(super) struct VaultRoute {
    pub(super) app: App,
    pub(super) id: String,
    opened: Opened,
    _visit: Visit,
}

impl VaultRoute {
    /// The vault `id`, once its assertion was checked. From here on the request counts as one of that vault.
    pub(super) fn asserted(app: &App, id: String, parts: &mut Parts) -> Answer<Self> {
        let visit = app.arriving.visit(&id)?;
        parts.extensions.insert(OfVault(id.as_str().into()));
        let opened = parts.extensions.get::<Opened>().cloned().unwrap_or_default();
        Ok(Self { app: app.clone(), id, opened, _visit: visit })
    }

    /// Opens the vault and notes it for the answer's position.
    pub(super) async fn open(&self) -> Answer<VaultHandle> {
        let handle = self.app.serving.vault(&self.id).await?;
        // A second open of one request is the same vault.
        let _ = self.opened.0.set(handle.clone());
        Ok(handle)
    }

    /// Waits for a place for long work, and opens the vault then: nobody waits with the vault in hand.
    pub(super) async fn open_for_long(&self) -> Answer<(LongPlace, VaultHandle)> {
        let place = self.app.serving.long_place(&self.id).await?;
        Ok((place, self.open().await?))
    }

    /// Notes the vault for the answer's position, when it can be opened.
    pub(super) async fn note_if_open(&self) {
        if let Ok(handle) = self.app.serving.vault(&self.id).await {
            let _ = self.opened.0.set(handle);
        }
    }
}

impl FromRequestParts<App> for VaultRoute {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let Path(segments) = Path::<HashMap<String, String>>::from_request_parts(parts, app)
            .await
            .map_err(|_| Refusal::invalid("the path: it must be percent-encoded UTF-8"))?;
        let id = segments.get("id").cloned().unwrap_or_default();
        check_assertion(app, &parts.headers, &id)?;
        check_spelling(app, &id)?;
        Self::asserted(app, id, parts)
    }
}

impl Asks for VaultRoute {
    fn ask(draft: &mut Draft) {
        draft.of_a_vault();
        draft.segment("id", "The vault's name, as it is kept.", named(VAULT_NAME));
    }
}

/// A name is taken as it is kept: another spelling would carry another assertion for the same vault.
pub(super) fn check_spelling(app: &App, id: &str) -> Answer<()> {
    let folder = registry::folder(app.serving.home(), id).map_err(crate::error::Error::from)?;
    if folder.file_name().and_then(|kept| kept.to_str()) == Some(id) {
        return Ok(());
    }
    Err(Refusal::invalid(
        "invalid vault id: white space at its ends or another form of its letters; send it as it is kept",
    ))
}

/// A further segment of the path.
pub(super) fn segment<T: std::str::FromStr<Err = undercroft_vault::Error>>(text: &str) -> Answer<T> {
    text.parse().map_err(Refusal::from)
}
