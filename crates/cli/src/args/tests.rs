//! Properties that hold of every command and every option, whoever adds one.

use std::collections::HashSet;

use clap::{Arg, Command, CommandFactory, Parser};

use super::Cli;

/// Calls `check` with each command and the path to it.
fn each_command(check: &mut dyn FnMut(&str, &Command)) {
    fn walk(path: &str, command: &Command, check: &mut dyn FnMut(&str, &Command)) {
        check(path, command);
        for sub in command.get_subcommands() {
            walk(&format!("{path} {}", sub.get_name()), sub, check);
        }
    }
    walk("linerate", &super::ended(Cli::command()), check);
}

/// What a short help says of a command and of each of its options, clap's own included.
fn texts(command: &Command) -> impl Iterator<Item = String> {
    let about = command.get_about().into_iter();
    let options = command.get_arguments().filter_map(Arg::get_help);
    about.chain(options).map(ToString::to_string)
}

#[test]
fn every_sentence_of_a_short_help_begins_and_ends() {
    let (mut seen, mut wrong) = (0, Vec::new());
    each_command(&mut |path, command| {
        for text in texts(command) {
            seen += 1;
            let begins =
                text.starts_with(|c: char| c.is_uppercase() || c.is_numeric() || c == '\'');
            if !begins || !text.ends_with(['.', '?']) || text.ends_with("..") {
                wrong.push(format!("{path}: {text}"));
            }
        }
    });
    assert!(seen > 300, "{seen} texts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()))
}

#[test]
fn the_tree_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_has_examples_that_parse() {
    each_command(&mut |path, command| {
        let help = command.clone().render_long_help().to_string();
        // An example that goes on in the next line is one.
        let help = help.replace(" \\\n", " ");
        let examples: Vec<&str> = help
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .filter(|line| {
                line.split('|')
                    .any(|part| part.trim().starts_with("linerate "))
            })
            .collect();
        assert!(
            help.contains("Examples:") && !examples.is_empty(),
            "{path} has no examples"
        );
        for example in examples {
            let own = example
                .split('|')
                .find(|part| part.trim().starts_with("linerate "));
            let own = own.unwrap_or_default();
            let words = quoted(own).into_iter().take_while(|word| word != ">");
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("example of {path} does not parse: {own}\n{error}");
            }
            assert!(
                example.contains(path) || path == "linerate",
                "{path}: {example}"
            );
        }
    });
}

#[test]
fn every_option_is_documented() {
    each_command(&mut |path, command| {
        assert!(
            command.get_about().is_some(),
            "{path} says nothing of itself"
        );
        for arg in options(command) {
            let name = arg.get_id();
            let help = arg
                .get_help()
                .unwrap_or_else(|| panic!("{path} {name}"))
                .to_string();
            assert!(help.chars().count() >= 15, "{path} {name}: {help}");
            let first = help.chars().next().unwrap_or(' ');
            assert!(first.is_uppercase(), "{path} {name} begins small: {help}");
            if !arg.is_positional() {
                assert!(arg.get_long().is_some(), "{path} {name} has no long name");
            }
            if arg.get_action().takes_values() && !arg.is_positional() {
                let value = arg.get_value_names().map(|names| names[0].as_str());
                let value = value.unwrap_or_else(|| panic!("{path} {name} names no value"));
                assert_eq!(value, value.to_uppercase(), "{path} {name}");
            }
        }
    });
}

#[test]
fn names_are_unique_and_plain() {
    each_command(&mut |path, command| {
        let mut seen = HashSet::new();
        for long in command.get_arguments().filter_map(Arg::get_long) {
            assert!(seen.insert(long.to_owned()), "{path} --{long} twice");
            let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            let plain = long.bytes().all(fits);
            assert!(plain && long.len() >= 2, "{path} --{long}");
        }
    });
}

/// The words of a line, as a shell has them: what stands between single quotes is one.
fn quoted(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

#[test]
fn short_help_fits_a_screen_and_long_help_says_more() {
    each_command(&mut |path, command| {
        let short = command.clone().render_help().to_string();
        let long = command.clone().render_long_help().to_string();
        assert!(
            short.lines().count() <= 60,
            "{path} -h is a wall of text\n{short}"
        );
        assert!(
            long.len() > short.len(),
            "{path} --help says no more than -h"
        );
    });
}

#[test]
fn what_a_command_that_runs_promises_is_in_its_help() {
    each_command(&mut |path, command| {
        if !["demo", "bridge", "check", "doctor", "run", "compare"].contains(&command.get_name()) {
            return;
        }
        let long = command.clone().render_long_help().to_string();
        assert!(long.contains("Exit codes:"), "{path}");
        assert!(long.contains("--json"), "{path}");
    });
}
