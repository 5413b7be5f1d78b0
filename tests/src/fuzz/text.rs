//! Bodies over what people and agents write: characters in, structure out, nothing lost.

use undercroft_text::chunk::{MAX_BYTES, TARGET_BYTES, chunk, is_blank};
use undercroft_text::transcript::{pack, parse};
use undercroft_text::{
    check_content_date, check_name, day_of, duplicate_form, entities, escape_controls, fold, room_from_file,
    snippet, tokens,
};

/// Chunks concatenate to the text, are bounded, count its lines, and hold something to read where the text does.
pub fn chunker(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (mut at, mut line) = (0, 1);
    for piece in chunk(&text) {
        assert_eq!(piece.bytes.start, at, "a gap or an overlap");
        assert!(piece.bytes.end > at && piece.bytes.len() <= MAX_BYTES);
        let words = &text[piece.bytes.clone()];
        let has_room = text.len() <= MAX_BYTES - TARGET_BYTES;
        assert!(!has_room || !is_blank(words) || is_blank(&text), "a chunk that no drawer keeps");
        assert_eq!(piece.line_start, line);
        assert!(piece.line_end >= piece.line_start);
        line += u32::try_from(words.matches('\n').count()).expect("few lines");
        at = piece.bytes.end;
    }
    assert_eq!(at, text.len(), "the end is missing");
}

/// Tokens lie in the text, in order, and none is empty; folding settles; a duplicate form is its own.
pub fn tokenizer(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for token in tokens(&text) {
        let (start, end) = (token.start as usize, token.end as usize);
        assert!(!token.text.is_empty() && start < end);
        assert!(text.get(start..end).is_some(), "a token cuts a character");
    }
    let folded = fold(&text);
    assert_eq!(fold(&folded), folded, "folding twice differs from folding once");
    let form = duplicate_form(&text).into_owned();
    assert_eq!(duplicate_form(&form), form, "a duplicate form is not its own");
    let _ = entities(&text);
    let shown = escape_controls(&text);
    assert!(!shown.contains('\u{1b}'), "an escape sequence would reach a terminal");
    let half = text.len() / 2;
    let cut = (half..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let _ = snippet(&text[..cut], &text[cut..], 100);
}

/// Every line is a message, dropped on purpose, or named; packing keeps every word.
pub fn transcripts(bytes: &[u8]) {
    let transcript = parse(bytes);
    let lines = u32::try_from(bytes.split(|b| *b == b'\n').count()).expect("few lines");
    let used = transcript.messages.len() + transcript.rejected.len() + transcript.dropped as usize;
    assert!(used <= lines as usize, "a line counts twice");
    assert!(transcript.rejected.iter().all(|rejected| (1..=lines).contains(&rejected.line)));
    assert!(transcript.messages.iter().all(|message| (1..=lines).contains(&message.line)));
    let packed = pack(&transcript.messages);
    assert!(packed.iter().all(|one| one.text.len() <= MAX_BYTES && one.first_line <= one.last_line));
    let kept: usize = packed.iter().map(|one| one.text.len()).sum();
    let said: usize = transcript.messages.iter().map(|message| message.text.len()).sum();
    assert!(kept >= said, "packing lost words");
}

/// An accepted name passes again unchanged and is safe as a folder's name.
pub fn names(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(name) = check_name("name", &text) {
        assert_eq!(check_name("name", &name).as_deref(), Ok(name.as_str()));
        assert!(!name.is_empty() && name.len() <= 128 && !name.contains(['/', '\\', '\0']) && name != "..");
    }
    let room = room_from_file(&text);
    assert_eq!(check_name("room", &room).as_deref(), Ok(room.as_str()), "a file's room is refused");
}

/// A date has a day exactly when it is accepted.
pub fn dates(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(check_content_date(&text).is_ok(), day_of(&text).is_some(), "{text:?}");
}
