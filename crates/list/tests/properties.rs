//! Properties: any bytes, in any pieces, against `std` as the oracle, and our paths against each
//! other.

mod reading;

use list::{Columns, Entry, ListError, Loaded, ReadOptions, find, read};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use reading::{Pieces, entries, gzip, load_rest, skipping};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// Options whose blocks and lines are as short as they can be.
fn short_blocks(block_bytes: usize) -> ReadOptions {
    let mut options = skipping();
    options.limits.block_bytes = block_bytes;
    options.limits.line_bytes_max = 256;
    options
}

/// All that came of reading `text`, an error too.
fn outcome(text: &[u8], lengths: &[usize], options: &ReadOptions) -> String {
    let loaded = if lengths.is_empty() {
        read("L", text, options, &mut |_| {})
    } else {
        read("L", Pieces::new(text, lengths), options, &mut |_| {})
    };
    format!("{loaded:?}")
}

/// Things that stand in lists.
const WORDS: [&str; 85] = [
    "192.0.2.1",
    "10.0.0.0/8",
    "10.0.0.1/8",
    "192.0.2.1-192.0.2.9",
    "2001:db8::1",
    "::/0",
    "::",
    "2001:db8::/32",
    "0.0.0.0/0",
    "::ffff:192.0.2.1",
    "::1-::9",
    "1.2.3.4.5",
    "256.1.1.1",
    "01.2.3.4",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\r\n",
    "\r",
    " ",
    " ",
    " ",
    "\t",
    "# ",
    ";",
    "-",
    "/",
    ",",
    ",",
    "\"",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    "=",
    ".",
    "\\",
    "\u{feff}",
    "\0",
    "\u{fc}",
    "*",
    "create x hash:ip\n",
    "create y hash:ip,port",
    "add x ",
    "add y ",
    "timeout 300",
    "comment",
    "nomatch",
    "del x ",
    "del y ",
    "flush x\n",
    "swap x y\n",
    "destroy y\n",
    "rename x y\n",
    "-exist ",
    "define v = {",
    "$v",
    "delete element ip f s {",
    "flush set ip f s\n",
    "delete table ip f\n",
    "{\"delete\":{\"element\":{",
    "\"end\":",
    "table ip f {",
    "set s {",
    "map m {",
    "type ipv4_addr",
    "elements = {",
    "add element ip f s {",
    "counter",
    "{\"nftables\":[",
    "{\"set\":{",
    "\"elem\":[",
    "\"name\":\"s\"",
    "{\"cidr\":\"192.0.2.0/24\"}\n",
    "{\"prefix\":{\"addr\":\"10.0.0.0\",\"len\":8}}",
    "{\"range\":[\"::1\",\"::2\"]}",
    "{\"type\":\"metadata\"}\n",
    "\"192.0.2.7\"",
    "example.com",
];

/// Beginnings that choose a format.
const HEADS: [&str; 9] = [
    "",
    "# c\n",
    "create x hash:ip\n",
    "table ip f { set s {\nelements = {",
    "{\"nftables\":[{\"set\":{\"elem\":[",
    "{\"cidr\":\"192.0.2.1\"}\n",
    "\u{feff}",
    "[\"192.0.2.1\",",
    "{\"a\":[{\"ip\":\"192.0.2.1\"}],",
];

/// Beginnings that choose a packing.
const MAGICS: [&[u8]; 4] = [b"", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\0", b"\xef\xbb"];

/// A text that is nearly a list in one of the formats.
fn soup() -> impl Strategy<Value = String> {
    (select(&HEADS[..]), vec(select(&WORDS[..]), 0..60))
        .prop_map(|(head, words)| head.to_owned() + &words.concat())
}

/// The same without texts that are refused whole, by design, and have no entries to compare: those
/// that begin as UTF-16 does, a NUL every other byte, and JSON documents that are not whole.
fn readable_soup() -> impl Strategy<Value = String> {
    soup().prop_filter("is refused whole", |text| {
        let read = reading::load_with(text, &skipping());
        !matches!(
            read,
            Err(ListError::Encoding { .. }
                | ListError::JsonDocument(_)
                | ListError::JsonPath { .. })
        )
    })
}

/// A list of lines of all lengths, about the bound of 256 bytes among them.
fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => any::<u32>().prop_map(|bits| std::net::Ipv4Addr::from_bits(bits).to_string()),
        1 => any::<u128>().prop_map(|bits| std::net::Ipv6Addr::from_bits(bits).to_string()),
        2 => select(&WORDS[..14]).prop_map(str::to_owned),
        1 => (225usize..270).prop_map(|length| format!("192.0.2.1 {}", "x".repeat(length))),
        1 => (0usize..900).prop_map(|length| format!("#{}", "x".repeat(length))),
        1 => Just(String::new()),
    ];
    let end = select(&["\n", "\n", "\r\n", "\t7\n", " \n"][..]);
    (vec((line, end), 0..40), any::<bool>()).prop_map(|(lines, ends)| {
        let mut text: String = lines.iter().flat_map(|(line, end)| [line, *end]).collect();
        if !ends {
            text.truncate(text.trim_ascii_end().len());
        }
        text
    })
}

