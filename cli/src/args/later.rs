//! Commands of later versions: recognised, so that a script learns what is missing instead of a typing error.

use std::ffi::OsString;

use clap::{Args, Subcommand};

/// Whatever follows a command of a later version.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Anything {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub(crate) rest: Vec<OsString>,
}

/// Commands that are documented and not built.
#[derive(Debug, Subcommand)]
pub(crate) enum LaterCommand {
    /// File the records of an export
    #[command(hide = true)]
    Import(Anything),
    /// Write a vault's records out
    #[command(hide = true)]
    Export(Anything),
    /// Make keys for sealed exports
    #[command(hide = true)]
    Bundle(Anything),
    /// Add and query facts
    #[command(hide = true)]
    Kg(Anything),
    /// Destroy drawers and attest it
    #[command(hide = true)]
    Forget(Anything),
    /// Check an attestation of forgetting
    #[command(hide = true)]
    VerifyForgetting(Anything),
    /// Keep a vault's height elsewhere and check against it
    #[command(hide = true)]
    Witness(Anything),
    /// Rule on what the screen held
    #[command(hide = true)]
    Admission(Anything),
    /// Assign trust classes to wings
    #[command(hide = true)]
    Trust(Anything),
    /// Declare how long drawers are kept
    #[command(hide = true)]
    Retention(Anything),
    /// Write and read agents' diaries
    #[command(hide = true)]
    Diary(Anything),
    /// Link wings
    #[command(hide = true)]
    Tunnel(Anything),
    /// Show which entities occur together
    #[command(hide = true)]
    Hallways(Anything),
    /// Show one line per room
    #[command(hide = true)]
    Closets(Anything),
    /// Distil facts with a language model
    #[command(hide = true)]
    Refine(Anything),
    /// Push a mirror to a remote vector database
    #[command(hide = true)]
    Index(Anything),
    /// Forward tenants' requests
    #[command(hide = true)]
    Router(Anything),
    /// Start a whole fleet on this machine
    #[command(hide = true)]
    Up(Anything),
}

impl LaterCommand {
    /// The command as it is typed.
    #[must_use]
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Import(_) => "import",
            Self::Export(_) => "export",
            Self::Bundle(_) => "bundle",
            Self::Kg(_) => "kg",
            Self::Forget(_) => "forget",
            Self::VerifyForgetting(_) => "verify-forgetting",
            Self::Witness(_) => "witness",
            Self::Admission(_) => "admission",
            Self::Trust(_) => "trust",
            Self::Retention(_) => "retention",
            Self::Diary(_) => "diary",
            Self::Tunnel(_) => "tunnel",
            Self::Hallways(_) => "hallways",
            Self::Closets(_) => "closets",
            Self::Refine(_) => "refine",
            Self::Index(_) => "index",
            Self::Router(_) => "router",
            Self::Up(_) => "up",
        }
    }
}
