//! Words in any script are found across their forms, and any query text has an answer.

use undercroft_tests::support::Palace;
use unicode_normalization::UnicodeNormalization as _;

#[test]
fn accented_words_are_found_across_composed_and_decomposed_forms() {
    let palace = Palace::new();
    let words = ["café", "naïve", "Zürich", "Ångström", "señor", "Łódź", "crème", "garçon", "Dvořák", "Việt"];
    let composed: String = words.join(" und ").nfc().collect();
    let decomposed: String = words.join(" oder ").nfd().collect();
    let ids = [palace.remember(&composed), palace.remember(&decomposed)];
    for word in words {
        for form in
            [word.nfc().collect::<String>(), word.nfd().collect(), word.to_uppercase(), word.to_lowercase()]
        {
            let hits = palace.found(&form);
            assert_eq!(hits.len(), 2, "{form}: {hits:?}");
        }
    }
    assert_eq!(palace.words(&ids[0]), composed);
    assert_eq!(palace.words(&ids[1]), decomposed);
}

#[test]
fn words_are_found_in_scripts_without_blanks_and_with_optional_marks() {
    let palace = Palace::new();
    let pairs = [
        ("昨天我们在北京开会讨论了预算", "北京"),
        ("昨天我们在北京开会讨论了预算", "预算"),
        ("新しい自転車を買いました", "自転車"),
        ("서울에서 친구를 만났습니다", "서울"),
        ("部署了kubernetes集群之后", "kubernetes"),
        ("部署了kubernetes集群之后", "集群"),
        ("שָׁלוֹם לְכֻלָּם", "שלום"),
        ("הספר על השולחן", "השולחן"),
        ("مُحَمَّدٌ ذَهَبَ إِلَى المَدْرَسَةِ", "محمد"),
        ("اجتماع الفريق غدا", "الفريق"),
        ("Встреча с Ёлкой в пятницу", "елкой"),
        ("การประชุมวันศุกร์", "ประชุม"),
        ("ﬁnal draft with ligature", "final"),
        ("Ｆｕｌｌ width letters", "full"),
    ];
    for (text, _) in pairs {
        let _ = palace.remember(text);
    }
    for (text, query) in pairs {
        let hits = palace.found(query);
        assert!(hits.iter().any(|hit| hit == text), "{query} in {text}: {hits:?}");
    }
}

#[test]
fn any_query_has_an_answer() {
    let palace = Palace::new();
    let _ = palace.remember("The pre-edit hook doesn't run C++ builds in a/b.");
    let _ = palace.run(&["vault", "create", "open", "--level", "hmac-only"]).ok();
    let _ =
        palace.run(&["remember", "The pre-edit hook doesn't run C++ builds in a/b.", "--vault", "open"]).ok();
    let huge = "hook ".repeat(20_000);
    let odd = [
        "pre-edit",
        "don't",
        "a/b",
        "C++",
        "\"",
        "'",
        "NEAR(",
        "*",
        "   ",
        "",
        "AND OR NOT",
        "col:x",
        "^",
        "-",
        "--",
        "(((",
        "\u{0}x".trim_start_matches('\u{0}'),
        "\u{202e}abc",
        "👩‍👩‍👧‍👦",
        "\\",
        "%",
        "; DROP TABLE drawers",
        &huge,
    ];
    for vault in ["default", "open"] {
        for query in odd {
            let ran = palace.run(&["search", "--vault", vault, "--json", "--", query]);
            match ran.code {
                Some(0) => assert!(ran.json()["hits"].is_array(), "{ran}"),
                Some(1) => assert_eq!(ran.json()["class"], "invalid", "{ran}"),
                _ => panic!("{ran}"),
            }
        }
    }
    for query in ["pre-edit", "C++", "a/b", "run C++ builds", "builds in a/b", "doesn't run"] {
        assert_eq!(palace.found(query).len(), 1, "{query}");
    }
}