/// Something that is an address or nearly one: no blanks, comments of any kind, slashes, dashes or
/// what stands between columns.
fn near_address() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<u32>().prop_map(|bits| std::net::Ipv4Addr::from_bits(bits).to_string()),
        any::<u128>().prop_map(|bits| std::net::Ipv6Addr::from_bits(bits).to_string()),
        "([0-9]{1,3}\\.){3}[0-9]{1,4}",
        "[0-9.]{1,17}",
        "(([0-9a-fA-F]{0,4}:{1,2}){1,8})([0-9a-f]{0,4}|([0-9]{1,3}\\.){3}[0-9]{1,3})",
        "(::ffff:|::FFFF:|::)([0-9]{1,3}\\.){3}[0-9]{1,3}",
        "[!-~&&[^#;/,|!%'-]]{1,20}",
    ]
    .prop_filter("a first line may choose a format", |text| {
        !text.starts_with(['{', '['])
    })
}

/// Columns that are asked for, by number and by heading, or none.
fn columns() -> impl Strategy<Value = Option<Columns>> {
    let asked = select(&["", "1", "2", "3", "1-2", "2-1", "1/2", "all", "comment"][..]);
    asked.prop_map(|text| text.parse().ok())
}

/// What does not hang on how a line is written: its entries, and its fault with its text.
fn verdict(loaded: &Loaded) -> (Vec<String>, Vec<String>, u64) {
    let bad = loaded
        .bad
        .iter()
        .map(|bad| format!("{:?} {}", bad.fault, bad.text));
    (entries(loaded), bad.collect(), loaded.lines)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_in_any_pieces(
        text in vec(any::<u8>(), 0..2000),
        magic in select(&MAGICS[..]),
        lengths in vec(1usize..40, 1..8),
        block_bytes in 1usize..300,
    ) {
        let text = [magic, &text].concat();
        let options = short_blocks(block_bytes);
        let whole = outcome(&text, &[], &options);
        prop_assert_eq!(whole, outcome(&text, &lengths, &options));
    }

    #[test]
    fn near_lists_in_any_pieces(
        text in soup(),
        packed: bool,
        columns in columns(),
        force: bool,
        lengths in vec(1usize..40, 1..8),
        block_bytes in 1usize..300,
    ) {
        let options = ReadOptions { columns, force, ..short_blocks(block_bytes) };
        let bytes = if packed { gzip(&text) } else { text.into_bytes() };
        let whole = outcome(&bytes, &[], &short_or_long(&options, 1 << 20));
        prop_assert_eq!(&whole, &outcome(&bytes, &lengths, &options));
        let strict = ReadOptions { skip_bad_lines: false, ..options };
        let refused = outcome(&bytes, &lengths, &strict);
        prop_assert!(refused.starts_with("Err") || refused == whole);
    }

    #[test]
    fn block_boundaries_do_not_show(text in lines(), block_bytes in 1usize..=300) {
        let whole = outcome(text.as_bytes(), &[], &short_blocks(1 << 20));
        prop_assert_eq!(&whole, &outcome(text.as_bytes(), &[], &short_blocks(block_bytes)));
        prop_assert_eq!(&whole, &outcome(text.as_bytes(), &[1, 7, 64], &short_blocks(block_bytes)));
    }

    /// Differences from `std`: an IPv4-mapped address is IPv4, and that is all.
    #[test]
    fn a_line_is_an_address_when_std_says_so(field in near_address()) {
        let loaded = load_rest(&field);
        let said = field.parse::<IpAddr>().ok();
        let canonical = said.map(|said| Entry::address(said.to_canonical()).to_string());
        let expected: Vec<_> = canonical.into_iter().collect();
        prop_assert_eq!(loaded.bad_count, u64::from(expected.is_empty()));
        prop_assert_eq!(entries(&loaded), expected);
    }

    #[test]
    fn a_network_and_a_range_are_what_std_says(a: u32, b: u32, length in 0u32..=32) {
        let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
        let ip = |bits| std::net::Ipv4Addr::from_bits(bits).to_string();
        let right = format!("{}/{length}\n{}-{}\n", ip(a & mask), ip(a.min(b)), ip(a.max(b)));
        let loaded = reading::load_with(right, &ReadOptions { force: true, ..skipping() }).unwrap();
        prop_assert_eq!(loaded.bad_count, 0);
        let wrong = load_rest(format!("{}/{length}\n", ip(a)));
        prop_assert_eq!(wrong.bad_count, u64::from(a & !mask != 0 || length == 0));
        if a & !mask != 0 {
            let meant = format!("is probably {}/{length}", ip(a & mask));
            prop_assert!(wrong.bad[0].to_string().ends_with(&meant));
        }
    }

    /// The same field on lines that take the fast path and on lines that cannot.
    #[test]
    fn the_fast_path_agrees_with_the_slow_one(field in near_address()) {
        let field_of = |text: String| verdict(&load_rest(text));
        let plain = field_of(format!("{field}\n"));
        let whole = |fault: &String| fault.starts_with("DateFirst") || fault.starts_with("Foreign");
        let quotes_all = plain.1.iter().any(whole);
        prop_assume!(!quotes_all, "what is said of a date or of YAML quotes what follows it");
        for text in [
            field.clone(),
            format!("{field}\r\n"),
            format!(" {field}\n"),
            format!("{field}\t977\n"),
            format!("{field} 123456\n"),
            format!("{field} 1234567\n"),
            format!("{field}\t977\r\n"),
            format!("{field} # 977\n"),
            format!("{field};\n"),
            format!("{field}  x\n"),
        ] {
            prop_assert_eq!(&field_of(text.clone()), &plain, "{:?}", text);
        }
    }

    /// What is shown of an entry reads as that entry.
    #[test]
    fn entries_read_as_they_are_shown(text in readable_soup()) {
        let distinct = |text: &str| entries(&load_rest(text)).into_iter().collect::<BTreeSet<_>>();
        let shown = distinct(&text);
        let again = shown.iter().map(|entry| format!("{entry}\n")).collect::<String>();
        prop_assert_eq!(distinct(&again), shown);
    }

    #[test]
    fn find_finds_what_was_read(text in readable_soup(), columns in columns()) {
        let options = ReadOptions { columns, ..skipping() };
        let Ok(loaded) = reading::load_with(&text, &options) else {
            // No column has the heading asked for.
            return Ok(());
        };
        let all = entries(&loaded);
        for address in ["192.0.2.1", "10.1.2.3", "2001:db8::1", "::2", "192.0.2.7"] {
            let address: IpAddr = address.parse().unwrap();
            let holds = |text: &&String| Entry::parse(text.as_bytes()).unwrap().contains(address);
            let expected = all.iter().filter(holds).count();
            let found = find("L", text.as_bytes(), &options, address).unwrap();
            prop_assert_eq!(found.count, expected as u64);
            prop_assert!(found.matches.iter().all(|found| found.line >= 1));
            prop_assert!(found.matches.iter().all(|found| found.line <= loaded.lines));
        }
    }
}

fn short_or_long(options: &ReadOptions, block_bytes: usize) -> ReadOptions {
    let mut options = options.clone();
    options.limits.block_bytes = block_bytes;
    options
}

/// Every block length from 1 to 300 on one text that has all kinds of lines.
#[test]
fn every_block_length() {
    let mut text = String::new();
    for i in 0..60usize {
        text += &format!("192.0.2.{i}\n{}\n10.0.{i}.0/24 x\r\n\n", "#".repeat(i * 7));
        text += &format!("2001:db8::{i:x}\tword\n203.0.113.{i} {i}\nbad{i}\n");
    }
    text += "198.51.100.1";
    let whole = outcome(text.as_bytes(), &[], &short_blocks(1 << 20));
    assert!(whole.starts_with("Ok"), "{whole}");
    for block_bytes in 1..=300 {
        let blocks = outcome(text.as_bytes(), &[], &short_blocks(block_bytes));
        assert_eq!(blocks, whole, "{block_bytes}");
    }
}
