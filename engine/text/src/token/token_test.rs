use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::{OwnedToken, TokenKind, Tokenizer, document_length, tokens};
use crate::fold::fold;

fn texts(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.text).collect()
}

fn words(text: &str) -> Vec<String> {
    tokens(text).into_iter().filter(|t| t.kind == TokenKind::Word).map(|t| t.text).collect()
}

fn nfd(text: &str) -> String {
    text.nfd().collect()
}

#[test]
fn accented_words_are_equal_in_both_forms() {
    let accented =
        ["Café", "naïve", "Zürich", "garçon", "piñata", "Škoda", "Ångström", "Việt", "Ελλάδα", "Łódź"];
    for word in accented {
        let text = format!("the {word} here");
        assert_eq!(texts(&text), texts(&nfd(&text)), "{word}");
        assert_eq!(texts(&text).len(), 3, "{word}");
        for form in [text.clone(), nfd(&text)] {
            let token = &tokens(&form)[1];
            assert_eq!(nfd(&form[token.start as usize..token.end as usize]), nfd(word));
        }
    }
}

#[test]
fn two_character_chinese_words_are_tokens_of_their_sentence() {
    for (word, sentence) in
        [("北京", "我昨天去了北京开会"), ("会议", "明天的会议改到三点"), ("数据", "所有数据已备份")]
    {
        let found: Vec<_> = tokens(sentence).into_iter().filter(|t| t.text == word).collect();
        assert_eq!(found.len(), 1, "{word}");
        assert_eq!(found[0].kind, TokenKind::Word);
        assert_eq!(&sentence[found[0].start as usize..found[0].end as usize], word);
        assert_eq!(texts(word)[0], word);
    }
}

#[test]
fn ascii_glued_to_another_script_is_a_word_of_its_own() {
    assert_eq!(words("用Rust写的v2版本"), ["用", "rust", "写的", "写", "的", "v2", "版本", "版", "本"]);
    assert_eq!(words("第3章"), ["第", "3", "章"]);
    assert_eq!(words("h264 3d αβγabc"), ["h264", "3d", "αβγ", "abc"]);
}

#[test]
fn points_and_marks_make_no_difference_in_hebrew_and_arabic() {
    for (bare, marked) in [("שלום עולם", "שָׁלוֹם עוֹלָם"), ("كتاب محمد", "كِتَابُ مُحَمَّدٍ"), ("احمد", "أَحْمَد")]
    {
        assert_eq!(texts(bare), texts(marked));
        assert_eq!(texts(bare), texts(&nfd(marked)));
    }
    let marked = "قال شَكَرَ لها";
    let token = tokens(marked).into_iter().find(|t| t.text == "شكر").unwrap();
    assert_eq!(&marked[token.start as usize..token.end as usize], "شَكَرَ");
}

#[test]
fn runs_that_attach_give_their_pairs_as_grams() {
    let all = tokens("مدرسه");
    assert_eq!(all[0].text, "مدرسه");
    assert_eq!(all[0].kind, TokenKind::Word);
    assert_eq!(all.len(), 5);
    assert!(all[1..].iter().all(|t| t.kind == TokenKind::Gram && t.position == 0));
    assert_eq!(tokens("한국").len(), 1, "a run of two is its only pair");
    assert_eq!(texts("한국어"), texts(&nfd("한국어")));
    assert_eq!(texts("らーめん")[0], "らーめん");
}

#[test]
fn presentation_forms_give_the_tokens_of_the_letters() {
    assert_eq!(texts("ﻣﺮﺣﺒﺎ"), texts("مرحبا"));
    assert_eq!(texts("ﻻ اله"), texts("لا اله"));
    assert_eq!(texts("ﾃﾞｰﾀ"), texts("データ"));
    assert_eq!(texts("Ｒｕｓｔ"), ["rust"]);
}

#[test]
fn positions_let_phrases_be_matched() {
    let position =
        |text: &str, word: &str| tokens(text).into_iter().find(|t| t.text == word).unwrap().position;
    assert_eq!(position("red, green; blue", "blue"), 2);
    assert_eq!(position("去北京开会", "北京") + 2, position("去北京开会", "开会"));
    assert_eq!(position("محمد علي", "محمد") + 1, position("محمد علي", "علي"));
}

