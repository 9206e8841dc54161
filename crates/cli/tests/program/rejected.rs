//! What senders are told whose packets a rule rejects.

use wire::emit::{Icmp, Ipv4, Ipv6, Network, Recipe, Tcp, Transport};
use wire::{MacAddress, protocol};

use crate::Place;
use crate::capture::{frames, pcap};

const SRC: [u8; 4] = [10, 0, 0, 1];
const DST: [u8; 4] = [198, 51, 100, 1];
const GROUP: [u8; 4] = [239, 1, 1, 1];
const SRC6: u128 = 0x2001_0db8 << 96 | 1;
const DST6: u128 = 0x2001_0db8 << 96 | 2;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

fn network(transport: Transport<'static>, dst: [u8; 4]) -> Network<'static> {
    let header = Ipv4 {
        src: u32::from_be_bytes(SRC),
        dst: u32::from_be_bytes(dst),
        ..Ipv4::default()
    };
    Network::Ipv4(header, transport)
}

fn frame(network: Network<'static>, payload: &[u8]) -> Vec<u8> {
    let recipe = Recipe {
        src_mac: MacAddress([2, 0, 0, 0, 0, 1]),
        dst_mac: MacAddress([2, 0, 0, 0, 0, 9]),
        network,
        payload,
        len_min: 60,
        ..Recipe::default()
    };
    let mut frame = vec![0; recipe.frame_len()];
    recipe.emit(&mut frame).expect("room for it");
    frame
}

fn tcp(flags: u8) -> Transport<'static> {
    Transport::Tcp(Tcp {
        src_port: 4096,
        dst_port: 443,
        sequence: 1000,
        acknowledgment: 2000,
        flags,
        ..Tcp::default()
    })
}

fn udp() -> Transport<'static> {
    Transport::Udp {
        src_port: 4096,
        dst_port: 53,
    }
}

fn icmp(kind: u8) -> Transport<'static> {
    Transport::Icmp(Icmp {
        kind,
        ..Icmp::default()
    })
}

