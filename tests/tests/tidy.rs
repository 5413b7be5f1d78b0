//! The repository keeps its own rules. Each rule is proved on offenders in `tests/src/tidy/`.

use undercroft_tests::page;
use undercroft_tests::tidy::{Finding, arrows, expect_none, hygiene, paths, ratchet, sizes};
use undercroft_tests::tree::{self, Source};

fn rust() -> Vec<Source> {
    tree::sources(&[".rs"])
}

/// Files that show the compiler something which must not compile.
fn is_counterexample(file: &Source) -> bool {
    file.path.contains("/compile_fail/")
}

#[test]
fn files_functions_and_tables_of_contents_stay_small() {
    let excesses: Vec<_> = rust().iter().flat_map(sizes::excesses).collect();
    expect_none(&ratchet::judge(&tree::read("tests/tidy/ratchet.txt"), &excesses));
}

#[test]
fn every_file_says_what_it_owns() {
    let findings: Vec<Finding> =
        rust().iter().filter(|file| !is_counterexample(file)).filter_map(hygiene::header).collect();
    expect_none(&findings);
}

#[test]
fn nothing_unfinished_is_committed() {
    expect_none(&rust().iter().flat_map(hygiene::unfinished).collect::<Vec<_>>());
}

#[test]
fn no_file_speaks_of_a_machine_or_a_tracker() {
    let files = tree::sources(&[".rs", ".md", ".toml", ".txt", ".json", ".jsonl", ".sh", "run"]);
    expect_none(&files.iter().flat_map(hygiene::foreign_words).collect::<Vec<_>>());
}

#[test]
fn unsafe_stands_only_in_the_files_that_the_architecture_names() {
    let page = tree::read("docs/architecture.md");
    let named: Vec<String> =
        page::table(&page, "file with unsafe code").into_iter().map(|mut row| row.swap_remove(0)).collect();
    let findings: Vec<Finding> =
        rust().iter().filter_map(|file| hygiene::unsafe_code(file, &named)).collect();
    expect_none(&findings);
    for name in &named {
        let file = Source::sample("elsewhere.rs", &tree::read(name));
        assert!(
            hygiene::unsafe_code(&file, &[]).is_some(),
            "{name} needs no unsafe any more; take it off the page"
        );
    }
}

#[test]
fn the_engine_reads_the_environment_and_the_clock_in_one_place_each() {
    let engine: Vec<Source> = rust().into_iter().filter(|file| file.path.starts_with("engine/")).collect();
    let library = engine.iter().filter(|file| !file.path.starts_with("engine/bench/"));
    let findings: Vec<Finding> = library
        .flat_map(|file| {
            [
                hygiene::reads_outside(file, "std::env::", "engine/palace/src/env/"),
                hygiene::reads_outside(file, "SystemTime::now", "engine/vault/src/clock.rs"),
            ]
        })
        .flatten()
        .collect();
    expect_none(&findings);
}

#[test]
fn dependencies_point_the_way_that_the_architecture_draws() {
    let allowed = arrows::allowed(&tree::read("docs/architecture.md"));
    expect_none(&arrows::breaches(&arrows::actual(), &allowed));
}

#[test]
fn pages_name_only_what_exists() {
    let pages = tree::sources(&[".md"]);
    let own = pages.iter().filter(|page| !page.path.starts_with("docs/tour/"));
    let findings: Vec<Finding> =
        own.flat_map(|page| paths::missing(&tree::root(), &page.path, &page.text)).collect();
    expect_none(&findings);
}
