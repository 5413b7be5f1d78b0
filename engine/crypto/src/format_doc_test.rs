//! The page `docs/formats/keys-and-seals.md` and the constants say the same.

use std::collections::BTreeSet;

use crate::blind::{self, BlindColumn};
use crate::derive::{self, Purpose};
use crate::ids::{Blind, Digest, Head, KdfSalt, Salt, SealId, Tag};
use crate::manifest::{self, Manifest};
use crate::seal::{self, SealDomain};
use crate::tag::TagDomain;
use crate::{chain, draw, fixture, frame, layout, master};

const PAGE: &str = include_str!("../../../docs/formats/keys-and-seals.md");

/// The cells of every row of the table whose header begins with `first_cell`. Tables with one header are joined.
fn table(first_cell: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut inside = false;
    for line in PAGE.lines() {
        let Some(row) = line.strip_prefix("| ").and_then(|rest| rest.strip_suffix('|')) else {
            inside &= line.starts_with("|-");
            continue;
        };
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        if inside {
            rows.push(cells);
        } else {
            inside = cells[0] == first_cell;
        }
    }
    assert!(!rows.is_empty(), "no table `{first_cell}`");
    rows
}

fn column(first_cell: &str, index: usize) -> Vec<String> {
    table(first_cell).into_iter().map(|mut row| row.swap_remove(index)).collect()
}

fn numbers(first_cell: &str) -> Vec<(String, usize)> {
    let parse = |row: Vec<String>| (row[0].clone(), row[1].parse().expect("a number"));
    table(first_cell).into_iter().map(parse).collect()
}

fn named(pairs: &[(&str, usize)]) -> Vec<(String, usize)> {
    pairs.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect()
}

#[test]
fn the_page_names_every_purpose() {
    assert_eq!(column("purpose", 0), Purpose::ALL.map(Purpose::as_str));
}

#[test]
fn the_page_names_every_sealed_field() {
    assert_eq!(column("field", 0), SealDomain::ALL.map(SealDomain::as_str));
}

#[test]
fn the_page_names_every_tag_domain() {
    assert_eq!(column("row", 1), TagDomain::ALL.map(TagDomain::as_str));
}

#[test]
fn the_page_names_every_blind_column() {
    assert_eq!(column("column", 1), BlindColumn::ALL.map(BlindColumn::as_str));
}

#[test]
fn the_page_names_every_single_domain() {
    let expected = [
        derive::DERIVE_DOMAIN,
        seal::SEAL_DOMAIN,
        derive::NONCE_DOMAIN,
        draw::DRAW_DOMAIN,
        blind::LABEL_DOMAIN,
        chain::STEP_DOMAIN,
        derive::SAMPLE_DOMAIN,
        manifest::MANIFEST_DOMAIN,
    ];
    assert_eq!(column("use", 1), expected);
}

#[test]
fn no_two_domains_of_the_page_are_equal() {
    let all: Vec<String> = [column("use", 1), column("row", 1), column("column", 1)].concat();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert!(all.iter().all(|domain| domain.starts_with("undercroft/") && domain.ends_with("/1")));
}

#[test]
fn the_page_gives_every_length() {
    let expected = [
        ("key", layout::KEY_LEN),
        ("nonce", layout::NONCE_LEN),
        ("authenticator", layout::POLY_LEN),
        ("seal id", SealId::LEN),
        ("generation salt", Salt::LEN),
        ("passphrase salt", KdfSalt::LEN),
        ("blind value", Blind::LEN),
        ("tag", Tag::LEN),
        ("chain head", Head::LEN),
        ("chain digest", Digest::LEN),
    ];
    assert_eq!(numbers("length"), named(&expected));
}

#[test]
fn the_page_gives_the_parameters_of_argon2id() {
    let expected = [
        ("memory in KiB", master::KDF_MEMORY_KIB as usize),
        ("passes", master::KDF_PASSES as usize),
        ("lanes", master::KDF_LANES as usize),
        ("output bytes", layout::KEY_LEN),
    ];
    assert_eq!(numbers("Argon2id parameter"), named(&expected));
}

#[test]
fn the_page_gives_the_frame_s_first_bytes_and_rules() {
    let first = [frame::FRAME_RAW, frame::FRAME_ZSTD].map(|byte| format!("{byte:#04x}"));
    assert_eq!(column("first byte", 0), first);
    let level = usize::try_from(frame::COMPRESS_LEVEL).expect("positive");
    let expected = [("shortest compressed content", frame::COMPRESS_MIN), ("zstd level", level)];
    assert_eq!(numbers("frame rule"), named(&expected));
}

#[test]
fn the_page_gives_the_manifest_s_bounds() {
    let expected = [
        ("whole file", manifest::MANIFEST_MAX_BYTES),
        ("name", manifest::NAME_MAX_BYTES),
        ("embedder name", manifest::EMBEDDER_NAME_MAX_BYTES),
        ("created at", manifest::CREATED_AT_MAX_BYTES),
        ("log id", manifest::LOG_ID_MAX_BYTES),
    ];
    assert_eq!(numbers("manifest bound"), named(&expected));
}

#[test]
fn the_page_lists_the_manifest_s_fields_in_the_order_of_the_file() {
    let manifest = Manifest {
        version: manifest::MANIFEST_VERSION,
        name: "n".into(),
        level: manifest::Level::Sealed,
        seal_id: fixture::seal_id(),
        generations: vec![(fixture::generation(3), fixture::salt())],
        embedder: None,
        created_at: "t".into(),
        anchor: manifest::Anchor { height: crate::ids::Height::GENESIS, head: Head::from_bytes([0; 32]) },
        log_id: None,
    };
    let text = manifest.to_json(fixture::keys().manifest());
    let top_level = text.lines().filter_map(|line| line.strip_prefix("  \"")?.split_once('"'));
    let mut fields: Vec<&str> = top_level.map(|(field, _)| field).collect();
    assert_eq!(fields.pop(), Some("mac"));
    assert_eq!(column("field, in canonical order", 0), fields);
}
