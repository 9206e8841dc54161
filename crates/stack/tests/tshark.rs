//! All that is written, judged by tshark: no malformed frame, every checksum good, the kinds as
//! they are meant.

use std::io::Write;
use std::net::IpAddr;
use std::process::{Command, Stdio};

use stack::icmp::{REPORT_BYTES_MAX, Report, echo_reply, write_report};
use wire::MacAddress;
use wire::emit::{Icmp, Ipv4, Ipv6, Network, Recipe, Tag, Transport};
use wire::neighbour::Speaker;

const LINK: usize = 14;
const MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const PEER: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
const UDP: Transport<'_> = Transport::Udp {
    src_port: 4000,
    dst_port: 5000,
};

/// A frame, and what tshark is to say of it.
type Row = (Vec<u8>, String);

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn written(write: impl FnOnce(&mut [u8]) -> usize) -> Vec<u8> {
    let mut out = vec![0; REPORT_BYTES_MAX];
    let len = write(&mut out);
    out.truncate(len);
    out
}

fn neighbours() -> Vec<Row> {
    let tag = [Tag::vlan(10)];
    let mut rows = Vec::new();
    for tags in [&[][..], &tag] {
        let speaker = Speaker {
            mac: MAC,
            tags,
            is_router: true,
        };
        for (own, other, kinds) in [
            ("192.0.2.1", "192.0.2.2", ["arp 1", "arp 2", "arp 1"]),
            (
                "2001:db8::1",
                "2001:db8::2",
                ["v6 135 0", "v6 136 0", "v6 136 0"],
            ),
        ] {
            let (own, other) = (address(own), address(other));
            let frames = [
                written(|out| speaker.request(own, other, None, out).unwrap()),
                written(|out| speaker.answer(own, other, PEER, out).unwrap()),
                written(|out| speaker.announce(own, out).unwrap()),
            ];
            rows.extend(frames.into_iter().zip(kinds.map(str::to_owned)));
        }
    }
    rows
}

/// A frame with a packet of `len` bytes behind its headers.
fn frame(is_v4: bool, transport: Transport<'_>, len: usize) -> Vec<u8> {
    let network = match is_v4 {
        true => {
            let header = Ipv4 {
                src: 0xC633_6407,
                dst: 0xCB00_7109,
                ..Ipv4::default()
            };
            Network::Ipv4(header, transport)
        }
        false => {
            let header = Ipv6 {
                src: 0x2001_0DB8 << 96 | 7,
                dst: 0x2001_0DB8 << 96 | 9,
                ..Ipv6::default()
            };
            Network::Ipv6(header, transport)
        }
    };
    let recipe = Recipe {
        network,
        payload: &vec![0x55; len],
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("room");
    bytes
}

fn errors() -> Vec<Row> {
    use Report as R;
    let reports = [
        (R::NoRoute, "3 0", "1 0"),
        (R::Unreachable, "3 1", "1 0"),
        (R::Prohibited, "3 13", "1 1"),
        (R::HostUnreachable, "3 1", "1 3"),
        (R::ProtocolUnreachable { at: 6 }, "3 2", "4 1"),
        (R::PortUnreachable, "3 3", "1 4"),
        (R::TooBig { mtu: 1400 }, "3 4", "2 0"),
        (R::TimeExceeded, "11 0", "3 0"),
        (R::ParameterProblem { at: 8 }, "12 0", "4 0"),
    ];
    let mut rows = Vec::new();
    for (report, v4, v6) in reports {
        for (family, router, kind) in [("v4", "192.0.2.1", v4), ("v6", "2001:db8::1", v6)] {
            for len in [0, 9, 1400] {
                let about = frame(family == "v4", UDP, len);
                let error = written(|out| {
                    let len = write_report(report, address(router), &about[LINK..], out);
                    // The caller writes the link header.
                    out[..LINK].copy_from_slice(&about[..LINK]);
                    len.expect("room")
                });
                rows.push((error, format!("{family} {kind}")));
            }
        }
    }
    rows
}

fn replies() -> Vec<Row> {
    let request = |kind| Icmp {
        kind,
        code: 0,
        rest: 0x1234_0001,
    };
    let mut rows = Vec::new();
    for len in [0, 7, 56, 1400] {
        for (is_v4, transport, kind) in [
            (true, Transport::Icmp(request(8)), "v4 0 0"),
            (false, Transport::Icmpv6(request(128)), "v6 129 0"),
        ] {
            let mut echo = frame(is_v4, transport, len);
            assert_eq!(echo_reply(&mut echo[LINK..]), Some(0));
            rows.push((echo, kind.to_owned()));
        }
    }
    rows
}

/// A capture file of microseconds and Ethernet.
fn capture(rows: &[Row]) -> Vec<u8> {
    let head = [0xA1B2_C3D4u32, 0x0002_0004, 0, 0, 65_535, 1];
    // The version, 2.4, is two numbers of 16 bits.
    let mut bytes: Vec<u8> = head.into_iter().flat_map(u32::to_be_bytes).collect();
    for (frame, _) in rows {
        let len = frame.len() as u32;
        bytes.extend([0, 0, len, len].into_iter().flat_map(u32::to_be_bytes));
        bytes.extend(frame);
    }
    bytes
}

const FIELDS: [&str; 10] = [
    "arp.opcode",
    "icmp.type",
    "icmp.code",
    "icmpv6.type",
    "icmpv6.code",
    "ip.checksum.status",
    "icmp.checksum.status",
    "icmpv6.checksum.status",
    "_ws.malformed",
    "_ws.expert.severity",
];
/// The severity of an error, which tshark gives to what cannot be so.
const ERROR: &str = "8388608";

/// A line for each frame; `None` where there is no tshark.
fn tshark(capture: &[u8]) -> Option<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-r", "-", "-T", "fields", "-E", "separator=;"]);
    command.args(["-o", "ip.check_checksum:TRUE"]);
    FIELDS.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::null()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    stdin.write_all(capture).expect("tshark reads");
    drop(stdin);
    let output = child.wait_with_output().expect("tshark ends");
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).expect("text");
    Some(text.lines().map(str::to_owned).collect())
}

