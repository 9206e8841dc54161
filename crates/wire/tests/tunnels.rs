//! Packets inside packets, made by scapy: what it reads in them, we read.
//!
//! `tests/golden/tunnels.py` says how the lines beside the capture are to be read.

use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::Path;

use wire::parse::{TUNNEL_PORTS_MAX, TUNNELS_MAX};
use wire::toeplitz::{Key, Toeplitz};
use wire::{FlowKey, HashHeader, Malformed, Parsed, Placing, Readable, Tunnel, TunnelPorts};

/// One frame, and the lines about it.
struct Sample {
    name: String,
    bytes: Vec<u8>,
    lines: Vec<Vec<String>>,
}

impl Sample {
    fn words(&self, first: &str) -> Vec<&[String]> {
        let lines = self.lines.iter().filter(|line| line[0] == first);
        lines.map(|line| &line[1..]).collect()
    }
}

fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    std::fs::read(folder.join(name)).expect("a file of the repository")
}

/// Records of a little-endian pcap file of microseconds.
fn records(file: &[u8]) -> Vec<Vec<u8>> {
    assert_eq!(file[..4], [0xD4, 0xC3, 0xB2, 0xA1]);
    let (mut records, mut at) = (Vec::new(), 24);
    while at < file.len() {
        let len = u32::from_le_bytes(file[at + 8..at + 12].try_into().expect("four bytes"));
        records.push(file[at + 16..at + 16 + len as usize].to_vec());
        at += 16 + len as usize;
    }
    records
}

fn samples() -> Vec<Sample> {
    let mut frames = records(&golden("captures/tunnels.pcap")).into_iter();
    let text = String::from_utf8(golden("tunnels.txt")).expect("ASCII");
    let mut samples: Vec<Sample> = Vec::new();
    for line in text.lines() {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        if words[0] == "frame" {
            samples.push(Sample {
                name: words[1].clone(),
                bytes: frames.next().expect("a record a frame"),
                lines: Vec::new(),
            });
        } else {
            samples.last_mut().expect("a frame first").lines.push(words);
        }
    }
    assert_eq!(frames.next(), None);
    samples
}

fn sample(name: &str) -> Sample {
    let mut all = samples().into_iter();
    all.find(|sample| sample.name == name)
        .expect("a frame of this name")
}

/// The packets inside a frame, and what is wrong in it.
fn inside(bytes: &[u8], original_len: usize) -> (Parsed, Vec<Tunnel>, Option<Malformed>) {
    let outer = wire::parse(bytes, original_len);
    let mut tunnels = Vec::new();
    let fault = TunnelPorts::default().each(bytes, &outer, |tunnel| {
        tunnels.push(*tunnel);
        ControlFlow::Continue(())
    });
    (outer, tunnels, outer.fault.or(fault))
}

fn placing(header: HashHeader) -> Placing {
    Placing {
        header,
        spi: true,
        ports: TunnelPorts::default(),
    }
}

fn flow_key(bytes: &[u8], header: HashHeader) -> FlowKey {
    let parsed = wire::parse(bytes, bytes.len());
    let key = placing(header).flow_key(bytes, &parsed);
    key.expect("a frame with addresses")
}

fn shown(parsed: &Parsed) -> Vec<String> {
    let ip = |address: Option<IpAddr>| address.map_or("-".to_owned(), |ip| ip.to_string());
    vec![
        ip(parsed.src_ip()),
        ip(parsed.dst_ip()),
        parsed.l3_offset.to_string(),
    ]
}

