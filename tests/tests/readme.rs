//! What the README tells somebody to type works, in its order.

use undercroft_tests::support::{Palace, Ran};
use undercroft_tests::tree;

/// The lines of every block of shell commands.
fn typed(page: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.trim() {
            "```sh" => inside = true,
            "```" => inside = false,
            command if inside => lines.push(command.to_owned()),
            _ => {}
        }
    }
    lines
}

/// Words as a shell splits them, as far as the README needs it.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("there is one").push(c),
        }
    }
    words
}

#[test]
fn the_tour_runs_from_its_first_command_to_its_last() {
    let palace = Palace::empty();
    let commands: Vec<String> =
        typed(&tree::read("README.md")).into_iter().filter(|line| line.starts_with("undercroft ")).collect();
    assert!(commands.len() >= 10, "the README has hardly any commands: {commands:?}");
    for line in commands {
        let mut arguments = words(&line);
        for word in &mut arguments {
            if word == "<ID>" {
                let listed = palace.json(&["drawer", "list"]);
                *word = listed["drawers"][0]["id"].as_str().expect("a drawer").to_owned();
            }
        }
        let arguments: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
        let output =
            palace.command(&arguments).current_dir(tree::root()).output().expect("the binary starts");
        let ran = Ran::new(line, output).ok();
        assert!(ran.stderr.is_empty(), "{ran}");
        if ran.typed.starts_with("undercroft search") {
            assert!(!ran.stdout.contains("No memories matched"), "{ran}");
        }
    }
}

#[test]
fn the_first_line_of_the_readme_is_the_tour_s_beginning() {
    let commands = typed(&tree::read("README.md"));
    let first = &commands[0];
    let parts: Vec<&str> = first.split(" -- ").collect();
    assert_eq!(parts.len(), 4, "{first}");
    let palace = Palace::empty();
    for part in &parts[1..] {
        let line = part.split(" && ").next().expect("a command");
        let arguments = words(line);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output =
            palace.command(&arguments).current_dir(tree::root()).output().expect("the binary starts");
        let ran = Ran::new(line.to_owned(), output).ok();
        if line.starts_with("search") {
            assert!(ran.stdout.contains("home/allotment") && ran.stdout.contains("behind the map"), "{ran}");
        }
    }
}

#[test]
fn readme_guide_and_pipeline_name_the_same_commands() {
    let test = "cargo test --workspace";
    assert_eq!(typed(&tree::read("README.md"))[1], test);
    let pipeline = tree::read(".ci/run");
    for command in typed(&tree::read("CONTRIBUTING.md")) {
        assert!(pipeline.contains(&format!(" {command}\n")), ".ci/run does not run: {command}");
    }
    assert!(typed(&tree::read("CONTRIBUTING.md")).iter().any(|command| command == test));
}
