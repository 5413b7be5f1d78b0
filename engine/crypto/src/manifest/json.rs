//! `vault.json` as text: strict to read, readable for a person.
//!
//! Unknown, repeated and missing fields are refused; byte values are lower-case hexadecimal.

use serde::{Deserialize, Serialize};

use super::{Anchor, EmbedderIdentity, Level, Manifest};
use crate::error::Error;
use crate::ids::{Head, Height, KeyGeneration, Salt, SealId, Tag};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    name: String,
    level: String,
    seal_id: String,
    generations: Vec<Generation>,
    #[serde(deserialize_with = "present")]
    embedder: Option<Embedder>,
    created_at: String,
    anchor: Position,
    #[serde(deserialize_with = "present")]
    log_id: Option<String>,
    mac: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Generation {
    generation: u32,
    salt: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Embedder {
    name: String,
    dimension: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Position {
    height: u64,
    head: String,
}

/// An absent value is written `null`, so a field that is missing altogether is damage.
fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}

/// The text for a manifest and its MAC, ending in a newline.
pub(super) fn render(manifest: &Manifest, mac: &Tag) -> String {
    let file = File {
        version: manifest.version,
        name: manifest.name.clone(),
        level: manifest.level.as_str().to_owned(),
        seal_id: manifest.seal_id.to_hex(),
        generations: manifest
            .generations
            .iter()
            .map(|(generation, salt)| Generation { generation: generation.get(), salt: salt.to_hex() })
            .collect(),
        embedder: manifest
            .embedder
            .as_ref()
            .map(|embedder| Embedder { name: embedder.name.clone(), dimension: embedder.dimension }),
        created_at: manifest.created_at.clone(),
        anchor: Position { height: manifest.anchor.height.get(), head: manifest.anchor.head.to_hex() },
        log_id: manifest.log_id.clone(),
        mac: mac.to_hex(),
    };
    #[expect(clippy::expect_used, reason = "strings and integers always have a JSON form")]
    let mut text = serde_json::to_string_pretty(&file).expect("strings and integers have a JSON form");
    text.push('\n');
    text
}

/// Reads the text; the bounds of the fields are the caller's to check.
pub(super) fn parse(text: &str) -> Result<(Manifest, Tag), Error> {
    let file: File = serde_json::from_str(text).map_err(|error| damaged(&error))?;
    let mac = Tag::from_hex(&file.mac).map_err(|error| damaged(&error))?;
    let manifest = believe(file).map_err(|error| damaged(&error))?;
    Ok((manifest, mac))
}

fn believe(file: File) -> Result<Manifest, Error> {
    // The alias that a person may type is not what this crate writes.
    let level = Level::parse(&file.level)?;
    if level.as_str() != file.level {
        return Err(Error::Level);
    }
    let generations = file
        .generations
        .iter()
        .map(|entry| Ok((KeyGeneration::from_u32(entry.generation)?, Salt::from_hex(&entry.salt)?)));
    Ok(Manifest {
        version: file.version,
        name: file.name,
        level,
        seal_id: SealId::from_hex(&file.seal_id)?,
        generations: generations.collect::<Result<_, Error>>()?,
        embedder: file
            .embedder
            .map(|embedder| EmbedderIdentity { name: embedder.name, dimension: embedder.dimension }),
        created_at: file.created_at,
        anchor: Anchor { height: Height::new(file.anchor.height), head: Head::from_hex(&file.anchor.head)? },
        log_id: file.log_id,
    })
}

fn damaged(error: &dyn std::fmt::Display) -> Error {
    Error::ManifestForm { detail: error.to_string() }
}
