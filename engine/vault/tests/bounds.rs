//! What must not grow, block or be lost: the log under a long read, a batch with a bad item, what an embedder gives.

mod support;

use std::sync::Arc;

use support::{Home, UNSCREENED, ask, from_source, note, save};
use undercroft_crypto::Level;
use undercroft_search::{EmbedError, Embedder, HashEmbedder};
use undercroft_vault::{AddedBy, Error, ErrorClass, SourceBatch, Vault, VaultOptions, limits};

/// More than one transaction of these tests puts into the log.
const ONE_TRANSACTION: u64 = 1 << 20;

/// 32 KiB of words that hardly compress.
fn bulk(number: u64) -> String {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789  ";
    (0..32 * 1024)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(letters[usize::try_from(state >> 58).expect("6 bits")])
        })
        .collect()
}

fn wal(home: &Home) -> u64 {
    std::fs::metadata(home.dir().join("vault.db-wal")).map_or(0, |data| data.len())
}

/// Commits 1,500 x 32 KiB and gives the longest log that there was.
fn write_much(home: &Home, vault: &Vault) -> u64 {
    let mut longest = 0;
    for number in 0..1_500 {
        save(vault, "bulk", &bulk(number));
        longest = longest.max(wal(home));
    }
    longest
}

#[test]
fn a_long_read_under_writes_is_told_to_go_and_the_log_stays_within_its_bound() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    // More than a walk holds in memory at a time, so that it comes back to its snapshot.
    for batch in 0..20 {
        let many =
            (0..limits::BATCH_DRAWERS).map(|i| note("inbox", &format!("{i} of batch {batch}"))).collect();
        vault.save_many(many, UNSCREENED).expect("commits");
    }
    let mut longest = 0;
    let error = vault
        .verify(&mut |_| {
            if longest == 0 {
                longest = write_much(&home, &vault);
            }
        })
        .expect_err("the snapshot of this walk was closed");
    assert!(matches!(error, Error::SnapshotExpired), "{error}");
    assert_eq!(error.class(), ErrorClass::Unavailable);
    assert!(longest <= limits::WAL_HARD_BOUND_BYTES + ONE_TRANSACTION, "{longest} bytes");
    let after = (0..500).map(|number| {
        save(&vault, "bulk", &bulk(number));
        wal(&home)
    });
    let longest = after.max().expect("some");
    assert!(longest <= limits::WAL_BOUND_BYTES + ONE_TRANSACTION, "{longest} bytes with nobody reading");
    assert!(vault.verify(&mut |_| {}).expect("walks again").ok);
}

#[test]
fn a_reader_of_another_program_blocks_no_writer_and_the_log_is_cut_when_it_leaves() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "seen by the other program");
    let foreign = home.sql();
    foreign.execute_batch("BEGIN").expect("begins");
    let count = |conn: &rusqlite::Connection| -> i64 {
        conn.query_row("SELECT count(*) FROM drawers", [], |row| row.get(0)).expect("counts")
    };
    assert_eq!(count(&foreign), 1);
    for number in 0..700 {
        save(&vault, "bulk", &bulk(number));
    }
    assert!(wal(&home) > limits::WAL_BOUND_BYTES, "it holds the log");
    assert_eq!(count(&foreign), 1, "and still sees its own moment");
    foreign.execute_batch("COMMIT").expect("leaves");
    save(&vault, "inbox", "the next write");
    assert!(wal(&home) < ONE_TRANSACTION, "{}", wal(&home));
}

/// Fails, or gives something unusable, for texts that ask for it.
struct Moody;

