//! `remember`, `mine` and `sweep`: what puts texts in.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `remember`.
#[derive(Debug, Args)]
pub(crate) struct RememberArgs {
    /// The words to keep
    pub(crate) text: String,
    /// Person or project
    #[arg(long, default_value = "general")]
    pub(crate) wing: String,
    /// Topic
    #[arg(long, default_value = "inbox")]
    pub(crate) room: String,
    /// question, preference, decision, event, procedure or statement
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// The day the words are about: YYYY-MM-DD or RFC 3339
    #[arg(long, value_name = "DATE")]
    pub(crate) content_date: Option<String>,
    /// The drawer that these words update; it stays
    #[arg(long, value_name = "ID")]
    pub(crate) supersedes: Option<String>,
    /// The agent that says it wrote this
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// The channel it came through
    #[arg(long)]
    pub(crate) channel: Option<String>,
    /// The conversation it belongs to
    #[arg(long)]
    pub(crate) session: Option<String>,
}

/// Arguments of `mine`.
#[derive(Debug, Args)]
#[command(after_help = MINE_NOTES)]
pub(crate) struct MineArgs {
    /// A file, or a folder that is searched for md, txt, markdown, rst, org, log and jsonl (jsonl alone with 'convos')
    pub(crate) path: PathBuf,
    /// Person or project that the drawers are filed under
    #[arg(long, default_value = "mined")]
    pub(crate) wing: String,
    /// 'files' cuts texts into drawers, 'convos' packs the messages of transcripts
    #[arg(long, default_value = "files")]
    pub(crate) mode: String,
}

const MINE_NOTES: &str = "\
Mining a path again brings its drawers up to date: what changed is replaced, what a file no longer has is removed, and \
both are told. So is how many drawers of them had been changed by hand: mining makes them what the file says, those that \
were deleted too. Of a file that is gone itself, or that no longer can be read, everything stays: 'drawer delete-by-source' \
removes it.

A file is known by its path as it was typed: 'notes/a.md' mined from two folders is one file, and the second replaces \
the first. Mine by full paths, or into a wing for each folder, to keep both.

A file that 'mine', 'mine --mode convos' or 'sweep' filed into a wing is not filed into it by another of the three: use \
another wing, or delete it by its source first.

A transcript with lines that cannot be used adds what is new and replaces nothing; the lines are named.";

/// Arguments of `sweep`.
#[derive(Debug, Args)]
#[command(after_help = SWEEP_NOTES)]
pub(crate) struct SweepArgs {
    /// A transcript, or a folder of them (*.jsonl)
    pub(crate) path: PathBuf,
    /// Person or project that the messages are filed under
    #[arg(long, default_value = "convos")]
    pub(crate) wing: String,
}

const SWEEP_NOTES: &str = "\
Each message that a person or an agent said becomes a drawer of its own; one that was swept before is left as it is, so \
sweep as often as you like. What you changed by hand is not changed back, and what you deleted is not filed again; how \
many there are is told. The same words said again at another time are another message. Tool calls and results are not \
swept: 'mine --mode convos' files them too.

Nothing that was swept is ever replaced: other words at a line of the same path are filed beside the old ones. A path \
counts as it was typed. Messages that begin with 'Caveat:' or '<local-command', as what programs tell themselves does, \
are left out and named, and so are lines that cannot be used.";
