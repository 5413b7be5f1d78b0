//! The arguments of a call: declared in a table, checked against it before a tool runs, shown from it as a schema.
//!
//! One table serves both, so what is advertised is what is accepted. Nothing is guessed: an unknown argument and one of
//! another type are refused by name.

use serde_json::{Map, Value, json};
use undercroft_vault::DrawerId;

use super::failure::{Failure, echo};
use super::tools::Tool;

/// What an argument holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Text.
    Text,
    /// One word of a closed list.
    OneOf(&'static [&'static str]),
    /// A whole number within bounds.
    Count {
        /// Smallest.
        least: u64,
        /// Largest.
        most: u64,
    },
    /// Yes or no.
    Flag,
}

/// What stands for an argument that is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    /// It must be given.
    Required,
    /// Nothing.
    Absent,
    /// This text.
    Text(&'static str),
    /// This number.
    Count(u64),
    /// No.
    No,
}

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
    /// What stands for it when it is not given.
    pub otherwise: Otherwise,
    /// One line for the agent.
    pub meaning: &'static str,
}

impl Argument {
    /// An optional argument.
    pub(super) const fn new(name: &'static str, holds: Holds, meaning: &'static str) -> Self {
        Self { name, holds, otherwise: Otherwise::Absent, meaning }
    }

    /// An optional text.
    pub(super) const fn text(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Holds::Text, meaning)
    }

    /// The same, and it must be given.
    pub(super) const fn required(mut self) -> Self {
        self.otherwise = Otherwise::Required;
        self
    }

    /// The same with something that stands for it.
    pub(super) const fn or(mut self, otherwise: Otherwise) -> Self {
        self.otherwise = otherwise;
        self
    }

    /// The argument as a property of a schema: plain keywords, no alternatives.
    #[must_use]
    pub(super) fn schema(&self) -> Value {
        let mut schema = match self.holds {
            Holds::Text => json!({ "type": "string" }),
            Holds::OneOf(words) => json!({ "type": "string", "enum": words }),
            Holds::Count { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Holds::Flag => json!({ "type": "boolean" }),
        };
        schema["description"] = json!(self.meaning);
        match self.otherwise {
            Otherwise::Text(text) => schema["default"] = json!(text),
            Otherwise::Count(count) => schema["default"] = json!(count),
            Otherwise::No => schema["default"] = json!(false),
            Otherwise::Required | Otherwise::Absent => {}
        }
        schema
    }

    /// Checks one given value.
    fn check(&self, value: &Value) -> Result<(), Failure> {
        let fits = match self.holds {
            Holds::Text => value.is_string(),
            Holds::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Holds::Count { least, most } => count_of(value).is_some_and(|n| (least..=most).contains(&n)),
            Holds::Flag => value.is_boolean(),
        };
        if fits { Ok(()) } else { Err(Failure::argument(self.name, self.complaint(value))) }
    }

    fn complaint(&self, value: &Value) -> String {
        let wanted = match self.holds {
            Holds::Text => "a string".to_owned(),
            Holds::OneOf(words) => format!("one of {}", words.join(", ")),
            Holds::Count { least, most } => format!("a whole number from {least} to {most}"),
            Holds::Flag => "true or false".to_owned(),
        };
        match value {
            Value::Null if self.otherwise != Otherwise::Required => {
                format!("it must be {wanted}, not null; leave it out instead")
            }
            Value::String(word) => format!("it must be {wanted}, not \"{}\"", echo(word)),
            Value::Number(number) => format!("it must be {wanted}, not {number}"),
            Value::Bool(flag) => format!("it must be {wanted}, not {flag}"),
            Value::Null => format!("it must be {wanted}, not null"),
            Value::Array(_) => format!("it must be {wanted}, not an array"),
            Value::Object(_) => format!("it must be {wanted}, not an object"),
        }
    }
}

/// A whole number that is not negative. `5.0` is one: schemas say so.
fn count_of(value: &Value) -> Option<u64> {
    /// Above it, a fraction's neighbours are more than one apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        // In range and without a fraction, so the conversion is exact.
        ((0.0..=EXACT).contains(&number) && number.fract() == 0.0).then_some(number as u64)
    })
}

/// The arguments of one call, checked against the tool's table.
pub(super) struct Arguments<'a> {
    table: &'static [Argument],
    given: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Checks what is given: known, of the right type, complete.
    pub(super) fn check(tool: &'static Tool, given: &'a Map<String, Value>) -> Result<Self, Failure> {
        for (name, value) in given {
            match tool.arguments.iter().find(|argument| argument.name == name) {
                Some(argument) => argument.check(value)?,
                None if tool.unbuilt.contains(&name.as_str()) => {
                    return Err(Failure::invalid(format!("not implemented: {name}; leave it out")));
                }
                None => return Err(unknown(tool, name)),
            }
        }
        let mut required = tool.arguments.iter().filter(|a| a.otherwise == Otherwise::Required);
        match required.find(|argument| !given.contains_key(argument.name)) {
            Some(missing) => Err(Failure::invalid(format!("missing required argument: {}", missing.name))),
            None => Ok(Self { table: tool.arguments, given }),
        }
    }

    /// A text, or what stands for it.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        match self.given.get(name) {
            Some(value) => value.as_str(),
            None => match self.otherwise(name) {
                Some(Otherwise::Text(text)) => Some(text),
                _ => None,
            },
        }
    }

    /// A text that must be there.
    pub(super) fn need(&self, name: &str) -> Result<&'a str, Failure> {
        self.text(name).ok_or_else(|| Failure::invalid(format!("missing required argument: {name}")))
    }

    /// A text as the owned value that the engine takes.
    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// A whole number, or what stands for it.
    pub(super) fn count(&self, name: &str) -> Option<usize> {
        let count = match self.given.get(name) {
            Some(value) => count_of(value),
            None => match self.otherwise(name) {
                Some(Otherwise::Count(count)) => Some(count),
                _ => None,
            },
        };
        // A number that this machine cannot count to is as good as the largest one that it can.
        count.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Yes or no; not given means no.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.given.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A drawer's id, when it is given.
    pub(super) fn drawer(&self, name: &str) -> Result<Option<DrawerId>, Failure> {
        self.text(name).map(|text| parse_id(name, text)).transpose()
    }

    /// A drawer's id that must be there.
    pub(super) fn need_drawer(&self, name: &str) -> Result<DrawerId, Failure> {
        parse_id(name, self.need(name)?)
    }

    fn otherwise(&self, name: &str) -> Option<Otherwise> {
        self.table.iter().find(|argument| argument.name == name).map(|argument| argument.otherwise)
    }
}

fn parse_id(name: &str, text: &str) -> Result<DrawerId, Failure> {
    text.parse().map_err(|_| {
        let remedy = "a drawer id is 32 lower-case hexadecimal digits; copy it from a search or a list";
        Failure::argument(name, remedy)
    })
}

fn unknown(tool: &Tool, name: &str) -> Failure {
    let known: Vec<&str> = tool.arguments.iter().map(|argument| argument.name).collect();
    let takes = if known.is_empty() { "no arguments".to_owned() } else { known.join(", ") };
    Failure::invalid(format!("unknown argument: {}; {} takes {takes}", echo(name), tool.name))
}
