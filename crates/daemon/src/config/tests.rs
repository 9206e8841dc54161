//! What is read, what is refused and with which sentence, and that what is shown reads back.

use std::path::Path;
use std::time::Duration;

use frame::CpuId;
use plane::{Action, Otherwise, Sides};

use super::*;

const BRIDGE: &str = "[[port]]\nspec = 'null:'\n[[port]]\nname = 'in'\nspec = 'gen:'\n";

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(Path::new("/etc/linerate/bridge.toml"), text)
}

/// The sentence about a bridge with this added.
fn refused(added: &str) -> String {
    match parse(&format!("{BRIDGE}{added}")) {
        Ok(config) => panic!("{added} is taken: {}", config.resolved()),
        Err(error) => error.to_string().replace("/etc/linerate/bridge.toml:", ""),
    }
}

const FULL: &str = r#"
[[port]]
name = "outside"
spec = "xdp:eth1,queues=1-2"
[[port]]
name = "inside"
spec = "xdp:eth2"
[[pipeline]]
kind = "bridge"
ports = ["inside", "outside"]
default = "forward"
non_ip = "drop"
malformed = "forward"
hash = "outer"
tunnel_ports = ["vxlan=8472", "gtp-u=none"]
keep = ["private", "local", "private"]
[[set]]
name = "ipsum"
source = "lists/ipsum.txt"
json_path = "prefixes[].ip_prefix, \"v6 list\"[]"
action = "block"
sides = "source"
match = "inner"
ports = ["outside"]
refresh = "15m"
max_change = 0.25
[[set.on]]
port = "inside"
action = "count"
[[set]]
name = "drop.v6"
source = "https://example.net/drop.json"
ca_file = "/etc/ssl/own.pem"
action = "count"
allow_private = true
column = 2
skip_bad_lines = true
[[set]]
name = "made"
source = { command = ["/usr/bin/env", "cat", "a\"b"], timeout = "10m" }
action = "allow"
[[set]]
name = "hand"
action = "block"
[workers]
cpus = "1,2-3"
idle = "spin"
burst = 32
[memory]
stride = 2048
[limits]
list_bytes = "64MiB"
list_time = 90
[control]
socket = "/run/l/c.sock"
group = "netops"
[metrics]
address = "[::1]:9177"
[state]
dir = "state"
[crowdsec]
url = "http://127.0.0.1:8080/"
key_file = "key"
set = "hand"
resync = "1h"
types = ["ban", "captcha"]
origins = ["cscli", "lists:firehol"]
scopes = ["ip"]
[log]
level = "debug"
format = "json"
[user]
name = "linerate"
"#;

#[test]
fn everything_is_read_and_shown_reads_back() {
    let config = parse(FULL).expect("a whole configuration");
    assert_eq!(config.ports[0].name, "outside");
    assert_eq!(config.pipelines[0].ports, ["inside", "outside"]);
    assert_eq!(config.pipelines[0].non_ip, Otherwise::Drop);
    let tunnels = config.pipelines[0].tunnels;
    assert_eq!(tunnels.hash, Some(wire::HashHeader::Outer));
    assert_eq!(tunnels.ports.to_string(), "vxlan=8472,geneve=6081");
    assert_eq!(config.sets[0].headers, plane::Headers::INNER);
    assert_eq!(config.pipelines[0].keep, [Space::Private, Space::Local]);
    let ipsum = &config.sets[0];
    assert_eq!(
        ipsum.source,
        Some(Source::File("/etc/linerate/lists/ipsum.txt".into()))
    );
    assert_eq!((ipsum.action, ipsum.sides), (Action::Block, Sides::SRC));
    assert_eq!(ipsum.refresh, Duration::from_secs(900));
    assert_eq!(ipsum.exceptions[0].action, Action::Count);
    assert_eq!(config.sets[3].source, None);
    assert_eq!(
        config.workers.cpus,
        Some(vec![CpuId(1), CpuId(2), CpuId(3)])
    );
    assert_eq!(config.limits.list_bytes_max, 64 << 20);
    assert_eq!(config.limits.list_time_max, Duration::from_secs(90));
    assert_eq!(config.state.dir, Some("/etc/linerate/state".into()));
    let shown = config.resolved();
    assert_eq!(parse(&shown).expect(&shown), config);
}

