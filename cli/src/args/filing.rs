//! `remember`, `mine` and `sweep`: what puts texts in.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `remember`.
#[derive(Debug, Args)]
pub struct RememberArgs {
    /// The words to keep
    pub text: String,
    /// Person or project
    #[arg(long, default_value = "general")]
    pub wing: String,
    /// Topic
    #[arg(long, default_value = "inbox")]
    pub room: String,
    /// question, preference, decision, event, procedure or statement
    #[arg(long)]
    pub kind: Option<String>,
    /// The day the words are about: YYYY-MM-DD or RFC 3339
    #[arg(long, value_name = "DATE")]
    pub content_date: Option<String>,
    /// The drawer that these words update; it stays
    #[arg(long, value_name = "ID")]
    pub supersedes: Option<String>,
    /// The agent that says it wrote this
    #[arg(long)]
    pub agent: Option<String>,
    /// The channel it came through
    #[arg(long)]
    pub channel: Option<String>,
    /// The conversation it belongs to
    #[arg(long)]
    pub session: Option<String>,
}

/// Arguments of `mine`.
#[derive(Debug, Args)]
pub struct MineArgs {
    /// A file, or a folder that is searched for md, txt, markdown, rst, org, log and jsonl
    pub path: PathBuf,
    /// Person or project
    #[arg(long, default_value = "mined")]
    pub wing: String,
    /// 'files' cuts texts into drawers, 'convos' packs the messages of transcripts
    #[arg(long, default_value = "files")]
    pub mode: String,
}

/// Arguments of `sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// A transcript, or a folder of them (*.jsonl)
    pub path: PathBuf,
    /// Person or project
    #[arg(long, default_value = "convos")]
    pub wing: String,
}
