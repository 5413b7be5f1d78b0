//! Supersession receipts: proof of which words a link pointed at when it was made.

use serde::{Deserialize, Serialize};
use undercroft_crypto::{MacKey, Tag, TagDomain};

use super::id::DrawerId;

/// What a receipt says today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkVerdict {
    /// The superseded drawer still says what it said.
    Verified,
    /// It was changed since.
    SourceChanged,
    /// It is gone.
    Dangling,
    /// The link has no receipt.
    Unreceipted,
    /// The receipt contradicts itself.
    Tampered,
}

/// One supersession link and its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SupersessionLink {
    /// The newer drawer.
    pub drawer_id: DrawerId,
    /// The one it supersedes.
    pub supersedes: DrawerId,
    /// What the receipt says.
    pub verdict: LinkVerdict,
}

/// Links by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SupersessionCounts {
    /// Links that hold.
    pub verified: u64,
    /// Links whose target changed.
    pub source_changed: u64,
    /// Links whose target is gone.
    pub dangling: u64,
    /// Links without a receipt.
    pub unreceipted: u64,
    /// Links whose receipt is false.
    pub tampered: u64,
}

impl SupersessionCounts {
    pub(crate) fn count(&mut self, verdict: LinkVerdict) {
        match verdict {
            LinkVerdict::Verified => self.verified += 1,
            LinkVerdict::SourceChanged => self.source_changed += 1,
            LinkVerdict::Dangling => self.dangling += 1,
            LinkVerdict::Unreceipted => self.unreceipted += 1,
            LinkVerdict::Tampered => self.tampered += 1,
        }
    }
}

/// The receipt as stored inside the sealed metadata of the newer drawer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// Keyed fingerprint of the superseded words, hex.
    fingerprint: String,
    /// MAC over both ids and the fingerprint, hex.
    mac: String,
}

impl Receipt {
    /// Binds `newer` to what `older` says now.
    pub(crate) fn issue(mac: &MacKey, newer: &DrawerId, older: &DrawerId, older_text: &[u8]) -> Self {
        let fingerprint = fingerprint(mac, older_text);
        let tag = bind(mac, newer, older, &fingerprint);
        Self { fingerprint: hex::encode(fingerprint.as_bytes()), mac: hex::encode(tag.as_bytes()) }
    }

    /// Judges the receipt against what `older` says today (`None` when it is gone).
    pub(crate) fn judge(
        &self,
        mac: &MacKey,
        newer: &DrawerId,
        older: &DrawerId,
        older_text: Option<&[u8]>,
    ) -> LinkVerdict {
        let (Some(print), Some(tag)) = (decode(&self.fingerprint), decode(&self.mac)) else {
            return LinkVerdict::Tampered;
        };
        if bind(mac, newer, older, &print) != tag {
            return LinkVerdict::Tampered;
        }
        match older_text {
            None => LinkVerdict::Dangling,
            Some(text) if fingerprint(mac, text) == print => LinkVerdict::Verified,
            Some(_) => LinkVerdict::SourceChanged,
        }
    }
}

fn fingerprint(mac: &MacKey, text: &[u8]) -> Tag {
    mac.tag(TagDomain::ContentFingerprint, &[text])
}

fn bind(mac: &MacKey, newer: &DrawerId, older: &DrawerId, fingerprint: &Tag) -> Tag {
    mac.tag(TagDomain::Supersession, &[newer.as_bytes(), older.as_bytes(), fingerprint.as_bytes()])
}

fn decode(text: &str) -> Option<Tag> {
    hex::decode(text).ok().and_then(|bytes| Tag::from_slice(&bytes).ok())
}
