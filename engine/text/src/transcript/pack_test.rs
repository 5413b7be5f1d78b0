use super::{Message, pack};
use crate::chunk::{MAX_BYTES, TARGET_BYTES};

fn said(line: u32, text: impl Into<String>) -> Message {
    Message { role: "user".into(), text: text.into(), line, prose: true, ..Message::default() }
}

#[test]
fn messages_are_labelled_and_joined_by_an_empty_line() {
    let named =
        Message { speaker: Some("Ana".into()), timestamp: Some("2026-01-02".into()), ..said(4, "yes") };
    let packed = pack(&[said(2, "shall we?"), named]);
    assert_eq!(packed.len(), 1);
    assert_eq!(packed[0].text, "User: shall we?\n\nAna: yes");
    assert_eq!((packed[0].first_line, packed[0].last_line), (2, 4));
    assert_eq!(packed[0].timestamp.as_deref(), Some("2026-01-02"));
}

#[test]
fn no_pack_of_several_exceeds_the_target() {
    let messages: Vec<_> = (1..40).map(|line| said(line, "x".repeat(30 * line as usize))).collect();
    let packed = pack(&messages);
    assert!(packed.iter().all(|p| p.text.len() <= TARGET_BYTES || p.first_line == p.last_line));
    assert_eq!(packed.last().unwrap().last_line, 39);
    let exact = [said(1, "a".repeat(393)), said(2, "b".repeat(393))];
    assert_eq!(pack(&exact).len(), 1, "800 bytes fit");
    assert_eq!(pack(&[said(1, "a".repeat(393)), said(2, "b".repeat(394))]).len(), 2, "801 do not");
}

#[test]
fn a_larger_message_stays_whole_and_alone_up_to_the_bound() {
    let packed = pack(&[said(1, "a"), said(2, "b".repeat(5000)), said(3, "c")]);
    assert_eq!(packed.iter().map(|p| p.first_line).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(pack(&[said(1, "b".repeat(MAX_BYTES - 6))]).len(), 1);
}

#[test]
fn a_message_beyond_the_bound_is_cut_and_only_its_first_part_is_labelled() {
    let text = "A sentence that is said again. ".repeat(10_000);
    let packed = pack(&[said(7, text.clone())]);
    assert_eq!(packed.len(), 4);
    assert!(packed.iter().all(|p| p.text.len() <= MAX_BYTES && p.first_line == 7));
    assert_eq!(packed.concat_texts(), format!("User: {text}"));
    assert!(packed[1].text.starts_with("A sentence"));
}

trait ConcatTexts {
    fn concat_texts(&self) -> String;
}

impl ConcatTexts for Vec<super::Packed> {
    fn concat_texts(&self) -> String {
        self.iter().map(|p| p.text.as_str()).collect()
    }
}

#[test]
fn nothing_packs_to_nothing() {
    assert_eq!(pack(&[]), []);
}
