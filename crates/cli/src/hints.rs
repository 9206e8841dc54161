//! Commands that people try and that are called otherwise here.

const ADD: &str = "'linerate set add NAME ENTRY' puts an entry into a set";
const DEL: &str = "'linerate set del NAME ENTRY' takes an entry out of a set";
const FLUSH: &str = "'linerate set flush NAME' takes all entries out of a set";
const LOAD: &str = "'linerate set load NAME' reads the source of a set now";
const SAVE: &str = "'linerate set save NAME FILE' writes the entries of a set";
const TEST: &str = "'linerate set test ADDRESS' says which sets have an address";
const SHOW: &str = "'linerate set show NAME' shows one set, 'linerate show sets' what hit each";
const LIST: &str = "'linerate set list' lists the sets of a daemon";
const CREATE: &str = "a set is a [[set]] of the configuration, which 'linerate reload' takes over";
const STATUS: &str = "'linerate top' shows what a daemon does, 'linerate show ports' its counters";

/// What was typed, word by word, and what does it. The longest that fits counts.
const HINTS: [(&str, &str); 34] = [
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
    use clap::CommandFactory;

    use super::*;

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