fn v6(transport: Transport<'static>) -> Network<'static> {
    let header = Ipv6 {
        src: SRC6,
        dst: DST6,
        ..Ipv6::default()
    };
    Network::Ipv6(header, transport)
}

fn tagged(mut frame: Vec<u8>) -> Vec<u8> {
    frame.splice(12..12, [0x81, 0, 0, 5]);
    frame
}

fn to_all(mut frame: Vec<u8>) -> Vec<u8> {
    frame[..6].fill(0xFF);
    frame
}

fn later(mut frame: Vec<u8>) -> Vec<u8> {
    frame[21] = 100;
    let sum = wire::checksum::checksum(&{
        let mut header = frame[14..34].to_vec();
        header[10..12].fill(0);
        header
    });
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// What comes back, in words: protocol, and what the header says.
fn told(back: &[u8]) -> String {
    let parsed = wire::parse(back, back.len());
    assert!(parsed.is_ip(), "{back:?}");
    let l4 = &back[usize::from(parsed.l4_offset)..];
    let word = |at: usize| u32::from_be_bytes([l4[at], l4[at + 1], l4[at + 2], l4[at + 3]]);
    match parsed.protocol {
        protocol::TCP => format!(
            "tcp {} > {} seq {} ack {} flags {}",
            parsed.src_port,
            parsed.dst_port,
            word(4),
            word(8),
            l4[13]
        ),
        protocol::ICMP => format!("icmp {} {}", l4[0], l4[1]),
        protocol::ICMPV6 => format!("icmpv6 {} {}", l4[0], l4[1]),
        other => format!("protocol {other}"),
    }
}

/// A rule, a frame, and what its sender is told; nothing where it is dropped in silence.
fn cases() -> Vec<(&'static str, Vec<u8>, Option<&'static str>)> {
    let v4 = |transport| frame(network(transport, DST), b"payload");
    let reset = "reject with tcp reset";
    let long = vec![7; 1400];
    vec![
        ("reject", v4(udp()), Some("icmp 3 3")),
        ("reject", v4(tcp(SYN)), Some("icmp 3 3")),
        ("reject", v4(icmp(8)), Some("icmp 3 3")),
        (
            "reject",
            frame(network(udp(), DST), &long),
            Some("icmp 3 3"),
        ),
        (
            "reject with icmpx admin-prohibited",
            v4(udp()),
            Some("icmp 3 13"),
        ),
        (
            "reject with icmpx host-unreachable",
            v4(udp()),
            Some("icmp 3 1"),
        ),
        ("reject with icmpx no-route", v4(udp()), Some("icmp 3 0")),
        ("reject", frame(v6(udp()), b"x"), Some("icmpv6 1 4")),
        (
            "reject with icmpx admin-prohibited",
            frame(v6(udp()), b"x"),
            Some("icmpv6 1 1"),
        ),
        // 1000 and the SYN and 7 bytes.
        (
            reset,
            v4(tcp(SYN)),
            Some("tcp 443 > 4096 seq 0 ack 1008 flags 20"),
        ),
        (
            reset,
            v4(tcp(ACK)),
            Some("tcp 443 > 4096 seq 2000 ack 0 flags 4"),
        ),
        (
            reset,
            frame(v6(tcp(SYN)), b""),
            Some("tcp 443 > 4096 seq 0 ack 1001 flags 20"),
        ),
        (reset, v4(udp()), Some("icmp 3 3")),
        (
            reset,
            tagged(v4(tcp(ACK))),
            Some("tcp 443 > 4096 seq 2000 ack 0 flags 4"),
        ),
        ("reject", tagged(v4(udp())), Some("icmp 3 3")),
        (reset, v4(tcp(RST)), None),
        ("reject", v4(tcp(RST | ACK)), None),
        ("reject", v4(icmp(3)), None),
        ("reject", v4(icmp(11)), None),
        ("reject", frame(network(udp(), GROUP), b"x"), None),
        ("reject", to_all(v4(udp())), None),
        ("reject", later(v4(udp())), None),
        ("drop", v4(udp()), None),
    ]
}

#[test]
fn each_packet_is_answered_as_the_rule_says_or_not_at_all() {
    for command in ["bridge", "switch"] {
        for (rule, sent, wanted) in cases() {
            let place = Place::new();
            place.write("in.pcap", pcap(std::slice::from_ref(&sent)));
            place.write("rules.txt", rule);
            let words = "pcap:in=in.pcap,out=back.pcap pcap:out=out.pcap --rules rules.txt --json";
            let report = place.run(&format!("{command} {words}")).ended(0).json();
            assert!(
                frames(&place.read("out.pcap")).is_empty(),
                "{rule}: {report}"
            );
            let back = frames(&place.read("back.pcap"));
            let said = back.first().map(|back| told(back));
            assert_eq!(said.as_deref(), wanted, "{command} {rule}: {sent:?}");
            assert_eq!(report["rules"]["rules"][0]["packets"], 1, "{report}");
            let dropped = report["frames"]["dropped"]["rule"].as_u64().unwrap_or(0);
            assert_eq!(dropped, u64::from(wanted.is_none()), "{rule}: {report}");
            for back in back {
                assert_eq!(back[..6], sent[6..12], "{rule}");
                assert_eq!(back[6..12], sent[..6], "{rule}");
                assert_eq!(back[12..14], sent[12..14], "{rule}");
            }
        }
    }
}

#[test]
fn a_flood_is_answered_in_part() {
    let place = Place::new();
    let one = frame(network(udp(), DST), b"x");
    place.write("in.pcap", pcap(&vec![one; 2000]));
    place.write("rules.txt", "reject");
    let words = "bridge pcap:in=in.pcap,out=back.pcap null: --rules rules.txt --json";
    place.run(words).ended(0);
    let answers = frames(&place.read("back.pcap")).len();
    // A tenth of what is allowed is for one source: 100, and as many for each second it took.
    assert!((100..2000).contains(&answers), "{answers} answers");
}
