//! `search`, `wake-up`, `dedup`, `history` and `repair`.

use clap::Args;

/// Arguments of `search`. Flags of features that are not built are known, so that using one says so.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to look for
    pub query: String,
    /// Only this person or project
    #[arg(long)]
    pub wing: Option<String>,
    /// Only this topic
    #[arg(long)]
    pub room: Option<String>,
    /// Only drawers of this declared kind
    #[arg(long)]
    pub kind: Option<String>,
    /// Most hits
    #[arg(short = 'n', long, default_value_t = 5)]
    pub limit: usize,
    /// Ranks to skip
    #[arg(long, default_value_t = 0)]
    pub offset: usize,
    /// Measure recency from this moment (RFC 3339), so that pages fit together
    #[arg(long, value_name = "TIME")]
    pub ranked_at: Option<String>,
    /// Hits that one room gives before every room has given some
    #[arg(long, value_name = "N")]
    pub room_cap: Option<usize>,
    /// The language of the query, for its inflections
    #[arg(long)]
    pub language: Option<String>,
    /// Where to search; only 'local' is in this version
    #[arg(long, default_value = "local", hide = true)]
    pub backend: String,
    /// Not in this version
    #[arg(long, hide = true)]
    pub min_trust: Option<String>,
    /// Not in this version
    #[arg(long, hide = true)]
    pub week_start: Option<String>,
    /// Not in this version
    #[arg(long, hide = true)]
    pub date_order: Option<String>,
    /// Not in this version
    #[arg(long, hide = true)]
    pub calendar: Option<String>,
    /// Not in this version
    #[arg(long, hide = true)]
    pub when: Option<String>,
    /// Not in this version
    #[arg(long, hide = true)]
    pub when_from_query: bool,
    /// Not in this version
    #[arg(long, hide = true)]
    pub slack: Option<String>,
}

impl SearchArgs {
    /// The first flag given whose feature is not built.
    #[must_use]
    pub fn unbuilt_flag(&self) -> Option<&'static str> {
        [
            (self.backend != "local", "--backend"),
            (self.min_trust.is_some(), "--min-trust"),
            (self.week_start.is_some(), "--week-start"),
            (self.date_order.is_some(), "--date-order"),
            (self.calendar.is_some(), "--calendar"),
            (self.when.is_some(), "--when"),
            (self.when_from_query, "--when-from-query"),
            (self.slack.is_some(), "--slack"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    }
}

/// Arguments of `wake-up`.
#[derive(Debug, Args)]
pub struct WakeUpArgs {
    /// Only this person or project
    #[arg(long)]
    pub wing: Option<String>,
}

/// Arguments of `dedup`.
#[derive(Debug, Args)]
pub struct DedupArgs {
    /// Remove the surplus instead of only counting it
    #[arg(long)]
    pub apply: bool,
}

/// Arguments of `history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Only records of this id
    #[arg(long)]
    pub subject: Option<String>,
    /// Most records
    #[arg(long, default_value_t = 50)]
    pub limit: usize,
    /// Records to skip
    #[arg(long, default_value_t = 0)]
    pub offset: usize,
}

/// Arguments of `repair`.
#[derive(Debug, Args)]
pub struct RepairArgs {
    /// Not in this version
    #[arg(long, hide = true)]
    pub tokens: bool,
}
