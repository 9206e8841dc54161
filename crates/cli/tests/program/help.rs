//! Help goes to standard output and succeeds; what is missing goes to standard error.

use std::fs;
use std::path::PathBuf;

use super::Place;

const COMMANDS: [&str; 54] = [
    "",
    "demo",
    "bridge",
    "explain",
    "gen",
    "sink",
    "load",
    "load http",
    "load tcp",
    "load udp",
    "serve",
    "serve http",
    "serve tcp",
    "serve udp",
    "bypass",
    "bypass show",
    "bypass off",
    "set check",
    "rules",
    "rules check",
    "rules import",
    "rules load",
    "rules matches",
    "set list",
    "set show",
    "set test",
    "set add",
    "set del",
    "set load",
    "set flush",
    "set save",
    "set push",
    "set action",
    "show",
    "show ports",
    "show hits",
    "show rules",
    "reload",
    "health",
    "drain",
    "doctor",
    "drops",
    "top",
    "capture",
    "restore",
    "ndr",
    "lab",
    "lab list",
    "lab run",
    "lab compare",
    "layout",
    "layout check",
    "counters",
    "locks",
];

#[test]
fn help_of_every_command() {
    let place = Place::new();
    for command in COMMANDS {
        let short = place.run(&format!("{command} -h")).ended(0);
        let long = place.run(&format!("{command} --help")).ended(0);
        assert!(
            short.stderr.is_empty() && long.stderr.is_empty(),
            "{command}"
        );
        assert!(short.text().contains("Usage: linerate"), "{command}");
        let sentence = "Print help (see more with '--help').";
        assert!(
            short.text().contains(sentence),
            "{command} -h ends its sentences"
        );
        assert!(!short.text().contains("Examples:"), "{command} -h is short");
        assert!(
            long.text().contains("Examples:"),
            "{command} --help has examples"
        );
        let widest = long
            .text()
            .lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0);
        assert!(widest <= 110, "{command} --help is {widest} wide");
    }
}

#[test]
fn help_is_asked_for_in_words_too() {
    let place = Place::new();
    for (words, meant) in [
        ("help", "--help"),
        ("help set add", "set add --help"),
        ("set help add", "set add --help"),
        ("set help", "set --help"),
        ("help bridge", "bridge --help"),
    ] {
        let meant = place.run(meant).ended(0);
        assert_eq!(place.run(words).ended(0).text(), meant.text(), "{words}");
    }
    let unknown = place.run("help nonsense").ended(2);
    assert!(unknown.stderr.contains("nonsense"), "{unknown:?}");
    // A set may be called so.
    let asked = place.run("set show help --socket absent.sock").ended(2);
    assert!(!asked.stderr.contains("Usage"), "{asked:?}");
}

#[test]
fn exit_codes_are_documented() {
    let long = Place::new().run("--help").ended(0);
    for line in ["  0  done", "  1  it ran", "  2  it did not run"] {
        assert!(long.text().contains(line), "{line}");
    }
}

/// Said twice, one of them becomes untrue.
#[test]
fn the_pages_list_exit_codes_in_one_place() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let (mut folders, mut lists) = (vec![PathBuf::from(docs)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of pages") {
            let path = entry.expect("a page").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                let page = fs::read_to_string(&path).expect("a page");
                let begins = |line: &str| {
                    line.to_lowercase()
                        .trim_start_matches("## ")
                        .starts_with("exit codes")
                };
                let count = page.lines().filter(|line| begins(line)).count();
                lists.extend(std::iter::repeat_n(path, count));
            }
        }
    }
    assert_eq!(lists.len(), 1, "{lists:?}");
    assert!(lists[0].ends_with("guide.md"), "{lists:?}");
}

#[test]
fn without_a_command_help_is_what_you_get_and_it_is_no_success() {
    let place = Place::new();
    for words in ["", "set"] {
        let ran = place.run(words).ended(2);
        assert!(ran.stdout.is_empty());
        assert!(ran.stderr.contains("Usage: linerate"), "{}", ran.stderr);
    }
}

#[test]
fn the_version_is_one_line() {
    let ran = Place::new().run("--version").ended(0);
    assert_eq!(
        ran.text(),
        format!("linerate {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn colour_only_where_it_is_wanted() {
    let place = Place::new();
    assert!(!place.run("--help").text().contains('\x1b'));
    assert!(place.run("--help --color always").text().contains('\x1b'));
    assert!(place.run("--help --color=always").text().contains('\x1b'));
    assert!(
        place
            .run("bridge a b --color=always")
            .stderr
            .contains('\x1b')
    );
    assert!(
        !place
            .run("bridge a b --color never")
            .stderr
            .contains('\x1b')
    );
}
