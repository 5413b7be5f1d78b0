//! The tree is sound, complete, and reads what people type.

use std::collections::BTreeSet;

use clap::FromArgMatches;

use super::help::{GROUPS, command};
use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    let words = std::iter::once("undercroft").chain(line.split_whitespace());
    command().try_get_matches_from(words).and_then(|matches| Cli::from_arg_matches(&matches))
}

#[test]
fn the_tree_is_sound() {
    command().debug_assert();
}

#[test]
fn the_help_names_every_command_once_and_shows_what_it_is_for() {
    let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let unique: BTreeSet<&str> = grouped.iter().copied().collect();
    assert_eq!(unique.len(), grouped.len());
    let tree = command();
    let known: BTreeSet<&str> =
        tree.get_subcommands().map(clap::Command::get_name).filter(|name| *name != "config-check").collect();
    assert_eq!(unique, known);
    let help = command().render_long_help().to_string();
    assert!(help.contains("hardened local-first AI memory"));
    for name in known {
        assert!(help.contains(name), "{name}");
    }
    assert!(help.contains("undercroft init") && help.contains("Exit codes: 0"));
}

#[test]
fn the_vault_may_be_named_before_or_after_the_command() {
    for line in [
        "--vault v drawer get x",
        "drawer --vault v get x",
        "drawer get x --vault v",
        "drawer get --vault v x",
    ] {
        let cli = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(cli.vault.as_deref(), Some("v"), "{line}");
    }
    assert_eq!(parse("search x --data-dir /d").unwrap().data_dir, Some(PathBuf::from("/d")));
    assert!(parse("search x --json").unwrap().json);
}

#[test]
fn commands_without_a_vault_know_that_they_take_none() {
    for line in [
        "init",
        "vault list",
        "config check",
        "config-check",
        "backup list",
        "completions bash",
        "keygen",
        "cluster certs --cert-dir d",
        "cluster status",
        "node list",
        "shard list",
        "tenant list",
        "job list",
    ] {
        assert!(!parse(line).unwrap().command.takes_vault(), "{line}");
    }
    for line in ["search x", "backup create", "verify", "mine p"] {
        assert!(parse(line).unwrap().command.takes_vault(), "{line}");
    }
}

#[test]
fn commands_of_later_versions_are_recognised_with_anything_behind_them() {
    let (_, later) = GROUPS[GROUPS.len() - 1];
    for name in later {
        for rest in ["", "x --flag=1 -v --help", "--vault v a"] {
            let cli =
                parse(&format!("{name} {rest}")).unwrap_or_else(|error| panic!("{name} {rest}: {error}"));
            let Command::Later(command) = cli.command else { panic!("{name}") };
            assert_eq!(command.name(), *name);
        }
    }
}

#[test]
fn the_role_of_a_node_is_recognised_and_its_operator_s_commands_are_none_of_it() {
    for line in ["node", "node --data d --listen a:1", "node --vault v", "node --help-me x"] {
        let Command::Node(args) = parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).command
        else {
            panic!("{line}")
        };
        assert!(args.command.is_none(), "{line}");
    }
    for line in
        ["node list", "node list --admin-url http://localhost:1", "node drain a --undo", "node remove -- -a"]
    {
        let Command::Node(args) = parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).command
        else {
            panic!("{line}")
        };
        assert!(args.command.is_some() && args.rest.is_empty(), "{line}");
    }
}

#[test]
fn a_fleet_is_named_before_or_behind_its_commands_and_a_token_is_never_typed() {
    for line in ["tenant --admin-url http://localhost:1 list", "tenant list --admin-url http://localhost:1"] {
        let Command::Tenant(args) = parse(line).unwrap().command else { panic!() };
        assert_eq!(args.fleet.admin_url.as_deref(), Some("http://localhost:1"), "{line}");
    }
    assert!(parse("tenant list --admin-token secret").is_err());
    let Command::Tenant(args) = parse("tenant migrate a --to b --help").unwrap().command else { panic!() };
    assert!(matches!(args.command, TenantCommand::Migrate { .. }));
    for line in [
        "tenant",
        "tenant limits",
        "cluster recovery-kit",
        "cluster recovery-kit --out a --check b",
        "job show x",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn flags_of_later_versions_are_recognised_by_name() {
    let unbuilt = [
        ("--backend qdrant", "--backend"),
        ("--min-trust standard", "--min-trust"),
        ("--week-start monday", "--week-start"),
        ("--date-order dmy", "--date-order"),
        ("--calendar hebrew", "--calendar"),
        ("--when 2026", "--when"),
        ("--when-from-query", "--when-from-query"),
        ("--slack 3", "--slack"),
    ];
    for (typed, flag) in unbuilt {
        let Command::Search(args) = parse(&format!("search x {typed}")).unwrap().command else { panic!() };
        assert_eq!(args.unbuilt_flag(), Some(flag));
    }
    let Command::Search(args) = parse("search x --backend local --kind event -n 3").unwrap().command else {
        panic!()
    };
    assert_eq!((args.unbuilt_flag(), args.limit), (None, 3));
}

#[test]
fn what_is_mistyped_is_refused() {
    for line in [
        "",
        "serch x",
        "search",
        "search x y",
        "drawer",
        "vault create",
        "search x --lmit 3",
        "search x -n many",
    ] {
        assert!(parse(line).is_err(), "{line:?}");
    }
}
