//! What every command shares: the data folder, the environment, where output goes, which language it is in.
//!
//! Opening happens here, so that each command warns, refuses and reports what was healed in the same words.

use undercroft_palace::env::{Environment, Finding, resolve};
use undercroft_palace::{Access, CreateKeys, Home, KeySource, Palace, VaultSettings, standard_tools};
use undercroft_vault::Vault;

use crate::args::Cli;
use crate::error::{Failure, Outcome};
use crate::hints::Named;
use crate::i18n::{Language, Template};
use crate::print::{Output, aside};

/// The vault that is meant when none is named.
pub(crate) const DEFAULT_VAULT: &str = "default";

/// One run.
pub(crate) struct Context {
    /// The data folder.
    pub(crate) home: Home,
    /// The environment as declared.
    pub(crate) environment: Environment,
    /// Standard output.
    pub(crate) out: Output,
    /// The language of result lines.
    pub(crate) language: Language,
    /// What was named of the vault and the installation.
    pub(crate) named: Named,
}

impl Context {
    /// The context of what was typed.
    #[must_use]
    pub(crate) fn new(cli: &Cli) -> Self {
        let environment = Environment::of_process();
        Self {
            home: Home::resolve(cli.data_dir.as_deref(), &environment),
            out: Output::standard(cli.json),
            language: Language::from_tag(resolve::language_tag(&environment).as_deref()),
            named: cli.named(),
            environment,
        }
    }

    /// The vault that `--vault` names.
    #[must_use]
    pub(crate) fn vault_name(&self) -> &str {
        self.named.vault.as_deref().unwrap_or(DEFAULT_VAULT)
    }

    /// A command to be copied into a shell. It means the vault and the installation of this run when those were named.
    #[must_use]
    pub(crate) fn command(&self, words: &str) -> String {
        self.named.command(words)
    }

    /// The same for a command that takes no vault.
    #[must_use]
    pub(crate) fn command_for_all(&self, words: &str) -> String {
        self.named.command_for_all(words)
    }

    /// Tells what opening a vault found or healed.
    pub(crate) fn tell_unhealed(&self, vault: &Vault) {
        for note in vault.unhealed() {
            aside(&format!("Note: {}", self.named.complete(note)));
        }
    }

    /// A localised result line.
    #[must_use]
    pub(crate) fn say(&self, template: Template, values: &[(&str, &str)]) -> String {
        template.fill(self.language, values)
    }

    /// What the environment decides about vaults; prints its warnings.
    ///
    /// # Errors
    /// A declaration that refuses.
    pub(crate) fn settings(&self) -> Outcome<VaultSettings> {
        let (settings, warnings) = VaultSettings::resolve(&self.environment).map_err(refusal)?;
        for warning in warnings {
            aside(&format!("Warning: {}: {}", warning.variable, warning.message));
        }
        Ok(settings)
    }

    /// Opens the installation.
    ///
    /// # Errors
    /// A declaration that refuses, or what is wrong with the key material.
    pub(crate) fn palace(&self, create: CreateKeys) -> Outcome<Palace> {
        let settings = self.settings()?;
        let declared = KeySource::declared(&self.environment).map_err(refusal)?;
        Ok(Palace::open(self.home.clone(), &declared, create, &settings, standard_tools())?)
    }

    /// Opens the vault that `--vault` names to read from it. Where nothing can be written, as on a full disk or in a
    /// read-only folder, what is there is still read.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn open_to_read(&self) -> Outcome<Vault> {
        let vault = open_to_read(&self.palace(CreateKeys::Never)?, self.vault_name())?;
        self.tell_unhealed(&vault);
        Ok(vault)
    }

    /// Opens the vault that `--vault` names, for writing, so that a lagging anchor is healed; says what was.
    ///
    /// # Errors
    /// As [`palace`](Self::palace), or what the vault says.
    pub(crate) fn open(&self) -> Outcome<Vault> {
        let vault = self.palace(CreateKeys::Never)?.open_vault(self.vault_name(), Access::Write)?;
        self.tell_unhealed(&vault);
        Ok(vault)
    }
}

/// Opens a vault for writing, so that a lagging anchor is healed, or only for reading where nothing can be written.
///
/// # Errors
/// What the vault says.
pub(crate) fn open_to_read(palace: &Palace, name: &str) -> Outcome<Vault> {
    match palace.open_vault(name, Access::Write).map_err(Failure::from) {
        Err(failure) if failure.is_unwritable() => {
            let vault = palace.open_vault(name, Access::ReadOnly)?;
            aside(&format!("Note: vault '{name}' cannot be written, so it is only read: {failure}"));
            Ok(vault)
        }
        opened => opened,
    }
}

/// Closes a vault. What was written in it is kept by then, and a failure here undoes none of it: it is told, and no failure
/// of the command.
pub(crate) fn close(vault: Vault) {
    let name = vault.name();
    if let Err(error) = vault.close() {
        aside(&format!(
            "Warning: what was written in vault '{name}' is kept, but its manifest or its index image could not follow, and does at \
             the next command that writes: {error}"
        ));
    }
}

fn refusal(finding: Finding) -> Failure {
    undercroft_palace::Error::Declaration(finding).into()
}
