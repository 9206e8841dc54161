//! Commands that people try and that are called otherwise here.

use clap::CommandFactory;

const ADD: &str = "'linerate set add NAME ENTRY' puts an entry into a set";
const DEL: &str = "'linerate set del NAME ENTRY' takes an entry out of a set";
const FLUSH: &str = "'linerate set flush NAME' takes all entries out of a set";
const LOAD: &str = "'linerate set load NAME' reads the source of a set now";
const SAVE: &str = "'linerate set save NAME FILE' writes the entries of a set";
const TEST: &str = "'linerate set test ADDRESS' says which sets have an address";
const SHOW: &str = "'linerate set show NAME' shows one set, 'linerate show sets' what hit each";
const LIST: &str = "'linerate set list' lists the sets of a daemon";
const CREATE: &str = "a set is a [[set]] of the configuration, which 'linerate reload' takes over";
const LAB: &str =
    "'linerate lab list' names the experiments, 'linerate lab run NAME' runs one and shows it";
const STATUS: &str = "'linerate top' shows what a daemon does, 'linerate show ports' its counters";

/// What was typed, word by word, and what does it. The longest that fits counts.
const HINTS: [(&str, &str); 36] = [
    ("set remove", DEL),
    ("set rm", DEL),
    ("set delete", DEL),
    ("set unban", DEL),
    ("set ban", ADD),
    (
        "set block",
        "'linerate set action NAME block' makes a set block",
    ),
    ("set clear", FLUSH),
    ("set empty", FLUSH),
    ("set reload", LOAD),
    ("set refresh", LOAD),
    ("set update", LOAD),
    (
        "set import",
        "'linerate set load NAME FILE' replaces the list of a set",
    ),
    ("set export", SAVE),
    ("set dump", SAVE),
    ("set find", TEST),
    ("set get", TEST),
    ("set info", SHOW),
    ("set status", SHOW),
    ("set ls", LIST),
    ("set create", CREATE),
    ("set new", CREATE),
    ("show set", SHOW),
    ("show status", STATUS),
    ("show stats", STATUS),
    ("show all", STATUS),
    ("status", STATUS),
    ("stats", STATUS),
    ("list", LIST),
    ("sets", LIST),
    ("lab show", LAB),
    ("lab ls", LAB),
    ("add", ADD),
    ("del", DEL),
    ("start", "'linerate run CONFIG' starts a daemon"),
    (
        "stop",
        "'systemctl stop linerate' ends a daemon that is a service, Ctrl-C one in a terminal",
    ),
    (
        "restart",
        "'linerate reload' takes a new configuration over while frames go by",
    ),
];

/// The command or experiment whose name is nearest to the word that is none.
pub(crate) fn nearest(words: &[&str]) -> Option<String> {
    let root = crate::args::Cli::command();
    let (mut command, mut path) = (&root, String::from("linerate"));
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        if let Some(below) = command.find_subcommand(word) {
            (command, path) = (below, format!("{path} {word}"));
            continue;
        }
        let names: Vec<&str> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        if let Some(near) = port::nearest_word(word, &names) {
            return Some(format!("a similar command exists: '{path} {near}'"));
        }
        let experiment = lab::find(word).map(|found| found.name);
        let experiment = experiment.or_else(|| experiment_near(word));
        let near = experiment.filter(|_| command.get_name() == "lab")?;
        return Some(format!("'linerate lab run {near}' runs that experiment"));
    }
    None
}

/// The experiment that was meant by a name that none has.
pub(crate) fn experiment_near(name: &str) -> Option<&'static str> {
    let names: Vec<&'static str> = lab::EXPERIMENTS.iter().map(|known| known.name).collect();
    port::nearest_word(name, &names)
}

/// The hint for what was typed behind the name of the program.
pub(crate) fn of(words: &[&str]) -> Option<&'static str> {
    let words: Vec<&str> = words
        .iter()
        .filter(|word| !word.starts_with('-'))
        .copied()
        .collect();
    let fits = |typed: &str| {
        let mut typed = typed.split(' ');
        let mut given = words.iter();
        typed.all(|word| given.next() == Some(&word))
    };
    HINTS
        .iter()
        .find(|(typed, _)| fits(typed))
        .map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_lead_to_the_command_meant() {
        for (typed, near) in [
            ("rnu", Some("'linerate run'")),
            ("lab rnu", Some("'linerate lab run'")),
            ("lab stride", Some("'linerate lab run stride'")),
            ("lab strid --quick", Some("'linerate lab run stride'")),
            ("bypass shwo", Some("'linerate bypass show'")),
            ("-q set tset 192.0.2.1", Some("'linerate set test'")),
            ("set qqqqqq", None),
            ("lab qqqqqq", None),
            ("set list", None),
            ("", None),
        ] {
            let words: Vec<&str> = typed.split(' ').filter(|word| !word.is_empty()).collect();
            let tip = nearest(&words);
            let fits = near.map_or(tip.is_none(), |near| {
                tip.as_ref().is_some_and(|tip| tip.contains(near))
            });
            assert!(fits, "{typed}: {tip:?}");
        }
    }

    #[test]
    fn hints_are_for_what_is_no_command() {
        let root = crate::args::Cli::command();
        let path = |words: &str| {
            let mut words = words.split(' ');
            words.try_fold(&root, |command, word| command.find_subcommand(word))
        };
        for (typed, hint) in HINTS {
            assert!(path(typed).is_none(), "{typed} is a command");
            let words: Vec<&str> = typed.split(' ').collect();
            assert_eq!(of(&words), Some(hint));
        }
        assert_eq!(of(&["-q", "set", "remove", "bad"]), of(&["set", "remove"]));
        assert_eq!(of(&["set", "list"]), None);
        assert_eq!(of(&[]), None);
    }
}