#[test]
fn headers_are_where_scapy_has_them() {
    let (mut frames, mut kinds) = (0, std::collections::BTreeSet::new());
    for sample in samples() {
        let expected = sample.words("ip");
        if expected.is_empty() {
            continue;
        }
        let (outer, tunnels, fault) = inside(&sample.bytes, sample.bytes.len());
        let headers = std::iter::once(&outer).chain(tunnels.iter().map(|tunnel| &tunnel.inner));
        let headers: Vec<Vec<String>> = headers.map(shown).collect();
        assert_eq!(headers, expected, "{}", sample.name);
        let found: Vec<Vec<String>> = tunnels
            .iter()
            .map(|tunnel| {
                kinds.insert(tunnel.kind.name());
                let id = tunnel.id.map_or("-".to_owned(), |id| id.to_string());
                let kind = tunnel.kind.name().to_owned();
                vec![kind, tunnel.offset.to_string(), tunnel.len.to_string(), id]
            })
            .collect();
        assert_eq!(found, sample.words("tunnel"), "{}", sample.name);
        let fault = fault.map(Malformed::name);
        let lies = sample.words("fault").first().map(|words| words[0].as_str());
        assert_eq!(fault, lies, "{}", sample.name);
        frames += 1;
    }
    assert!(frames >= 75, "{frames} frames");
    assert_eq!(kinds.len(), 8, "{kinds:?}");
}

/// The five-tuple that scapy reads, by the published definition of the hash, bit by bit.
#[test]
fn the_inner_hash_is_that_of_scapys_inner_flow() {
    let (key, mut frames) = (Key::MICROSOFT, 0);
    let hash = Toeplitz::new(&key);
    for sample in samples() {
        let Some([src, dst, protocol, sport, dport]) = sample
            .words("flow")
            .first()
            .map(|words| words.as_array().expect("five words"))
        else {
            continue;
        };
        let mut input = Vec::new();
        for address in [src, dst] {
            match address.parse::<IpAddr>().expect("an address") {
                IpAddr::V4(v4) => input.extend(v4.octets()),
                IpAddr::V6(v6) => input.extend(v6.octets()),
            }
        }
        for port in [sport, dport] {
            input.extend(port.parse::<u16>().expect("a port").to_be_bytes());
        }
        let found = flow_key(&sample.bytes, HashHeader::Inner);
        assert_eq!(found.protocol.to_string(), *protocol, "{}", sample.name);
        assert_eq!(hash.hash(&found), key.hash_bytes(&input), "{}", sample.name);
        let outer = flow_key(&sample.bytes, HashHeader::Outer);
        assert_ne!(outer, found, "{}", sample.name);
        assert_eq!(
            Some(outer),
            wire::parse(&sample.bytes, sample.bytes.len()).flow_key()
        );
        frames += 1;
    }
    assert!(frames >= 75, "{frames} frames");
}

#[test]
fn lengths_that_lie_have_their_fault() {
    let lying = samples().into_iter();
    let lying = lying.filter(|sample| !sample.words("fault").is_empty());
    let mut seen = 0;
    for sample in lying {
        let (outer, _, fault) = inside(&sample.bytes, sample.bytes.len());
        assert_eq!(outer.fault, None, "{}", sample.name);
        let fault = fault.map_or("none", Malformed::name);
        assert_eq!(fault, sample.words("fault")[0][0], "{}", sample.name);
        seen += 1;
    }
    assert!(seen >= 11, "{seen} lies");
}

#[test]
fn what_carries_nothing_that_can_be_read_is_plain() {
    for name in [
        "esp-4",
        "esp-6",
        "ah-udp-4",
        "ah-udp-6",
        "gre-keepalive",
        "gre-pptp",
        "gtp-u-echo",
        "vxlan-no-flag",
        "other-port",
        "ipip-later",
        "ipip-first-short",
    ] {
        let sample = sample(name);
        let (_, tunnels, fault) = inside(&sample.bytes, sample.bytes.len());
        assert_eq!((tunnels.len(), fault), (0, None), "{name}");
    }
    let arp = sample("vxlan-arp");
    let (_, tunnels, fault) = inside(&arp.bytes, arp.bytes.len());
    assert_eq!((tunnels.len(), fault), (1, None));
    assert!(!tunnels[0].inner.is_ip());
    let other = sample("other-port");
    let parsed = wire::parse(&other.bytes, other.bytes.len());
    let ports = TunnelPorts::from_words(["vxlan=4788"]).expect("a port");
    let tunnel = ports.open(&other.bytes, &parsed).expect("no fault");
    assert_eq!(tunnel.map(|tunnel| tunnel.id), Some(Some(42)));
}

