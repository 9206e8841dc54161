//! What a network needs to work, through bridges that drop the rest.

use super::Place;
use super::capture::{frames, pcap, udp};

const HOST: &str = "10.0.0.1";
const SERVER: &str = "198.51.100.1";
const STRANGER: &str = "203.0.113.7";
const NAMES: [&str; 6] = ["NS", "NA", "RA", "discover", "offer", "stranger"];

/// An ICMPv6 message from fe80::1 to ff02::1.
fn icmpv6(kind: u8, hop_limit: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x33, 0x33, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x86, 0xDD];
    frame.extend([0x60, 0, 0, 0, 0, 4 + body.len() as u8, 58, hop_limit]);
    for address in ["fe80::1", "ff02::1"] {
        let address: std::net::Ipv6Addr = address.parse().expect("an address");
        frame.extend(address.octets());
    }
    frame.extend([kind, 0, 0, 0]);
    frame.extend(body);
    frame
}

/// A datagram of 300 bytes between these ports.
fn datagram((src, src_port): (&str, u16), (dst, dst_port): (&str, u16)) -> Vec<u8> {
    let mut frame = udp(src, dst);
    frame.resize(14 + 20 + 8 + 300, 0);
    frame[16..18].copy_from_slice(&328_u16.to_be_bytes());
    frame[34..36].copy_from_slice(&src_port.to_be_bytes());
    frame[36..38].copy_from_slice(&dst_port.to_be_bytes());
    frame[38..40].copy_from_slice(&308_u16.to_be_bytes());
    frame
}

/// As [`NAMES`] has them.
fn needed() -> Vec<Vec<u8>> {
    vec![
        icmpv6(135, 255, &[0; 20]),
        icmpv6(136, 255, &[0; 20]),
        icmpv6(134, 255, &[0; 12]),
        datagram(("0.0.0.0", 68), ("255.255.255.255", 67)),
        datagram((SERVER, 67), ("255.255.255.255", 68)),
        udp(STRANGER, HOST),
    ]
}

fn place() -> Place {
    let place = Place::new();
    place.write("needed.pcap", pcap(&needed()));
    place.write("allow.txt", "192.0.2.1\n");
    place.write("bad.txt", "198.51.100.0/24\nfe80::/10\n");
    place
}

