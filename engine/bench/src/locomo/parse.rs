//! Owns reading the data set. Evidence that names no turn is kept as malformed, never guessed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde_json::Value;

/// One conversation with its questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Sessions by number, ascending; those without a turn are left out.
    pub sessions: Vec<Session>,
    /// Questions in the order of the file.
    pub questions: Vec<Question>,
}

/// One session of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its number, from 1.
    pub number: u32,
    /// When it took place, as the data set writes it.
    pub date: String,
    /// Its turns in order.
    pub turns: Vec<Turn>,
}

/// Something one speaker said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Identity within the conversation, `D<session>:<turn>`.
    pub id: String,
    /// Who said it.
    pub speaker: String,
    /// What was said.
    pub text: String,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub text: String,
    /// Category of the data set, 1 to 5.
    pub category: u8,
    /// Where the answer lies; empty when the question cannot be scored.
    pub evidence: Vec<Evidence>,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// As the data set writes it.
    pub written: String,
    /// Numbers of the sessions that it names, in any readable form.
    pub sessions: Vec<u32>,
}

/// Why the data set cannot be used.
#[derive(Debug)]
pub enum DataError {
    /// It cannot be read.
    Read(std::io::Error),
    /// It is not JSON.
    Json(serde_json::Error),
    /// A part is missing or of another type.
    Shape(&'static str),
}

impl fmt::Display for DataError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(out, "locomo: {error}"),
            Self::Json(error) => write!(out, "locomo: not JSON: {error}"),
            Self::Shape(field) => write!(out, "locomo: {field} is missing or of another type"),
        }
    }
}

impl std::error::Error for DataError {}

/// Reads the data set from a file.
///
/// # Errors
/// A file that cannot be read, or is not the data set.
pub fn read(path: &Path) -> Result<Vec<Conversation>, DataError> {
    parse(&std::fs::read(path).map_err(DataError::Read)?)
}

/// Reads the data set from bytes.
///
/// # Errors
/// Bytes that are not the data set.
pub fn parse(bytes: &[u8]) -> Result<Vec<Conversation>, DataError> {
    let data: Value = serde_json::from_slice(bytes).map_err(DataError::Json)?;
    data.as_array().ok_or(DataError::Shape("the list of conversations"))?.iter().map(conversation).collect()
}

fn conversation(data: &Value) -> Result<Conversation, DataError> {
    let said = data["conversation"].as_object().ok_or(DataError::Shape("conversation"))?;
    let mut sessions = BTreeMap::new();
    for (name, turns) in said {
        let number = name.strip_prefix("session_").and_then(|number| number.parse().ok());
        let (Some(number), Some(turns)) = (number, turns.as_array()) else { continue };
        let turns = turns.iter().map(turn).collect::<Result<Vec<_>, _>>()?;
        let date = said.get(&format!("{name}_date_time")).and_then(Value::as_str).unwrap_or_default();
        if !turns.is_empty() {
            sessions.insert(number, Session { number, date: date.to_owned(), turns });
        }
    }
    let questions = data["qa"].as_array().ok_or(DataError::Shape("qa"))?;
    Ok(Conversation {
        sessions: sessions.into_values().collect(),
        questions: questions.iter().map(question).collect::<Result<_, _>>()?,
    })
}

fn turn(data: &Value) -> Result<Turn, DataError> {
    let field = |name: &'static str| data[name].as_str().map(str::to_owned).ok_or(DataError::Shape(name));
    Ok(Turn { id: field("dia_id")?, speaker: field("speaker")?, text: field("text")? })
}

fn question(data: &Value) -> Result<Question, DataError> {
    let text = data["question"].as_str().ok_or(DataError::Shape("question"))?.to_owned();
    let category = data["category"].as_u64().ok_or(DataError::Shape("category"))? as u8;
    let written = data["evidence"].as_array().map(Vec::as_slice).unwrap_or_default();
    let evidence = written.iter().filter_map(Value::as_str).map(evidence).collect();
    Ok(Question { text, category, evidence })
}

/// Every `D<number>` in the text names a session; several may stand in one string.
fn evidence(written: &str) -> Evidence {
    let digits = |rest: &str| -> Option<u32> {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    let sessions =
        written.split('D').skip(1).filter_map(|rest| digits(rest.trim_start_matches(':'))).collect();
    Evidence { written: written.to_owned(), sessions }
}
