//! The hunt: recognisable words in every field of every kind of record, and every byte of every file searched for each of
//! them, after every kind of change. What is readable on purpose is named here and in the threat model, and nothing else is.

use std::path::Path;

use serde_json::json;
use undercroft_tests::support::{Leak, Palace, hunt};

/// The words that are planted, each in one place only. They are no substring of anything that files hold by themselves.
struct Planted {
    palace: Palace,
    words: Vec<String>,
    ids: Vec<String>,
}

impl Planted {
    fn plant(&mut self, word: &str) -> String {
        self.words.push(word.to_owned());
        word.to_owned()
    }

    fn remember(&mut self, number: usize, level_words: &[(&str, &str)]) -> String {
        let text = self.plant(&format!("Quillfeather{number}"));
        let more = self.plant(&format!("Grünspecht{number}"));
        let mut typed = vec!["remember".to_owned(), format!("{text} met {more} \"at the\" lock {number}")];
        for (flag, stem) in level_words {
            let word = self.plant(&format!("{stem}{number}"));
            typed.extend([format!("--{flag}"), word]);
        }
        let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
        let id = self.palace.json(&typed)["id"].as_str().expect("an id").to_owned();
        self.words.push(id.clone());
        self.ids.push(id.clone());
        id
    }

    /// Fails when anything is readable that should not be.
    fn expect_nothing(&self, after: &str) {
        let leaks: Vec<Leak> = hunt(&self.palace.root(), &self.words, &|file| is_readable_on_purpose(file));
        assert!(leaks.is_empty(), "after {after}: {leaks:#?}");
    }
}

fn is_readable_on_purpose(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "identity.txt")
}

const FIELDS: [(&str, &str); 5] = [
    ("wing", "Wingfurlow"),
    ("room", "Roomsedge"),
    ("agent", "Agentmallow"),
    ("channel", "Channelbriar"),
    ("session", "Sessionyarrow"),
];

fn planted() -> Planted {
    let palace = Palace::new();
    std::fs::write(palace.root().join("identity.txt"), "Identitylarkspur lives here").expect("an identity");
    let mut planted = Planted { palace, words: vec!["Identitylarkspur".into()], ids: Vec::new() };
    for number in 0..3 {
        let _ = planted.remember(number, &FIELDS);
    }
    planted
}

#[test]
fn a_sealed_vault_shows_no_word_after_any_kind_of_change() {
    let mut planted = planted();
    planted.expect_nothing("writing");
    dated_and_linked(&mut planted);
    planted.expect_nothing("dates, kinds and links");
    mined(&mut planted);
    planted.expect_nothing("mining and sweeping");
    changed(&mut planted);
    planted.expect_nothing("updates, deletions and duplicates");
    imaged(&mut planted);
    planted.expect_nothing("searching and the index image");
    let _ = planted.palace.run(&["repair"]).ok();
    planted.expect_nothing("a repair");
    let made = planted.palace.json(&["backup", "create"]);
    planted.expect_nothing("a backup");
    let name = made["path"].as_str().and_then(|path| path.rsplit('/').next()).expect("a name");
    let _ = planted.palace.run(&["backup", "restore", name, "--force"]).ok();
    planted.expect_nothing("a restore");
    planted.palace.verifies();
}

fn dated_and_linked(planted: &mut Planted) {
    let older = planted.ids[0].clone();
    let date = planted.plant("1987-06-05T04:03:02Z");
    let typed = [
        "remember",
        "Oxbowpetrel is newer",
        "--supersedes",
        &older,
        "--content-date",
        &date,
        "--kind",
        "preference",
    ];
    let id = planted.palace.json(&typed)["id"].as_str().expect("an id").to_owned();
    for word in ["Oxbowpetrel", "preference", &id] {
        let _ = planted.plant(word);
    }
}

