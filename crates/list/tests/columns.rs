//! Columns: CSV and its kin, entries of one column and of two.

mod reading;

use list::{Format, ReadOptions};
use reading::{bad, columns, entries, load_with, refusal};

#[test]
fn csv_with_header_and_quotes() {
    let text = "# Feodo Tracker, \"quotes\" in a comment\r\n\
                \"first_seen_utc\",\"dst_ip\",\"dst_port\",\"note\"\r\n\
                \"2021-05-16 19:49:33\",\"192.0.2.1\",\"443\",\"said \"\"hi, there\"\"\"\r\n\
                2022-01-01, 198.51.100.0/24 ,80,\r\n\
                \r\n\
                2022-01-02,\"2001:db8::1\",,x";
    let loaded = load_with(text, &columns("2")).unwrap();
    assert_eq!(loaded.format, Format::Csv);
    assert_eq!(bad(&loaded), [""; 0]);
    assert_eq!(
        entries(&loaded),
        ["192.0.2.1", "198.51.100.0/24", "2001:db8::1"]
    );
}

#[test]
fn csv_without_header_and_with_faults() {
    let text = "192.0.2.1,a\n192.0.2.300,b\nip,c\n,d\n\"192.0.2.2\"x,e\n5\" disk,192.0.2.3\n";
    let loaded = load_with(text, &columns("1")).unwrap();
    assert_eq!(entries(&loaded), ["192.0.2.1"]);
    let quotes = "has a quoted field that does not end where the field ends";
    assert_eq!(
        bad(&loaded),
        [
            "L:2: \"192.0.2.300\" has a number above 255".to_owned(),
            "L:3: \"ip\" is not an address, a network or a range".to_owned(),
            "L:4: \",d\" has nothing in the column asked for".to_owned(),
            format!("L:5: \"\"192.0.2.2\"x,e\" {quotes}"),
            format!("L:6: \"5\" disk,192.0.2.3\" {quotes}"),
        ]
    );
    assert_eq!(
        bad(&load_with("a\nx,y,192.0.2.2\n", &columns("3")).unwrap()),
        ["L:1: \"a\" has 1 column, fewer than the column asked for"]
    );
}

/// A quoted field may go on over line ends; what stands in it is never taken for a line.
#[test]
fn csv_fields_of_several_lines() {
    let text = "ip,\"note\n203.0.113.9\"\n192.0.2.1,\"one\n\
                203.0.113.1,\"\"two\"\"\nthree \"\"quoted\"\"\"\n192.0.2.2,x\n";
    let loaded = load_with(text, &columns("1")).unwrap();
    assert_eq!(entries(&loaded), ["192.0.2.1", "192.0.2.2"]);
    assert_eq!((loaded.bad_count, loaded.lines), (0, 6));

    let wrong = "192.0.2.1,\"one\n203.0.113.1,two\nthree\" four\n192.0.2.2,x\n192.0.2.3,\"open\n";
    let loaded = load_with(wrong, &columns("1")).unwrap();
    assert_eq!(entries(&loaded), ["192.0.2.2"]);
    let quotes = "has a quoted field that does not end where the field ends";
    assert_eq!(
        bad(&loaded),
        [
            format!("L:1: \"192.0.2.1,\"one\\n203.0.113.1,two\\nthree\" four\" {quotes}"),
            format!("L:5: \"192.0.2.3,\"open\" {quotes}"),
        ]
    );
}

#[test]
fn csv_fields_longer_than_the_bound() {
    let mut text = "192.0.2.1,\"one\n".to_owned();
    text.extend((0..40).map(|i| format!("203.0.113.{i},y\n")));
    text += "end\"\n192.0.2.2,x\n";
    let mut options = columns("1");
    options.limits.line_bytes_max = 256;
    let loaded = load_with(text, &options).unwrap();
    assert_eq!(entries(&loaded), ["192.0.2.2"]);
    assert_eq!(loaded.bad[0].line, 1);
    assert!(loaded.bad_count > 20 && loaded.bad_count < 42);
}

