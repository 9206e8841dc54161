//! Sets as `ipset save`, `nft list` and `nft -j list` printed them (tests/data), and variations.

mod reading;

use list::Format;
use reading::{bad, entries, load, load_rest, sample, warnings};

/// All sets of one machine, those that hold no plain addresses among them.
#[test]
fn ipset_save_of_many_sets() {
    let loaded = load_rest(sample("ipset_all.txt"));
    assert_eq!(
        entries(&loaded),
        [
            "192.0.2.2",
            "192.0.2.1",
            "192.0.2.5",
            "192.0.2.6",
            "192.0.2.7",
            "10.0.0.0/8",
            "198.51.100.0/24",
            "203.0.113.0/25",
            "10.0.0.0/8",
            "2001:db8:ffff::1",
            "2001:db8::/32",
        ]
    );
    let masked = "is in a set made with netmask or bitmask, which is not supported";
    let more = "is in a set whose entries are more than addresses";
    assert_eq!(
        bad(&loaded),
        [
            format!("L:16: \"10.0.3.0\" {masked}"),
            format!("L:18: \"192.0.2.0\" {masked}"),
            "L:20: \"10.1.0.0/16\" is an exception (nomatch), which is not supported".to_owned(),
            format!("L:23: \"192.0.2.1,tcp:80\" {more}"),
            format!("L:25: \"10.0.0.0/8,eth0\" {more}"),
            format!("L:27: \"5\" {more}"),
            format!("L:29: \"plain\" {more}"),
        ]
    );
    assert_eq!(
        warnings(&loaded)[..2],
        [
            "L:4: entries with a timeout are loaded for good: the list does not forget them",
            "L:4: a further set, nets: all sets of the file become one; 'ipset save NAME' writes \
             one alone"
        ]
    );
}

#[test]
fn ipset_lines_without_create_and_with_faults() {
    let text = "add x 192.0.2.1\nadd x 192.0.2.2 timeout 0 comment \"add y 192.0.2.99 nomatch\"\n\
                add x 192.0.2.4-192.0.2.6\nadd x 192.0.2.7,80\nadd x example.com\nadd x\nsave x y\n\
                add x 192.0.2.8 colour red\nadd x 192.0.2.9 timeout\n# comment\nadd x 0.0.0.0/0\n\
                test x\n";
    let loaded = load_rest(text);
    assert_eq!(loaded.format, Format::Ipset);
    assert_eq!(
        entries(&loaded),
        ["192.0.2.1", "192.0.2.2", "192.0.2.4-192.0.2.6"]
    );
    let command = "is not a command of ipset save or ipset restore";
    let option = "is an option of ipset that is not known here";
    assert_eq!(
        bad(&loaded),
        [
            "L:4: \"192.0.2.7,80\" is more than an address, a network or a range".to_owned(),
            "L:5: \"example.com\" is a host name; a list holds addresses".to_owned(),
            format!("L:6: \"add x\" {command}"),
            format!("L:7: \"save x y\" {command}"),
            format!("L:8: \"colour\" {option}"),
            format!("L:9: \"timeout\" {option}"),
            "L:11: \"0.0.0.0/0\" is every address there is; --force loads it".to_owned(),
            format!("L:12: \"test x\" {command}"),
        ]
    );
}

/// What both `nft list set` and `nft -j list set` print must give the same entries.
#[track_caller]
fn check_nft(name: &str, expected: &[&str]) {
    let text = load(sample(&format!("{name}.txt")));
    assert_eq!(text.format, Format::NftText);
    assert_eq!(entries(&text), expected);
    let json = load(sample(&format!("{name}.json")));
    assert_eq!(json.format, Format::NftJson);
    assert_eq!(entries(&json), expected);
}

#[test]
fn nft_sets_of_every_kind() {
    check_nft(
        "nft_interval",
        &[
            "192.0.2.1",
            "198.51.100.0/24",
            "10.0.0.0-10.0.2.255",
            "203.0.113.5-203.0.113.9",
        ],
    );
    check_nft(
        "nft_ipv6",
        &[
            "2001:db8::1",
            "2001:db8:1::/48",
            "2001:db8:2::1-2001:db8:2::9",
        ],
    );
    check_nft("nft_timeout", &["192.0.2.7", "192.0.2.8", "192.0.2.9"]);
    check_nft("nft_counter", &["192.0.2.20", "192.0.2.21"]);
    check_nft("nft_limit", &["192.0.2.30"]);
    check_nft("nft_empty", &[]);
}

