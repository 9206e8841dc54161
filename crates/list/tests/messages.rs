//! What is said of bad lines, to the letter, and what follows from them.

mod reading;

use list::{ListError, ReadOptions, find};
use reading::{bad, entries, load_rest, load_with, refusal, skipping};
use std::io::{self, Read};

/// One bad line between two good ones: the message names the second line, and the others load.
#[track_caller]
fn check(line: &str, message: &str) {
    let text = format!("192.0.2.1\n{line}\n192.0.2.2\n");
    let loaded = load_rest(&text);
    assert_eq!(bad(&loaded), [format!("L:2: {message}")]);
    assert_eq!(entries(&loaded), ["192.0.2.1", "192.0.2.2"]);
    assert_eq!((loaded.bad_count, loaded.lines), (1, 3));
    assert_eq!(
        refusal(&text, &ReadOptions::default()),
        format!(
            "L:2: {message}\nL is refused for 1 bad line and nothing was loaded: mend the list, or \
             load the rest with --skip-bad-lines"
        )
    );
}

#[test]
fn names() {
    check(
        "example.com",
        "\"example.com\" is a host name; a list holds addresses",
    );
    check(
        "evil.example.com 1.2.3.4",
        "\"evil.example.com\" is a host name; a list holds addresses",
    );
    check(
        "http://1.2.3.4/x.sh # payload",
        "\"http://1.2.3.4/x.sh\" is a URL; a list holds addresses",
    );
    let hosts = "is a line of a hosts file, which blocks a name, not an address";
    check(
        "0.0.0.0 ads.example.com # x",
        &format!("\"0.0.0.0 ads.example.com\" {hosts}"),
    );
    check(
        "127.0.0.1\tads.example.com",
        &format!("\"127.0.0.1\\tads.example.com\" {hosts}"),
    );
    check(
        ":: ads.example.com",
        &format!("\":: ads.example.com\" {hosts}"),
    );
}

#[test]
fn numbers() {
    check(
        "176.221.42.3254.174.140.223",
        "\"176.221.42.3254.174.140.223\" is more than one IPv4 address; two may have run together",
    );
    let zero = "has a number with a leading zero, which some programs read as octal; write it \
                without";
    check("010.1.2.3", &format!("\"010.1.2.3\" {zero}"));
    check("192.0.2.007 5", &format!("\"192.0.2.007\" {zero}"));
    check("192.0.2.256", "\"192.0.2.256\" has a number above 255");
    check(
        "192.0.2",
        "\"192.0.2\" has 3 of the four numbers of an IPv4 address",
    );
    check(
        "192.0..1",
        "\"192.0..1\" has a dot without a number beside it",
    );
    check(
        "192.0.2.1,9",
        "\"192.0.2.1,9\" has columns; --column 1 reads it",
    );
}

#[test]
fn networks_and_ranges() {
    check(
        "10.0.0.1/8",
        "\"10.0.0.1/8\" has host bits set; the network is probably 10.0.0.0/8",
    );
    check(
        "2001:db8::1/32",
        "\"2001:db8::1/32\" has host bits set; the network is probably 2001:db8::/32",
    );
    check(
        "::ffff:10.0.0.1/104",
        "\"::ffff:10.0.0.1/104\" has host bits set; the network is probably ::ffff:10.0.0.0/104",
    );
    check(
        "10.0.0.0/33",
        "\"10.0.0.0/33\" has a prefix of more than 32 bits",
    );
    check("::/129", "\"::/129\" has a prefix of more than 128 bits");
    check(
        "10.0.0.0/",
        "\"10.0.0.0/\" has no prefix length after the slash",
    );
    check(
        "10.0.0.0 /33",
        "\"10.0.0.0 /33\" has a prefix of more than 32 bits",
    );
    let mask = "has a netmask; write it as a prefix length: /8";
    check(
        "10.0.0.0/255.0.0.0",
        &format!("\"10.0.0.0/255.0.0.0\" {mask}"),
    );
    check(
        "10.0.0.0 255.0.0.0 x # y",
        "\"10.0.0.0 255.0.0.0 x\" has a netmask beside the address; --columns 1/2 reads the \
         network, or write ADDRESS/8",
    );
    check(
        "192.0.2.9-192.0.2.1",
        "\"192.0.2.9-192.0.2.1\" ends before it begins",
    );
    check(
        "192.0.2.9 - 192.0.2.1",
        "\"192.0.2.9 - 192.0.2.1\" ends before it begins",
    );
    let no_end = "has no whole address at the end of the range";
    check("192.0.2.1-9", &format!("\"192.0.2.1-9\" {no_end}"));
    check(
        "192.0.2.1 - 192.0.2.300",
        &format!("\"192.0.2.1 - 192.0.2.300\" {no_end}"),
    );
    check(
        "192.0.2.1 -2001:db8::g",
        &format!("\"192.0.2.1 -2001:db8::g\" {no_end}"),
    );
    check(
        "192.0.2.1-::9",
        "\"192.0.2.1-::9\" begins in one address family and ends in the other",
    );
    check(
        "10.0.0.0/8 - 11.0.0.0",
        "\"10.0.0.0/8 - 11.0.0.0\" is not an address, a network or a range",
    );
}

