//! Commands that a message shows to be copied: they mean the installation and the vault of this run, when those were named.
//!
//! The engine's messages know commands but not what was typed; here, in one place, both come together.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::print::quoted;

/// What of this run's flags a copied command must repeat.
#[derive(Debug, Clone, Default)]
pub(crate) struct Named {
    /// `--vault`
    pub(crate) vault: Option<String>,
    /// `--data-dir`
    pub(crate) data_dir: Option<PathBuf>,
}

/// What stands before each command in a message.
const START: &str = "undercroft ";
/// Commands that work on one vault.
const OF_A_VAULT: [&str; 6] = ["verify", "repair", "mine", "remember", "stats", "backup create"];
/// Commands that work on the installation.
const OF_ALL: [&str; 5] = ["init", "vault list", "vault create", "backup list", "backup restore"];

impl Named {
    /// A command that means this run's vault.
    #[must_use]
    pub(crate) fn command(&self, words: &str) -> String {
        format!("{START}{words}{}", self.flags(true))
    }

    /// The same for a command that takes no vault.
    #[must_use]
    pub(crate) fn command_for_all(&self, words: &str) -> String {
        format!("{START}{words}{}", self.flags(false))
    }

    fn flags(&self, of_a_vault: bool) -> String {
        let mut flags = String::new();
        if let Some(vault) = self.vault.as_ref().filter(|_| of_a_vault) {
            flags.push_str(&format!(" --vault {}", quoted(vault)));
        }
        if let Some(folder) = &self.data_dir {
            flags.push_str(&format!(" --data-dir {}", quoted(&folder.to_string_lossy())));
        }
        flags
    }

    /// A message with its commands made complete.
    #[must_use]
    pub(crate) fn complete<'a>(&self, message: &'a str) -> Cow<'a, str> {
        if self.flags(true).is_empty() {
            return Cow::Borrowed(message);
        }
        let mut complete = String::new();
        let mut rest = message;
        while let Some(at) = rest.find(START) {
            let (before, command) = rest.split_at(at + START.len());
            complete.push_str(before);
            let end = command.find([',', ';', ')', '\n']).unwrap_or(command.len());
            let (words, after) = command.split_at(end);
            complete.push_str(words);
            complete.push_str(&self.flags_of(words));
            rest = after;
        }
        Cow::Owned(complete + rest)
    }

    /// The flags that a command of a message lacks.
    fn flags_of(&self, words: &str) -> String {
        let is = |command: &&str| {
            words.strip_prefix(*command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        if OF_A_VAULT.iter().any(is) {
            self.flags(!words.contains("--vault"))
        } else if OF_ALL.iter().any(is) {
            self.flags(false)
        } else {
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named() -> Named {
        Named { vault: Some("my v".into()), data_dir: Some("/data".into()) }
    }

    #[test]
    fn commands_of_messages_get_the_flags_that_they_take() {
        for (message, complete) in [
            ("see: undercroft vault list", "see: undercroft vault list --data-dir /data"),
            ("run: undercroft repair", "run: undercroft repair --vault 'my v' --data-dir /data"),
            (
                "with: undercroft verify --vault 'x'; or (undercroft repair), or undercroft backup restore N --force",
                "with: undercroft verify --vault 'x' --data-dir /data; or (undercroft repair --vault 'my v' --data-dir \
                 /data), or undercroft backup restore N --force --data-dir /data",
            ),
            ("undercroft keygen", "undercroft keygen"),
            ("undercroft verifying", "undercroft verifying"),
        ] {
            assert_eq!(named().complete(message), complete);
        }
    }

    #[test]
    fn without_flags_nothing_is_changed() {
        assert!(matches!(Named::default().complete("run: undercroft repair"), Cow::Borrowed(_)));
        assert_eq!(Named::default().command("verify"), "undercroft verify");
    }
}
