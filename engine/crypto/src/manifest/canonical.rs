//! The bytes under a manifest's MAC: every field, in one order, length-prefixed.

use super::Manifest;
use crate::layout::put_lp;

/// The domain in front of the canonical bytes.
pub(crate) const MANIFEST_DOMAIN: &str = "undercroft/manifest/1";

/// version u32 ‖ lp(name) ‖ lp(level) ‖ lp(seal id) ‖ number of generations u64 ‖ (generation u32 ‖ lp(salt)) for
/// each ‖ embedder ‖ lp(created at) ‖ anchor height u64 ‖ lp(anchor head) ‖ log id. An absent embedder or log id is
/// 0x00; a present one is 0x01 ‖ lp(name) ‖ dimension u32, and 0x01 ‖ lp(text).
pub(super) fn encode(manifest: &Manifest) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(&manifest.version.to_le_bytes());
    put_lp(&mut out, manifest.name.as_bytes());
    put_lp(&mut out, manifest.level.as_str().as_bytes());
    put_lp(&mut out, manifest.seal_id.as_bytes());
    out.extend_from_slice(&(manifest.generations.len() as u64).to_le_bytes());
    for (generation, salt) in &manifest.generations {
        out.extend_from_slice(&generation.get().to_le_bytes());
        put_lp(&mut out, salt.as_bytes());
    }
    out.push(u8::from(manifest.embedder.is_some()));
    if let Some(embedder) = &manifest.embedder {
        put_lp(&mut out, embedder.name.as_bytes());
        out.extend_from_slice(&embedder.dimension.to_le_bytes());
    }
    put_lp(&mut out, manifest.created_at.as_bytes());
    out.extend_from_slice(&manifest.anchor.height.get().to_le_bytes());
    put_lp(&mut out, manifest.anchor.head.as_bytes());
    out.push(u8::from(manifest.log_id.is_some()));
    if let Some(log_id) = &manifest.log_id {
        put_lp(&mut out, log_id.as_bytes());
    }
    out
}
