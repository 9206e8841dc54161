//! Each format, on small samples of what the programs and publishers really write.

mod reading;

use list::{Format, ReadOptions, read};
use reading::{bad, entries, gzip, load, load_rest, refusal, sample, skipping, warnings};

const FIREHOL: &str = "#
# firehol_level1
#
# ipv4 hash:net ipset
#
# A firewall blacklist composed from IP lists, providing
# maximum protection with minimum false positives. Suitable
# for basic protection on all internet facing servers,
# routers and firewalls. (includes: bambenek_c2 dshield feodo
#
# Maintainer URL  : http://iplists.firehol.org/
# Version         : 7324
# This File Date  : Sat Nov  1 01:45:45 UTC 2025
# Update Frequency: 1 min
# Entries         : 4407 subnets, 611908610 unique IPs
#
# Full list analysis, including geolocation map, history,
# retention policy, overlaps with other lists, etc.
# available at:
#
#  http://iplists.firehol.org/?ipset=firehol_level1
#
0.0.0.0/8
1.10.16.0/20
10.0.0.0/8
41.77.240.0/21
5.188.206.18
224.0.0.0/3
";

#[test]
fn firehol_netset() {
    let loaded = load(FIREHOL);
    assert_eq!(loaded.format, Format::Plain);
    assert_eq!(loaded.lines, 28);
    assert_eq!(
        entries(&loaded),
        [
            "5.188.206.18",
            "0.0.0.0/8",
            "1.10.16.0/20",
            "10.0.0.0/8",
            "41.77.240.0/21",
            "224.0.0.0/3",
        ]
    );
    assert_eq!(
        warnings(&loaded),
        [
            "L:25: 10.0.0.0/8 covers private space 10.0.0.0/8 (RFC 1918)",
            "L:28: 224.0.0.0/3 covers multicast space 224.0.0.0/4 (RFC 5771)",
        ]
    );
}

#[test]
fn spamhaus_drop_as_text() {
    let text = "; Spamhaus DROP List 2025/11/01 - (c) 2025 The Spamhaus Project SLU
; https://www.spamhaus.org/drop/drop.txt
; Last-Modified: Sat, 01 Nov 2025 13:14:15 GMT
; Expires: Sun, 02 Nov 2025 14:34:58 GMT
1.10.16.0/20 ; SBL256894
1.19.0.0/16 ; SBL434604
2001:678:738::/48 ; SBL647142
";
    let loaded = load(text);
    assert_eq!(
        entries(&loaded),
        ["1.10.16.0/20", "1.19.0.0/16", "2001:678:738::/48"]
    );
    assert_eq!((loaded.lines, loaded.bytes_read), (7, text.len() as u64));
    assert!(loaded.warnings.is_empty());
}

#[test]
fn spamhaus_drop_as_json_lines() {
    let text = r#"{"cidr":"1.10.16.0/20","sblid":"SBL256894","rir":"apnic"}
{"cidr":"2001:678:738::/48","sblid":"SBL647142","rir":"ripencc"}
{"sblid":"SBL1", "note":{"cidr":["x",1.5e3,null,true,-7]}, "cidr":"1.19.0.0\/16" }

{"type":"metadata","timestamp":1761916455,"copyright":"somebody"}
"#;
    let loaded = load(text);
    assert_eq!(loaded.format, Format::JsonLines);
    assert_eq!(
        entries(&loaded),
        ["1.10.16.0/20", "1.19.0.0/16", "2001:678:738::/48"]
    );
    assert_eq!(loaded.lines, 5);
}

