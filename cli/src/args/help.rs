//! The help page: commands in groups, each with its own one line, and examples to start with.
//!
//! The lines come from the command tree; only the grouping is written here, and a test holds it complete.

use clap::CommandFactory;

use super::Cli;

/// Headings and the commands below them, in the order in which somebody meets them.
pub(crate) const GROUPS: [(&str, &[&str]); 8] = [
    ("Start", &["init", "remember", "mine", "sweep"]),
    ("Find and read", &["search", "wake-up", "drawer", "taxonomy", "stats"]),
    ("Prove and repair", &["verify", "history", "supersessions", "dedup", "repair"]),
    ("Vaults and copies", &["vault", "backup"]),
    ("Serve", &["serve-mcp", "serve-http", "hooks", "daemon", "assert-header"]),
    ("Fleet", &["control-plane", "cluster", "keygen", "tenant", "node", "shard", "job"]),
    ("Around it", &["config", "transcript", "completions"]),
    (
        "Not in this version",
        &[
            "import",
            "export",
            "bundle",
            "kg",
            "forget",
            "verify-forgetting",
            "witness",
            "admission",
            "trust",
            "retention",
            "diary",
            "tunnel",
            "hallways",
            "closets",
            "refine",
            "index",
            "router",
            "up",
        ],
    ),
];

/// Commands that refuse `--vault`, as [`super::Command::takes_vault`] says; two of `backup` do too.
const WITHOUT_VAULT: [&str; 15] = [
    "init",
    "vault",
    "config",
    "config-check",
    "transcript",
    "completions",
    "hooks",
    "assert-header",
    "cluster",
    "keygen",
    "control-plane",
    "tenant",
    "node",
    "shard",
    "job",
];

const EXAMPLES: &str = "\
Examples:
  undercroft init
  undercroft remember \"The spare key hangs behind the map\" --wing house --room keys
  undercroft search \"where is the spare key\"
  undercroft mine ~/notes --wing notes
  undercroft sweep ~/.claude/projects
  undercroft verify && undercroft backup create

Exit codes: 0 done, 1 it could not be done, 2 stored bytes are not what was written.
Details of one command: undercroft <COMMAND> --help";

/// The whole command tree with its help page.
#[must_use]
pub(crate) fn command() -> clap::Command {
    let tree = read_negative_numbers(name_served_vault(hide_vault(Cli::command())));
    let groups = render_groups(&tree);
    tree.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n{EXAMPLES}\n"
    ))
}

/// Takes `--vault` out of the help of the commands that refuse it, where they can still say why.
fn hide_vault(mut tree: clap::Command) -> clap::Command {
    let hidden = || clap::Arg::new("vault").long("vault").value_name("NAME").global(true).hide(true);
    for name in WITHOUT_VAULT {
        tree = tree.mut_subcommand(name, |command| command.arg(hidden()));
    }
    tree.mut_subcommand("backup", |backup| {
        let backup = backup.mut_subcommand("list", |command| command.arg(hidden()));
        backup.mut_subcommand("restore", |command| command.arg(hidden()))
    })
}

/// The vault of a server is one of all that it serves.
fn name_served_vault(tree: clap::Command) -> clap::Command {
    let served = clap::Arg::new("vault")
        .long("vault")
        .value_name("NAME")
        .global(true)
        .help("The vault served to agents at /mcp; all of them are at /v1/vaults [default: default]");
    tree.mut_subcommand("serve-http", |command| command.arg(served))
}

/// A number below zero is a wrong value and no unknown flag, so that the refusal names what it was given for.
fn read_negative_numbers(tree: clap::Command) -> clap::Command {
    let read = |arg: clap::Arg| {
        let takes = arg.get_action().takes_values() && !arg.is_trailing_var_arg_set();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    };
    tree.mut_args(read).mut_subcommands(read_negative_numbers)
}

fn render_groups(tree: &clap::Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(heading);
        text.push_str(":\n");
        if heading == "Not in this version" {
            text.push_str(&wrap(names));
        } else {
            for name in names {
                let about = tree.find_subcommand(name).and_then(clap::Command::get_about);
                text.push_str(&format!(
                    "  {name:<14} {}\n",
                    about.map(ToString::to_string).unwrap_or_default()
                ));
            }
        }
        text.push('\n');
    }
    text
}

/// Names side by side, in lines that fit a narrow terminal.
fn wrap(names: &[&str]) -> String {
    let mut text = String::new();
    let mut line = String::from(" ");
    for name in names {
        if line.len() + name.len() > 76 {
            text.push_str(&line);
            text.push('\n');
            line = String::from(" ");
        }
        line.push(' ');
        line.push_str(name);
    }
    text + &line + "\n"
}