#[track_caller]
fn check_refused(name: &str, expected: &[&str]) {
    let loaded = load_rest(sample(name));
    assert_eq!(entries(&loaded), [""; 0]);
    assert_eq!(bad(&loaded), expected, "{name}");
}

#[test]
fn nft_sets_of_more_than_addresses() {
    let fields = "is an element of several fields, which is not supported";
    let first = format!("\"192.0.2.1 . 80\" {fields}");
    let second = format!("\"192.0.2.2 . 443\" {fields}");
    let (a, b) = (format!("L:4: {first}"), format!("L:5: {second}"));
    check_refused("nft_concat.txt", &[&a, &b]);
    let (a, b) = (format!("L:1: {first}"), format!("L:1: {second}"));
    check_refused("nft_concat.json", &[&a, &b]);

    let ports = "is in a set whose elements are not addresses";
    let (a, b) = (
        format!("L:5: \"22\" {ports}"),
        format!("L:5: \"80-90\" {ports}"),
    );
    check_refused("nft_ports.txt", &[&a, &b]);
    let (a, b) = (
        format!("L:1: \"22\" {ports}"),
        format!("L:1: \"80-90\" {ports}"),
    );
    check_refused("nft_ports.json", &[&a, &b]);

    let map = "\"verdicts\" is a map, whose elements are more than addresses";
    check_refused("nft_map.txt", &[&format!("L:2: {map}")]);
    check_refused("nft_map.json", &[&format!("L:1: {map}")]);
}

/// A whole ruleset: its named address sets are read; chains, with their anonymous sets and their
/// comments, are passed over.
#[test]
fn nft_ruleset() {
    let expected = [
        "192.0.2.1",
        "192.0.2.7",
        "192.0.2.8",
        "192.0.2.9",
        "192.0.2.20",
        "192.0.2.21",
        "192.0.2.30",
        "192.0.2.1",
        "198.51.100.0/24",
        "0.0.0.0/1",
        "10.0.0.0-10.0.2.255",
        "203.0.113.5-203.0.113.9",
        "192.0.2.0-192.0.2.6",
        "2001:db8::1",
        "fe80::1",
        "2001:db8:1::/48",
        "2001:db8:2::1-2001:db8:2::9",
    ];
    for name in ["nft_ruleset.txt", "nft_ruleset.json"] {
        let loaded = load_rest(sample(name));
        assert_eq!(entries(&loaded), expected, "{name}");
        assert_eq!(loaded.bad_count, 6, "{name}: {:?}", bad(&loaded));
    }
    let lines: Vec<u64> = load_rest(sample("nft_ruleset.txt"))
        .bad
        .iter()
        .map(|bad| bad.line)
        .collect();
    assert_eq!(lines, [41, 42, 48, 48, 63, 68]);
    let further = |line| {
        format!(
            "L:{line}: a further set, inet filter aging: all sets of the file become one; \
             'nft list set FAMILY TABLE NAME' prints one alone"
        )
    };
    assert!(warnings(&load_rest(sample("nft_ruleset.txt"))).contains(&further(18)));
    let json = warnings(&load_rest(sample("nft_ruleset.json")));
    assert!(json.contains(&further(1)), "{json:?}");
}

#[test]
fn nft_scripts() {
    let text = "#!/usr/sbin/nft -f\nflush ruleset\nadd table inet f\n\
                add set inet f x { type ipv4_addr; flags interval; elements = { 192.0.2.1 } }\n\
                add element inet f x { 192.0.2.2, 192.0.2.3 timeout 1h }\r\n\
                table inet f { set y { type ipv6_addr; elements = { ::2,\n# c\n::3, }; } }\n";
    let loaded = load(text);
    assert_eq!(
        entries(&loaded),
        ["192.0.2.1", "192.0.2.2", "192.0.2.3", "::2", "::3"]
    );
    assert_eq!(loaded.lines, 8);
    assert_eq!(
        warnings(&loaded),
        [
            "L:5: entries with a timeout are loaded for good: the list does not forget them",
            "L:6: a further set, inet f y: all sets of the file become one; 'nft list set FAMILY \
             TABLE NAME' prints one alone",
        ]
    );
}

