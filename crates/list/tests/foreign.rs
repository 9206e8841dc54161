//! What is no list is named as what it is, with what makes one of it; words of allow lists.

mod reading;

use list::{Purpose, ReadOptions};
use reading::{bad, columns, entries, load, load_with, refusal, warnings};

const REGISTRY: &str = "2|ripencc|20230101|4|19830705|20230101|+0100\nripencc|*|ipv4|*|2|summary\n\
                        ripencc|NL|ipv4|193.0.0.0|2048|19930901|allocated\n\
                        ripencc|NL|ipv6|2001:600::|32|19990826|allocated\n";
const CLASSBENCH: &str = "@192.168.0.1/32\t10.0.0.0/8\t0 : 65535\t80 : 80\t0x06/0xFF\n\
                          @192.168.1.0/24 10.0.0.0/8 0 : 65535 80 : 80 0x06/0xFF\n";
const RULES: &str = "table inet f {\n\tchain input {\n\t\ttype filter hook input priority 0;\n\
                     \t\tip saddr 10.0.0.0/8 drop\n\
                     \t\tip saddr { 192.0.2.1, 192.0.2.2 } drop comment \"x\"\n\t}\n}\n";
const JSON_RULES: &str = r#"{"nftables":[{"metainfo":{}},{"rule":{"family":"inet","table":"f",
    "chain":"input","handle":4,"expr":[{"match":{"op":"==","left":{"payload":{"protocol":"ip",
    "field":"saddr"}},"right":{"prefix":{"addr":"10.0.0.0","len":8}}}},{"drop":null}]}}]}"#;

/// Each with the line that is named first, what is said of that, and the remedy for the whole.
#[test]
fn what_is_no_list_is_named() {
    let registry = "statistics of an address registry";
    let rule = "is an address in a rule of nft";
    let sets = "put them into a set";
    let add = "add rule inet f c ip saddr 192.0.2.1 drop\n";
    let masks = "10.1.0.0 255.255.0.0\n10.2.0.0\t255.255.0.0\n";
    let beside = "has a netmask beside the address";
    for (text, line, what, remedy) in [
        (REGISTRY, 1, registry, "make ranges of it (awk"),
        (
            CLASSBENCH,
            1,
            "is a rule of ClassBench",
            "take the sources out (sed",
        ),
        (RULES, 4, rule, sets),
        (JSON_RULES, 3, rule, sets),
        (add, 1, rule, sets),
        (masks, 1, beside, "--columns 1/2 reads the network"),
    ] {
        let said = refusal(text, &ReadOptions::default());
        let first = said.lines().next().unwrap_or_default();
        assert!(first.starts_with(&format!("L:{line}: ")), "{first}");
        assert!(first.contains(what), "{first}");
        let last = said.lines().last().unwrap_or_default();
        assert!(last.contains(remedy), "{last}");
    }
}

/// No column that is asked for reads half of such a line.
#[test]
fn columns_read_no_half_of_them() {
    let few = "ripencc|NL|ipv4|193.0.0.0|32|19930901|allocated\n";
    let fewer = "arin|US|ipv4|192.0.2.0|8|19930901|allocated\n";
    for (text, asked, part) in [
        (few, "4/5", "address registry"),
        (fewer, "4", "address registry"),
        (CLASSBENCH, "2", "holds an address outside of column 2"),
    ] {
        let loaded = load_with(text, &columns(asked)).unwrap();
        assert_eq!(entries(&loaded), [""; 0], "{text}");
        assert!(bad(&loaded)[0].contains(part), "{:?}", bad(&loaded));
    }
    let six = "ripencc|NL|ipv6|2001:600::|32|19990826|allocated\n";
    let loaded = load_with(six, &columns("4/5")).unwrap();
    assert_eq!(entries(&loaded), ["2001:600::/32"]);
    let masks = "10.1.0.0 255.255.0.0\n10.2.0.0 255.255.0.0\n";
    let loaded = load_with(masks, &columns("1/2")).unwrap();
    assert_eq!(entries(&loaded), ["10.1.0.0/16", "10.2.0.0/16"]);
}

/// Beside a set, addresses in rules are no fault of it, and said.
#[test]
fn rules_beside_sets_are_warned_of() {
    let set = "table inet f {\n\tset x {\n\t\ttype ipv4_addr\n\
               \t\telements = { 198.51.100.1 }\n\t}\n}\n";
    let loaded = load([set, RULES].concat());
    assert_eq!(entries(&loaded), ["198.51.100.1"]);
    assert_eq!(
        warnings(&loaded).last().map(String::as_str),
        Some("L:10: 3 addresses in rules, of which this is the first, are not loaded")
    );
    let without = "table inet f {\n\tchain c {\n\t\ttcp dport 22 accept\n\t}\n}\n";
    assert_eq!(warnings(&load([set, without].concat())), [""; 0]);
}

/// Flags may stand anywhere in a command of ipset, the first line included.
#[test]
fn flags_of_the_first_command() {
    for first in [
        "-A SET -exist 192.0.2.1",
        "-A -exist SET 192.0.2.1",
        "-exist -A SET 192.0.2.1",
        "-! add SET 192.0.2.1",
        "add SET 192.0.2.1 -exist",
        "add -! SET 192.0.2.1",
        "--add SET 192.0.2.1",
    ] {
        let loaded = load(format!("{first}\nadd SET 192.0.2.2\n"));
        assert_eq!(entries(&loaded), ["192.0.2.1", "192.0.2.2"], "{first}");
    }
}

/// Words that agree with what a list is for are notes; the opposite is a bad line.
#[test]
fn words_of_block_and_allow_lists() {
    for (text, block, allow) in [
        ("192.0.2.1 allow\n", false, true),
        ("192.0.2.1 ; whitelist\n", false, true),
        ("192.0.2.1 block\n", true, false),
        ("192.0.2.1\tDENY\n", true, false),
        ("192.0.2.1 the office\n", true, true),
        ("192.0.2.1 # allow, block\n", true, true),
        (r#"{"ip":"192.0.2.1","action":"allow"}"#, false, true),
        (r#"{"ip":"192.0.2.1","action":"drop"}"#, true, false),
        (r#"{"ip":"192.0.2.1","active":false}"#, false, false),
        (
            r#"[{"ip":"192.0.2.1","blocked":true},{"ip":"192.0.2.2"}]"#,
            true,
            false,
        ),
    ] {
        for (purpose, agrees) in [
            (Purpose::Block, block),
            (Purpose::Allow, allow),
            (Purpose::Read, true),
        ] {
            let options = ReadOptions {
                purpose,
                ..ReadOptions::default()
            };
            let loaded = load_with(text, &options);
            assert_eq!(loaded.is_ok(), agrees, "{purpose:?}: {text}: {loaded:?}");
        }
    }
    let options = ReadOptions {
        purpose: Purpose::Allow,
        ..columns("ip")
    };
    let csv = "ip,action\n192.0.2.1,allow\n192.0.2.2,deny\n";
    let loaded = load_with(csv, &options).unwrap();
    assert_eq!(entries(&loaded), ["192.0.2.1"]);
    assert!(bad(&loaded)[0].contains("is not to be let through"));
}
