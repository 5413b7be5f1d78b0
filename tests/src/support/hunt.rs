//! The hunt for plaintext: every byte of every file below a folder, searched for words in the forms in which programs
//! write them.

use std::fs;
use std::path::{Path, PathBuf};

use super::files;

/// A word found where none should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// The file.
    pub file: PathBuf,
    /// The word as it was planted.
    pub word: String,
    /// In which form it was found.
    pub form: &'static str,
}

/// The forms in which a word could stand on disk.
#[must_use]
pub fn forms(word: &str) -> Vec<(&'static str, Vec<u8>)> {
    let lower = word.to_lowercase();
    let escaped = |text: &str| {
        let json = serde_json::to_string(text).expect("JSON");
        json.as_bytes()[1..json.len() - 1].to_vec()
    };
    let ascii = |text: &str| -> Vec<u8> {
        text.encode_utf16()
            .flat_map(|unit| match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii() => vec![byte],
                _ => format!("\\u{unit:04x}").into_bytes(),
            })
            .collect()
    };
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let hex =
        |text: &str| -> Vec<u8> { text.bytes().flat_map(|b| format!("{b:02x}").into_bytes()).collect() };
    vec![
        ("UTF-8", word.as_bytes().to_vec()),
        ("lower case", lower.as_bytes().to_vec()),
        ("JSON", escaped(word)),
        ("JSON in ASCII", ascii(word)),
        ("lower case JSON in ASCII", ascii(&lower)),
        ("UTF-16LE", wide(word)),
        ("lower case UTF-16LE", wide(&lower)),
        ("hexadecimal", hex(word)),
    ]
}

/// Every leak of `words` in the files below `folder`, names of files included; files that `is_excepted` are passed over.
///
/// # Panics
/// When a file cannot be read.
#[must_use]
pub fn hunt(folder: &Path, words: &[String], is_excepted: &dyn Fn(&Path) -> bool) -> Vec<Leak> {
    let needles: Vec<(&String, &'static str, Vec<u8>)> = words
        .iter()
        .flat_map(|word| forms(word).into_iter().map(move |(form, bytes)| (word, form, bytes)))
        .collect();
    let mut leaks = Vec::new();
    for file in files(folder).into_iter().filter(|file| !is_excepted(file)) {
        let mut bytes = fs::read(&file).expect("a readable file");
        bytes.push(0);
        bytes.extend(file.strip_prefix(folder).expect("below the folder").as_os_str().as_encoded_bytes());
        for (word, form, needle) in &needles {
            if contains(&bytes, needle) {
                leaks.push(Leak { file: file.clone(), word: (*word).clone(), form });
            }
        }
    }
    leaks
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    let Some((first, rest)) = needle.split_first() else { return false };
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| byte == first) {
        at += found + 1;
        if bytes[at..].starts_with(rest) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::hunt;

    #[test]
    fn a_planted_word_is_found_in_every_form() {
        let dir = tempfile::tempdir().expect("a folder");
        let word = "Grünspecht\"Quartz";
        for (form, bytes) in super::forms(word) {
            let file = dir.path().join("deep");
            std::fs::write(&file, [b"\x00\xff".as_slice(), &bytes, b"tail"].concat()).expect("a file");
            let leaks = hunt(dir.path(), &[word.to_owned()], &|_| false);
            assert!(leaks.iter().any(|leak| leak.form == form), "{form}");
        }
    }

    #[test]
    fn names_of_files_are_searched_and_exceptions_are_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("saffron.txt"), "x").expect("a file");
        let words = ["saffron".to_owned(), "cinnabar".to_owned()];
        assert_eq!(hunt(dir.path(), &words, &|_| false)[0].word, "saffron");
        assert_eq!(hunt(dir.path(), &words, &|file| file.ends_with("saffron.txt")), []);
    }
}