/// What `text` gives when these columns are asked for: its entries, or its first bad line.
fn outcome(text: &str, asked: &str) -> String {
    let loaded = load_with(text, &columns(asked)).unwrap();
    match loaded.bad.first() {
        Some(bad) => bad.to_string(),
        None => entries(&loaded).join(" "),
    }
}

/// Shapes that publishers use, each with the option that reads it.
#[test]
fn shapes_of_feeds() {
    let dshield = "#   DShield.org Recommended Block List\n\
                   Start\tEnd\tNetmask\tAttacks\tName\tCountry\temail\n\
                   192.0.2.0\t192.0.2.255\t24\t4201\tEXAMPLE\tUS\tx@example.com\n\
                   198.51.100.0\t198.51.100.255\t24\t301\t\t\t\n";
    let dbip = "198.51.100.0,198.51.100.255,US\n2001:db8::,2001:db8::ffff,DE\n";
    let ipinfo = "start_ip,end_ip,country\n198.51.100.0,198.51.100.255,US\n";
    let prefix2as = "198.51.100.0\t24\t64500\n203.0.113.7\t32\t64500_64501\n\
                     2001:db8::\t32\t64500\n";
    let mask = "ip,mask\n198.51.100.0,24\n10.0.0.0,255.0.0.0\n192.0.2.0,/25\n";
    let abuse = "# first_seen_utc,dst_ip,dst_port\n\"2026-11-01 00:00:00\",192.0.2.1,443\n";
    let flow = "time;src_ip;dst_ip\n1;192.0.2.1;192.0.2.9\n2;192.0.2.9;192.0.2.1\n";
    for (text, asked, expected) in [
        (
            dshield,
            "1-2",
            "192.0.2.0-192.0.2.255 198.51.100.0-198.51.100.255",
        ),
        (
            dshield,
            "start-END",
            "192.0.2.0-192.0.2.255 198.51.100.0-198.51.100.255",
        ),
        (dshield, "1/3", "192.0.2.0/24 198.51.100.0/24"),
        (
            dbip,
            "1-2",
            "198.51.100.0-198.51.100.255 2001:db8::-2001:db8::ffff",
        ),
        (ipinfo, "1-2", "198.51.100.0-198.51.100.255"),
        (ipinfo, "start_ip-end_ip", "198.51.100.0-198.51.100.255"),
        (
            prefix2as,
            "1/2",
            "203.0.113.7 198.51.100.0/24 2001:db8::/32",
        ),
        (mask, "1/2", "198.51.100.0/24 10.0.0.0/8 192.0.2.0/25"),
        (mask, "ip/mask", "198.51.100.0/24 10.0.0.0/8 192.0.2.0/25"),
        (abuse, "dst_ip", "192.0.2.1"),
        (abuse, "2", "192.0.2.1"),
        (flow, "src_ip", "192.0.2.1 192.0.2.9"),
        (flow, "DST_IP", "192.0.2.9 192.0.2.1"),
        (
            "192.0.2.1,192.0.2.2\t192.0.2.3;\"2001:db8::1\" # 192.0.2.4",
            "all",
            "192.0.2.1 192.0.2.2 192.0.2.3 2001:db8::1",
        ),
        (
            "198.51.100.0/24 203.0.113.0/24\n",
            "all",
            "198.51.100.0/24 203.0.113.0/24",
        ),
    ] {
        assert_eq!(outcome(text, asked), expected, "{asked}: {text}");
    }
}

/// One line of more entries than a line may have bytes.
#[test]
fn a_list_that_is_one_line() {
    let text: Vec<_> = (0..20_000u32)
        .map(|n| format!("10.1.{}.{}", n >> 8, n & 255))
        .collect();
    let loaded = load_with(text.join(","), &columns("all")).unwrap();
    assert_eq!((loaded.entry_count, loaded.bad_count), (20_000, 0));
    let refused = refusal(text.join(","), &ReadOptions::default());
    assert!(refused.contains("the line is longer"), "{refused}");
}

