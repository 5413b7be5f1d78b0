use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::{Chunk, MAX_BYTES, MAX_GRAPHEME_BYTES, MIN_BYTES, TARGET_BYTES, chunk, is_blank};

fn pieces(text: &str) -> Vec<&str> {
    chunk(text).into_iter().map(|c| &text[c.bytes]).collect()
}

fn assert_whole(text: &str, chunks: &[Chunk]) {
    let mut at = 0;
    for chunk in chunks {
        assert_eq!(chunk.bytes.start, at);
        assert!(chunk.bytes.end > at && chunk.bytes.len() <= MAX_BYTES);
        at = chunk.bytes.end;
    }
    assert_eq!(at, text.len());
}

#[test]
fn small_texts_are_one_chunk_and_nothing_is_none() {
    assert_eq!(chunk(""), []);
    assert_eq!(pieces("a"), ["a"]);
    assert_eq!(pieces("  \n"), ["  \n"]);
    assert_eq!(pieces(&"x".repeat(TARGET_BYTES)).len(), 1);
}

#[test]
fn paragraphs_are_packed_and_keep_the_blank_lines_behind_them() {
    let paragraph = "word ".repeat(60).trim().to_owned();
    let text = [paragraph.as_str(); 5].join("\n\n\n");
    let found = pieces(&text);
    assert_eq!(found.len(), 3);
    assert!(found[0].ends_with("word\n\n\n") && found[1].starts_with("word"));
    let indented = format!("{paragraph}\n\n    {paragraph} {paragraph}");
    assert!(pieces(&indented)[1].starts_with("    word"), "indentation stays with its line");
}

#[test]
fn long_paragraphs_end_at_sentences_then_lines_then_words() {
    let sentences = "This is a sentence of moderate length (and \"quoted.\") ".repeat(40);
    assert!(pieces(&sentences).iter().all(|p| p.starts_with("This") && p.ends_with(' ')));
    let chinese = "我昨天去了北京开会。".repeat(60);
    assert!(pieces(&chinese).iter().all(|p| p.ends_with('。')));
    let lines = "let value = compute(first, second)\r\n".repeat(60);
    assert!(pieces(&lines).iter().all(|p| p.starts_with("let") && p.ends_with("\r\n")));
    let words = "word ".repeat(400);
    assert!(pieces(&words).iter().all(|p| p.starts_with("word")));
}

#[test]
fn a_line_that_closes_its_sentence_is_preferred_to_a_sentence_inside_a_line() {
    let turn = "Ana said, \"We went there. It was late, and we were tired. Nobody minded!\"\n";
    assert!(pieces(&turn.repeat(40)).iter().all(|p| p.starts_with("Ana") && p.ends_with("!\"\n")));
    // Wrapped prose: a line end inside a sentence is no better than any other space.
    let wrapped = "The first sentence of this paragraph runs over\nthe line and ends here. ".repeat(40);
    assert!(pieces(&wrapped).iter().all(|p| p.starts_with("The first")));
}

#[test]
fn no_grapheme_cluster_is_cut_at_the_boundary() {
    for cluster in ["👨‍👩‍👧‍👦", "e\u{301}", "🇩🇪", "नि", "한", "\r\n"] {
        for pad in 0..cluster.len() {
            let text = format!("{}{}", "x".repeat(TARGET_BYTES - pad), cluster.repeat(200));
            let found = pieces(&text);
            assert_eq!(found.concat(), text);
            let clusters: usize = found.iter().map(|p| p.graphemes(true).count()).sum();
            assert_eq!(clusters, text.graphemes(true).count(), "{cluster} {pad}");
        }
    }
}

#[test]
fn a_grapheme_cluster_larger_than_the_target_stays_whole_up_to_its_bound() {
    let zalgo = format!("e{}", "\u{301}".repeat(1000));
    let text = format!("{}{zalgo}{}", "x".repeat(790), "y".repeat(1000));
    assert!(pieces(&text).iter().any(|p| p.contains(&zalgo)));
    let endless = format!("e{}", "\u{301}".repeat(100_000));
    let chunks = chunk(&endless);
    assert_whole(&endless, &chunks);
    assert!(chunks.iter().all(|c| c.bytes.len() <= MAX_GRAPHEME_BYTES));
}

