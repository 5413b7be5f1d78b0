//! Owns how the blocks of a message's content become text.

use serde_json::{Map, Value};

/// The text of a content value, and whether any of it is plain text.
pub(super) struct Content {
    pub(super) text: String,
    pub(super) prose: bool,
}

/// Renders a string, a block, or an array of blocks joined by line feeds. `None` for anything else, and for an array
/// with an item that is neither: leaving the item out would lose it without a word.
pub(super) fn render(content: &Value) -> Option<Content> {
    match content {
        Value::String(text) => Some(plain_text(text)),
        Value::Array(blocks) => {
            let parts: Vec<Content> = blocks.iter().map(render_block).collect::<Option<_>>()?;
            let prose = parts.iter().any(|part| part.prose);
            let texts: Vec<&str> =
                parts.iter().map(|part| part.text.as_str()).filter(|text| !text.is_empty()).collect();
            Some(Content { text: texts.join("\n"), prose })
        }
        Value::Object(_) => render_block(content),
        _ => None,
    }
}

fn plain_text(text: &str) -> Content {
    Content { prose: !text.trim().is_empty(), text: text.to_owned() }
}

fn render_block(block: &Value) -> Option<Content> {
    let fields = match block {
        Value::Object(fields) => fields,
        Value::String(text) => return Some(plain_text(text)),
        _ => return None,
    };
    let kind = string(fields, "type").unwrap_or("unknown");
    let text = match kind {
        "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" => {
            return string(fields, "text").map(plain_text);
        }
        "thinking" | "reasoning" => marked("[thinking]", thought(fields)),
        "tool_use" | "tool_call" => {
            let input = fields.get("input").or_else(|| fields.get("arguments"));
            tool_use(string(fields, "name"), input)
        }
        "tool_result" => tool_result(fields.get("content")),
        "image" | "input_image" => format!("[image: {}]", image_source(fields)),
        _ => marked(&format!("[{kind}]"), Some(payload(fields))),
    };
    Some(Content { text, prose: false })
}

fn thought(fields: &Map<String, Value>) -> Option<String> {
    let given = |key: &str| fields.get(key).filter(|value| !value.is_null());
    given("thinking")
        .or_else(|| given("text"))
        .or_else(|| given("summary"))
        .map(|value| render(value).map_or_else(|| compact(value), |content| content.text))
}

/// A tool call: its name and input.
pub(super) fn tool_use(name: Option<&str>, input: Option<&Value>) -> String {
    marked(&format!("[tool_use: {}]", name.unwrap_or("unknown")), input.map(plain))
}

/// What a tool answered.
pub(super) fn tool_result(content: Option<&Value>) -> String {
    marked("[tool_result]", content.map(|value| render(value).map_or_else(|| compact(value), |c| c.text)))
}

/// A mark, and on the next line what it marks.
pub(super) fn marked(mark: &str, text: Option<String>) -> String {
    match text {
        Some(text) if !text.is_empty() => format!("{mark}\n{text}"),
        _ => mark.to_owned(),
    }
}

/// Where an image lies, or what kind of image was pasted in; never its bytes.
fn image_source(fields: &Map<String, Value>) -> String {
    let source = fields.get("source").and_then(Value::as_object).unwrap_or(fields);
    let nested = source.get("image_url").and_then(Value::as_object).unwrap_or(source);
    let url = string(nested, "url").or_else(|| string(source, "image_url"));
    match url {
        Some(url) => match url.strip_prefix("data:") {
            Some(data) => data.split([';', ',']).next().unwrap_or_default().to_owned(),
            None => url.to_owned(),
        },
        None => string(source, "media_type").unwrap_or("unknown").to_owned(),
    }
}

/// The block without its type, as JSON; nothing when it has no more fields.
fn payload(fields: &Map<String, Value>) -> String {
    let rest: Map<String, Value> = fields
        .iter()
        .filter(|(key, _)| *key != "type")
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if rest.is_empty() { String::new() } else { compact(&Value::Object(rest)) }
}

/// A string as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| compact(value), str::to_owned)
}

fn compact(value: &Value) -> String {
    value.to_string()
}

/// The field `key` if it is a string.
pub(super) fn string<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    fields.get(key).and_then(Value::as_str)
}
