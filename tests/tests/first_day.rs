//! Somebody's first day: make a palace, keep words, find them, read them back word for word.

use undercroft_tests::support::{Palace, contents};

#[test]
fn words_come_back_byte_for_byte_whatever_they_are() {
    let palace = Palace::new();
    let texts = [
        "The spare key hangs behind the map.",
        "  leading and trailing blanks stay  \n\n",
        "tab\tand carriage return\r\nand a bell \u{7} and an escape \u{1b}[31m",
        "cafe\u{301} is not café here: decomposed stays decomposed",
        "👩‍👩‍👧‍👦 שָׁלוֹם 東京 ﷽ \u{feff}mark",
        "\"quotes\" \\ and {json: \"like\"} text",
    ];
    for text in texts {
        let id = palace.remember(text);
        assert_eq!(palace.words(&id), text);
        let plain = palace.run(&["drawer", "get", &id]).ok();
        assert!(plain.stdout.ends_with(&format!("---\n{text}\n")), "{plain}");
    }
    assert_eq!(palace.json(&["stats"])["records"], texts.len());
    palace.verifies();
}

#[test]
fn what_was_kept_is_found_in_other_words_forms_and_spellings() {
    let palace = Palace::new();
    let _ = palace.remember("We decided to move the database to the second rack on Friday.");
    let _ = palace.remember("Ana likes her tea without sugar.");
    let _ = palace.remember("The bilge pump draws three amperes.");
    for query in ["second rack", "databases moved", "datbase", "which rack did we decide on"] {
        assert!(palace.found(query)[0].contains("second rack"), "{query}");
    }
    assert!(palace.found("tea with sugar?")[0].starts_with("Ana"));
    let _ = palace.run(&["search", "zyzzyva"]).ok();
}

#[test]
fn filters_narrow_and_pages_tile() {
    let palace = Palace::new();
    for (wing, room, kind) in [("a", "x", "event"), ("a", "y", "decision"), ("b", "x", "event")] {
        for n in 0..4 {
            let text = format!("copper wire number {n} of {wing} {room}");
            let _ = palace.run(&["remember", &text, "--wing", wing, "--room", room, "--kind", kind]).ok();
        }
    }
    let count = |extra: &[&str]| {
        let all: Vec<&str> = ["search", "copper wire", "-n", "50"].iter().chain(extra).copied().collect();
        palace.json(&all)["hits"].as_array().expect("hits").len()
    };
    assert_eq!(count(&[]), 12);
    assert_eq!(count(&["--wing", "a"]), 8);
    assert_eq!(count(&["--wing", "a", "--room", "x"]), 4);
    assert_eq!(count(&["--kind", "event"]), 8);
    assert_eq!(count(&["--wing", "nobody"]), 0);
    let first = palace.json(&["search", "copper wire", "-n", "5"]);
    let at = first["ranked_at"].as_str().expect("an instant");
    let mut seen: Vec<String> = Vec::new();
    for offset in ["0", "5", "10"] {
        let page = palace.json(&["search", "copper wire", "-n", "5", "--offset", offset, "--ranked-at", at]);
        seen.extend(page["hits"].as_array().expect("hits").iter().map(|hit| hit["id"].to_string()));
    }
    let whole = palace.json(&["search", "copper wire", "-n", "50", "--ranked-at", at]);
    let whole: Vec<String> =
        whole["hits"].as_array().expect("hits").iter().map(|hit| hit["id"].to_string()).collect();
    assert_eq!(seen, whole, "pages of one ranking do not tile");
}

#[test]
fn an_updated_drawer_says_the_new_words_and_a_deleted_one_is_gone() {
    let palace = Palace::new();
    let id = palace.remember("The meeting is on Tuesday.");
    let _ = palace.run(&["drawer", "update", &id, "The meeting is on Thursday."]).ok().says("Updated drawer");
    assert_eq!(palace.words(&id), "The meeting is on Thursday.");
    assert!(palace.found("meeting")[0].contains("Thursday"));
    let _ = palace.run(&["drawer", "delete", &id]).ok().says("Deleted drawer");
    palace.run(&["drawer", "get", &id]).refuses(1, "No drawer with id");
    palace.run(&["drawer", "delete", &id]).refuses(1, "No drawer with id");
    assert!(palace.found("meeting").is_empty());
    let history = palace.run(&["history"]).ok();
    assert!(
        history.stdout.contains(&format!("del/{id}")) && history.stdout.contains("3 record(s)."),
        "{history}"
    );
    palace.verifies();
}