/// Each of these is a bad line, and this is part of what is said of it.
#[track_caller]
fn all_bad(rows: &[(&str, &str, &str)]) {
    for (text, asked, part) in rows {
        let said = outcome(text, asked);
        assert!(said.contains(part), "{asked}: {text}: {said}");
    }
}

#[test]
fn half_of_what_columns_mean_is_not_read() {
    let (range, length) = ("--columns 1-2 reads the range", "--columns 1/2 reads it");
    let headed = "start_ip,end_ip\n192.0.2.0,192.0.2.9";
    all_bad(&[
        ("192.0.2.0,192.0.2.9", "1", range),
        ("192.0.2.0,192.0.2.9", "2", range),
        (
            "192.0.2.0,US,192.0.2.9",
            "1",
            "--columns 1-3 reads the range",
        ),
        ("x,192.0.2.9,192.0.2.0", "2", "outside of column 2; --force"),
        (
            "192.0.2.0,255.255.255.0",
            "1",
            "--columns 1/2 reads the network",
        ),
        ("192.0.2.0,24", "1", length),
        ("192.0.2.0\t24\t64500", "1", length),
        ("192.0.2.0,,24", "1", "--columns 1/3 reads it"),
        ("x|192.0.2.0|256|y", "2", "may count addresses"),
        ("192.0.2.1,192.0.2.2,192.0.2.3", "1", "--columns all reads"),
        (headed, "start_ip", range),
        (headed, "end_ip", range),
        ("ip,prefixlen\n192.0.2.0,24", "ip", length),
        ("192.0.2.0,192.0.2.0/28", "1", "outside of column 1"),
        ("192.0.2.0,192.0.2.9:80", "1", "outside of column 1"),
        ("192.0.2.0/24,!192.0.2.9", "1", "holds an exception"),
        ("192.0.2.0/24,!", "1", "holds an exception"),
        ("192.0.2.0/24,except 192.0.2.9", "1", "holds an exception"),
    ]);
    for (text, asked) in [
        ("192.0.2.0,192.0.2.9", "1"),
        ("192.0.2.0,24", "1"),
        (headed, "start_ip"),
    ] {
        let force = true;
        let options = columns(asked);
        let loaded = load_with(text, &ReadOptions { force, ..options }).unwrap();
        assert_eq!(entries(&loaded), ["192.0.2.0"], "{text}");
    }
}

#[test]
fn headings_in_a_line_or_a_comment() {
    for (text, asked, expected) in [
        // A header line wins over what a comment says, and prose is no header.
        (
            "#      (1) start of netblock\n#      (2) end\nStart\tEnd\tX\n192.0.2.7\t\t24\n",
            "Start",
            "192.0.2.7",
        ),
        ("# x ip y\nip,note\n192.0.2.1,a\n", "ip", "192.0.2.1"),
        ("# note,ip\nip,note\n192.0.2.1,a\n", "ip", "192.0.2.1"),
        ("# note,ip\n# ip,note\n#\n192.0.2.1,a\n", "ip", "192.0.2.1"),
        ("## \"ip\",\"note\"\n192.0.2.1,\"a,b\"\n", "ip", "192.0.2.1"),
        ("ip,country,cidr\n192.0.2.1,US,32\n", "ip", "192.0.2.1"),
        (
            "ip,country,pkt_length\n192.0.2.1,US,24\n",
            "ip",
            "192.0.2.1",
        ),
        ("ip,country,cidr\n192.0.2.1,US,yes\n", "1", "192.0.2.1"),
        (
            "ip,mask\n198.51.100.0,0xffffff00\n",
            "1/2",
            "198.51.100.0/24",
        ),
    ] {
        assert_eq!(outcome(text, asked), expected, "{asked}: {text}");
    }
}

