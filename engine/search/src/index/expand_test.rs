use proptest::prelude::*;

use super::*;

/// What every word of the vocabulary is, by looking at each.
fn exhaustive(vocabulary: &Vocabulary, word: &str, language: Option<Language>, present: u32) -> Vec<Other> {
    let rules = Rules::choose(word, language, present);
    (0..vocabulary.len() as TermId).filter_map(|id| judge(vocabulary, &rules, word, id)).collect()
}

fn vocabulary(words: &[String]) -> Vocabulary {
    let mut vocabulary = Vocabulary::default();
    for word in words {
        vocabulary.intern(word, TermClass::Word);
    }
    vocabulary
}

#[test]
fn inflected_irregular_near_and_contained_words_are_found() {
    let words = ["moved", "went", "kubernets", "postgresql", "vectordatabase", "moving", "cat", "mover"];
    let vocabulary = vocabulary(&words.map(str::to_owned));
    let found = |word: &str| -> Vec<&str> {
        let others = Expansions::default().of(&vocabulary, word, Some(Language::English), 1);
        others.iter().map(|other| vocabulary.text(other.term)).collect()
    };
    assert!(found("move").contains(&"moved") && found("move").contains(&"moving"));
    assert_eq!(found("go"), ["went"]);
    assert_eq!(found("kubernetes"), ["kubernets"]);
    assert_eq!(found("postgres"), ["postgresql"]);
    assert_eq!(found("database"), ["vectordatabase"]);
    assert_eq!(found("supervectordatabase"), ["vectordatabase"]);
    assert!(found("cut").is_empty());
}

#[test]
fn a_word_longer_than_the_limit_stands_for_itself_alone() {
    let long = "a".repeat(EXPANSION_BYTES_MAX + 1);
    let vocabulary = vocabulary(&[format!("{long}b")]);
    assert!(Expansions::default().of(&vocabulary, &long, None, 1).is_empty());
}

proptest! {
    #[test]
    fn the_orders_find_what_looking_at_every_word_finds(
        words in prop::collection::vec("[ab]{1,4}(ing|ed|s|er|)|[abé]{5,9}|[a-b]{6,12}|[学校的]{1,4}|[аб]{4,7}", 1..60),
        asked in "[ab]{1,4}(ing|ed|s|)|[abé]{5,9}|[a-b]{6,12}|[学校的]{1,4}|[аб]{4,7}",
        present in 0u32..4,
    ) {
        let all = vocabulary(&words);
        let split = vocabulary(&words[..words.len() / 2]);
        let languages = [None, Some(Language::English)];
        for (language, asked) in languages.into_iter().flat_map(|language| [(language, &asked), (language, &words[0])]) {
            let expansions = Expansions::default();
            // The first call remembers the answer of the smaller vocabulary, which the larger one extends.
            prop_assert_eq!(
                expansions.of(&split, asked, language, present),
                exhaustive(&split, asked, language, present)
            );
            for _ in 0..2 {
                let found = expansions.of(&all, asked, language, present);
                prop_assert_eq!(found, exhaustive(&all, asked, language, present));
            }
            expansions.lock(|answers| answers.clear());
            prop_assert_eq!(
                expansions.of(&all, asked, language, present),
                exhaustive(&all, asked, language, present)
            );
        }
    }
}