impl Embedder for Moody {
    fn name(&self) -> &str {
        HashEmbedder.name()
    }
    fn dimension(&self) -> usize {
        HashEmbedder.dimension()
    }
    fn gate(&self) -> f32 {
        HashEmbedder.gate()
    }
    fn floor(&self) -> f32 {
        HashEmbedder.floor()
    }
    fn embed(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let mut vector = HashEmbedder.embed(text)?;
        match text {
            "short" => vector.truncate(3),
            "long" => vector.push(0.0),
            "none" => vector.clear(),
            "nan" => vector[7] = f32::NAN,
            "infinite" => vector[7] = f32::NEG_INFINITY,
            "fails" => {
                return Err(EmbedError::Failed { name: "moody".into(), reason: "the model is out".into() });
            }
            _ => {}
        }
        Ok(vector)
    }
}

const MOODS: [&str; 6] = ["short", "long", "none", "nan", "infinite", "fails"];

fn moody(home: &Home) -> Vault {
    let options = VaultOptions { embedder: Arc::new(Moody), ..home.options.clone() };
    Vault::create(&home.dir(), "v", Level::Sealed, &home.master, options).expect("creates")
}

#[test]
fn what_an_embedder_spoils_is_refused_by_item_and_its_neighbours_land() {
    let home = Home::new();
    let vault = moody(&home);
    let texts = ["before", "short", "between", "long", "none", "nan", "infinite", "fails", "after"];
    let results =
        vault.save_many(texts.iter().map(|text| note("inbox", text)).collect(), UNSCREENED).expect("commits");
    for (text, result) in texts.iter().zip(&results) {
        match result {
            Ok(saved) => assert_eq!(vault.get(saved.id).expect("reads").content, *text),
            Err(error) => {
                assert!(MOODS.contains(text), "{text}: {error}");
                assert!(matches!(error, Error::Embedding(_)), "{text}: {error}");
                assert_eq!(error.class(), ErrorClass::Unavailable);
            }
        }
    }
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 3);
    assert_eq!(vault.stats().expect("counts").records, 3);
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
}

#[test]
fn what_an_embedder_spoils_in_a_source_is_named_at_its_place() {
    let home = Home::new();
    let vault = moody(&home);
    let texts = ["zero", "nan", "two", "fails", "four"];
    let batch = SourceBatch {
        source: "s.md".into(),
        wing: "mined".into(),
        added_by: AddedBy::Miner,
        drawers: (0..).zip(texts).map(|(at, text)| from_source("s.md", at, text)).collect(),
        total: Some(5),
        expects: None,
    };
    let outcome = vault.file_source(batch, UNSCREENED).expect("files");
    let landed: Vec<bool> = outcome.drawers.iter().map(Result::is_ok).collect();
    assert_eq!(landed, [true, false, true, false, true]);
    assert_eq!(vault.stats().expect("counts").records, 3);
}

#[test]
fn a_failed_update_leaves_the_words_and_a_query_that_cannot_be_embedded_is_an_error() {
    let home = Home::new();
    let vault = moody(&home);
    let id = save(&vault, "inbox", "kept");
    for mood in MOODS {
        assert!(matches!(vault.update(id, mood, UNSCREENED), Err(Error::Embedding(_))), "{mood}");
        assert!(matches!(vault.search(&ask(mood)), Err(Error::Embedding(_))), "{mood}");
    }
    assert_eq!(vault.get(id).expect("reads").content, "kept");
    assert_eq!(vault.stats().expect("counts").chain_records, 1);
}

#[test]
fn listings_and_pages_beyond_their_bounds_are_refused_by_name() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    for error in [
        vault.list(None, None, 0, 0).expect_err("refuses"),
        vault.list(None, None, limits::MAX_LIST + 1, 0).expect_err("refuses"),
        vault.history(None, 0, 0).expect_err("refuses"),
        vault.history(None, limits::MAX_HISTORY + 1, 0).expect_err("refuses"),
    ] {
        assert_eq!(error.class(), ErrorClass::Invalid);
        assert!(error.to_string().starts_with("invalid limit"), "{error}");
    }
    assert!(vault.list(None, None, 1, usize::MAX).expect("an empty page").is_empty());
}