/// A length or an end under a heading for one counts in any column.
#[test]
fn headings_of_ends_and_lengths() {
    let apart = "--columns 1/3 reads it";
    all_bad(&[
        ("ip,country,cidr\n192.0.2.0,US,24", "ip", apart),
        ("ip,country,cidr\n192.0.2.0,US,24", "1", apart),
        ("# ip,country,cidr\n192.0.2.0,US,24", "1", apart),
        ("# ip,country,cidr\n192.0.2.0,US,24", "ip", apart),
        ("ip,cc,CIDR\n192.0.2.7,US,/24", "ip", apart),
        ("ip,cc,prefix_length\n2001:db8::,US,32", "ip", apart),
        ("ip,cc,mask\n192.0.2.0,US,24", "1", apart),
        ("ip,cc,len\n192.0.2.0,US,24", "1", apart),
        ("ip,cc,mask\n192.0.2.0,US,0xffffff00", "ip", apart),
        ("192.0.2.0,0xffffff00", "1", "--columns 1/2 reads it"),
        (
            "cidr,cc,ip\n24,US,192.0.2.0",
            "ip",
            "--columns 3/1 reads it",
        ),
        (
            "ip,cc,netmask\n192.0.2.0,US,255.255.255.0",
            "ip",
            "--columns 1/3 reads the network",
        ),
        (
            "ip,cc,broadcast\n192.0.2.0,US,192.0.2.255",
            "ip",
            "--columns 1-3 reads the range",
        ),
        (
            "#      (1) start of netblock\nStart\tEnd\tNetmask\n\
             198.51.100.0\t198.51.100.255\t24",
            "Start",
            "--columns 1/3 reads it",
        ),
    ]);
}

#[test]
fn a_first_line_with_an_address_is_data() {
    all_bad(&[
        (
            "DE,203.0.113.1\n203.0.113.2,DE\n",
            "1",
            "\"DE\" is not an address",
        ),
        (
            "DE,203.0.113.1:80\n203.0.113.2,DE\n",
            "1",
            "\"DE\" is not an address",
        ),
        ("x,10.0.0.1/8\n", "1", "\"x\" is not an address"),
        ("x,y,2001:db8::/32\n", "1", "\"x\" is not an address"),
        ("start,203.0.113.1\n", "1-2", "is not an address"),
    ]);
}

#[test]
fn two_columns_that_make_no_entry() {
    all_bad(&[
        ("192.0.2.9,192.0.2.0", "1-2", "ends before it begins"),
        (
            "192.0.2.9,2001:db8::",
            "1-2",
            "begins in one address family",
        ),
        ("192.0.2.9,x", "1-2", "is not an address"),
        ("192.0.2.0-192.0.2.9,x", "1-2", "is not an address"),
        ("x,192.0.2.9", "1-2", "is not an address"),
        ("192.0.2.9,", "1-2", "has nothing in the column asked for"),
        ("192.0.2.9", "1-2", "has 1 column, fewer"),
        (
            "192.0.2.9,24",
            "1/2",
            "the network is probably 192.0.2.0/24",
        ),
        (
            "192.0.2.0,0.0.0.255",
            "1/2",
            "has a wildcard mask; write it as a prefix length: /24",
        ),
        ("192.0.2.0,33", "1/2", "has a prefix of more than 32 bits"),
        ("192.0.2.0,x", "1/2", "has no prefix length or netmask"),
        ("192.0.2.0/24,24", "1/2", "is not an address"),
        ("0.0.0.0,0", "1/2", "is every address there is"),
    ]);
}

#[test]
fn a_heading_that_is_not_there() {
    for (text, heading, first) in [
        ("time,ip\n1,192.0.2.1\n", "src_ip", "time, ip"),
        ("# time,ip\n1,192.0.2.1\n", "src_ip", "1, 192.0.2.1"),
        ("# ip\n1,192.0.2.1\n", "ip", "1, 192.0.2.1"),
        (
            "# x,ip\n# all of today\n1,192.0.2.1\n",
            "ip",
            "1, 192.0.2.1",
        ),
        ("US,192.0.2.1\n", "US", "US, 192.0.2.1"),
        ("ip,ip\n192.0.2.1,192.0.2.2\n", "ip", "ip, ip"),
    ] {
        let said = refusal(text, &columns(heading));
        assert_eq!(
            said,
            format!(
                "L has not one column headed \"{heading}\"; its first line is: {first}; name a \
                 column by its number, the first being 1"
            )
        );
    }
}

