use proptest::prelude::*;

use super::{English, bases, tables};
use crate::morphology::PairRules;

/// Each line: forms of one word, every two of them related.
const FORMS: &[&str] = &[
    "move moves moved moving",
    "stop stops stopped stopping",
    "hope hopes hoped hoping",
    "hop hops hopped hopping",
    "try tries tried trying",
    "study studies studied studying",
    "walk walks walked walking",
    "watch watches watched watching",
    "fix fixes fixed fixing",
    "pass passes passed passing",
    "fall falls falling",
    "agree agrees agreed agreeing",
    "use uses used using",
    "travel travels traveled travelled traveling travelling",
    "commit commits committed committing",
    "cancel cancelled canceled cancelling",
    "visit visits visited visiting",
    "open opens opened opening",
    "play plays played playing",
    "box boxes",
    "city cities",
    "hero heroes",
    "house houses",
    "database databases",
    "migrate migrates migrated migrating migration migrations",
    "transform transformed transformation transformations",
    "construct constructing construction",
    "explore explored exploration",
    "implement implementing implementation",
    "big bigger biggest",
    "large larger largest",
    "happy happier happiest happily",
    "fast faster fastest",
    "quick quickly quicker",
    "gentle gently",
    "possible possibly",
    "basic basically",
    "full fully",
    "final finally",
    "go goes going went gone",
    "buy buys buying bought",
    "write writes writing wrote written",
    "get gets getting got gotten",
    "begin begins beginning began begun",
    "be is are was were been being",
    "run runs running ran",
    "child children",
    "mouse mice",
    "knife knives",
    "analysis analyses",
    "good better best",
    "quit quits quitting",
    "lie lies lying lay",
];

/// Words that must stay apart.
const APART: &[(&str, &str)] = &[
    ("till", "tilly"),
    ("unlike", "unlikely"),
    ("doe", "doing"),
    ("design", "designation"),
    ("new", "news"),
    ("bel", "belly"),
    ("the", "this"),
    ("he", "his"),
    ("al", "ally"),
    ("jul", "july"),
    ("need", "needle"),
    ("champ", "lose"),
    ("champ", "champion"),
    ("car", "caring"),
    ("car", "care"),
    ("hop", "hoping"),
    ("hope", "hopping"),
    ("plan", "plane"),
    ("planned", "planed"),
    ("star", "stared"),
    ("rat", "rating"),
    ("see", "seed"),
    ("fee", "feed"),
    ("she", "shed"),
    ("even", "evening"),
    ("her", "herring"),
    ("flow", "flower"),
    ("corn", "corner"),
    ("numb", "number"),
    ("mode", "modest"),
    ("for", "forest"),
    ("fore", "forest"),
    ("hone", "honest"),
    ("earn", "earnest"),
    ("app", "apply"),
    ("rep", "reply"),
    ("ear", "early"),
    ("imp", "imply"),
    ("on", "only"),
    ("the", "thing"),
    ("str", "string"),
    ("doe", "does"),
    ("prince", "princess"),
    ("princes", "princess"),
    ("glas", "glass"),
    ("let", "letter"),
    ("mat", "matter"),
    ("bet", "better"),
    ("moth", "mother"),
    ("broth", "brother"),
    ("wick", "wicked"),
    ("rug", "rugged"),
    ("cat", "category"),
    ("cat", "cation"),
    ("stat", "station"),
    ("nat", "nation"),
    ("port", "portion"),
    ("miss", "mission"),
    ("pass", "passion"),
    ("universe", "university"),
    ("organ", "organize"),
    ("past", "paste"),
    ("us", "use"),
    ("an", "ants"),
    ("in", "ins"),
    ("fil", "file"),
    ("bus", "business"),
    ("bin", "binge"),
    ("men", "mental"),
    ("sing", "single"),
    ("len", "lens"),
    ("lose", "loose"),
    ("desert", "dessert"),
    ("win", "window"),
    ("every", "everything"),
];

#[test]
fn forms_of_one_word_are_related_both_ways() {
    for line in FORMS {
        let forms: Vec<&str> = line.split(' ').collect();
        for (at, a) in forms.iter().enumerate() {
            for b in &forms[at + 1..] {
                assert!(English.related(a, b), "{a} {b}");
                assert!(English.related(b, a), "{b} {a}");
            }
        }
    }
}

#[test]
fn other_words_stay_apart() {
    for (a, b) in APART {
        assert!(!English.related(a, b), "{a} {b}");
        assert!(!English.related(b, a), "{b} {a}");
    }
}

#[test]
fn numbers_and_what_is_no_lower_case_word_are_related_to_nothing() {
    for (a, b) in
        [("100", "1000"), ("123", "123s"), ("h264", "h264s"), ("Move", "moved"), ("café", "cafés"), ("", "s")]
    {
        assert!(!English.related(a, b), "{a} {b}");
    }
}

#[test]
fn the_tables_are_in_order_and_hold_no_word_twice() {
    assert!(tables::NOT_A_FORM.is_sorted());
    assert!(tables::VERBS.len() + tables::NOUNS_AND_ADJECTIVES.len() >= 150);
    for line in tables::VERBS.iter().chain(tables::NOUNS_AND_ADJECTIVES) {
        for word in line.split(' ') {
            assert!(!English.irregular(word).is_empty());
            assert!(!English.irregular(word).contains(&word));
        }
    }
    assert!(English.irregular("walked").is_empty());
}

#[test]
fn regular_forms_lie_in_the_range_of_the_shared_prefix() {
    for line in FORMS {
        let forms: Vec<&str> = line.split(' ').collect();
        for a in &forms {
            let prefix = English.shared_prefix(a);
            for b in &forms {
                if a != b && bases::share_base(a, b) {
                    assert!(b.starts_with(&a[..prefix]), "{a} {b} {prefix}");
                }
            }
        }
    }
    assert!(English.shared_prefix("migrations") >= 5, "a range is worth taking");
}

proptest! {
    #[test]
    fn relations_are_symmetric_irreflexive_and_in_range(
        stem in "[a-z]{1,7}",
        one in "(e|y|s|es|ed|ing|er|est|ly|ily|ion|ation|ations|ies|ied|ier|tting|pped)?",
        other in "(e|y|s|es|ed|ing|er|est|ly|ily|ion|ation|ations|ies|ied|ier|tting|pped)?",
    ) {
        let (a, b) = (format!("{stem}{one}"), format!("{stem}{other}"));
        prop_assert_eq!(English.related(&a, &b), English.related(&b, &a));
        prop_assert!(!English.related(&a, &a));
        prop_assert!(English.shared_prefix(&a) <= a.len());
        if bases::share_base(&a, &b) && a != b {
            prop_assert!(b.starts_with(&a[..English.shared_prefix(&a)]), "{} {}", a, b);
        }
    }

    #[test]
    fn any_two_texts_may_be_asked_about(a in any::<String>(), b in any::<String>()) {
        prop_assert_eq!(English.related(&a, &b), English.related(&b, &a));
        prop_assert!(English.shared_prefix(&a) <= a.len());
    }
}