/// As Linux reads them, which hands on what is inside: with a redirect header and without.
#[test]
fn packets_for_web_caches_are_opened() {
    for (name, at) in [("gre-4-in-4-tcp", 34), ("gre-6-in-6-tcp", 54)] {
        let mut bytes = sample(name).bytes;
        let expected = inside(&bytes, bytes.len()).1[0].inner;
        bytes[at + 2..at + 4].copy_from_slice(&[0x88, 0x3E]);
        if name == "gre-4-in-4-tcp" {
            let (_, tunnels, fault) = inside(&bytes, bytes.len());
            assert_eq!((tunnels[0].inner, fault), (expected, None), "{name}");
        }
        bytes.splice(at + 4..at + 4, [0, 1, 2, 3]);
        let len_at = if at == 34 { 17 } else { 19 };
        bytes[len_at] += 4;
        let (_, tunnels, fault) = inside(&bytes, bytes.len());
        assert_eq!((tunnels.len(), fault), (1, None), "{name}");
        let found = tunnels[0].inner;
        assert_eq!((found.src, found.dst), (expected.src, expected.dst));
        assert_eq!(found.l3_offset, expected.l3_offset + 4, "{name}");
        // Nothing behind the header: it ends where a packet has to begin.
        bytes.truncate(at + 4);
        bytes[len_at] = if at == 34 { 24 } else { 4 };
        let (_, tunnels, fault) = inside(&bytes, bytes.len());
        assert_eq!(
            (tunnels.len(), fault),
            (0, Some(Malformed::TunnelTruncated))
        );
    }
}

#[test]
fn first_pieces_are_opened_and_placed_by_the_outer_header() {
    for name in ["ipip-first", "4in6-first"] {
        let sample = sample(name);
        let (_, tunnels, fault) = inside(&sample.bytes, sample.bytes.len());
        assert_eq!((tunnels.len(), fault), (1, None), "{name}");
        assert_eq!(tunnels[0].inner.dst_port, 2222, "{name}");
        let key = flow_key(&sample.bytes, HashHeader::Inner);
        assert_eq!(key, flow_key(&sample.bytes, HashHeader::Outer), "{name}");
    }
    let later = flow_key(&sample("ipip-later").bytes, HashHeader::Inner);
    assert_eq!(
        later,
        flow_key(&sample("ipip-first").bytes, HashHeader::Inner)
    );
    // Pieces that were cut inside the tunnel have one key, that of the inner packet without ports.
    let inner = flow_key(&sample("ipip-inner-first").bytes, HashHeader::Inner);
    assert_eq!(
        inner,
        flow_key(&sample("ipip-inner-later").bytes, HashHeader::Inner)
    );
    assert_eq!((inner.src_port, inner.protocol), (0, 17));
}

#[test]
fn security_associations_are_told_apart() {
    for (name, spi) in [
        ("esp-4", 0x1122_3344_u32),
        ("esp-6", 0x1122_3344),
        ("ah-udp-4", 0x5566_7788),
        ("ah-udp-6", 0x5566_7788),
    ] {
        let sample = sample(name);
        let parsed = wire::parse(&sample.bytes, sample.bytes.len());
        let key = flow_key(&sample.bytes, HashHeader::Inner);
        let ports = u32::from(key.src_port) << 16 | u32::from(key.dst_port);
        assert_eq!(ports, spi, "{name}");
        assert_eq!((key.src, key.dst), (parsed.src, parsed.dst));
        let stateful = Placing {
            spi: false,
            ..placing(HashHeader::Inner)
        };
        assert_eq!(
            stateful.flow_key(&sample.bytes, &parsed),
            parsed.flow_key(),
            "{name}"
        );
    }
    for name in ["ah-ip-4", "ah-ip-6"] {
        let sample = sample(name);
        let (_, tunnels, fault) = inside(&sample.bytes, sample.bytes.len());
        assert_eq!((tunnels.len(), fault), (1, None), "{name}");
        assert_eq!(
            flow_key(&sample.bytes, HashHeader::Inner).dst_port,
            2222,
            "{name}"
        );
    }
}