/// What stands under a heading that says nothing is judged by its value.
#[test]
fn values_under_other_headings() {
    let (range, count) = ("--columns 1-2 reads the range", "may count addresses");
    let network = "--columns 1/2 reads";
    all_bad(&[
        ("ip;hosts\n198.51.100.0;256", "ip", count),
        ("ip;cc;hosts\n198.51.100.0;US;256", "ip", count),
        ("ip;hosts\n198.51.100.4;4", "ip", count),
        ("ip;anzahl\n198.51.100.0;256", "ip", count),
        ("ip;size\n198.51.100.0;1024", "ip", count),
        (
            "ip_von,ip_bis\n198.51.100.0,198.51.100.255",
            "ip_von",
            range,
        ),
        (
            "ip_von,ip_bis\n198.51.100.0,198.51.100.255",
            "ip_bis",
            range,
        ),
        ("ip_von,ip_bis\n198.51.100.3,198.51.100.9", "ip_von", range),
        ("ip,x\n2001:db8::,2001:db8::ff", "ip", range),
        (
            "ip,maske\n198.51.100.0,255.255.255.0",
            "ip",
            "--columns 1/2 reads",
        ),
        ("ip;maske\n198.51.100.0;24", "ip", network),
        ("IP;Netzmaske\n198.51.100.0;24", "ip", network),
        ("ip,masque\n198.51.100.0,24", "ip", network),
        ("ip,l\u{e4}nge\n198.51.100.0,/24", "ip", network),
        ("ip,\u{63a9}\u{7801}\n198.51.100.0,24", "ip", network),
        ("ip,land,maske\n198.51.100.0,DE,24", "ip", "1/3 reads"),
        (
            "ip,inverse\n198.51.100.0,0.0.0.255",
            "ip",
            "has a wildcard mask",
        ),
    ]);
    for (text, asked) in [
        ("ip,score\n198.51.100.0,256", "ip"),
        ("ip,port\n198.51.100.0,8192", "ip"),
        ("ip,hosts\n198.51.100.0,100", "ip"),
        ("ip,rank\n198.51.100.0,24", "ip"),
        ("ip,reports\n198.51.100.0,24", "ip"),
        ("ip,abuse_confidence\n198.51.100.0,24", "ip"),
        ("ip,land\n198.51.100.0,DE", "ip"),
        ("srcip,dstip\n198.51.100.0,198.51.100.9", "srcip"),
        ("ip,gateway\n198.51.100.0,198.51.100.254", "ip"),
        ("ip,seen_by\n198.51.100.0,203.0.113.9", "ip"),
    ] {
        let said = outcome(text, asked);
        assert_eq!(said, "198.51.100.0", "{text}");
    }
}

/// A record that spares its address, by a heading or without one.
#[test]
fn records_that_spare_their_address() {
    let said = "is not to be blocked";
    all_bad(&[
        ("ip,action\n192.0.2.1,allow", "ip", said),
        ("ip,action\n192.0.2.1,ACCEPT", "1", said),
        ("192.0.2.1,allow", "1", said),
        ("192.0.2.1;whitelist;x", "1", said),
        ("ip,active\n192.0.2.1,false", "ip", said),
        ("ip,enabled\n192.0.2.1,0", "ip", said),
        (
            "first,last,action\n192.0.2.0,192.0.2.9,permit",
            "first-last",
            said,
        ),
        ("ip,len,action\n192.0.2.0,24,pass", "ip/len", said),
    ]);
    for text in [
        "ip,action\n192.0.2.1,block",
        "ip,note\n192.0.2.1,allow",
        "ip,spf\n192.0.2.1,pass",
        "ip,active\n192.0.2.1,true",
    ] {
        assert_eq!(outcome(text, "ip"), "192.0.2.1", "{text}");
    }
}
