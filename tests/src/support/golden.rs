//! Golden files: what a command printed, with ids, times and places masked, compared with `tests/golden/`.
//! `UPDATE_GOLDEN=1 cargo test -p undercroft-tests` writes them anew.

use std::fs;

use serde_json::Value;

/// Fails unless `value`, masked, is what `tests/golden/<name>.json` holds.
///
/// # Panics
/// With both texts.
pub fn expect_golden(name: &str, value: &Value) {
    let path = crate::tree::root().join("tests/golden").join(format!("{name}.json"));
    let mut text = serde_json::to_string_pretty(&mask(value)).expect("JSON");
    text.push('\n');
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &text).expect("a golden file");
    }
    let golden = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(text, golden, "{name}: not as the golden file says; UPDATE_GOLDEN=1 writes it anew");
}

/// The same value with everything masked that differs from run to run.
#[must_use]
pub fn mask(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(mask_text(text)),
        Value::Number(number) if number.is_f64() => Value::String("<fraction>".into()),
        Value::Array(items) => Value::Array(items.iter().map(mask).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| (key.clone(), mask(value))).collect())
        }
        other => other.clone(),
    }
}

fn mask_text(text: &str) -> String {
    let words =
        text.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '/')));
    words.map(mask_word).collect()
}

fn mask_word(word: &str) -> String {
    let end =
        word.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '/')));
    let rest = &word[end.len()..];
    let is_hex = end.bytes().all(|b| b.is_ascii_hexdigit());
    let masked = if is_hex && end.len() == 32 {
        "<id>"
    } else if is_hex && end.len() == 64 {
        "<hash>"
    } else if is_time(end) {
        "<time>"
    } else if end.starts_with('/') && end.len() > 1 {
        "<path>"
    } else {
        end
    };
    format!("{masked}{rest}")
}

/// Times of now, not dates that a story wrote.
fn is_time(word: &str) -> bool {
    word.len() >= 20
        && word.ends_with('Z')
        && word[..4].bytes().all(|b| b.is_ascii_digit())
        && word.contains('T')
}
