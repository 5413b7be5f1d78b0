//! Every language has every line, with the same holes.

use std::collections::BTreeSet;

use super::*;

fn holes(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).map(|part| part.split_once('}').expect("a hole is closed").0).collect()
}

#[test]
fn every_language_has_every_line_with_the_same_holes() {
    for template in Template::ALL {
        let wanted = holes(template.text(Language::En));
        for language in Language::ALL {
            let text = template.text(language);
            assert!(!text.trim().is_empty(), "{template:?} {language:?}");
            assert_eq!(holes(text), wanted, "{template:?} {language:?}");
        }
    }
}

#[test]
fn no_language_repeats_another_ones_lines() {
    for template in Template::ALL {
        let texts: BTreeSet<&str> =
            Language::ALL.into_iter().map(|language| template.text(language)).collect();
        assert_eq!(texts.len(), 10, "{template:?}");
    }
}

#[test]
fn the_english_lines_are_those_that_scripts_match() {
    let fill = |template: Template, values: &[(&str, &str)]| template.fill(Language::En, values);
    assert_eq!(fill(Template::PalaceInitialised, &[("path", "/p")]), "Palace initialized at /p");
    assert_eq!(fill(Template::PalaceAlready, &[("path", "/p")]), "Palace already initialized at /p");
    assert_eq!(
        fill(Template::VaultCreated, &[("name", "n"), ("level", "sealed")]),
        "Created vault 'n' (level: sealed)"
    );
    assert_eq!(
        fill(Template::DrawerFiled, &[("id", "i"), ("wing", "w"), ("room", "r"), ("vault", "v")]),
        "Filed drawer i in w/r (vault 'v')"
    );
    assert_eq!(fill(Template::NoMatches, &[]), "No memories matched.");
    assert_eq!(fill(Template::VerifyOk, &[]), "VERIFY OK");
    assert_eq!(fill(Template::VerifyFailed, &[]), "VERIFY FAILED");
    assert_eq!(
        fill(Template::MinedSummary, &[("files", "2"), ("vault", "v"), ("wing", "w"), ("drawers", "9")]),
        "Mined 2 file(s) into vault 'v' wing 'w': 9 drawer(s) filed"
    );
    assert_eq!(
        fill(Template::SweptSummary, &[("files", "2"), ("drawers", "9"), ("present", "1")]),
        "Swept 2 transcript(s): 9 message drawer(s) filed, 1 already present"
    );
    assert_eq!(
        fill(Template::ImportedSummary, &[("drawers", "9"), ("vault", "v"), ("skipped", "1")]),
        "Imported 9 drawer(s) into vault 'v' (1 duplicates skipped)"
    );
}

#[test]
fn a_value_is_never_taken_for_a_hole() {
    let filled = Template::PalaceInitialised.fill(Language::De, &[("path", "/odd{path}")]);
    assert!(filled.contains("/odd{path}"), "{filled}");
}

#[test]
fn unknown_languages_are_english() {
    assert_eq!(Language::from_tag(Some("ko")), Language::Ko);
    assert_eq!(Language::from_tag(Some("nl")), Language::En);
    assert_eq!(Language::from_tag(None), Language::En);
}