#[test]
fn nft_types_are_those_of_their_own_set() {
    let text = "table ip f { set p { type inet_service; elements = { 22 }; }\n\
                set x { typeof ip saddr; elements = { 192.0.2.1 }; }\n\
                set q { type inet_service; elements = { 22 }; }; }\n\
                add element ip f x { 192.0.2.2 }\n";
    let loaded = load_rest(text);
    assert_eq!(entries(&loaded), ["192.0.2.1", "192.0.2.2"]);
    assert_eq!(loaded.bad_count, 2);
    let json = r#"{"nftables": [{"set": {"name": "p", "type": "inet_service", "elem": [22]}},
{"set": {"name": "x", "elem": ["192.0.2.1"]}}]}
"#;
    let loaded = load_rest(json);
    assert_eq!(entries(&loaded), ["192.0.2.1"]);
    assert_eq!((loaded.bad_count, loaded.lines), (1, 2));
}

#[test]
fn nft_words_that_do_not_end() {
    let word = "1".repeat(300);
    let text = format!("add element ip f x {{ {word}, 192.0.2.1; 192.0.2.2, 192.0.2.3 }}");
    let loaded = load_rest(text);
    let unknown = "is not known in an element of a set";
    assert_eq!(entries(&loaded), ["192.0.2.3"]);
    assert_eq!(
        bad(&loaded),
        [
            format!("L:1: \"{}...\" {unknown}", "1".repeat(80)),
            format!("L:1: \";\" {unknown}"),
        ]
    );
}

#[test]
fn nft_text_with_faults() {
    let text = "table ip f {\n\tset x {\n\t\ttype ipv4_addr\n\t\telements = { 192.0.2.1 nonsense,\n\
                192.0.2.999, *, 192.0.2.2 timeout 1h . 80, \"192.0.2.3\", 192.0.2.4 {,\n\
                192.0.2.5 }, 192.0.2.6 comment \"open,\n 192.0.2.7 }\n\t}\n}\nrule me\n\
                delete element ip f x { 192.0.2.8 }\nset y { type ipv4_addr; elements = $z; }\n}\n";
    let loaded = load_rest(text);
    let unknown = "is not known in an element of a set";
    let statement = "is not a statement that nft lists or that makes a set";
    assert_eq!(entries(&loaded), [""; 0]);
    assert_eq!(
        bad(&loaded),
        [
            format!("L:4: \"nonsense\" {unknown}"),
            "L:5: \"192.0.2.999\" has a number above 255".to_owned(),
            "L:5: \"*\" is the element that matches everything, which is not supported".to_owned(),
            "L:5: \"192.0.2.2 timeout 1h . 80\" is an element of several fields, which is not \
             supported"
                .to_owned(),
            format!("L:5: \"192.0.2.3\" {unknown}"),
            format!("L:5: \"{{\" {unknown}"),
            format!("L:6: \"open,\" {unknown}"),
            format!("L:10: \"rule me\" {statement}"),
            "L:11: \"192.0.2.8\" is removed and was not there".to_owned(),
            "L:12: \"z\" is a variable that is not defined above".to_owned(),
            format!("L:13: \"}}\" {statement}"),
        ]
    );
}

