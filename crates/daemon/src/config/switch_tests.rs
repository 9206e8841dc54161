//! `[[pipeline]]` with `kind = "switch"`: what is read, and what is refused, all at once by line.

use std::path::Path;
use std::time::Duration;

use plane::Otherwise;
use plane::switch::VlanMode;

use super::*;

/// Lines 1 to 9.
const PORTS: &str = "[[port]]\nname = 'A'\nspec = 'gen:'\n[[port]]\nname = 'B'\nspec = 'null:'\n\
                     [[port]]\nname = 'C'\nspec = 'null:'\n";

fn parse(added: &str) -> Result<Config, ConfigError> {
    Config::parse(Path::new("/a.toml"), &format!("{PORTS}{added}"))
}

/// The lines and the first words of all that is wrong.
fn refused(added: &str) -> Vec<String> {
    let error = parse(added).map(|config| config.resolved());
    let error = error.expect_err(added).to_string();
    error
        .lines()
        .map(|line| line.replace("/a.toml:", ""))
        .collect()
}

#[test]
fn keys_are_the_words_of_the_options() {
    let config = parse(
        "[[pipeline]]\nkind = 'switch'\nports = ['C', 'A', 'B']\nvlan_mode = 'dot1q'\n\
         vlan = ['10=A,Bt', '20=B,C']\npvid = ['A=10']\npriority = ['A=5']\n\
         accept = ['A=untagged']\nfilter = ['B=off']\ntpid = ['A=9100']\ntunnel = ['C=88a8']\n\
         isolated = ['A,C']\nhairpin = ['B']\nstorm = ['1000', 'A=10']\n\
         port_stations = ['A=7']\nstatic = ['02:00:00:00:00:01@20=C']\nage = '20s'\n\
         stations = 1000\nloop_quiet = '60s'\nforward_reserved = true\n",
    );
    let config = config.expect("a configuration");
    assert_eq!(config.pipelines[0].malformed, Otherwise::Forward);
    let table = config.switch_table().expect("sound").expect("a switch");
    let own = table.config();
    // Ports have their numbers by the order of their sections.
    let [a, b, c] = &own.ports[..] else {
        panic!("three ports");
    };
    assert_eq!((a.pvid, b.pvid, c.pvid), (Some(10), Some(20), Some(20)));
    assert_eq!((a.tpid, c.tpid, c.tunnel), (0x9100, 0x88A8, true));
    assert_eq!((a.storm, c.storm), (Some(10), Some(1000)));
    assert_eq!((a.priority, a.stations, own.stations), (5, 7, 1000));
    assert_eq!(
        (a.isolated, b.hairpin, b.ingress_filter),
        (true, true, false)
    );
    assert_eq!((own.mode, own.age.as_secs()), (VlanMode::Dot1q, 20));
    assert_eq!(own.loop_quiet, Some(Duration::from_secs(60)));
    assert!(own.forward_reserved && own.statics.len() == 1);
    let again = Config::parse(Path::new("/a.toml"), &config.resolved());
    assert_eq!(again, Ok(config));
}

#[test]
fn what_is_left_out_is_as_on_the_command_line() {
    for (words, mode) in [
        ("", VlanMode::Default),
        ("group = ['A,B', 'B,C']", VlanMode::Port),
        ("vlan = ['10=A,Bt']", VlanMode::Dot1q),
    ] {
        let config = parse(&format!("[[pipeline]]\nkind = 'switch'\n{words}\n")).expect(words);
        assert_eq!(config.pipelines[0].ports, ["A", "B", "C"], "{words}");
        let table = config.switch_table().expect("sound").expect("a switch");
        assert_eq!(table.config().mode, mode, "{words}");
        let again = Config::parse(Path::new("/a.toml"), &config.resolved());
        assert_eq!(again, Ok(config), "{words}");
    }
}

/// What is added to a switch, and how each sentence about it begins.
type Refused<'t> = (&'t str, &'t [&'t str]);

