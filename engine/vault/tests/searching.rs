//! Search follows every write, trusts no image that is not of this chain, and answers any query with hits or a clear no.

mod support;

use support::{Home, UNSCREENED, ask, copy_folder, note, save};
use undercroft_crypto::Level;
use undercroft_vault::{
    DrawerId, ErrorClass, Kind, NewDrawer, SearchReply, SearchRequest, Vault, limits, rfc3339,
};

const IMAGE: &str = "index.img";

fn search(vault: &Vault, query: &str) -> Vec<DrawerId> {
    vault.search(&ask(query)).expect("searches").hits.into_iter().map(|hit| hit.id).collect()
}

/// The drawers among the hits that hold the word itself: others may be near in meaning.
fn holding(vault: &Vault, word: &str) -> Vec<DrawerId> {
    let hits = vault.search(&ask(word)).expect("searches").hits;
    hits.into_iter().filter(|hit| hit.content.contains(word)).map(|hit| hit.id).collect()
}

/// Everything that a ranking shows, at an instant that does not move.
fn ranking(vault: &Vault, query: &str) -> Vec<(DrawerId, String, u32, u32)> {
    let request = SearchRequest { limit: 40, ranked_at: Some(rfc3339(support::START)), ..ask(query) };
    let SearchReply { hits, .. } = vault.search(&request).expect("searches");
    hits.into_iter().map(|hit| (hit.id, hit.content, hit.score.to_bits(), hit.lexical.to_bits())).collect()
}

const SUBJECTS: [&str; 7] = ["boiler", "garden", "walrus", "ledger", "tunnel", "violin", "harbour"];

fn many(count: usize) -> Vec<NewDrawer> {
    (0..count)
        .map(|i| {
            let (one, two) = (SUBJECTS[i % 7], SUBJECTS[(i * 3 + 1) % 7]);
            note("inbox", &format!("entry{i} about the {one} and the {two}, told {} times", i % 11))
        })
        .collect()
}

/// A vault of 320 drawers whose image was written on closing.
fn imaged() -> Home {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    vault.save_many(many(320), UNSCREENED).expect("commits");
    search(&vault, "walrus");
    vault.close().expect("closes");
    assert!(home.dir().join(IMAGE).exists());
    home
}

fn image(home: &Home) -> Vec<u8> {
    std::fs::read(home.dir().join(IMAGE)).expect("reads")
}

#[test]
fn a_loaded_index_follows_writes_updates_and_deletions() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let home = Home::new();
        let vault = home.create(level);
        assert!(search(&vault, "walrus").is_empty());
        let id = save(&vault, "inbox", "a walrus on the ice");
        assert_eq!(search(&vault, "walrus"), [id]);
        vault.update(id, "an ostrich in the sand", UNSCREENED).expect("updates");
        assert!(search(&vault, "walrus").is_empty());
        assert_eq!(search(&vault, "ostrich"), [id]);
        vault.delete(id).expect("deletes");
        assert!(search(&vault, "ostrich").is_empty());
        let copies = vec![note("inbox", "the same heron"), note("inbox", "the same heron")];
        vault.save_many(copies, UNSCREENED).expect("commits");
        assert_eq!(search(&vault, "heron").len(), 2);
        vault.dedup(true).expect("deduplicates");
        assert_eq!(search(&vault, "heron").len(), 1);
        vault.repair(&mut |_| {}).expect("repairs");
        assert_eq!(search(&vault, "heron").len(), 1);
    }
}

#[test]
fn a_ranking_is_the_same_followed_reopened_and_rebuilt() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    search(&vault, "loads the index before anything is written");
    for new in many(320) {
        vault.save(new, UNSCREENED).expect("saves");
    }
    let queries = ["boiler and garden", "entry17", "told 5 times", "the harbour ledger"];
    let followed: Vec<_> = queries.iter().map(|query| ranking(&vault, query)).collect();
    assert!(followed.iter().all(|hits| !hits.is_empty()));
    vault.close().expect("closes");
    let vault = home.open().expect("opens");
    let from_image: Vec<_> = queries.iter().map(|query| ranking(&vault, query)).collect();
    assert_eq!(from_image, followed);
    drop(vault);
    std::fs::remove_file(home.dir().join(IMAGE)).expect("there was one");
    let vault = home.open_read_only().expect("opens");
    let rebuilt: Vec<_> = queries.iter().map(|query| ranking(&vault, query)).collect();
    assert_eq!(rebuilt, followed);
}