#[test]
fn what_is_around_an_address() {
    let plain = "a list holds plain addresses";
    check(
        "fe80::1%eth0",
        &format!("\"fe80::1%eth0\" has a zone id; {plain}"),
    );
    check(
        "192.0.2.1:80",
        &format!("\"192.0.2.1:80\" has a port; {plain}"),
    );
    check(
        "[2001:db8::1]:443",
        "\"[2001:db8::1]:443\" is in brackets; write the address without",
    );
    check(
        "2001:db8::1::2",
        "\"2001:db8::1::2\" is not an IPv6 address",
    );
    check(
        "\"192.0.2.1\"",
        "\"\"192.0.2.1\"\" has columns; --column 1 reads it",
    );
    check(
        "m\u{fc}ll",
        "\"m\u{fc}ll\" is not an address, a network or a range",
    );
}

/// The same of several lines, without the text that is shown before it.
#[track_caller]
fn check_all(rows: &[(&str, &str)]) {
    for (line, predicate) in rows {
        let shown = line.replace('\t', "\\t");
        check(line, &format!("\"{shown}\" {predicate}"));
    }
}

#[test]
fn lines_run_together_and_comments_of_other_kinds() {
    let joined = "is two entries in one; a line end between them is missing";
    let run = "is more than one IPv4 address; two may have run together";
    let comment = "begins with a mark that begins no comment here; comments begin with # or ;";
    let comma = "ends in a comma; remove it, or read the list with --column 1";
    check_all(&[
        ("198.51.100.0/222001:db8::/32", joined),
        ("198.51.100.0/24203.0.113.0/24", joined),
        ("198.51.100.0/24203.0.113.7", joined),
        ("2001:db8::/322001:db8:1::/48", joined),
        ("192.0.2.12001:db8::1", joined),
        ("1.2.3.4/325.6.7.8/329.9.9.9", joined),
        ("198.51.100.0/24203.0.113.1-203.0.113.9", joined),
        ("192.0.2.1192.0.2.2", run),
        ("198.51.100.0/24,", comma),
        ("198.51.100.1,", comma),
        ("192.0.2.1-192.0.2.9,", comma),
        ("// made today", comment),
        ("//198.51.100.1", comment),
        ("! note", comment),
        ("!", comment),
        ("/* x */", comment),
        ("-- x", comment),
        ("% x", comment),
    ]);
}

#[test]
fn more_than_an_entry_on_a_line() {
    let exception = "holds an exception (!, except), which a list cannot; put it into an allow set";
    let second = "holds a second address; a line holds one entry";
    let pf = "is a table of pf.conf, which is not read; 'pfctl -t NAME -T show' prints one that is";
    let length = "has a number beside the address that may be a prefix length; --columns 1/2 \
                  reads it as one, --force leaves it out";
    let all = "has columns; --columns all reads an entry in every column";
    let range = "holds two addresses; --columns 1-2 reads the range, --columns all each of them";
    let date = "begins with a date; --column N says which column holds the address";
    check_all(&[
        ("!198.51.100.2", exception),
        ("! 198.51.100.2", exception),
        ("!198.51.100.0/24", exception),
        ("198.51.100.0/24 except 198.51.100.2", exception),
        ("198.51.100.1 seen with 198.51.100.2", second),
        ("198.51.100.0 198.51.100.255", range),
        ("198.51.100.0/24 203.0.113.0/24", all),
        ("table <bl> persist { 198.51.100.0/24, !198.51.100.2 }", pf),
        ("198.51.100.0\t24\t64500", length),
        ("198.51.100.0/24;203.0.113.0/24", all),
        ("198.51.100.0;24", length),
        ("198.51.100.0;198.51.100.255;US", range),
        ("198.51.100.1, note", "has columns; --column 1 reads it"),
        (
            "[2026-11-01] 198.51.100.1",
            "has columns; --column 2 reads it",
        ),
        (
            "2026-11-01,198.51.100.1,x",
            "has columns; --column 2 reads it",
        ),
        (
            "2026-11-01 12:00:00 198.51.100.1",
            "has columns; --column 3 reads it",
        ),
        ("2026-11-01 12:00:00 nothing", date),
    ]);
    let open = "has no whole address at the end of the range";
    let port = "has a port; a list holds plain addresses";
    let apart = "has a word for a mask behind the address; write ADDRESS/LENGTH in one word";
    let mask = "has a netmask; write it as a prefix length: /24";
    let beside = "has a netmask beside the address; --columns 1/2 reads the network, or write \
                  ADDRESS/24";
    check_all(&[
        ("198.51.100.0 US /24", apart),
        ("198.51.100.0 0xffffff00", beside),
        ("198.51.100.0 ; 255.255.255.0", mask),
        ("198.51.100.0 ; 24", length),
        ("198.51.100.0 ;/24;US", length),
        ("198.51.100.0 ; 198.51.100.255", second),
        ("198.51.100.0/24 ;203.0.113.0/24", second),
        ("198.51.100.1 :80", port),
        ("198.51.100.1 -", open),
        ("198.51.100.1-", open),
        ("198.51.100.1 up to .9", open),
    ]);
}

