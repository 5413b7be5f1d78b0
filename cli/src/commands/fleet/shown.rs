//! Fields of an answer as a person reads them.

use serde_json::Value;
use undercroft_vault::rfc3339;

/// Most characters of a name, an address or a message in a table.
const WIDEST: usize = 32;

/// A field; `-` for none.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) if text.is_empty() => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// A field that may be long, cut to fit a table.
pub(super) fn short(value: &Value) -> String {
    let whole = text(value);
    if whole.chars().count() <= WIDEST {
        return whole;
    }
    whole.chars().take(WIDEST - 1).chain(['…']).collect()
}

/// Seconds since 1970 as a date and a time.
pub(super) fn moment(value: &Value) -> String {
    let micros = value.as_i64().and_then(|seconds| seconds.checked_mul(1_000_000));
    micros.map_or_else(|| text(value), rfc3339)
}

/// Bytes in the largest unit of which there is one.
pub(super) fn size(value: &Value) -> String {
    let Some(bytes) = value.as_u64() else { return text(value) };
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let found = units.into_iter().find(|(_, bits)| bytes >> bits > 0);
    found.map_or_else(
        || format!("{bytes} B"),
        |(unit, bits)| format!("{:.1} {unit}", bytes as f64 / (1_u64 << bits) as f64),
    )
}

/// The objects of a list.
pub(super) fn items<'a>(answer: &'a Value, list: &str) -> &'a [Value] {
    answer[list].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_shown_in_a_person_s_words() {
        for (value, shown) in [
            (json!(null), "-"),
            (json!(""), "-"),
            (json!([]), "-"),
            (json!([1, 2]), "1,2"),
            (json!(true), "yes"),
            (json!(7), "7"),
        ] {
            assert_eq!(text(&value), shown);
        }
        assert_eq!(short(&json!("x".repeat(40))).chars().count(), WIDEST);
        assert_eq!(moment(&json!(0)), "1970-01-01T00:00:00Z");
        assert_eq!((size(&json!(1023)), size(&json!(1536_u64 << 30))), ("1023 B".into(), "1.5 TiB".into()));
        assert_eq!((size(&json!(null)), moment(&json!(null))), ("-".to_owned(), "-".to_owned()));
    }
}
