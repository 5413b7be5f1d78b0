//! `drawer …`

use clap::Subcommand;

/// `drawer …`
#[derive(Debug, Subcommand)]
pub(crate) enum DrawerCommand {
    /// Print one drawer, word for word
    Get {
        /// Its id, as searches and lists show it
        id: String,
    },
    /// List drawers, newest first
    List {
        /// Only this person or project
        #[arg(long)]
        wing: Option<String>,
        /// Only this topic
        #[arg(long)]
        room: Option<String>,
        /// Most drawers
        #[arg(long, default_value_t = 20)]
        limit: usize,
        /// Drawers to skip
        #[arg(long, default_value_t = 0)]
        offset: usize,
    },
    /// Replace the words of a drawer
    Update {
        /// Its id
        id: String,
        /// The new words
        text: String,
    },
    /// Delete a drawer
    Delete {
        /// Its id
        id: String,
    },
    /// Delete every drawer that came from one source
    DeleteBySource {
        /// The source as it was filed
        path: String,
    },
    /// Say whether these very words are filed already
    CheckDup {
        /// The words
        text: String,
    },
}