#[track_caller]
fn each_is_named(cases: &[Refused<'_>]) {
    for (added, said) in cases {
        let told = refused(&format!("[[pipeline]]\nkind = 'switch'\n{added}\n"));
        assert_eq!(told.len(), said.len(), "{added}: {told:?}");
        for (told, said) in told.iter().zip(*said) {
            assert!(told.starts_with(said), "{added}: no '{said}' in {told}");
        }
    }
}

#[test]
fn all_that_is_wrong_is_named_with_its_line() {
    each_is_named(&[
        (
            "vlan = ['10=A,D',\n'20=A',\n'x=A']\nage = '20s'\npvid = ['A=y']",
            &[
                "12: no port is called 'D'",
                "14: 'x' is not a VLAN",
                "16: 'y' is not a VLAN",
            ],
        ),
        (
            "vlan = ['10=A']\npvid = ['B=11']\nstorm = ['0']\nstatic = ['01:00:5e:00:00:01@10=A']",
            &[
                "13: the PVID of B",
                "14: a storm",
                "14: a storm",
                "14: a storm",
                "15: ",
            ],
        ),
        (
            "vlan_mode = 'other'\nage = '1ms'\nstations = 0\nvlan = '10=A'",
            &["12: vlan_mode", "13: age", "14: stations", "15: vlan in"],
        ),
        (
            "vlans = ['10=A']",
            &["12: [[pipeline]] knows no key 'vlans'"],
        ),
        ("ports = ['A', 'B']", &["12: port 'C' is in no pipeline"]),
        (
            "ports = ['A', 'B', 'C', 'A']",
            &["12: port 'A' is named twice"],
        ),
        ("ports = ['A', 'B', 'D']", &["12: no port is named 'D'"]),
        (
            "[stateful]\nallow_new = ['A']",
            &["12: flows are remembered"],
        ),
        ("pvid = ['A=1']", &["10: a PVID needs VLANs"]),
    ]);
    let told = refused("[[pipeline]]\nvlan = ['10=A']\n");
    assert!(told[0].starts_with("11: vlan in [[pipeline]] is for a switch"));
}

/// What may go together once other faults are mended is not told.
#[test]
fn faults_of_every_kind_are_named_at_once() {
    each_is_named(&[
        (
            "ports = ['A', 'Q']\nage = 'soon'\nvlan = ['10=A,X',\n'0=B']\npvid = ['C=30']\n\
             malformed = 'no'\nhash = 'in'\nrouter = ['Y']\nkeep = ['z']\nunknown = 3",
            &[
                "12: no port is named 'Q'",
                "13: age in [[pipeline]]: 'soon'",
                "14: no port is called 'X'",
                "15: 0 is no VLAN",
                "17: malformed",
                "18: hash",
                "19: no port is named 'Y'",
                "20: 'z' is unknown",
                "21: [[pipeline]] knows no key 'unknown'",
            ],
        ),
        (
            "vlans = ['10=A']\nreserved = 'forward'\npvid = ['A=10']",
            &[
                "12: [[pipeline]] knows no key 'vlans': did you mean 'vlan'?",
                "13: [[pipeline]] knows no key 'reserved'",
            ],
        ),
        (
            "vlan_mode = 'dot1q'",
            &["12: the mode dot1q without a VLAN drops every frame"],
        ),
        (
            "vlan_mode = 'port'",
            &["12: the mode port without a group drops every frame"],
        ),
        (
            "vlan = ['1-4094=A',\n'10=B',\n'20-30=C']",
            &["13: VLAN 10 is given twice", "14: VLANs from 20 to 30 are"],
        ),
        (
            "vlan = ['1-4094=A,At']",
            &["12: A is a member of VLAN 1-4094 both tagged and untagged"],
        ),
        (
            "vlan = ['10=A']\nstatic = ['02:00:00:00:00:01=A']",
            &["13: the static entry of 02:00:00:00:00:01 names no VLAN"],
        ),
    ]);
}

#[test]
fn ports_that_no_switch_has_are_named() {
    let switch = "[[pipeline]]\nkind = 'switch'\n";
    for (ports, said) in [
        ("[[port]]\nspec = 'gen:'\n", "3: 1 ports are given"),
        (
            "[[port]]\nspec = 'xdp:a,bypass=on'\n[[port]]\nspec = 'xdp:b'\n",
            "2: xdp:a would let frames pass by the switch",
        ),
        (
            "[[port]]\nname = 'A'\nspec = 'gen:'\n[[port]]\nname = 'A'\nspec = 'null:'\n",
            "1: two ports are named 'A'",
        ),
        (
            "[[port]]\nname = \"A\\u001b[31m\\n\"\nspec = 'gen:'\n[[port]]\nspec = 'null:'\n",
            "2: the name \"A\\u{1b}[31m\\n\" has a control character",
        ),
    ] {
        let text = format!("{ports}{switch}");
        let error = Config::parse(Path::new("/a.toml"), &text).expect_err(ports);
        assert!(error.to_string().contains(said), "{error}");
    }
}