#[test]
fn json_lines_with_other_keys_and_faults() {
    let text = r#"{"ip":"192.0.2.1"}
{"address":"192.0.2.2","port":80}
{"network":"198.51.100.0/24"}
{"cidr":"10.0.0.1/8"}
{"cidr":"192.0.2.3"
{"sblid":"SBL1"}
{"cidr":17}
{"ip":"192.0.2.4","cidr":"192.0.2.0/24"}
["192.0.2.5"]
{"ip":"example.com"}
{"type":"data"}
"#;
    let loaded = load_rest(text);
    assert_eq!(
        entries(&loaded),
        ["192.0.2.1", "192.0.2.2", "198.51.100.0/24"]
    );
    let none = "has none of the keys cidr, ip, address, network with text; \
                --json-path KEY names another";
    assert_eq!(
        bad(&loaded),
        [
            "L:4: \"10.0.0.1/8\" has host bits set; the network is probably 10.0.0.0/8".to_owned(),
            "L:5: \"{\"cidr\":\"192.0.2.3\"\" is not a JSON object".to_owned(),
            format!("L:6: \"{{\"sblid\":\"SBL1\"}}\" {none}"),
            format!("L:7: \"{{\"cidr\":17}}\" {none}"),
            "L:8: \"{\"ip\":\"192.0.2.4\",\"cidr\":\"192.0.2.0/24\"}\" has more than one of the \
             keys cidr, ip, address, network"
                .to_owned(),
            "L:9: \"[\"192.0.2.5\"]\" is not a JSON object".to_owned(),
            "L:10: \"example.com\" is a host name; a list holds addresses".to_owned(),
            format!("L:11: \"{{\"type\":\"data\"}}\" {none}"),
        ]
    );
}

#[test]
fn ipsum() {
    let loaded =
        load("# IPsum\n#\n# IP\tnumber of (black)lists\n#\n77.90.185.20\t10\n2.57.122.53\t9");
    assert_eq!(entries(&loaded), ["77.90.185.20", "2.57.122.53"]);
}

#[test]
fn plain_lines_as_people_write_them() {
    let text = "  192.0.2.1\n\t192.0.2.2  # why\n192.0.2.3;x\n192.0.2.4 some words\n\
                192.0.2.10-192.0.2.20\n192.0.2.30 - 192.0.2.40 # range\n192.0.2.50 -192.0.2.60\n\
                192.0.2.61 - a scanner\n198.51.100.7/32\n2001:DB8::1\n2001:db8:1::/48\n\
                2001:db8::5-2001:db8::9\n::ffff:192.0.2.5\n\n \t \n#\n;\n";
    assert_eq!(
        entries(&load(text)),
        [
            "192.0.2.1",
            "192.0.2.2",
            "192.0.2.3",
            "192.0.2.4",
            "192.0.2.61",
            "198.51.100.7",
            "192.0.2.5",
            "192.0.2.10-192.0.2.20",
            "192.0.2.30-192.0.2.40",
            "192.0.2.50-192.0.2.60",
            "2001:db8::1",
            "2001:db8:1::/48",
            "2001:db8::5-2001:db8::9",
        ]
    );
}

#[test]
fn bytes_around_the_text() {
    let plain = ["192.0.2.1", "198.51.100.0/24"];
    for text in [
        "192.0.2.1\n198.51.100.0/24\n",
        "192.0.2.1\n198.51.100.0/24",
        "192.0.2.1\r\n198.51.100.0/24\r\n",
        "192.0.2.1\r\n198.51.100.0/24\r",
        "\u{feff}192.0.2.1\n198.51.100.0/24\n",
        "\u{feff}# c\r\n192.0.2.1\t5\r\n198.51.100.0/24 x\r\n\r\n",
    ] {
        assert_eq!(entries(&load(text)), plain, "{text:?}");
        assert_eq!(entries(&load(gzip(text))), plain, "{text:?}");
    }
    let marked = load("\u{feff}{\"cidr\":\"192.0.2.0/24\"}\r\n{\"cidr\":\"192.0.2.1\"}");
    assert_eq!(entries(&marked), ["192.0.2.1", "192.0.2.0/24"]);
}

#[test]
fn nothing_at_all() {
    for text in ["", "\u{feff}", "\n", "# comments alone\n;\n"] {
        let loaded = load(text);
        assert_eq!(warnings(&loaded), ["L: the list holds no entries"]);
        assert_eq!(loaded.lines as usize, text.matches('\n').count());
        assert_eq!(entries(&load(gzip(text))), [""; 0]);
    }
}

#[test]
fn text_of_two_bytes_a_character_is_named() {
    let text = "192.0.2.1\n";
    let with = |mark: &[u8], bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let wide = text.encode_utf16().flat_map(bytes);
        mark.iter().copied().chain(wide).collect()
    };
    let cases = [
        (with(b"\xff\xfe", u16::to_le_bytes), "UTF-16"),
        (with(b"\xfe\xff", u16::to_be_bytes), "UTF-16"),
        (with(b"", u16::to_le_bytes), "UTF-16LE"),
        (with(b"", u16::to_be_bytes), "UTF-16BE"),
        (gzip(with(b"\xff\xfe", u16::to_le_bytes)), "UTF-16"),
    ];
    for (list, encoding) in cases {
        let said = refusal(&list, &skipping());
        assert!(
            said.starts_with(&format!("L is {encoding} text: save it as UTF-8")),
            "{said}"
        );
    }
}

#[test]
fn gzip_of_several_members() {
    let mut packed = gzip("192.0.2.1\n192.0");
    packed.extend(gzip(""));
    packed.extend(gzip(".2.2\n"));
    let loaded = load(&packed);
    assert!(loaded.gzip);
    assert_eq!(loaded.bytes_read, packed.len() as u64);
    assert_eq!(entries(&loaded), ["192.0.2.1", "192.0.2.2"]);
    assert_eq!(loaded.lines, 2);
}

