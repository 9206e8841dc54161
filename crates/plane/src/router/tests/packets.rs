//! Random packets: sound ones above all, and each field wrong now and then.

use std::net::IpAddr;

use frame::PortId;
use wire::MacAddress;
use wire::emit::{Extension, Icmp, Ipv4, Ipv6, Network, Recipe, Tag, Transport};

use super::super::*;
use super::draw::Draw;

#[derive(Debug)]
pub(super) struct Drawn {
    /// What it was drawn as.
    pub(super) what: String,
    pub(super) frame: Vec<u8>,
}

const ODD_V4: [&str; 16] = [
    "0.0.0.0",
    "0.1.2.3",
    "127.0.0.1",
    "169.254.1.1",
    "224.0.0.1",
    "239.1.2.3",
    "240.0.0.1",
    "255.255.255.255",
    "10.0.0.255",
    "10.1.0.255",
    "10.0.0.143",
    "10.0.0.0",
    "9.9.9.9",
    "200.1.1.1",
    "10.200.0.1",
    "100.64.0.1",
];
const ODD_V6: [&str; 12] = [
    "::",
    "::1",
    "::ffff:10.0.0.2",
    "fe80::1",
    "fe80::2",
    "ff02::1",
    "ff05::1:3",
    "fd00::",
    "fd99::1",
    "3000::1",
    "fec0::1",
    "64:ff9b::1",
];
/// Types and codes of ICMP: echo, its reply, errors, an unknown one.
const MESSAGES: [(u8, u8); 6] = [(8, 0), (8, 1), (0, 0), (3, 1), (11, 0), (99, 0)];
const MESSAGES_V6: [(u8, u8); 6] = [(128, 0), (128, 1), (129, 0), (1, 1), (3, 0), (200, 0)];
const OPTIONS: [&[u8]; 9] = [
    &[1, 1, 1, 0],
    &[0x94, 4, 0, 0],
    &[0x94, 4, 0, 0, 0x44, 4, 1, 2],
    &[0x5E, 4, 1, 2, 7, 7, 4, 0, 0, 0, 0, 0],
    &[0x83, 7, 4, 10, 0, 0, 1, 0],
    &[1, 0x89, 7, 4, 10, 0, 0, 1],
    &[0x5E, 12, 1, 2],
    &[0x5E, 1, 0, 0],
    &[1, 1, 1, 0x5E],
];

fn address(draw: &mut Draw, is_v4: bool, config: &RouterConfig) -> IpAddr {
    let at = draw.below(config.interfaces.len() as u64);
    let host = draw.among(&[1, 2, 2, 3, 3, 50, 130, 131, 201, 250]);
    let text = match (is_v4, draw.below(8)) {
        (true, 0) => draw.among(&ODD_V4).to_owned(),
        (true, 1 | 2) => format!(
            "20.{}.{}.{}",
            draw.below(3),
            draw.below(4),
            draw.among(&[2, 3, 130])
        ),
        (true, _) => format!("10.{at}.0.{host}"),
        (false, 0) => draw.among(&ODD_V6).to_owned(),
        (false, 1 | 2) => format!(
            "2001:db8:{}:{}:{}::{}",
            draw.below(3),
            draw.below(4),
            draw.among(&["0", "8001"]),
            draw.below(5)
        ),
        (false, _) => format!("fd00:{at}::{host}"),
    };
    text.parse().expect("an address")
}

pub(super) fn packet(draw: &mut Draw, config: &RouterConfig, from: PortId) -> Drawn {
    let own = config.interfaces.iter().filter(|one| one.port == from);
    let own: Vec<&RouterInterface> = own.collect();
    let own = match own[..] {
        [] => &config.interfaces[0],
        _ => own[draw.below(own.len() as u64) as usize],
    };
    let is_v4 = !draw.is(3);
    let (src, dst) = (address(draw, is_v4, config), address(draw, is_v4, config));
    let tags = tags(draw, own.tags);
    let group = MacAddress([1, 0, 0x5E, 0, 0, 1]);
    let payload: Vec<u8> = (0..length(draw)).map(|_| draw.below(256) as u8).collect();
    let mut frame = vec![0; 3000];
    let extensions = extensions(draw);
    let network = network(draw, src, dst, &extensions);
    let recipe = Recipe {
        dst_mac: match draw.below(8) {
            0 => group,
            1 => MacAddress::BROADCAST,
            _ => own.mac,
        },
        src_mac: MacAddress([2, 0, 0, 1, 0, 0]),
        tags: &tags,
        network,
        payload: &payload,
        len_min: draw.among(&[0, 60, 60, 60]),
        ..Recipe::default()
    };
    let len = recipe.emit(&mut frame).expect("short enough");
    frame.truncate(len);
    let what = format!("{src} > {dst} by {} {network:?}", own.name);
    damage(draw, &mut frame, 14 + 4 * tags.len());
    Drawn { what, frame }
}

