use super::*;

#[test]
fn terms_are_distinct_lines_are_kept() {
    let analysed = analyse("Red kite a red\n\n\nC kite\n");
    let terms: Vec<_> = analysed.terms().map(|(term, _)| term.to_owned()).collect();
    assert_eq!(terms, ["red", "kite", "a", "c"]);
    assert_eq!(analysed.stream, [1, 2, 3, 1, 0, 4, 2]);
    assert_eq!((analysed.length, analysed.lines()), (6, 2));
}

#[test]
fn a_piece_of_a_run_is_another_term_than_the_word() {
    let analysed = analyse("مدرسه مد");
    let classes: Vec<_> =
        analysed.terms().filter(|(term, _)| *term == "مد").map(|(_, class)| class).collect();
    assert_eq!(classes, [TermClass::Gram, TermClass::Word]);
}

#[test]
fn a_text_without_a_word_is_empty() {
    for text in ["", "\n\n", "*", "🎉"] {
        let analysed = analyse(text);
        assert!(analysed.stream.is_empty() && analysed.length == 0, "{text:?}");
    }
}