#[test]
fn an_image_is_kept_only_when_enough_changed_or_something_was_destroyed() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    vault.save_many(many(20), UNSCREENED).expect("commits");
    search(&vault, "walrus");
    vault.close().expect("closes");
    assert!(!home.dir().join(IMAGE).exists(), "a small vault is built faster than read");
    let home = imaged();
    let first = image(&home);
    let vault = home.open().expect("opens");
    let id = save(&vault, "inbox", "one more walrus");
    assert!(search(&vault, "more walrus").contains(&id));
    vault.close().expect("closes");
    assert_eq!(image(&home), first, "one record more is caught up with");
    let vault = home.open().expect("opens");
    assert!(search(&vault, "more walrus").contains(&id));
    vault.delete(id).expect("deletes");
    vault.close().expect("closes");
    assert_ne!(image(&home), first, "the image must not keep what was destroyed");
}

#[test]
fn an_image_does_not_outlive_what_was_destroyed_without_a_search() {
    let home = imaged();
    let id = undercroft_vault::drawer_id("work", "inbox", None, 7);
    let vault = home.open().expect("opens");
    assert!(vault.get(id).is_ok());
    vault.delete(id).expect("deletes");
    vault.close().expect("closes");
    assert!(!home.dir().join(IMAGE).exists(), "nothing was loaded that could have written another");
    let vault = home.open().expect("opens");
    assert!(!search(&vault, "entry7").contains(&id));
    vault.close().expect("closes");
    assert!(home.dir().join(IMAGE).exists());
}

#[test]
fn a_damaged_image_is_rebuilt_without_a_word_and_replaced() {
    let home = imaged();
    let genuine = image(&home);
    let vault = home.open().expect("opens");
    let expected = ranking(&vault, "walrus ledger");
    drop(vault);
    let regions = [0, 8, 15, 24, 27, 28, 60, genuine.len() / 2, genuine.len() - 1];
    let damaged = regions.iter().map(|at| {
        let mut bytes = genuine.clone();
        bytes[*at] ^= 0x10;
        bytes
    });
    let cut = [0, 4, 8, 24, 30, genuine.len() / 2, genuine.len() - 1].map(|at| genuine[..at].to_vec());
    for (case, bytes) in damaged.chain(cut).enumerate() {
        std::fs::write(home.dir().join(IMAGE), &bytes).expect("writes");
        let vault = home.open().expect("opens");
        assert_eq!(ranking(&vault, "walrus ledger"), expected, "case {case}");
        assert!(vault.verify(&mut |_| {}).expect("walks").ok);
        vault.close().expect("closes");
        assert_ne!(image(&home), bytes, "case {case}: the damaged one was replaced");
    }
}

#[test]
fn an_image_of_another_vault_or_of_another_history_is_not_trusted() {
    let (home, other) = (imaged(), imaged());
    let expected = ranking(&home.open().expect("opens"), "walrus ledger");
    std::fs::write(home.dir().join(IMAGE), image(&other)).expect("writes");
    assert_eq!(ranking(&home.open().expect("opens"), "walrus ledger"), expected);

    let home = imaged();
    let fork = home.path("fork");
    copy_folder(&home.dir(), &fork);
    let forked = Vault::open(&fork, &home.master, home.options.clone()).expect("opens");
    forked.save_many(many(300), UNSCREENED).expect("commits");
    let strange = save(&forked, "inbox", "a zeppelin that only the fork knows");
    assert_eq!(holding(&forked, "zeppelin"), [strange]);
    forked.close().expect("closes");
    let vault = home.open().expect("opens");
    vault.save_many(many(301), UNSCREENED).expect("commits");
    vault.close().expect("closes");
    std::fs::copy(fork.join(IMAGE), home.dir().join(IMAGE)).expect("copies");
    assert!(holding(&home.open().expect("opens"), "zeppelin").is_empty());
}

