//! `init`: the master key and the vault 'default'.

use serde_json::json;
use undercroft_palace::{Access, CreateKeys, KeyOrigin, registry};

use crate::args::InitArgs;
use crate::commands::vault::level;
use crate::context::{Context, DEFAULT_VAULT, close};
use crate::error::Outcome;
use crate::i18n::Template;

pub(super) fn run(args: &InitArgs, context: &mut Context) -> Outcome {
    let level = level(&args.level)?;
    // A key source that contradicts what is there is refused before anything is called initialised.
    let palace = context.palace(CreateKeys::IfEmpty)?;
    let path = context.home.root().display().to_string();
    let created = match registry::existing(&context.home, DEFAULT_VAULT) {
        Ok(folder) => {
            // Only a vault that is there whole is called initialised; opening says what is missing.
            if !folder.join(registry::DATABASE).is_file() {
                palace.open_vault(DEFAULT_VAULT, Access::ReadOnly)?;
            }
            false
        }
        Err(undercroft_palace::Error::NoVault(_)) => {
            close(palace.create_vault(DEFAULT_VAULT, level)?);
            true
        }
        Err(damaged) => return Err(damaged.into()),
    };
    if context.out.is_json() {
        let source = match palace.key_origin() {
            KeyOrigin::Passphrase => "passphrase",
            KeyOrigin::KeyFile(_) => "key-file",
        };
        return context.out.object(&json!({ "path": path, "created": created, "key_source": source }));
    }
    if !created {
        let line = context.say(Template::PalaceAlready, &[("path", &path)]);
        return context.out.line(&line);
    }
    let initialised = context.say(Template::PalaceInitialised, &[("path", &path)]);
    let made = context.say(Template::VaultCreated, &[("name", DEFAULT_VAULT), ("level", level.as_str())]);
    context.out.line(&initialised)?;
    context.out.line(&made)?;
    context.out.line(&match palace.key_origin() {
        KeyOrigin::Passphrase => "Master key: derived from UNDERCROFT_PASSPHRASE (Argon2id)".to_owned(),
        KeyOrigin::KeyFile(file) => format!("Master key: {} (0600)", file.display()),
    })
}