/// Which of the frames come out, by their names.
#[test]
fn a_default_of_drop_lets_pass_what_is_needed() {
    let place = place();
    for (options, passed, counted) in [
        ("", &NAMES[..5], r#"{"dhcp":2,"nd":2,"ra":1}"#),
        ("--pass all", &NAMES[..5], r#"{"dhcp":2,"nd":2,"ra":1}"#),
        ("--pass none", &[], "{}"),
        ("--pass nd", &NAMES[..2], r#"{"nd":2}"#),
        ("--pass mld,ra", &NAMES[2..3], r#"{"ra":1}"#),
        (
            "--router second",
            &["NS", "NA", "discover"],
            r#"{"dhcp":1,"nd":2}"#,
        ),
        ("--router first", &NAMES[..5], r#"{"dhcp":2,"nd":2,"ra":1}"#),
        ("--block bad.txt", &["discover"], r#"{"dhcp":1}"#),
    ] {
        let ports = "pcap:in=needed.pcap pcap:out=out.pcap";
        let words = format!("bridge {ports} --allow allow.txt --default drop --json {options}");
        let json = place.run(&words).ended(0).json();
        let out = frames(&place.read("out.pcap"));
        let sent = needed();
        let name = |frame| {
            NAMES[sent
                .iter()
                .position(|one| one == frame)
                .expect("one of them")]
        };
        assert_eq!(
            out.iter().map(name).collect::<Vec<_>>(),
            passed,
            "{options}"
        );
        assert_eq!(json["passed"].to_string(), counted, "{options}");
        assert_eq!(json["balanced"], true, "{options}");
    }
    let words = "bridge pcap:in=needed.pcap null: --allow allow.txt --default drop";
    let text = place.run(words).ended(0).text().to_owned();
    assert!(
        text.contains("by nd") && text.contains("neighbour discovery"),
        "{text}"
    );
}

#[test]
fn explain_names_the_rule() {
    let place = place();
    let words = "explain pcap:needed.pcap --allow allow.txt --default drop --router second";
    let json = place.run(&format!("{words} --json")).ended(0).json();
    let found: Vec<_> = json["frames"]
        .as_array()
        .expect("frames")
        .iter()
        .map(|frame| (frame["rule"].as_str(), frame["reason"].as_str()))
        .collect();
    let dropped = (None, Some("not_allowed"));
    let nd = (Some("nd"), None);
    assert_eq!(
        found,
        [nd, nd, dropped, (Some("dhcp"), None), dropped, dropped]
    );
    let text = place.run(words).ended(0).text().to_owned();
    let part = "forward, by rule nd (--pass): neighbour discovery";
    assert!(text.contains(part), "no '{part}' in\n{text}");
}

/// Between an inside and an outside, as `needed` comes from either.
#[test]
fn routers_are_on_one_side_of_a_stateful_bridge() {
    let place = place();
    place.write("none.pcap", pcap(&[]));
    let rogue = r#"{"router_side":2}"#;
    for (ports, options, passed, dropped) in [
        (
            "none needed",
            "",
            "{\"dhcp\":2,\"nd\":2,\"ra\":1}",
            r#"{"not_established":1}"#,
        ),
        (
            "none needed",
            "--pass nd",
            "{\"nd\":2}",
            r#"{"not_established":4}"#,
        ),
        (
            "none needed",
            "--router first",
            "{\"dhcp\":1,\"nd\":2}",
            r#"{"not_established":1,"router_side":2}"#,
        ),
        ("needed none", "", "{}", rogue),
        ("needed none", "--pass none", "{}", rogue),
        ("needed none", "--router first,second", "{}", "{}"),
    ] {
        let (first, second) = ports.split_once(' ').expect("two captures");
        let words = format!(
            "bridge pcap:in={first}.pcap,out=a.pcap pcap:in={second}.pcap,out=b.pcap \
             --stateful allow-new=first --json \
             {options}"
        );
        let json = place.run(&words).ended(0).json();
        assert_eq!(json["passed"].to_string(), passed, "{ports} {options}");
        assert_eq!(
            json["frames"]["dropped"].to_string(),
            dropped,
            "{ports} {options}"
        );
    }
}

/// A device answers what was asked of a group, from an address and a port of its own.
#[test]
fn anybody_answers_where_it_is_asked_for() {
    let place = Place::new();
    let asks = datagram((HOST, 40_000), ("239.255.255.250", 1900));
    let answers = [
        datagram((STRANGER, 1900), (HOST, 40_000)),
        datagram((SERVER, 50_123), (HOST, 40_000)),
        datagram((STRANGER, 1900), (HOST, 40_001)),
        datagram((STRANGER, 1900), (SERVER, 40_000)),
    ];
    place.write("inside.pcap", pcap(&[asks]));
    place.write("outside.pcap", pcap(&answers));
    for (option, passed) in [("", 0), ("--answers-from-any", 2)] {
        let ports = "pcap:in=inside.pcap,out=got.pcap pcap:in=outside.pcap";
        let words = format!("bridge {ports} --stateful allow-new=first --json {option}");
        let json = place.run(&words).ended(0).json();
        assert_eq!(
            frames(&place.read("got.pcap")),
            answers[..passed],
            "{option}"
        );
        assert_eq!(json["frames"]["dropped"]["not_established"], 4 - passed);
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let place = place();
    for (words, part) in [
        ("--pass ndp", "'ndp' is no rule: write some of nd, ra,"),
        ("--pass nd,none", "'none' stands alone"),
        ("--router eth9", "--router: no port is called 'eth9'"),
        ("--router first,", "write PORT or PORT,PORT"),
        ("--answers-from-any", "--stateful"),
        (
            "--stateful allow-new=first --answers-from-any --workers 2",
            "--answers-from-any works with one worker, and there are 2",
        ),
    ] {
        let ran = place.run(&format!("bridge pcap:in=needed.pcap null: {words}"));
        let said = ran.ended(2).complaints();
        assert!(said.contains(part), "no '{part}' in\n{said}");
    }
    let words = "bridge pcap:in=needed.pcap null: --stateful allow-new=first --pass nd --dry-run";
    let text = place.run(words).ended(0).text().to_owned();
    assert!(text.contains("nd; routers are behind port 1"), "{text}");
}