#[test]
fn an_older_image_of_this_chain_catches_up() {
    let home = imaged();
    let older = image(&home);
    let vault = home.open().expect("opens");
    let changed = search(&vault, "entry100")[0];
    let destroyed = search(&vault, "entry101")[0];
    vault.update(changed, "now about a zeppelin", UNSCREENED).expect("updates");
    vault.delete(destroyed).expect("deletes");
    let added = save(&vault, "inbox", "and about a submarine");
    vault.close().expect("closes");
    std::fs::write(home.dir().join(IMAGE), older).expect("writes");
    let vault = home.open().expect("opens");
    assert_eq!(holding(&vault, "zeppelin"), [changed]);
    assert_eq!(holding(&vault, "submarine"), [added]);
    assert!(!search(&vault, "entry101").contains(&destroyed));
    assert!(!search(&vault, "entry100").contains(&changed));
}

#[test]
fn wing_room_and_kind_narrow_a_search() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let put = |wing: &str, room: &str, kind: Option<Kind>| {
        let mut new = note(room, &format!("the heron of {wing} in {room}"));
        new.wing = wing.into();
        new.kind = kind;
        vault.save(new, UNSCREENED).expect("saves").id
    };
    let work = put("work", "desk", Some(Kind::Decision));
    let home_desk = put("home", "desk", None);
    let home_roof = put("home", "roof", Some(Kind::Event));
    let narrowed = |wing: Option<&str>, room: Option<&str>, kind: Option<Kind>| {
        let request =
            SearchRequest { wing: wing.map(Into::into), room: room.map(Into::into), kind, ..ask("heron") };
        let reply = vault.search(&request).expect("searches");
        let mut ids: Vec<_> = reply.hits.into_iter().map(|hit| hit.id).collect();
        ids.sort();
        (ids, reply.unlabeled_excluded)
    };
    let sorted = |mut ids: Vec<DrawerId>| {
        ids.sort();
        ids
    };
    assert_eq!(narrowed(None, None, None).0.len(), 3);
    assert_eq!(narrowed(Some("work"), None, None).0, [work]);
    assert_eq!(narrowed(Some(" work "), None, None).0, [work], "as a listing does");
    assert_eq!(narrowed(None, Some("desk"), None).0, sorted(vec![work, home_desk]));
    assert_eq!(narrowed(Some("home"), Some("roof"), None).0, [home_roof]);
    assert_eq!(narrowed(None, None, Some(Kind::Decision)), (vec![work], Some(1)));
    assert!(narrowed(Some("nowhere"), None, None).0.is_empty());
}

#[test]
fn pages_of_one_ranking_tile_it_whatever_the_clock_says() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    vault.save_many(many(100), UNSCREENED).expect("commits");
    let whole = SearchRequest { limit: 60, ..ask("the walrus and the ledger") };
    let whole = vault.search(&whole).expect("searches");
    let (mut tiled, mut offset) = (Vec::new(), 0);
    while tiled.len() < whole.hits.len() {
        home.clock.advance(86_400_000_000);
        let request = SearchRequest {
            limit: 7,
            offset,
            ranked_at: Some(whole.ranked_at.clone()),
            ..ask("the walrus and the ledger")
        };
        let page = vault.search(&request).expect("searches");
        assert!(!page.hits.is_empty());
        assert_eq!(page.ranked_at, whole.ranked_at);
        offset = page.next_offset;
        tiled.extend(page.hits.into_iter().map(|hit| hit.id));
    }
    tiled.truncate(whole.hits.len());
    assert_eq!(tiled, whole.hits.iter().map(|hit| hit.id).collect::<Vec<_>>());
}

