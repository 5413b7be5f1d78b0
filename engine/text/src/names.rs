//! Owns the guard that every name passes (vault, wing, room, agent, entity, label …) and the names that are made
//! of file names. It does not know which names exist.

use thiserror::Error;

/// The most bytes that a name may have.
pub const MAX_NAME_BYTES: usize = 128;

/// Why a name was refused. Each message begins with `invalid <field>`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing but white space.
    #[error("invalid {field}: it is empty; give 1 to {MAX_NAME_BYTES} bytes")]
    Empty {
        /// Which name.
        field: &'static str,
    },
    /// Too many bytes.
    #[error("invalid {field}: {bytes} bytes are too long; give at most {MAX_NAME_BYTES}")]
    TooLong {
        /// Which name.
        field: &'static str,
        /// How many bytes it has.
        bytes: usize,
    },
    /// `.` or `..`.
    #[error("invalid {field}: \".\" and \"..\" name folders; give another name")]
    Dots {
        /// Which name.
        field: &'static str,
    },
    /// A character that no name may have.
    #[error("invalid {field}: it has the character {character:?}; leave out control characters, / and \\")]
    Character {
        /// Which name.
        field: &'static str,
        /// The first such character.
        character: char,
    },
}

/// Checks a name and gives it without the white space around it.
///
/// # Errors
/// [`NameError`] when what is left is empty, longer than [`MAX_NAME_BYTES`], `.` or `..`, or has a control
/// character, `/` or `\`.
pub fn check_name(field: &'static str, value: &str) -> Result<String, NameError> {
    let name = value.trim();
    if name.is_empty() {
        return Err(NameError::Empty { field });
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(NameError::TooLong { field, bytes: name.len() });
    }
    if matches!(name, "." | "..") {
        return Err(NameError::Dots { field });
    }
    match name.chars().find(|&c| c.is_control() || matches!(c, '/' | '\\')) {
        Some(character) => Err(NameError::Character { field, character }),
        None => Ok(name.to_owned()),
    }
}

/// The wing that a file's name without its extension stands for; `general` when nothing of it can be kept.
///
/// Lower-cased, spaces become `-`, only letters, digits, `-` and `_` are kept, and no `-` stands at either end.
#[must_use]
pub fn wing_name_from_file(stem: &str) -> String {
    slug(stem).unwrap_or_else(|| "general".to_owned())
}

/// The room that a file's name without its extension stands for, by the rule of [`wing_name_from_file`];
/// `unsorted` when nothing of it can be kept.
#[must_use]
pub fn room_from_file(stem: &str) -> String {
    slug(stem).unwrap_or_else(|| "unsorted".to_owned())
}

fn slug(stem: &str) -> Option<String> {
    let kept: String = stem
        .chars()
        .flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .filter(|&c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    let name = kept.trim_matches('-');
    let name = name[..name.floor_char_boundary(MAX_NAME_BYTES)].trim_end_matches('-');
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_people_and_projects_pass_trimmed() {
        for name in ["a", "Müller & Söhne", "日本", "x.y", "...", "a b", "O'Neil: \"notes\""] {
            assert_eq!(check_name("wing", &format!("  {name}\n")), Ok(name.to_owned()));
        }
        assert!(check_name("wing", &"x".repeat(128)).is_ok());
    }

    #[test]
    fn everything_else_is_refused_by_field_and_reason() {
        for (name, reason) in [
            ("", "empty"),
            (" \t ", "empty"),
            (".", "folders"),
            (" .. ", "folders"),
            ("a/b", "'/'"),
            ("a\\b", "'\\\\'"),
            ("a\u{0}b", "'\\0'"),
            ("a\u{1b}[b", "'\\u{1b}'"),
            ("a\u{85}b", "'\\u{85}'"),
            (&"é".repeat(65), "130 bytes"),
        ] {
            let message = check_name("room", name).unwrap_err().to_string();
            assert!(message.starts_with("invalid room: ") && message.contains(reason), "{message}");
        }
    }

    #[test]
    fn file_names_become_names() {
        assert_eq!(wing_name_from_file("My Project (2)"), "my-project-2");
        assert_eq!(room_from_file("--Über_uns--"), "über_uns");
        assert_eq!(wing_name_from_file("..."), "general");
        assert_eq!(room_from_file(" "), "unsorted");
    }

    proptest! {
        #[test]
        fn names_made_of_file_names_pass_the_guard(stem in any::<String>()) {
            let name = wing_name_from_file(&stem);
            prop_assert_eq!(check_name("wing", &name), Ok(name));
        }
    }
}