fn mined(planted: &mut Planted) {
    let source = planted.plant("Sourcetansy");
    let mut text = String::new();
    for n in 0..60 {
        let word = planted.plant(&format!("Minedcurlew{n}x"));
        text.push_str(&format!(
            "{word} stands in paragraph {n}, which is long enough to be a chunk of its own or nearly so.\n\n"
        ));
    }
    let file = planted.palace.file(&format!("{source}/notes.md"), text);
    let _ = planted.palace.run(&["mine", file.to_str().expect("a path")]).ok();
    let word = planted.plant("Transcriptheron");
    let session = planted.plant("Sessionteasel");
    let line = json!({ "type": "user", "sessionId": session, "timestamp": "1986-05-04T03:02:01Z",
                       "message": { "role": "user", "content": format!("{word} asked a question") } });
    let _ = planted.plant("1986-05-04T03:02:01Z");
    let log = planted.palace.file("logs/talk.jsonl", format!("{line}\n"));
    let log = log.to_str().expect("a path");
    let _ = planted.palace.run(&["mine", log, "--mode", "convos"]).ok();
    let _ = planted.palace.run(&["sweep", log]).ok();
}

fn changed(planted: &mut Planted) {
    let word = planted.plant("Updatedavocet");
    let (changed, removed) = (planted.ids[1].clone(), planted.ids[2].clone());
    let _ = planted.palace.run(&["drawer", "update", &changed, &format!("{word} replaced the words")]).ok();
    let _ = planted.palace.run(&["drawer", "delete", &removed]).ok();
    for day in ["1985-04-03", "1984-03-02"] {
        let date = planted.plant(day);
        let word = planted.plant("Duplicatedunlin");
        let _ = planted.palace.run(&["remember", &format!("{word} twice"), "--content-date", &date]).ok();
    }
    let _ = planted.palace.run(&["dedup", "--apply"]).ok();
}

/// Enough drawers for an image, and a search that makes one.
fn imaged(planted: &mut Planted) {
    let mut text = String::new();
    for n in 0..400 {
        let word = planted.plant(&format!("Imagedplover{n}z"));
        text.push_str(&format!("{word}. {}\n\n", "A long paragraph makes a chunk of its own. ".repeat(18)));
    }
    let file = planted.palace.file("many.md", text);
    let _ = planted.palace.run(&["mine", file.to_str().expect("a path")]).ok();
    assert!(planted.palace.found("imagedplover7z")[0].starts_with("Imagedplover7z"));
    assert!(
        planted.palace.vault().join("index.img").exists(),
        "no image was kept: the hunt has nothing to look at"
    );
}

#[test]
fn the_hunt_finds_the_words_of_a_readable_vault() {
    let palace = Palace::new();
    let _ = palace.run(&["vault", "create", "open", "--level", "hmac-only"]).ok();
    let _ =
        palace.run(&["remember", "Quillfeather in the open", "--wing", "Wingfurlow", "--vault", "open"]).ok();
    let words = ["Quillfeather".to_owned(), "Wingfurlow".to_owned()];
    let leaks = hunt(&palace.root(), &words, &|_| false);
    for word in words {
        assert!(leaks.iter().any(|leak| leak.word == word), "the hunt missed {word}");
    }
}

#[test]
fn what_was_deleted_or_replaced_is_gone_from_every_file_of_a_readable_vault_too() {
    let palace = Palace::new();
    let _ = palace.run(&["vault", "create", "open", "--level", "hmac-only"]).ok();
    let filed = |text: &str| {
        let made = palace.json(&["remember", text, "--vault", "open"]);
        made["id"].as_str().expect("an id").to_owned()
    };
    let (deleted, changed) = (filed("Quillfeather to be deleted"), filed("Grünspecht to be replaced"));
    let _ = palace.run(&["drawer", "delete", &deleted, "--vault", "open"]).ok();
    let _ = palace.run(&["drawer", "update", &changed, "Other words", "--vault", "open"]).ok();
    let leaks = hunt(&palace.root(), &["Quillfeather".to_owned(), "Grünspecht".to_owned()], &|_| false);
    assert!(leaks.is_empty(), "{leaks:#?}");
    let _ = palace.run(&["verify", "--vault", "open"]).ok();
}