/// What a line of tshark comes to: the kind, where all is well.
fn verdict(line: &str) -> Result<String, &'static str> {
    let fields: Vec<&str> = line.split(';').collect();
    let [
        arp,
        kind,
        code,
        kind_v6,
        code_v6,
        ip_sum,
        sum,
        sum_v6,
        malformed,
        severity,
    ] = fields[..]
    else {
        return Err("fields are missing");
    };
    // Of a packet that is quoted the values follow.
    let first = |field: &str| field.split(',').next().unwrap_or_default().to_owned();
    let is_good = |field: &str| field.is_empty() || first(field) == "1";
    if !is_good(ip_sum) || !is_good(sum) || !is_good(sum_v6) {
        return Err("a wrong checksum");
    }
    if !malformed.is_empty() || severity.split(',').any(|one| one == ERROR) {
        return Err("malformed");
    }
    Ok(match (arp, kind, kind_v6) {
        ("", "", _) => format!("v6 {} {}", first(kind_v6), first(code_v6)),
        ("", _, _) => format!("v4 {} {}", first(kind), first(code)),
        _ => format!("arp {arp}"),
    })
}

#[test]
fn tshark_finds_no_fault_with_what_is_written() {
    let rows = [neighbours(), errors(), replies()].concat();
    let Some(lines) = tshark(&capture(&rows)) else {
        eprintln!("skipped: no tshark here");
        return;
    };
    assert_eq!(lines.len(), rows.len());
    for ((frame, expected), line) in rows.iter().zip(&lines) {
        assert_eq!(verdict(line).as_ref(), Ok(expected), "{line}: {frame:02x?}");
    }
}

#[test]
fn tshark_would_find_a_fault() {
    let mut rows = replies();
    rows.iter_mut()
        .for_each(|(frame, _)| *frame.last_mut().unwrap() ^= 1);
    let Some(lines) = tshark(&capture(&rows)) else {
        eprintln!("skipped: no tshark here");
        return;
    };
    assert!(lines.iter().all(|line| verdict(line).is_err()), "{lines:?}");
}
