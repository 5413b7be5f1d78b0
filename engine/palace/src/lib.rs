//! One installation: its data folder, its master key, its vaults by name, its configuration and its backups.
//!
//! This is the only engine crate that reads the environment, in `env/environment.rs` and nowhere else. It knows nothing of
//! HTTP, of replication or of tenants. Start at [`Palace`].

pub mod backups;
pub mod check;
pub mod env;
mod error;
mod home;
pub mod identity;
mod keys;
mod leftovers;
pub mod mining;
mod name;
mod palace;
pub mod registry;
mod restore;
mod settings;
mod staging;
pub mod stamp;

pub use error::{Error, Result};
pub use home::Home;
pub use keys::{CreateKeys, KeyOrigin, KeySource, load_master_key};
pub use palace::{Access, CreatedBackup, Level, Palace, standard_tools, tools_with};
pub use settings::VaultSettings;
pub use undercroft_crypto::ErrorClass;
