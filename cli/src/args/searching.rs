//! `search`, `wake-up`, `dedup`, `history` and `repair`.

use clap::Args;

/// Arguments of `search`. Flags of features that are not built are known, so that using one says so.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// What to look for
    pub(crate) query: String,
    /// Only this person or project
    #[arg(long)]
    pub(crate) wing: Option<String>,
    /// Only this topic
    #[arg(long)]
    pub(crate) room: Option<String>,
    /// Only drawers of this declared kind
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Most hits
    #[arg(short = 'n', long, default_value_t = 5)]
    pub(crate) limit: usize,
    /// Ranks to skip
    #[arg(long, default_value_t = 0)]
    pub(crate) offset: usize,
    /// Measure recency from this moment (RFC 3339), so that pages fit together
    #[arg(long, value_name = "TIME")]
    pub(crate) ranked_at: Option<String>,
    /// Hits that one room gives before every room has given some
    #[arg(long, value_name = "N")]
    pub(crate) room_cap: Option<usize>,
    /// The language of the query, for its inflections
    #[arg(long)]
    pub(crate) language: Option<String>,
    /// Where to search; only 'local' is in this version
    #[arg(long, default_value = "local", hide = true)]
    pub(crate) backend: String,
    /// Not in this version
    #[arg(long, hide = true)]
    pub(crate) min_trust: Option<String>,
    /// Not in this version
    #[arg(long, hide = true)]
    pub(crate) week_start: Option<String>,
    /// Not in this version
    #[arg(long, hide = true)]
    pub(crate) date_order: Option<String>,
    /// Not in this version
    #[arg(long, hide = true)]
    pub(crate) calendar: Option<String>,
    /// Not in this version
    #[arg(long, hide = true)]
    pub(crate) when: Option<String>,
    /// Not in this version
    #[arg(long, hide = true)]
    pub(crate) when_from_query: bool,
    /// Not in this version
    #[arg(long, hide = true)]
    pub(crate) slack: Option<String>,
}

impl SearchArgs {
    /// The first flag given whose feature is not built.
    #[must_use]
    pub(crate) fn unbuilt_flag(&self) -> Option<&'static str> {
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
pub(crate) struct WakeUpArgs {
    /// Only this person or project
    #[arg(long)]
    pub(crate) wing: Option<String>,
}

/// Arguments of `dedup`.
#[derive(Debug, Args)]
#[command(after_help = DEDUP_NOTES)]
pub(crate) struct DedupArgs {
    /// Remove the surplus instead of only counting it
    #[arg(long)]
    pub(crate) apply: bool,
}

const DEDUP_NOTES: &str = "\
Removes drawers of one wing that hold the same words as an older one, in any room. Line ends, white space at line ends, \
control characters and the composition of letters make no difference. The oldest stays as it is, with its own room, kind \
and claims; of the others only their dates are kept, on it, the newest 1,000. Drawers that update others or are updated \
stay, and so do the pieces of a longer text: a file that was cut into several drawers, a message that was. A sweep does \
not file again what was removed; mining the file does.";

/// Arguments of `history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Only records of this id
    #[arg(long)]
    pub(crate) subject: Option<String>,
    /// Most records
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,
    /// Records to skip
    #[arg(long, default_value_t = 0)]
    pub(crate) offset: usize,
}

/// Arguments of `repair`.
#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    /// Not in this version
    #[arg(long, hide = true)]
    pub(crate) tokens: bool,
}