#[test]
fn a_link_to_the_older_drawer_is_kept_with_a_receipt() {
    let palace = Palace::new();
    let older = palace.remember("The port is 7040.");
    let newer = palace.json(&["remember", "The port is 7044.", "--supersedes", &older]);
    let newer = newer["id"].as_str().expect("an id");
    let _ = palace.run(&["supersessions"]).ok().says(newer);
    let _ = palace.run(&["verify"]).ok().says("1 verified");
    let _ = palace.run(&["drawer", "update", &older, "The port was 7040."]).ok();
    let _ = palace.run(&["verify"]).ok().says("1 source-changed");
    let _ = palace.run(&["drawer", "delete", &older]).ok();
    let _ = palace.run(&["verify"]).ok().says("1 dangling");
    palace.run(&["remember", "x", "--supersedes", &older]).refuses(1, "no drawer with id");
}

#[test]
fn copies_are_counted_then_removed_and_their_days_stay() {
    let palace = Palace::new();
    let _ = palace.run(&["remember", "The same words", "--content-date", "2026-01-01"]).ok();
    let _ = palace.run(&["remember", "The same words  \r\n", "--content-date", "2026-01-02"]).ok();
    let _ = palace.run(&["remember", "Other words"]).ok();
    let _ = palace.run(&["dedup"]).ok().says("1 duplicate group(s), 1 extra drawer(s) found");
    assert_eq!(palace.json(&["stats"])["records"], 3);
    let _ = palace.run(&["dedup", "--apply"]).ok().says("1 extra drawer(s) removed");
    let hit = &palace.json(&["search", "the same words", "-n", "1"])["hits"][0];
    assert_eq!(hit["content"], "The same words");
    assert!(hit["occurrences"].to_string().contains("2026-01-02"), "{hit}");
    palace.verifies();
}

#[test]
fn what_cannot_be_kept_is_refused_with_the_field_and_changes_nothing() {
    let palace = Palace::new();
    let before = palace.json(&["stats"]);
    let too_long = "x".repeat(100_001);
    let long_name = "n".repeat(129);
    let refused: [(&[&str], &str); 9] = [
        (&["remember", ""], "text"),
        (&["remember", " \n\t "], "text"),
        (&["remember", &too_long], "100001 bytes"),
        (&["remember", "x", "--wing", "a/b"], "wing"),
        (&["remember", "x", "--room", ".."], "room"),
        (&["remember", "x", "--room", &long_name], "room"),
        (&["remember", "x", "--kind", "rumour"], "kind"),
        (&["remember", "x", "--content-date", "yesterday"], "content_date"),
        (&["remember", "x", "--supersedes", "17"], "id"),
    ];
    for (arguments, words) in refused {
        palace.run(arguments).refuses(1, words);
    }
    assert_eq!(palace.json(&["stats"]), before);
    let _ = palace.remember(&"y".repeat(100_000));
}

#[test]
fn a_second_vault_knows_nothing_of_the_first() {
    let palace = Palace::new();
    let _ = palace.remember("cinnabar in the first");
    let _ = palace.run(&["vault", "create", "second"]).ok();
    let _ = palace.run(&["search", "cinnabar", "--vault", "second"]).ok().says("No memories matched.");
    let _ = palace.run(&["remember", "ochre", "--vault", "second"]).ok();
    assert!(palace.found("ochre").is_empty());
    palace.run(&["vault", "create", "second"]).refuses(1, "already exists");
    palace.run(&["search", "x", "--vault", "third"]).refuses(1, "no vault 'third'");
}

#[test]
fn a_vault_made_again_under_an_old_name_shows_nothing_old() {
    let palace = Palace::new();
    let _ = palace.run(&["vault", "create", "again"]).ok();
    let _ = palace.run(&["remember", "saffron in the old one", "--vault", "again"]).ok();
    let kept = palace.outside().join("kept.db");
    let database = palace.root().join("vaults/again/vault.db");
    std::fs::copy(&database, &kept).expect("a copy of the database");
    let _ = palace.run(&["vault", "delete", "again", "--yes"]).ok();
    let _ = palace.run(&["vault", "create", "again"]).ok();
    let _ = palace.run(&["search", "saffron", "--vault", "again"]).ok().says("No memories matched.");
    std::fs::copy(&kept, &database).expect("the old database put back");
    palace.run(&["search", "saffron", "--vault", "again"]).refuses(2, "integrity");
}

#[test]
fn a_read_only_folder_can_be_verified_and_is_left_as_it_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let palace = Palace::new();
    let _ = palace.remember("words");
    // SQLite's own side files come and go with a reader; where the folder is really locked there are none.
    let evidence = || {
        let mut all = contents(&palace.vault());
        all.retain(|path, _| {
            !path.to_string_lossy().ends_with("-shm") && !path.to_string_lossy().ends_with("-wal")
        });
        all
    };
    let before = evidence();
    let lock = |mode| {
        std::fs::set_permissions(palace.vault(), std::fs::Permissions::from_mode(mode)).expect("permissions");
    };
    lock(0o500);
    let ran = palace.run(&["verify"]);
    lock(0o700);
    let _ = ran.ok().says("VERIFY OK");
    assert_eq!(evidence(), before);
}