/// Where no line is an entry, the last sentence says what the list is, and offers no rest.
#[test]
fn what_is_wrong_with_the_whole() {
    let none = "none of its lines is an entry";
    for (text, remedy) in [
        ("x\ny\n", "; mend the list"),
        (
            "<html>\n<p>\n",
            "; it is a web page or an error in place of a list: fetch it again",
        ),
        (
            "a.example\nb.example\nx\n",
            "; it is a list of names: give a list of addresses",
        ),
        (
            "0.0.0.0 a.example\n",
            "; it is a list of names: give a list of addresses",
        ),
        (
            "http://a.example/\n",
            "; it is a list of URLs: give a list of addresses",
        ),
        (
            "table <x> { 192.0.2.1 }\n",
            "; load what 'pfctl -t NAME -T show' prints",
        ),
        (
            "a,b\nx,y\n",
            "; it has columns: --column N names the one that holds the address",
        ),
        (
            "ip,end\n192.0.2.0,192.0.2.9\n",
            " as it stands; --columns 1-2 reads the range, --columns all each of them",
        ),
        (
            "192.0.2.0\t24\n",
            " as it stands; --columns 1/2 reads the network",
        ),
        ("192.0.2.0/24,\n", " as it stands; --column 1 reads it"),
    ] {
        let said = refusal(text, &ReadOptions::default());
        let last = said.lines().last().unwrap_or_default();
        assert!(
            last.ends_with(&format!("loaded: {none}{remedy}")),
            "{text}: {last}"
        );
    }
    let some = refusal(
        "192.0.2.7\n192.0.2.0\t24\n10.0.0.0\t8\n",
        &ReadOptions::default(),
    );
    assert!(some.ends_with(
        "--columns 1/2 reads the network; otherwise mend the list, or load the rest with \
         --skip-bad-lines"
    ));
}

#[test]
fn bytes_that_are_no_text() {
    check(
        "192.0.2.3\0",
        "\"192.0.2.3\\0\" holds control characters; this is not text",
    );
    check(
        "\0\0\0",
        "\"\\0\\0\\0\" holds control characters; this is not text",
    );
    check(
        "192.0.2.3\r192.0.2.4",
        "\"192.0.2.3\\r192.0.2.4\" has carriage returns alone for line ends; use tr '\\r' '\\n'",
    );
    check(
        "\x1b[2J",
        "\"\\u{1b}[2J\" holds control characters; this is not text",
    );
    let loaded = load_rest([b'x', 0xff, 0xfe]);
    assert_eq!(
        bad(&loaded),
        ["L:1: \"x\\xff\\xfe\" is not an address, a network or a range"]
    );
}

#[test]
fn a_web_page_in_place_of_a_list() {
    let page = "<!DOCTYPE html>\n<html lang=\"en\">\n <head><title>404 Not Found</title></head>\n\
                </html>\n";
    let said = refusal(page, &ReadOptions::default());
    let first = said.lines().next().unwrap_or_default();
    assert_eq!(
        first,
        "L:1: \"<!DOCTYPE\" is HTML or XML; this is a web page or an error in place of a list"
    );
    assert!(said.contains("L is refused for 4 bad lines and nothing was loaded"));
}

