//! What the files of a vault show to somebody without its key.

mod support;

use std::path::Path;

use support::{Home, UNSCREENED, ask, keyed, note, save};
use undercroft_crypto::Level;
use undercroft_vault::Change;

#[test]
fn deleted_words_of_a_readable_vault_are_gone_from_its_database() {
    let home = Home::new();
    let vault = home.create(Level::HmacOnly);
    let gone = save(&vault, "inbox", "meet the zugzwang tomorrow");
    let changed = save(&vault, "inbox", "a syzygy over the house");
    save(&vault, "inbox", "kept words");
    vault.close().expect("closes");
    let vault = home.open().expect("opens");
    vault.delete(gone).expect("deletes");
    vault.update(changed, "nothing over the house", UNSCREENED).expect("updates");
    vault.close().expect("closes");
    for entry in std::fs::read_dir(home.dir()).expect("reads") {
        let path = entry.expect("reads").path();
        let bytes = std::fs::read(&path).expect("reads");
        for word in [&b"zugzwang"[..], b"syzygy"] {
            assert!(!holds(&bytes, word), "{} is in {}", String::from_utf8_lossy(word), name(&path));
        }
    }
}

#[test]
fn no_word_of_a_sealed_vault_is_in_any_of_its_files() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let mut new = note("quincunxroom", "the zugzwang of the text");
    new.wing = "borborygmwing".into();
    new.claims.agent = Some("xylophagent".into());
    new.content_date = Some("1887-03-09".into());
    let id = vault.save(new, UNSCREENED).expect("saves").id;
    vault.update(id, "a syzygy instead", UNSCREENED).expect("updates");
    let many = (0..300).map(|i| note("inbox", &format!("walrus number{i}"))).collect();
    vault.save_many(many, UNSCREENED).expect("commits");
    let request = *b"a digest of a body: vexillology.";
    let once = keyed(Change::Update { id, text: "a syzygy instead".into() }, "rhododendronkey", request);
    assert!(vault.write_requests(vec![once], UNSCREENED).expect("commits")[0].is_ok());
    assert!(!vault.search(&ask("syzygy")).expect("searches").hits.is_empty());
    let hex = id.to_string();
    let words = [
        "zugzwang",
        "syzygy",
        "quincunx",
        "borborygm",
        "xylophag",
        "1887-03-09",
        "walrus",
        "rhododendron",
        "vexillology",
        "updated",
        "POST /v1",
        hex.as_str(),
    ];
    let check = |when: &str| {
        for entry in std::fs::read_dir(home.dir()).expect("reads") {
            let path = entry.expect("reads").path();
            let bytes = std::fs::read(&path).expect("reads");
            for word in words {
                let wide: Vec<u8> = word.encode_utf16().flat_map(u16::to_le_bytes).collect();
                assert!(!holds(&bytes, word.as_bytes()), "{when}: {word} in {}", name(&path));
                assert!(!holds(&bytes, &wide), "{when}: {word} in UTF-16 in {}", name(&path));
            }
            assert!(!holds(&bytes, id.as_bytes()), "{when}: the id in {}", name(&path));
        }
    };
    check("open");
    vault.close().expect("closes");
    assert!(home.dir().join("index.img").exists());
    check("closed");
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}