#[test]
fn two_ports_are_a_bridge() {
    let config = parse(BRIDGE).expect("two ports");
    assert_eq!(config.ports[0].name, "null:");
    assert_eq!(config.pipelines[0].ports, ["null:", "in"]);
    assert_eq!(config.metrics, None);
    let shown = config.resolved();
    assert_eq!(parse(&shown).expect(&shown), config);
    let unkept = parse(&format!("{BRIDGE}[state]\nkeep = false")).expect("no state");
    assert_eq!(unkept.state.dir, None);
    assert_eq!(parse(&unkept.resolved()), Ok(unkept));
}

/// Each addition is refused by a sentence with this in it.
#[track_caller]
fn all_refused(cases: &[(&str, &str)]) {
    for (added, sentence) in cases {
        let said = refused(added);
        assert!(
            said.contains(sentence),
            "{added}\n said {said}\n not {sentence}"
        );
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_a_remedy() {
    all_refused(&[
        (
            "[[sett]]",
            "6: the configuration knows no key 'sett': did you mean 'set'?",
        ),
        (
            "[[set]]\nname = 'a'\nacton = 'block'",
            "8: [[set]] knows no key 'acton': did you mean 'action'?",
        ),
        (
            "[[set]]\nname = 'a'\nsides = 'both'",
            "6: [[set]] has no action: add action = \"...\" to it",
        ),
        (
            "[[set]]\nname = 'a'\naction = 'block'\nmaxchange = 1",
            "9: [[set]] knows no key 'maxchange': did you mean 'max_change'?",
        ),
        (
            "[[set]]\nname = 'a'\naction = 'blok'",
            "8: action in [[set]]: 'blok' is unknown: did you mean 'block'?",
        ),
        (
            "[workers]\ncount = 'two'",
            "7: count in [workers] is of type string: write count = a whole number from 1 to 1024",
        ),
        (
            "[workers]\ncount = 0",
            "7: count in [workers] is 0: write count = a whole number from 1 to 1024",
        ),
        (
            "[workers]\ncount = 1\ncpus = '1,2'",
            "7: count = 1 and cpus with 2 of them disagree: each worker has one CPU, so leave \
             out count",
        ),
        (
            "[[port]]\nspec = 'xdp:eth1,shortcut=on'",
            "7: shortcut=on would stay closed: it needs lists that never change",
        ),
        (
            "[[set]]\nname = 'a'\naction = 'block'\nrequired = true",
            "9: required is given without a source: remove it",
        ),
        (
            "[crowdsec]\nurl='http://127.0.0.1:1/'\nkey_file='k'\nset='a'\nscopes=['as']",
            "10: 'as' is unknown: write ip, range",
        ),
        (
            "[limits]\nlist_bytes = 0",
            "7: list_bytes in [limits] is 0: write list_bytes = ",
        ),
        (
            "[limits]\nlist_bytes = '0KiB'",
            "7: list_bytes in [limits]: '0KiB' is no size: write 4096, 64KiB or 1GiB",
        ),
        (
            "[stateful]\nallow_new = ['out']\n[[ports]]\nname = 'out'\nspec = 'null:'",
            "8: the configuration knows no key 'ports': did you mean 'port'?",
        ),
        (
            "[user]\nname = 1 2",
            "7: string values must be quoted, expected literal string: correct it to be TOML",
        ),
    ]);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    all_refused(&[
        (
            "[[set]]\nname = 'a'\naction = 'block'\nports = ['inn']",
            "9: no port is named 'inn': did you mean 'in'?",
        ),
        (
            "[[set]]\nname = 'a'\naction = 'block'\nsource = 'http://example.net/x'",
            "9: a list fetched by http:// can be forged on its way: use https://",
        ),
        (
            "[[set]]\nname = 'a'\naction = 'block'\nsource = { command = ['cat'] }",
            "9: command \"cat\" is found by a search path that may change: write it as /usr/bin",
        ),
        (
            "[[set]]\nname = 'a b'\naction = 'block'",
            "7: \"a b\" is no name of a set",
        ),
        (
            "[metrics]\naddress = 'here'",
            "7: address in [metrics]: \"here\" is no address",
        ),
        ("[memory]\nstride = 2000", "7: stride is no multiple of 64"),
        ("[[port]]\nspec = 'xpd:eth0'", "7: spec in [[port]]: "),
        (
            "[[port]]\nname = 'third'\nspec = 'null:'",
            "a bridge has two ports and 3 are given",
        ),
        (
            "[[set]]\nname='a'\naction='block'\n[[set]]\nname='a'\naction='block'",
            "two sets are",
        ),
        (
            "[crowdsec]\nurl='http://[::1]/'\nset='x'\nkey_file='k'",
            "'x' that is not there",
        ),
        (
            "[crowdsec]\nurl='http://[::1]/'\nset='x'",
            "needs either key_file or key_env",
        ),
    ]);
}

/// `column` and `columns` are what the options of the same name are, and are shown as they were
/// given.
#[test]
fn columns_by_number_and_heading() {
    let set = |keys: &str| format!("{BRIDGE}[[set]]\nname = 'a'\naction = 'block'\n{keys}\n");
    for keys in [
        "column = 2",
        "column = \"src_ip\"",
        "columns = \"1-2\"",
        "columns = \"1/3\"",
        "columns = \"start_ip-end_ip\"",
        "columns = \"all\"",
    ] {
        let config = parse(&set(keys)).expect("a column");
        let resolved = config.resolved();
        assert!(
            resolved.lines().any(|line| line == keys),
            "{keys}: {resolved}"
        );
        let again = parse(&resolved).expect("what is shown");
        assert_eq!(again.sets, config.sets, "{keys}");
    }
    let refused = |keys: &str, said: &str| {
        let text = set(keys);
        let error = parse(&text).expect_err("refused").to_string();
        assert!(error.contains(said), "{keys}: {error}");
    };
    refused("column = 0", "column in [[set]] is 0");
    refused("column = 4097", "column in [[set]] is 4097");
    refused(
        "column = \"1-2\"",
        "write --columns 1-2 (columns = \"1-2\")",
    );
    refused("columns = 2", "columns = \"1-2\"");
    refused("columns = \"1-2-3\"", "is not two columns");
    refused("columns = \"0-2\"", "counted from 1");
    refused("column = 1\ncolumns = \"1-2\"", "both given");
}

#[test]
fn a_file_is_bounded_and_must_be_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.toml");
    fs::write(&path, vec![b'#'; (1 << 20) + 1]).expect("written");
    let said = Config::read(&path).expect_err("too long").to_string();
    assert!(said.contains("longer than 1 MiB"), "{said}");
    fs::write(&path, [b'#', 0xFF]).expect("written");
    let said = Config::read(&path).expect_err("no text").to_string();
    assert!(said.contains("no UTF-8 text at byte 1"), "{said}");
    let said = Config::read(&folder.path().join("absent"))
        .expect_err("absent")
        .to_string();
    assert!(said.contains("cannot be read"), "{said}");
    fs::write(&path, BRIDGE).expect("written");
    assert!(Config::read(&path).is_ok());
}

#[test]
fn actions_have_the_words_of_other_programs() {
    for (word, action) in [
        ("block", Action::Block),
        ("drop", Action::Block),
        ("deny", Action::Block),
        ("count", Action::Count),
        ("allow", Action::Allow),
        ("accept", Action::Allow),
        ("pass", Action::Allow),
    ] {
        let set =
            format!("[[set]]\nname = 's'\naction = '{word}'\n[[set.on]]\naction = '{word}'\n");
        let config = parse(&format!("{BRIDGE}{set}")).expect("a configuration");
        assert_eq!(config.sets[0].action, action, "{word}");
        assert_eq!(config.sets[0].exceptions[0].action, action, "{word}");
        assert!(parse(&config.resolved()).is_ok_and(|again| again == config));
    }
    assert!(refused("[[set]]\nname = 's'\naction = 'blok'\n").contains("did you mean 'block'?"));
    for word in ["drop", "block", "deny"] {
        let config = parse(&format!("{BRIDGE}[[pipeline]]\ndefault = '{word}'\n"));
        let config = config.expect("a configuration");
        assert_eq!(config.pipelines[0].default, Otherwise::Drop, "{word}");
    }
}

#[test]
fn guards_of_a_set() {
    let set = |more: &str| format!("{BRIDGE}[[set]]\nname = 's'\naction = 'block'\n{more}\n");
    let guards = |more: &str| parse(&set(more)).expect(more).sets[0].guards;
    assert_eq!(guards("").max_change_floor, 100);
    assert_eq!(guards("max_change_floor = 0").max_change_floor, 0);
    assert!(guards("allow_empty = true").allow_empty && !guards("").allow_empty);
    for (more, told) in [
        ("max_change_floor = -1", "max_change_floor in [[set]] is -1"),
        (
            "max_change_floor = 0.5",
            "write max_change_floor = a whole number",
        ),
        ("allow_empty = 1", "write allow_empty = true"),
        ("alow_empty = true", "did you mean 'allow_empty'?"),
    ] {
        let error = parse(&set(more)).expect_err(more).to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn all_sections_that_are_wrong_are_named() {
    let told = refused(
        "[[set]]\nname = 'a'\naction = 'blok'\n[[set]]\nname = 'b b'\naction = 'count'\n\
         [log]\nlevel = 'loud'\n[[pipeline]]\nkeep = ['all']\n",
    );
    let lines: Vec<&str> = told.lines().collect();
    let starts = ["8: action in [[set]]", "10: ", "13: ", "15: "];
    assert_eq!(lines.len(), starts.len(), "{told}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{told}");
    }
    // A set that names a port which could not be read is not at fault.
    let text = "[[port]]\nname = 'o'\nspec = 'nul:'\n[[port]]\nname = 'i'\nspec = 'gne:'\n\
                [[set]]\nname = 'a'\naction = 'block'\nports = ['o']\n";
    let error = parse(text).expect_err("no ports");
    assert_eq!((error.line, error.others.len()), (3, 1), "{error}");
}

/// Of each bridge: the rules, and the ports that routers are behind.
#[test]
fn what_passes_and_where_routers_are() {
    let all = "nd,ra,dhcp,dhcpv6,igmp,mld";
    for (added, rules, router) in [
        ("", all, "null:,in"),
        ("[stateful]\nallow_new = ['in']\n", all, "null:"),
        ("[stateful]\nallow_new = ['in', 'null:']\n", all, "null:,in"),
        ("[[pipeline]]\npass = ['mld', 'nd']\n", "nd,mld", "null:,in"),
        ("[[pipeline]]\npass = []\nrouter = []\n", "", ""),
        ("[[pipeline]]\npass = ['none']\nrouter = ['in']\n", "", "in"),
        (
            "[[pipeline]]\nrouter = ['in']\n[stateful]\nallow_new = ['in']\n",
            all,
            "in",
        ),
    ] {
        let config = parse(&format!("{BRIDGE}{added}")).expect("a configuration");
        let pipeline = &config.pipelines[0];
        assert_eq!(
            pipeline.pass.names().collect::<Vec<_>>().join(","),
            rules,
            "{added}"
        );
        assert_eq!(pipeline.router.join(","), router, "{added}");
        assert_eq!(parse(&config.resolved()), Ok(config), "{added}");
    }
    for (added, said) in [
        ("[[pipeline]]\npass = ['ndp']\n", "'ndp' is no rule"),
        (
            "[[pipeline]]\npass = 'nd'\n",
            "write pass = [\"...\", \"...\"]",
        ),
        ("[[pipeline]]\nrouter = ['lan']\n", "no port is named 'lan'"),
        (
            "[stateful]\nallow_new = ['in']\nanswers_from_any = true\n[workers]\ncount = 2\n",
            "2 workers and answers_from_any = true disagree",
        ),
    ] {
        let sentence = refused(added);
        assert!(sentence.contains(said), "no '{said}' in {sentence}");
    }
}
