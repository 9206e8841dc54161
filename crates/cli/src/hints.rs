//! Commands that people try and that are called otherwise here.

/// What was typed, word by word, and what does it. The longest that fits counts.
const HINTS: [(&str, &str); 34] = [
    ("set remove", "set del NAME ENTRY takes an entry out"),
    ("set rm", "set del NAME ENTRY takes an entry out"),
    (
        "set delete",
        "set del NAME ENTRY takes an entry out; set flush NAME takes all of them",
    ),
    ("set unban", "set del NAME ENTRY takes an entry out"),
    ("set ban", "set add NAME ENTRY puts an entry in"),
    (
        "set block",
        "set action NAME block makes a set block; set add NAME ENTRY puts an entry in",
    ),
    ("set clear", "set flush NAME takes all entries out"),
    ("set empty", "set flush NAME takes all entries out"),
    ("set reload", "set load NAME reads the set's source now"),
    ("set refresh", "set load NAME reads the set's source now"),
    ("set update", "set load NAME reads the set's source now"),
    ("set import", "set load NAME FILE replaces the list"),
    ("set export", "set save NAME FILE writes the entries"),
    ("set dump", "set save NAME writes the entries"),
    (
        "set find",
        "set test ADDRESS says which sets have an address",
    ),
    (
        "set get",
        "set test ADDRESS says which sets have an address; set show NAME shows a set",
    ),
    ("set info", "set show NAME shows a set"),
    (
        "set status",
        "set list lists the sets; set show NAME shows one",
    ),
    ("set ls", "set list lists the sets"),
    (
        "set create",
        "a set is a [[set]] of the configuration; linerate reload takes it over",
    ),
    (
        "set new",
        "a set is a [[set]] of the configuration; linerate reload takes it over",
    ),
    (
        "show set",
        "set show NAME shows one set; show sets those of a daemon and their hits",
    ),
    (
        "show status",
        "show ports and show workers show what a daemon does; top shows all of it",
    ),
    (
        "show stats",
        "show ports and show workers show what a daemon does; top shows all of it",
    ),
    ("show all", "top shows all of it"),
    (
        "status",
        "show ports and show workers show what a daemon does; top shows all of it",
    ),
    (
        "stats",
        "show ports and show workers show what a daemon does; top shows all of it",
    ),
    (
        "list",
        "set list lists the sets of a daemon; lab list the experiments",
    ),
    ("sets", "set list lists the sets of a daemon"),
    ("add", "set add NAME ENTRY puts an entry into a set"),
    ("del", "set del NAME ENTRY takes an entry out of a set"),
    (
        "start",
        "run FILE starts a daemon; systemctl start linerate one that is installed",
    ),
    (
        "stop",
        "systemctl stop linerate ends a daemon that is installed; Ctrl-C one in front",
    ),
    (
        "restart",
        "reload takes a new configuration over; systemctl restart linerate begins anew",
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
