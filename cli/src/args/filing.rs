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
pub(crate) struct MineArgs {
    /// A file, or a folder that is searched for md, txt, markdown, rst, org, log and jsonl
    pub(crate) path: PathBuf,
    /// Person or project
    #[arg(long, default_value = "mined")]
    pub(crate) wing: String,
    /// 'files' cuts texts into drawers, 'convos' packs the messages of transcripts
    #[arg(long, default_value = "files")]
    pub(crate) mode: String,
}

/// Arguments of `sweep`.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// A transcript, or a folder of them (*.jsonl)
    pub(crate) path: PathBuf,
    /// Person or project
    #[arg(long, default_value = "convos")]
    pub(crate) wing: String,
}