/// Every frame cut at every byte, on the wire and in the capture: nothing outside is read, and no
/// address is another.
#[test]
fn cut_at_every_byte() {
    for sample in samples() {
        let (_, whole, whole_fault) = inside(&sample.bytes, sample.bytes.len());
        for len in 0..sample.bytes.len() {
            let bytes = &sample.bytes[..len];
            // A frame that ends early contradicts its own lengths: the outer packet says so.
            let (outer, tunnels, fault) = inside(bytes, len);
            assert!(tunnels.len() <= TUNNELS_MAX);
            let carries = outer.l3_offset as usize + outer.l3_len as usize;
            assert!(
                fault.is_some() || tunnels.is_empty() || carries <= len,
                "{}",
                sample.name
            );
            // One that was cut in the capture is unknown from there on.
            let (_, tunnels, fault) = inside(bytes, sample.bytes.len());
            assert!(
                fault.is_none() || fault == whole_fault,
                "{} at {len}",
                sample.name
            );
            for (cut, whole) in tunnels.iter().zip(&whole) {
                for (side, cut, whole) in [
                    (Readable::SRC, cut.inner.src, whole.inner.src),
                    (Readable::DST, cut.inner.dst, whole.inner.dst),
                ] {
                    let parsed = tunnels
                        .iter()
                        .find(|tunnel| tunnel.inner.readable.has(side));
                    assert!(
                        parsed.is_none() || cut == whole || cut == 0,
                        "{}",
                        sample.name
                    );
                }
                assert!(usize::from(cut.inner.l4_offset) <= len, "{}", sample.name);
                assert_eq!((cut.kind, cut.offset), (whole.kind, whole.offset));
            }
        }
    }
}

/// Whatever the number of known ports and the place of one: it is seen, and no other.
#[test]
fn a_port_of_a_tunnel_is_seen_among_others() {
    let known: Vec<u16> = (1..=TUNNEL_PORTS_MAX as u16).map(|n| n * 8001).collect();
    for count in 1..=known.len() {
        let mut words = vec!["geneve=none".to_owned(), "gtp-u=none".to_owned()];
        words.extend(known[..count].iter().map(|port| format!("vxlan={port}")));
        let ports = TunnelPorts::from_words(words.iter().map(String::as_str)).unwrap();
        for place in 0..19 {
            let mut among = [443; 19];
            assert!(!ports.zero_or_known(&among), "{count} ports");
            for &port in known.iter().chain(&[0]) {
                among[place] = port;
                let wanted = port == 0 || known[..count].contains(&port);
                assert_eq!(
                    ports.zero_or_known(&among),
                    wanted,
                    "{port} of {count} ports"
                );
            }
        }
    }
}

#[test]
fn ports_are_read_as_they_are_shown() {
    for (words, shown) in [
        (&[][..], "vxlan=4789,geneve=6081,gtp-u=2152"),
        (&["vxlan=8472"], "vxlan=8472,geneve=6081,gtp-u=2152"),
        (
            &["vxlan=4789", "vxlan=8472", "geneve=none"],
            "vxlan=4789,vxlan=8472,gtp-u=2152",
        ),
        (&["vxlan=none", "geneve=none", "gtp-u=none"], "none"),
    ] {
        let ports = TunnelPorts::from_words(words.iter().copied()).expect("ports");
        assert_eq!(ports.to_string(), shown);
    }
    for words in [
        "vxlan",
        "vxlan=0",
        "vxlan=65536",
        "gre=1",
        "vxlan=6081",
        "=1",
        "",
    ] {
        assert!(TunnelPorts::from_words([words]).is_err(), "{words}");
    }
    let many: Vec<String> = (1..9).map(|port| format!("vxlan={port}")).collect();
    assert!(TunnelPorts::from_words(many.iter().map(String::as_str)).is_err());
}