#[test]
fn everything_needs_force() {
    let all = "is every address there is; --force loads it";
    for text in [
        "0.0.0.0/0",
        "::/0",
        "0.0.0.0-255.255.255.255",
        "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ] {
        check(text, &format!("\"{text}\" {all}"));
        let options = ReadOptions {
            force: true,
            ..ReadOptions::default()
        };
        let loaded = load_with(text, &options).unwrap();
        assert_eq!(entries(&loaded), [text]);
        let warned = format!("L:1: {text} is every address there is and covers the default route");
        assert_eq!(reading::warnings(&loaded), [warned]);
    }
    check("0.0.0.0/0 # any", &format!("\"0.0.0.0/0\" {all}"));
    let two = load_rest("0.0.0.0/1\n128.0.0.0/1\n::ffff:0:0/96\n");
    assert_eq!(two.bad_count, 0);
}

#[test]
fn lines_over_the_bound() {
    let long = "1".repeat(65_537);
    check(&long, "the line is longer than 65536 bytes");
    check(
        &format!("# {}", "x".repeat(200_000)),
        "the line is longer than 65536 bytes",
    );
    check(
        &format!("192.0.2.3 {}", "x".repeat(5_000_000)),
        "the line is longer than 65536 bytes",
    );
    let fits = format!("192.0.2.3 {}\n", "x".repeat(65_526));
    assert_eq!(entries(&load_rest(fits)), ["192.0.2.3"]);
    let mut options = skipping();
    options.limits.line_bytes_max = 300;
    let loaded = load_with(format!("192.0.2.3 {}", "x".repeat(300)), &options).unwrap();
    assert_eq!(bad(&loaded), ["L:1: the line is longer than 300 bytes"]);
}

#[test]
fn long_text_is_cut_in_messages() {
    check(
        &"x".repeat(81),
        &format!(
            "\"{}...\" is not an address, a network or a range",
            "x".repeat(80)
        ),
    );
}

#[test]
fn twenty_are_kept_and_the_rest_is_counted() {
    let text: String = (0..25).map(|i| format!("bad{i}\n192.0.2.{i}\n")).collect();
    let said = refusal(&text, &ReadOptions::default());
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 22);
    assert_eq!(
        lines[19],
        "L:39: \"bad19\" is not an address, a network or a range"
    );
    assert_eq!(lines[20], "L: 5 more bad lines");
    assert_eq!(
        lines[21],
        "L is refused for 25 bad lines and nothing was loaded: mend the list, or load the rest \
         with --skip-bad-lines"
    );
    let loaded = load_rest(&text);
    assert_eq!((loaded.bad.len(), loaded.bad_count), (20, 25));
    assert_eq!(loaded.entry_count, 25);

    let mut options = ReadOptions::default();
    options.limits.bad_kept_max = 24;
    assert!(refusal(&text, &options).contains("\nL: 1 more bad line\n"));
    match load_with(&text, &ReadOptions::default()) {
        Err(ListError::Refused { bad_count, bad, .. }) => {
            assert_eq!((bad_count, bad.len()), (25, 20));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn too_many_entries() {
    let mut options = ReadOptions::default();
    options.limits.entries_max = 3;
    let said = "L holds more than 3 entries: split the list";
    for text in [
        "192.0.2.1\n".repeat(4),
        "add x 192.0.2.1\n".repeat(4),
        "{\"ip\":\"192.0.2.1\"}\n".repeat(4),
        format!("add element ip x y {{ {} }}", "192.0.2.1,".repeat(4)),
        format!(
            "{{\"nftables\":[{{\"set\":{{\"elem\":[{}\"::1\"]}}}}]}}",
            "\"192.0.2.1\",".repeat(3)
        ),
    ] {
        assert_eq!(refusal(&text, &options), said, "{text}");
    }
    assert_eq!(
        load_with("192.0.2.1\n".repeat(3), &options)
            .unwrap()
            .entry_count,
        3
    );
}

/// A reader that fails after a few bytes.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::Error::other("the disk is gone"));
        }
        self.0 -= 1;
        room[0] = b'1';
        Ok(1)
    }
}

#[test]
fn reading_that_fails() {
    for bytes in [0, 3, 100_000] {
        let error = list::read("L", Failing(bytes), &skipping(), &mut |_| {}).unwrap_err();
        assert_eq!(error.to_string(), "L cannot be read: the disk is gone");
        let address = "192.0.2.1".parse().unwrap();
        find("L", Failing(bytes), &skipping(), address).unwrap_err();
    }
}