#[test]
fn odd_queries_give_the_words_in_them() {
    assert_eq!(texts("pre-edit"), ["pre", "edit"]);
    assert_eq!(texts("don't"), ["don", "t"]);
    assert_eq!(texts("a/b"), ["a", "b"]);
    assert_eq!(texts("C++"), ["c"]);
    assert_eq!(texts("NEAR("), ["near"]);
    assert_eq!(texts("l’homme"), ["l", "homme"]);
    assert_eq!(texts("п\u{2bc}ять"), texts("п'ять"));
    for empty in ["\"", "*", "   ", "", "🎉👨‍👩‍👧", "\u{301}", "\u{640}\u{640}", "\u{200d}"] {
        assert_eq!(texts(empty), [""; 0], "{empty:?}");
    }
}

#[test]
fn invisible_characters_inside_a_word_do_not_split_it() {
    assert_eq!(texts("co\u{ad}operate"), ["cooperate"]);
    assert_eq!(texts("می\u{200c}خواهم")[0], "ميخواهم");
    let token = &tokens("soft\u{ad} end")[0];
    assert_eq!((token.start, token.end), (0, 4), "a trailing one is not part of the word");
}

#[test]
fn one_hundred_thousand_characters_without_a_break_are_one_word() {
    assert_eq!(tokens(&"a".repeat(100_000)).len(), 1);
    assert_eq!(tokens(&"é".repeat(100_000)).len(), 1);
    assert_eq!(tokens(&format!("e{}", "\u{301}".repeat(100_000)))[0].text, "e");
    assert_eq!(document_length(&"字".repeat(100_000)), 100_000);
}

#[test]
fn length_counts_words_of_delimited_and_characters_of_other_scripts() {
    assert_eq!(document_length("two words"), 2);
    assert_eq!(document_length("two 漢字 words"), 4);
    assert_eq!(document_length("שָׁלוֹם"), 4);
    assert_eq!(document_length("... 🎉"), 0);
}

#[test]
fn the_fast_path_gives_what_the_general_one_gives() {
    let ascii = "The Quick brown FOX, h264 & x-ray's 3d_model end";
    let general = format!("{ascii} é");
    let mut expected = tokens(&general);
    expected.pop();
    assert_eq!(tokens(ascii), expected);
}

fn check(text: &str, token: &OwnedToken) -> Result<(), TestCaseError> {
    let (start, end) = (token.start as usize, token.end as usize);
    prop_assert!(start < end && text.is_char_boundary(start) && text.is_char_boundary(end));
    prop_assert!(!token.text.is_empty());
    if token.kind == TokenKind::Word {
        prop_assert_eq!(fold(&text[start..end]), token.text.as_str());
    }
    Ok(())
}

proptest! {
    #[test]
    fn words_are_the_folded_slices_of_the_original(text in any::<String>()) {
        for token in tokens(&text) {
            check(&text, &token)?;
        }
    }

    #[test]
    fn words_of_letters_are_the_folded_slices(text in "[\\p{L}\\p{M}\\p{N}\\p{Cf}ー ]{0,60}") {
        for token in tokens(&text) {
            check(&text, &token)?;
        }
    }

    #[test]
    fn a_used_tokenizer_gives_what_a_new_one_gives(a in any::<String>(), b in "[a-zé漢字ا ]{0,40}") {
        let mut tokenizer = Tokenizer::new();
        tokenizer.tokenize(&a, |_| ());
        let mut again = Vec::new();
        tokenizer.tokenize(&b, |token| again.push(OwnedToken::from(token)));
        prop_assert_eq!(again, tokens(&b));
    }

    #[test]
    fn the_positions_of_runs_increase(text in "[a-zé漢字ا ]{0,40}") {
        let all = tokens(&text);
        let gapless = all.windows(2).all(|pair| pair[0].end > pair[1].start || pair[0].position < pair[1].position);
        prop_assert!(gapless);
    }
}