#[test]
fn white_space_is_part_of_a_chunk_with_words() {
    for text in [
        format!("{}word", " ".repeat(5000)),
        format!("word{}", "\n".repeat(5000)),
        format!("{}{}{}", "a".repeat(790), " ".repeat(5000), "b".repeat(790)),
    ] {
        let found = pieces(&text);
        assert_eq!(found.concat(), text);
        assert!(found.iter().all(|p| !p.trim().is_empty()));
    }
    let endless = format!("a{}b", " ".repeat(250_000));
    assert_whole(&endless, &chunk(&endless));
}

#[test]
fn control_characters_are_part_of_a_chunk_with_words() {
    for mark in ["\0", "\u{1}", "\u{7f}", "\u{85}", "\u{1b}\n", " \0"] {
        for text in [
            format!("start{}end", mark.repeat(5000)),
            format!("{}word", mark.repeat(5000)),
            format!("word{}", mark.repeat(5000)),
        ] {
            let found = pieces(&text);
            assert_eq!(found.concat(), text);
            assert!(found.iter().all(|piece| !is_blank(piece)), "{mark:?}");
        }
    }
}

#[test]
fn a_tiny_tail_joins_the_chunk_before() {
    let text = format!("{}\n\ntail", "word ".repeat(159));
    assert_eq!(pieces(&text).len(), 1);
    assert!(pieces(&"z".repeat(TARGET_BYTES * 3 + 10)).iter().all(|p| p.len() >= MIN_BYTES));
}

#[test]
fn lines_are_those_of_the_first_and_the_last_byte() {
    let line = format!("{}\n", "x".repeat(99));
    let chunks = chunk(&line.repeat(20));
    let lines: Vec<_> = chunks.iter().map(|c| (c.line_start, c.line_end)).collect();
    assert_eq!(lines, [(1, 8), (9, 16), (17, 20)]);
    assert_eq!((chunk("a\nb")[0].line_start, chunk("a\nb")[0].line_end), (1, 2));
}

#[test]
fn one_huge_paragraph_keeps_the_phrase_at_its_end() {
    let text = format!("{} the unique phrase", "lorem ipsum ".repeat(1_000_000));
    let chunks = chunk(&text);
    assert_whole(&text, &chunks);
    assert!(text[chunks.last().unwrap().bytes.clone()].ends_with("the unique phrase"));
    let unbroken = "x".repeat(12_000_000);
    assert_whole(&unbroken, &chunk(&unbroken));
}

proptest! {
    #[test]
    fn chunks_concatenate_and_cut_between_clusters(
        parts in prop::collection::vec(("\\PC{0,30}|[ \\n\\r\\x00-\\x1f\\x7f]{0,30}|[a-z]{1,12}[.!?]? |é|e\u{301}|👩‍🚀|🇦🇶|\u{200d}", 1..40usize), 0..30)
    ) {
        let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
        let chunks = chunk(&text);
        let mut at = 0;
        let boundaries: std::collections::HashSet<usize> = text.grapheme_indices(true).map(|(i, _)| i).collect();
        for chunk in &chunks {
            prop_assert_eq!(chunk.bytes.start, at);
            prop_assert!(boundaries.contains(&at));
            prop_assert!(!is_blank(&text[chunk.bytes.clone()]) || is_blank(&text));
            prop_assert!(chunk.line_start <= chunk.line_end);
            at = chunk.bytes.end;
        }
        prop_assert_eq!(at, text.len());
    }

    /// Regions of any size without a word, up to many times what one chunk holds.
    #[test]
    fn chunks_concatenate_whatever_is_blank_and_however_much(
        parts in prop::collection::vec((prop::sample::select(vec![" ", "\n", "\r\n", "\0", "\u{2003}", "\u{1b}", "word. ", "é"]), 0..400_000usize), 0..4)
    ) {
        let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
        let chunks = chunk(&text);
        assert_whole(&text, &chunks);
        let longest = text.split(|c: char| !c.is_whitespace() && !c.is_control()).map(str::len).max().unwrap_or(0);
        if !is_blank(&text) && longest <= MAX_BYTES - TARGET_BYTES {
            prop_assert!(chunks.iter().all(|chunk| !is_blank(&text[chunk.bytes.clone()])));
        }
    }
}