#[test]
fn gzip_that_is_cut_or_damaged_is_an_error_everywhere() {
    let text: String = (0..2000u32)
        .map(|i| format!("{}\n", i * 2_147_483))
        .collect();
    let text = text.replace('\n', ".0.0.1\n").repeat(2);
    let packed = gzip(text);
    for length in (2..packed.len())
        .step_by(37)
        .chain(packed.len() - 9..packed.len())
    {
        let said = refusal(&packed[..length], &skipping());
        assert!(
            said.starts_with("L cannot be unpacked ("),
            "{length}: {said}"
        );
        assert!(said.ends_with("the gzip data is damaged or cut off, fetch it again"));
    }
    let mut two = gzip("192.0.2.1\n");
    let whole = two.len();
    two.extend(gzip("192.0.2.2\n"));
    for length in whole + 1..two.len() {
        refusal(&two[..length], &skipping());
    }
    let mut damaged = packed.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    refusal(&damaged, &skipping());
    let mut trailed = gzip("192.0.2.1\n");
    trailed.extend(b"garbage");
    refusal(&trailed, &skipping());
}

#[test]
fn other_packers_are_named() {
    let mut tar = b"list.txt".to_vec();
    tar.resize(257, 0);
    tar.extend(b"ustar  \0");
    tar.resize(512, 0);
    tar.extend(b"192.0.2.1\n");
    let packed_tar = gzip(&tar);
    for (bytes, what) in [
        (&b"\xfd7zXZ\0\0\0"[..], "packed with xz"),
        (b"BZh91AY", "packed with bzip2"),
        (b"PK\x03\x04....", "a zip archive"),
        (b"\x28\xb5\x2f\xfd..", "packed with zstd"),
        (b"\x1f\x9d\x90", "packed with compress"),
        (b"070701006F", "a cpio archive"),
        (b"!<arch>\ndebian", "an ar archive"),
        (b"SQLite format 3\0...", "a database of SQLite"),
        (&tar, "a tar archive"),
        (&packed_tar, "a tar archive"),
        (&gzip(gzip("192.0.2.1\n")), "packed with gzip twice"),
        (&gzip(b"PK\x03\x04...."), "a zip archive"),
    ] {
        assert_eq!(
            refusal(bytes, &skipping()),
            format!(
                "L is {what}: take the text of the list out of it first, gzip alone is unpacked \
                 here"
            )
        );
    }
}

#[test]
fn progress_is_told_in_every_format() {
    let many = |line: &str| line.repeat(20_000);
    for text in [
        many("192.0.2.1\n"),
        many("add x 192.0.2.1\n"),
        many("{\"ip\":\"192.0.2.1\"}\n"),
        format!("add element ip x y {{ {} }}", many("192.0.2.1,\n")),
        format!(
            "{{\"nftables\":[{{\"set\":{{\"elem\":[{}\"::1\"]}}}}]}}",
            many("\"192.0.2.1\",\n")
        ),
    ] {
        let mut options = ReadOptions::default();
        options.limits.block_bytes = 10_000;
        options.limits.line_bytes_max = 256;
        let mut told = Vec::new();
        read("L", text.as_bytes(), &options, &mut |progress| {
            told.push(progress);
        })
        .unwrap();
        assert!(told.len() > 10, "{} {}", told.len(), &text[..40]);
        assert!(told.is_sorted_by_key(|progress| (progress.bytes_read, progress.entries)));
        assert!(told.is_sorted_by_key(|progress| progress.lines));
    }
}

#[test]
fn ipset_save() {
    let loaded = load(sample("ipset_nets.txt"));
    assert_eq!(loaded.format, Format::Ipset);
    assert_eq!(
        entries(&loaded),
        ["10.0.0.0/8", "198.51.100.0/24", "203.0.113.0/25"]
    );
    assert_eq!(
        entries(&load(sample("ipset_ipv6.txt"))),
        ["2001:db8:ffff::1", "2001:db8::/32"]
    );
    assert_eq!(
        entries(&load(sample("ipset_bitmap.txt"))),
        ["192.0.2.5", "192.0.2.6", "192.0.2.7"]
    );
}

/// What a comment after a semicolon holds further on is prose.
#[test]
fn comments_after_a_semicolon() {
    for line in [
        "198.51.100.0 ; SBL1 24",
        "198.51.100.0 ; see 203.0.113.1",
        "198.51.100.1 ; 24",
        "198.51.100.0 ;",
        "198.51.100.0 # ; 24",
    ] {
        assert_eq!(load_rest(line).bad_count, 0, "{line}");
    }
}
