//! JSON documents in the shapes that clouds and feeds publish, with the addresses of documentation.

mod reading;

use list::{Format, ReadOptions};
use reading::{
    Pieces, asking, bad, entries, gzip, load, load_rest, load_with, refusal, skipping, warnings,
};

const AWS: &str = include_str!("data/json/aws.json");
const GITHUB: &str = include_str!("data/json/github.json");
const GOOGLE: &str = include_str!("data/json/google.json");
const CLOUDFLARE: &str = include_str!("data/json/cloudflare.json");
const AZURE: &str = include_str!("data/json/azure.json");
const ORACLE: &str = include_str!("data/json/oracle.json");
const ATLASSIAN: &str = include_str!("data/json/atlassian.json");

/// What is found by itself.
#[test]
fn the_one_list_of_addresses() {
    let table: [(&str, &[&str]); 14] = [
        (
            r#"["192.0.2.0/24","198.51.100.0/24"]"#,
            &["192.0.2.0/24", "198.51.100.0/24"],
        ),
        (
            "[\n  \"192.0.2.1\",\n  \"2001:db8::1\"\n]\n",
            &["192.0.2.1", "2001:db8::1"],
        ),
        ("\n [\"192.0.2.1-192.0.2.9\"]", &["192.0.2.1-192.0.2.9"]),
        ("[]", &[]),
        ("[ ]\n", &[]),
        (
            r#"[{"ip":"192.0.2.1","note":"x"},{"ip":"192.0.2.2","port":80}]"#,
            &["192.0.2.1", "192.0.2.2"],
        ),
        (
            r#"{"count":2,"data":[{"ip":"192.0.2.1"},{"ip":null},{"x":1}]}"#,
            &["192.0.2.1"],
        ),
        (
            r#"{"your_ip":"192.0.2.99","blocked":["192.0.2.1"]}"#,
            &["192.0.2.1"],
        ),
        (
            r#"[["192.0.2.1","192.0.2.2","192.0.2.3"]]"#,
            &["192.0.2.1", "192.0.2.2", "192.0.2.3"],
        ),
        (
            r#"[["192.0.2.1"],["192.0.2.0/24","198.51.100.0/24"]]"#,
            &["192.0.2.1", "192.0.2.0/24", "198.51.100.0/24"],
        ),
        (
            r#"{"a":{"b":{"c":["192.0.2.1"]}},"d":[{"e":[1,2]}]}"#,
            &["192.0.2.1"],
        ),
        (r#"["192.0.2.\u0031"]"#, &["192.0.2.1"]),
        (AZURE, &["192.0.2.0/24", "198.51.100.0/24", "2001:db8::/32"]),
        (ORACLE, &["192.0.2.0/25", "198.51.100.0/25"]),
    ];
    for (text, expected) in table {
        let loaded = load(text);
        assert_eq!(loaded.format, Format::Json, "{text}");
        assert_eq!(entries(&loaded), expected, "{text}");
        assert_eq!(entries(&load(gzip(text))), expected, "{text}");
    }
    assert_eq!(load(AZURE).lines, 11);
}

#[test]
fn several_lists_are_named_and_can_be_chosen() {
    let ends = "; several have commas between, and * stands for any key";
    let table: [(&str, &str, &str, &[&str]); 7] = [
        (
            AWS,
            "prefixes[].ip_prefix, ipv6_prefixes[].ipv6_prefix",
            "prefixes[].ip_prefix, ipv6_prefixes[].ipv6_prefix",
            &["192.0.2.0/24", "198.51.100.0/25", "2001:db8::/40"],
        ),
        (
            AWS,
            "prefixes[].ip_prefix, ipv6_prefixes[].ipv6_prefix",
            "ipv6_prefixes[].ipv6_prefix",
            &["2001:db8::/40"],
        ),
        (
            GITHUB,
            "hooks[], web[]",
            "hooks[]",
            &["192.0.2.0/24", "2001:db8:1::/48"],
        ),
        (
            GOOGLE,
            "prefixes[].ipv4Prefix, prefixes[].ipv6Prefix",
            "prefixes[].*",
            &["192.0.2.0/24", "2001:db8::/32"],
        ),
        (
            CLOUDFLARE,
            "result.ipv4_cidrs[], result.ipv6_cidrs[]",
            "result.*[]",
            &["192.0.2.0/24", "2001:db8::/32"],
        ),
        (
            ATLASSIAN,
            "items[].network, items[].cidr",
            "items[].cidr",
            &["192.0.2.0/25"],
        ),
        (
            r#"{"a.b":["192.0.2.1"],"c d":[{"e":"192.0.2.2"}]}"#,
            r#""a.b"[], "c d"[].e"#,
            r#""c d"[].e"#,
            &["192.0.2.2"],
        ),
    ];
    for (text, candidates, paths, expected) in table {
        let message = format!(
            "L has addresses at more than one path: --json-path says which to read, of \
             {candidates}{ends}"
        );
        assert_eq!(refusal(text, &ReadOptions::default()), message);
        assert_eq!(refusal(text, &skipping()), message);
        let loaded = load_with(text, &asking(paths)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(entries(&loaded), expected, "{paths}");
    }
}

#[test]
fn no_list_or_not_where_it_was_looked_for() {
    let none = "L is JSON without a list of addresses: no text in it is an address or a network, \
                and names of keys are not read";
    for text in [
        "{\n}",
        "{\"prefixes\":\n[]}",
        "[null]",
        "[\"example.com\"]",
        "[{\"a\":1}]",
    ] {
        assert_eq!(refusal(text, &ReadOptions::default()), none, "{text}");
    }
    let alone = refusal("{\n\"your_ip\": \"192.0.2.1\"\n}", &ReadOptions::default());
    assert!(
        alone.starts_with("L has addresses in no array: --json-path "),
        "{alone}"
    );
    let asked = refusal(AWS, &asking("prefixes[].ip, ipv6_prefixes[].ipv6_prefix"));
    let nothing = "L has nothing at the path prefixes[].ip: --json-path ";
    assert!(asked.starts_with(nothing), "{asked}");
    assert!(asked.contains(", of prefixes[].ip_prefix;"), "{asked}");
    // An empty array where the path leads is an empty list.
    let empty = load_with(r#"{"a":[], "b":["192.0.2.1"]}"#, &asking("a[].ip")).unwrap();
    assert_eq!(entries(&empty), [""; 0]);
    // A path that stops at an array is said to do so.
    let stopped = refusal(AWS, &asking("prefixes"));
    assert!(
        stopped.contains("\"prefixes\" is an array or object, where the path should lead to text"),
        "{stopped}"
    );
}

/// More keys than are told apart are many places, and none is chosen silently.
#[test]
fn more_places_than_are_told_apart() {
    let text = |count: usize| {
        let lists: Vec<String> = (0..count)
            .map(|key| format!("\"k{key}\":[{{\"range\":\"192.0.2.{}\"}}]", key % 256))
            .collect();
        format!("{{{}}}", lists.join(","))
    };
    let error = refusal(text(300), &ReadOptions::default());
    assert!(
        error.contains("k11[].range and more; several have"),
        "{error}"
    );
    let loaded = load_with(text(300), &asking("*[].range")).unwrap();
    assert_eq!(loaded.entry_count, 300);
}

const RANGE: &str = "has the other end of a range beside it, which is not read; write FIRST-LAST";
const LENGTH: &str =
    "has a prefix length or netmask beside it that makes no network of it; write ADDRESS/LENGTH";
const PAIR: &str = "is half of a pair, which may be a range; write it as one text";
const EXCEPTION: &str =
    "holds an exception (!, except), which a list cannot; put it into an allow set";
/// The entries are in an array, and what is taken out of them beside it.
const OF_ARRAY: &str = "\"d\" holds an exception";
const SPARED: &str = "is not to be blocked";
const TWICE: &str = "stands under a key that its object has twice";
const NO_TEXT: &str = "is an array or object, where the path should lead to text";

/// A document, the paths asked for, and why it is refused.
#[rustfmt::skip]
const HALVES: [(&str, &str, &str); 44] = [
    (r#"[{"first":"192.0.2.0","last":"192.0.2.9"}]"#, "[].first", RANGE),
    (r#"[{"first":"192.0.2.0","last":"192.0.2.9"}]"#, "[].last", RANGE),
    (r#"[{"startIp":"192.0.2.0","endIp":"192.0.2.9"}]"#, "[].startIp, [].endIp", RANGE),
    (r#"[{"start":"192.0.2.0","count":256}]"#, "[].start", RANGE),
    (r#"[{"ip":"192.0.2.1","prefix_length":24}]"#, "[].ip", LENGTH),
    (r#"[{"ip":"192.0.2.1","submask":"255.255.255.0"}]"#, "[].ip", LENGTH),
    (r#"[{"ip":"192.0.2.0","bits":24,"mask":"255.255.0.0"}]"#, "[].ip", LENGTH),
    (r#"[{"ip":"192.0.2.0","prefix":64}]"#, "[].ip", LENGTH),
    (r#"[{"src":"192.0.2.0","dst":"198.51.100.0","bits":24}]"#, "[].src", LENGTH),
    (r#"[["192.0.2.0","192.0.2.9"]]"#, "[][]", PAIR),
    (r#"[["192.0.2.0",24]]"#, "[][]", PAIR),
    (r#"[{"ip":"192.0.2.0","ip":"192.0.2.9"}]"#, "[].ip", TWICE),
    (r#"["192.0.2.0",24]"#, "[]", PAIR),
    (r#"["192.0.2.0","192.0.2.255"]"#, "[]", PAIR),
    (r#"[{"range":["192.0.2.0","192.0.2.255"]}]"#, "[].range[]", PAIR),
    (r#"[{"range":["192.0.2.1","192.0.2.9"]}]"#, "[].range[]", PAIR),
    (r#"[{"ip-range":["192.0.2.1","192.0.2.9",null]}]"#, "[].ip-range[]", PAIR),
    (r#"{"a":{"ipRange":["192.0.2.1","192.0.2.9"]}}"#, "a.ipRange[]", PAIR),
    (r#"[{"net":["192.0.2.0",24]}]"#, "[].net[]", PAIR),
    (r#"[{"net":["192.0.2.0","255.255.255.0"]}]"#, "[].net[]", PAIR),
    (r#"[["192.0.2.0","192.0.2.255","US"]]"#, "[][]", PAIR),
    (r#"[["192.0.2.0","192.0.2.255",null]]"#, "[][]", PAIR),
    (r#"[["192.0.2.0","192.0.2.9",{"a":1}]]"#, "[][]", PAIR),
    (r#"[["192.0.2.0",24,"US"]]"#, "[][]", PAIR),
    (r#"[["US","192.0.2.0","24"]]"#, "[][]", PAIR),
    (r#"[["192.0.2.0","/24"]]"#, "[][]", PAIR),
    (r#"{"cidr":"192.0.2.0/24","except":["192.0.2.128/25"]}"#, "cidr", EXCEPTION),
    (r#"{"a":{"cidr":"192.0.2.0/24","Except":["192.0.2.128/25"]}}"#, "a.cidr", EXCEPTION),
    (r#"{"d":{"cidrs":["192.0.2.0/24"],"nomatch":true}}"#, "d.cidrs[]", OF_ARRAY),
    (r#"{"d":{"cidrs":["192.0.2.0/24"],"except":"192.0.2.1"}}"#, "d.cidrs[]", OF_ARRAY),
    (r#"{"d":{"cidrs":["192.0.2.0/24"],"except":["192.0.2.1"]}}"#, "d.cidrs[]", OF_ARRAY),
    (r#"[{"exclude":{"ip":"192.0.2.1"},"cidr":"192.0.2.0/24"}]"#, "[].cidr", EXCEPTION),
    (r#"[{"cidr":"192.0.2.0/24","NOT":"192.0.2.1"}]"#, "[].cidr", EXCEPTION),
    (r#"[{"cidr":"192.0.2.0/24","nomatch":true}]"#, "[].cidr", EXCEPTION),
    (r#"[{"ip":"192.0.2.0","not":["192.0.2.1"]}]"#, "[].ip", EXCEPTION),
    (r#"[{"ip":"192.0.2.0-192.0.2.9","exclude":1}]"#, "[].ip", EXCEPTION),
    (r#"[{"excludedIps":["192.0.2.1"],"cidr":"192.0.2.0/24"}]"#, "[].cidr", EXCEPTION),
    (r#"[{"ip":"192.0.2.0","hosts":256}]"#, "[].ip", RANGE),
    (r#"[{"ip":"192.0.2.1","action":"allow"}]"#, "[].ip", SPARED),
    (r#"[{"ip":"192.0.2.1","active":false}]"#, "[].ip", SPARED),
    (r#"[{"ip":"192.0.2.1","enabled":false}]"#, "[].ip", SPARED),
    (r#"[{"ip":"192.0.2.1","whitelisted":true}]"#, "[].ip", SPARED),
    (r#"{"d":{"cidrs":["192.0.2.0/24"],"action":"allow"}}"#, "d.cidrs[]", SPARED),
    (r#"[{"ip":"192.0.2.0"},{"ip":["192.0.2.9"]}]"#, "[].ip", NO_TEXT),
];

/// What is half of something is no entry, and not loaded where bad lines are left out.
#[test]
fn fields_that_mean_a_range_or_a_length() {
    for (text, paths, message) in HALVES {
        let refused = refusal(text, &asking(paths));
        assert!(refused.contains(message), "{text}: {refused}");
        let rest = ReadOptions {
            skip_bad_lines: true,
            ..asking(paths)
        };
        let rest = entries(&load_with(text, &rest).unwrap());
        let is_right = rest.is_empty() || !matches!(message, RANGE | LENGTH | PAIR | EXCEPTION);
        assert!(is_right, "{text}: {rest:?}");
    }
    // Without a path as well.
    for (text, message) in [
        (
            r#"{"d":{"cidr":["192.0.2.1"],"except":"192.0.2.1"}}"#,
            OF_ARRAY,
        ),
        (r#"{"d":{"cidr":["192.0.2.1"],"NoMatch":true}}"#, OF_ARRAY),
        (
            r#"{"ipBlock":{"cidr":"192.0.2.0/24","except":["192.0.2.128/25"]}}"#,
            EXCEPTION,
        ),
        (
            r#"{"cidr":"192.0.2.0/24","except":["192.0.2.128/25"]}"#,
            EXCEPTION,
        ),
        (
            "{\"ip\":\"192.0.2.1\"}\n{\"ip\":\"192.0.2.0/24\",\"NOT\":[\"192.0.2.1\"]}",
            EXCEPTION,
        ),
        (r#"[{"range":["192.0.2.0","192.0.2.255"]}]"#, PAIR),
        (r#"[["192.0.2.0","192.0.2.255","US"]]"#, PAIR),
        (r#"[["192.0.2.0",24,"US"]]"#, PAIR),
        (
            r#"[{"ip":"192.0.2.0","mask":"255.255.0.0"},{"ip":"192.0.2.1"}]"#,
            LENGTH,
        ),
    ] {
        let refused = refusal(text, &ReadOptions::default());
        assert!(refused.contains(message), "{text}: {refused}");
        let rest = entries(&load_rest(text));
        assert!(rest.is_empty() || rest == ["192.0.2.1"], "{text}: {rest:?}");
    }
    let lines = load_rest(
        "{\"ip\":\"192.0.2.1\",\"prefixlen\":24}\n\
         {\"ip\":\"192.0.2.1\",\"end\":\"192.0.2.9\"}\n{\"ip\":\"192.0.2.3\"}\n",
    );
    assert_eq!(lines.format, Format::JsonLines);
    assert_eq!(entries(&lines), ["192.0.2.3"]);
    assert!(bad(&lines)[0].ends_with(LENGTH) && bad(&lines)[1].ends_with(RANGE));
}

#[test]
fn an_address_and_the_length_beside_it_are_a_network() {
    #[rustfmt::skip]
    let table = [
        (r#"[{"ip":"192.0.2.0","submask":"255.255.255.0"}]"#, "", "192.0.2.0/24"),
        (r#"[{"ip":"192.0.2.0","prefix_length":24},{"ip":"198.51.100.7"}]"#, "",
         "198.51.100.7 192.0.2.0/24"),
        (r#"[{"prefixLength":"/24","ip":"192.0.2.0"}]"#, "[].ip", "192.0.2.0/24"),
        (r#"[{"network":"192.0.2.0","netmask":"255.255.255.128"}]"#, "[].network", "192.0.2.0/25"),
        (r#"[{"network":"192.0.2.0","netmask":"255.255.255.0"}]"#, "[].network, [].netmask",
         "192.0.2.0/24"),
        (r#"[{"ip":"192.0.2.1","mask":"255.255.255.255"}]"#, "", "192.0.2.1"),
        (r#"[{"ip":"2001:db8::","prefix":32}]"#, "", "2001:db8::/32"),
        (r#"[{"ip":"192.0.2.0","bits":24,"mask":"255.255.255.0"}]"#, "", "192.0.2.0/24"),
        (r#"[{"ip":"192.0.2.0/24","mask":"255.255.255.0"}]"#, "[].ip", "192.0.2.0/24"),
        (ATLASSIAN, "items[].network", "192.0.2.0/25"),
        ("{\"ip\":\"192.0.2.0\",\"mask\":\"255.255.255.0\"}\n{\"ip\":\"198.51.100.7\"}\n", "",
         "198.51.100.7 192.0.2.0/24"),
        ("{\"a\":\"192.0.2.0\",\"mask\":24}\n{\"a\":\"198.51.100.7\"}\n", "a",
         "198.51.100.7 192.0.2.0/24"),
    ];
    for (text, paths, expected) in table {
        let options = match paths {
            "" => ReadOptions::default(),
            paths => asking(paths),
        };
        let loaded = load_with(text, &options).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(entries(&loaded).join(" "), expected, "{text}");
    }
}

#[test]
fn no_exceptions_and_no_pairs() {
    #[rustfmt::skip]
    let table = [
        (r#"[{"cidr":"192.0.2.0/24","except":[]}]"#, "[].cidr", "192.0.2.0/24"),
        (r#"[{"cidr":"192.0.2.0/24","except":null}]"#, "[].cidr", "192.0.2.0/24"),
        (r#"[{"cidr":"192.0.2.0/24","exclude":false}]"#, "[].cidr", "192.0.2.0/24"),
        (r#"{"exclude":["192.0.2.1"]}"#, "exclude[]", "192.0.2.1"),
        (r#"{"a":["192.0.2.1"],"b":{"exclude":true}}"#, "a[]", "192.0.2.1"),
        (r#"{"ips":["192.0.2.1","192.0.2.9"]}"#, "ips[]", "192.0.2.1 192.0.2.9"),
        (r#"[{"ranges":["192.0.2.0/24"]}]"#, "[].ranges[]", "192.0.2.0/24"),
    ];
    for (text, paths, expected) in table {
        let loaded = load_with(text, &asking(paths)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(entries(&loaded).join(" "), expected, "{text}");
    }
}

#[test]
fn bad_texts_among_addresses() {
    let loaded = load_rest("[\n\"192.0.2.1\",\n\"example.com\",\n\"10.0.0.1/8\",\n\"0.0.0.0/0\"]");
    assert_eq!(entries(&loaded), ["192.0.2.1"]);
    assert_eq!(
        bad(&loaded),
        [
            "L:3: \"example.com\" is a host name; a list holds addresses",
            "L:4: \"10.0.0.1/8\" has host bits set; the network is probably 10.0.0.0/8",
            "L:5: \"0.0.0.0/0\" is every address there is; --force loads it",
        ]
    );
}

/// Cut at any byte, twice in one file, or broken: nothing of it is loaded.
#[test]
fn documents_are_whole_or_refused() {
    for text in [
        AWS,
        GITHUB,
        GOOGLE,
        CLOUDFLARE,
        AZURE,
        ORACLE,
        "[\"192.0.2.1\",\n\"192.0.2.2\"]",
    ] {
        let options = skipping();
        let whole = text.trim_end();
        for length in 2..whole.len() {
            if let Ok(loaded) = load_with(&whole[..length], &options) {
                assert_eq!(entries(&loaded), [""; 0], "{}", &whole[..length]);
            }
        }
        for between in ["\n", " "] {
            let twice = load_with([whole, whole].join(between), &skipping());
            assert!(
                twice.map_or(true, |loaded| loaded.entry_count == 0),
                "{whole}"
            );
        }
    }
    let broken = refusal("[\"192.0.2.1\",\n\"192.0.2.2\n", &skipping());
    assert_eq!(
        broken,
        "L:2: the JSON is broken here or ends early: a JSON document is loaded whole or not at \
         all, fetch it again"
    );
    let deep = "[".repeat(100_000);
    let deep = refusal(&deep, &skipping());
    assert!(
        deep.starts_with("L:1: the JSON is nested deeper than 127 levels"),
        "{deep}"
    );
    let long = format!("[\"{}\"]", "1".repeat(100_000));
    let long = refusal(&long, &skipping());
    assert!(
        long.starts_with("L:1: a string is longer than 65536 bytes"),
        "{long}"
    );
}

#[test]
fn lines_with_a_path() {
    let text = "{\"cidr\":\"192.0.2.0/24\",\"asn\":{\"ip\":\"198.51.100.1\"}}\n\n\
                {\"asn\":{\"ip\":\"198.51.100.2\"}}\n";
    let loaded = load_with(text, &asking("asn.ip")).unwrap();
    assert_eq!(loaded.format, Format::JsonLines);
    assert_eq!(entries(&loaded), ["198.51.100.1", "198.51.100.2"]);
    let other =
        "{\"ip_address\":\"192.0.2.1\"}\n{\"ip_address\":\"192.0.2.2\"}\n{\"ip_address\":\n";
    let options = ReadOptions {
        json_paths: asking("ip_address").json_paths,
        ..skipping()
    };
    let loaded = load_with(other, &options).unwrap();
    assert_eq!(entries(&loaded), ["192.0.2.1", "192.0.2.2"]);
    assert_eq!(loaded.bad_count, 1);
    assert!(refusal(other, &ReadOptions::default()).contains("--json-path KEY names another"));
    assert!(
        refusal(other, &asking("ip")).starts_with("L has nothing at the path ip: --json-path ")
    );
}

/// An element or a line in which no path leads to anything is not passed over silently.
#[test]
fn nothing_at_the_paths() {
    for (text, paths, expected, count) in [
        (
            r#"[{"ip":"192.0.2.1"},{"addr":"192.0.2.2"}]"#,
            "[].ip",
            1,
            1,
        ),
        (
            r#"[{"ip":"192.0.2.1"},{"ip":null},"x",7,null,[]]"#,
            "[].ip",
            1,
            5,
        ),
        (
            r#"[{"ip":"192.0.2.1"},{"addr":"192.0.2.2"}]"#,
            "[].ip, [].addr",
            2,
            0,
        ),
        (
            r#"{"a":[{"b":["192.0.2.1"]},{"b":[]}],"c":[1]}"#,
            "a[].b[]",
            1,
            0,
        ),
        (r#"{"a":[{"b":["192.0.2.1"]},{"d":[]}]}"#, "a[].b[]", 1, 1),
        (r#"{"a":["192.0.2.1"],"b":[{"x":1}]}"#, "*[]", 1, 0),
    ] {
        let options = ReadOptions {
            skip_bad_lines: true,
            ..asking(paths)
        };
        let loaded = load_with(text, &options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(loaded.entry_count, expected, "{text}");
        assert_eq!(
            loaded.warning_count,
            count,
            "{text}: {:?}",
            warnings(&loaded)
        );
        let nothing = "L:1: an element has nothing at the paths asked for, and is left out";
        assert!(
            warnings(&loaded).iter().all(|line| line == nothing),
            "{text}"
        );
    }
    let text = "{\"ip_address\":\"192.0.2.1\"}\n{\"addr\":\"192.0.2.2\"}\n\
                {\"ip_address\":null}\n{\"type\":\"metadata\",\"records\":1}\n";
    let options = ReadOptions {
        skip_bad_lines: true,
        ..asking("ip_address")
    };
    let loaded = load_with(text, &options).unwrap();
    assert_eq!(entries(&loaded), ["192.0.2.1"]);
    let said = "has nothing at the paths asked for with --json-path";
    assert_eq!(loaded.bad_count, 2, "{:?}", bad(&loaded));
    assert!(bad(&loaded).iter().all(|line| line.ends_with(said)));
}

#[test]
fn entries_are_bounded_while_the_document_is_read() {
    let text = format!("[{}\"192.0.2.1\"]", "\"192.0.2.2\",".repeat(500));
    let mut options = asking("[]");
    options.limits.entries_max = 100;
    assert!(refusal(&text, &options).contains("more than 100 entries"));
    options.json_paths.clear();
    assert!(refusal(&text, &options).contains("more than 100 entries"));
}

#[test]
fn pieces_of_any_length_and_where_an_address_is() {
    for lengths in [[1].as_slice(), &[3, 7], &[64]] {
        let pieces = Pieces::new(AZURE.as_bytes(), lengths);
        let loaded = list::read("L", pieces, &ReadOptions::default(), &mut |_| {}).unwrap();
        assert_eq!(loaded.entry_count, 3);
    }
    let found = list::find(
        "L",
        AWS.as_bytes(),
        &asking("prefixes[].ip_prefix"),
        [192, 0, 2, 7].into(),
    );
    let found = found.unwrap();
    assert_eq!((found.count, found.matches[0].line), (1, 5));
    assert_eq!(found.matches[0].to_string(), "L:5: 192.0.2.0/24");
}