/// Cut at any byte, nothing comes of it that is not in the whole; and the cut is told of.
#[test]
fn nft_output_that_ends_early() {
    for name in ["nft_interval.txt", "nft_interval.json"] {
        let whole = sample(name);
        let all = entries(&load(&whole));
        let end = whole.trim_ascii_end().len();
        for length in 40..end {
            let loaded = load_rest(&whole[..length]);
            assert_eq!(loaded.bad_count, 1, "{name} cut at {length}");
            assert!(entries(&loaded).iter().all(|entry| all.contains(entry)));
        }
    }
    let cut = load_rest("table ip f {\n set x {\n  elements = { 192.0.2.1, 192.0.2.2");
    assert_eq!(entries(&cut), ["192.0.2.1"]);
    assert_eq!(bad(&cut), ["L:3: the text ends before its braces do"]);
    let json = load_rest("{\"nftables\": [\n{\"set\": {\"elem\": [\"192.0.2.1\",\n\"192.0.2.2");
    assert_eq!(entries(&json), ["192.0.2.1"]);
    assert_eq!(bad(&json), ["L:3: the JSON is broken here or ends early"]);
}

#[test]
fn nft_json_with_faults() {
    let text = r#"{"nftables": [{"set": {"name": "x", "type": "ipv4_addr", "elem": [
"192.0.2.1",
{"prefix": {"addr": "10.0.0.1", "len": 8}},
{"prefix": {"addr": "10.0.0.0", "len": 4000000000}},
{"prefix": {"addr": "example.com", "len": 8}},
{"range": ["192.0.2.9", "192.0.2.1"]},
{"range": ["192.0.2.9", "x"]},
{"concat": ["192.0.2.1", {"range": [80, 90]}, {"prefix": {"addr": "::", "len": 8}}]},
"*", null, true, 7, -7, 1.5, [1, [2]], {}, {"new": {"a": []}},
{"elem": {"val": {"range": ["192.0.2.5", "192.0.2.7"]}, "timeout": 3}},
"http"
]}}]}"#;
    let loaded = load_rest(text);
    assert_eq!(entries(&loaded), ["192.0.2.1", "192.0.2.5-192.0.2.7"]);
    let no = "is not an address, a network or a range";
    let expected = [
        "L:3: \"10.0.0.1/8\" has host bits set; the network is probably 10.0.0.0/8".to_owned(),
        "L:4: \"10.0.0.0/4000000000\" has a prefix of more than 32 bits".to_owned(),
        format!("L:5: \"example.com/8\" {no}"),
        "L:6: \"192.0.2.9-192.0.2.1\" ends before it begins".to_owned(),
        "L:7: \"192.0.2.9-x\" has no whole address at the end of the range".to_owned(),
        "L:8: \"192.0.2.1 . 80-90 . ::/8\" is an element of several fields, which is not \
         supported"
            .to_owned(),
        "L:9: \"*\" is the element that matches everything, which is not supported".to_owned(),
        format!("L:9: \"null\" {no}"),
        format!("L:9: \"true\" {no}"),
        format!("L:9: \"7\" {no}"),
        format!("L:9: \"-7\" {no}"),
        format!("L:9: \"1.5\" {no}"),
        format!("L:9: \"[...]\" {no}"),
        format!("L:9: \"{{}}\" {no}"),
        format!("L:9: \"{{...}}\" {no}"),
        format!("L:11: \"http\" {no}"),
    ];
    assert_eq!(bad(&loaded), expected);
}

#[test]
fn nft_json_with_hostile_shapes() {
    let head = "{\"nftables\": [{\"set\": {\"elem\": [\"192.0.2.1\", ";
    let broken = "L:1: the JSON is broken here or ends early";
    let too_deep = "L:1: the JSON is nested deeper than 127 levels";
    let deep = "{\"elem\":{\"val\":".repeat(100_000);
    for rest in [
        deep.as_str(),
        "{\"range\": 7}]}}]}",
        "\"a\\q\"]}}]}",
        "\"192.0.2.1\"]}}]} x",
    ] {
        let loaded = load_rest(format!("{head}{rest}").as_bytes());
        assert_eq!(entries(&loaded)[0], "192.0.2.1");
        assert_eq!(bad(&loaded), [if rest == deep { too_deep } else { broken }]);
    }
    let long = format!("{head}\"{}\"]}}}}]}}", "a\\\"".repeat(100_000));
    let loaded = load_rest(long.as_bytes());
    assert_eq!(entries(&loaded), ["192.0.2.1"]);
    assert_eq!(bad(&loaded), ["L:1: a string is longer than 65536 bytes"]);
}