fn network<'a>(
    draw: &mut Draw,
    src: IpAddr,
    dst: IpAddr,
    extensions: &'a [Extension<'a>],
) -> Network<'a> {
    let transport = transport(draw, src.is_ipv4());
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let header = Ipv4 {
                src: src.to_bits(),
                dst: dst.to_bits(),
                ttl: draw.among(&[0, 1, 2, 64, 64, 64, 255]),
                tos: draw.among(&[0, 0, 0xB8, 0xFF]),
                identification: draw.below(65536) as u16,
                dont_fragment: draw.is(2),
                more_fragments: draw.is(6),
                fragment_offset: draw.among(&[0, 0, 0, 0, 0, 0, 8, 8000, 65_528]),
                options: match draw.is(5) {
                    true => draw.among(&OPTIONS),
                    false => &[],
                },
            };
            Network::Ipv4(header, transport)
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let header = Ipv6 {
                src: src.to_bits(),
                dst: dst.to_bits(),
                hop_limit: draw.among(&[0, 1, 2, 64, 64, 64, 255]),
                traffic_class: draw.among(&[0, 0xB8]),
                flow_label: draw.below(1 << 20) as u32,
                extensions,
            };
            Network::Ipv6(header, transport)
        }
        _ => unreachable!("one family"),
    }
}

fn length(draw: &mut Draw) -> u64 {
    match draw.below(4) {
        0 => draw.below(1600),
        1 => draw.among(&[1252, 1253, 1372, 1373, 1472, 1473, 548, 549, 40, 41, 2000]),
        _ => draw.below(64),
    }
}

fn tags(draw: &mut Draw, own: InterfaceTags) -> Vec<Tag> {
    let (vlan, service) = (Tag::vlan, Tag::service);
    if draw.is(12) {
        return match draw.below(5) {
            0 => vec![vlan(0)],
            1 => vec![vlan(77)],
            2 => vec![vlan(10), vlan(20)],
            3 => vec![service(10)],
            _ => vec![service(10), vlan(20), vlan(30)],
        };
    }
    let prioritised = |tag: Tag, draw: &mut Draw| Tag {
        tci: tag.tci | draw.among(&[0, 0xE000, 0x1000]),
        ..tag
    };
    match own {
        InterfaceTags::None => vec![],
        InterfaceTags::Vlan(id) => vec![prioritised(vlan(id), draw)],
        InterfaceTags::Double { outer, inner } => {
            vec![
                prioritised(service(outer), draw),
                prioritised(vlan(inner), draw),
            ]
        }
    }
}

fn transport(draw: &mut Draw, is_v4: bool) -> Transport<'static> {
    let (kind, code) = draw.among(if is_v4 { &MESSAGES } else { &MESSAGES_V6 });
    let message = Icmp {
        kind,
        code,
        rest: draw.below(1 << 32) as u32,
    };
    match draw.below(6) {
        0 if is_v4 => Transport::Icmp(message),
        0 => Transport::Icmpv6(message),
        1 => Transport::Raw(draw.among(&[200, 2, 6, 59, 17, 132, 58, 1])),
        _ => Transport::Udp {
            src_port: draw.below(4) as u16,
            dst_port: 53,
        },
    }
}

fn extensions(draw: &mut Draw) -> Vec<Extension<'static>> {
    if !draw.is(6) {
        return Vec::new();
    }
    let generic = |protocol| Extension::Generic {
        protocol,
        body: &[1, 4, 0, 0, 0, 0],
    };
    let fragment = Extension::Fragment {
        offset: draw.among(&[0, 8]),
        more: true,
        identification: 7,
    };
    match draw.below(4) {
        0 => vec![generic(0)],
        1 => vec![generic(0), generic(60)],
        2 => vec![fragment],
        _ => vec![generic(60), fragment],
    }
}

/// Breaks a frame now and then, `l3` bytes of which are in front of the packet.
fn damage(draw: &mut Draw, frame: &mut Vec<u8>, l3: usize) {
    if !draw.is(8) {
        return;
    }
    match draw.below(5) {
        0 => frame.truncate(draw.below(frame.len() as u64 + 1) as usize),
        1 => frame.extend([0xEE; 7]),
        2 => {
            let at = l3 + draw.below(20) as usize;
            if let Some(byte) = frame.get_mut(at) {
                *byte ^= 1 << draw.below(8);
            }
        }
        3 => {
            let at = draw.below(frame.len() as u64) as usize;
            frame[at] ^= 1 << draw.below(8);
        }
        // A type of nobody.
        _ => frame[l3 - 2..l3].copy_from_slice(&[0x88, 0xB5]),
    }
}