#[test]
fn any_query_gets_an_answer() {
    let home = Home::new();
    let vault = home.create(Level::HmacOnly);
    let texts = [
        "the pre-edit window",
        "I don't mind",
        "read a/b first",
        "written in C++",
        "say \"yes\" twice",
        "NEAR(the, sea)",
        "five * six",
    ];
    for text in texts {
        save(&vault, "inbox", text);
    }
    for (query, expected) in [
        ("pre-edit", texts[0]),
        ("don't", texts[1]),
        ("a/b", texts[2]),
        ("C++", texts[3]),
        ("NEAR(", texts[5]),
    ] {
        let hits = vault.search(&ask(query)).expect("searches").hits;
        assert_eq!(hits.first().map(|hit| hit.content.as_str()), Some(expected), "{query}");
    }
    let long = "x".repeat(100_000);
    let words = "walrus ".repeat(100_000 / 7);
    for query in [
        "a/b",
        "C++",
        "\"",
        "\"\"",
        "*",
        "?",
        "'",
        "--",
        ";",
        "AND",
        "OR NOT",
        "(",
        ")",
        "^",
        "a*",
        "col:",
        "{}",
        "\\",
        "%",
        "",
        " ",
        " \t\n ",
        "\0",
        "\u{200b}",
        "\u{feff}",
        "👩‍👩‍👧‍👦",
        "שלום",
        long.as_str(),
        words.as_str(),
    ] {
        let reply = vault.search(&ask(query)).expect("an answer");
        assert!(reply.hits.len() <= 5);
    }
}

#[test]
fn requests_beyond_the_bounds_are_refused_by_name() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let long = "x".repeat(limits::MAX_QUERY_BYTES + 1);
    for (field, request) in [
        ("query", ask(&long)),
        ("limit", SearchRequest { limit: 0, ..ask("x") }),
        ("limit", SearchRequest { limit: limits::MAX_SEARCH_DEPTH + 1, ..ask("x") }),
        ("limit", SearchRequest { limit: usize::MAX, offset: usize::MAX, ..ask("x") }),
        ("ranked_at", SearchRequest { ranked_at: Some("yesterday".into()), ..ask("x") }),
    ] {
        let error = vault.search(&request).expect_err("refuses");
        assert!(error.to_string().starts_with(&format!("invalid {field}")), "{error}");
        assert_eq!(error.class(), ErrorClass::Invalid);
    }
}

#[test]
fn one_tampered_hit_makes_the_whole_answer_an_integrity_error() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let home = Home::new();
        let vault = home.create(level);
        save(&vault, "inbox", "the first heron");
        let id = save(&vault, "inbox", "the second heron");
        assert_eq!(search(&vault, "heron").len(), 2);
        home.sql().execute("UPDATE drawers SET content = zeroblob(20) WHERE seq = 2", []).expect("updates");
        let error = vault.search(&ask("heron")).expect_err("refuses");
        assert_eq!(error.class(), ErrorClass::Integrity);
        home.sql().execute("DELETE FROM drawers WHERE seq = 2", []).expect("deletes");
        let error = vault.search(&ask("heron")).expect_err("refuses");
        assert_eq!(error.class(), ErrorClass::Integrity);
        assert!(vault.get(id).is_err());
    }
}

#[test]
fn the_full_text_table_of_a_readable_vault_is_in_step_for_tools() {
    let home = Home::new();
    let vault = home.create(Level::HmacOnly);
    let find = |word: &str| -> Vec<i64> {
        let sql = home.sql();
        let mut statement = sql
            .prepare("SELECT rowid FROM drawers_fts WHERE drawers_fts MATCH ?1 ORDER BY 1")
            .expect("compiles");
        statement.query_map([word], |row| row.get(0)).expect("asks").map(|row| row.expect("reads")).collect()
    };
    let one = save(&vault, "inbox", "Walrus in the CAFE\u{301}");
    save(&vault, "inbox", "a walrus at sea");
    assert_eq!(find("walrus"), [1, 2]);
    assert_eq!(find("cafe"), [1]);
    vault.update(one, "an ostrich", UNSCREENED).expect("updates");
    assert_eq!((find("walrus"), find("ostrich")), (vec![2], vec![1]));
    vault.delete(one).expect("deletes");
    assert!(find("ostrich").is_empty());
    home.sql().execute("INSERT INTO drawers_fts (drawers_fts) VALUES ('delete-all')", []).expect("empties");
    assert!(!vault.verify(&mut |_| {}).expect("walks").ok);
    assert!(vault.repair(&mut |_| {}).expect("repairs").ok);
    assert_eq!(find("walrus"), [2]);
    home.sql().execute("INSERT INTO drawers_fts (rowid, text) VALUES (9, 'ghost')", []).expect("adds");
    assert!(!vault.verify(&mut |_| {}).expect("walks").ok);
    assert!(vault.repair(&mut |_| {}).expect("repairs").ok);
    assert!(find("ghost").is_empty());
}
