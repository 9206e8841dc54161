//! Frames, sound and odd, each with its number in its source address.

use super::lists::List;
use crate::random::Random;

/// What a frame is, for the message about it.
pub(crate) struct Crafted {
    pub(crate) kind: String,
    pub(crate) bytes: Vec<u8>,
}

const IP4: u16 = 0x0800;
const IP6: u16 = 0x86dd;

/// A frame whose addresses are near the list in some of a hundred.
pub(crate) fn draw(random: &mut Random, list: &List, number: u32) -> Crafted {
    let (mut kind, ethertype, mut payload) = match random.below(20) {
        0..=9 => four(random, list),
        10..=16 => six(random, list),
        17 => resolution(random, list),
        18 => cut_short(random, list),
        _ => strange(random, list),
    };
    let mut bytes = Vec::with_capacity(14 + payload.len());
    let group = random.percent(5);
    // Neither the hosts' nor one that bridges keep to themselves.
    bytes.extend([
        if group { 0x03 } else { 0x02 },
        0x54,
        0,
        0,
        0,
        random.draw() as u8,
    ]);
    bytes.extend([0x02, 0x53]);
    bytes.extend(number.to_be_bytes());
    if random.percent(10) {
        let tag = random.draw() as u16;
        kind += &format!(", tag {tag:04x}");
        bytes.extend(0x8100_u16.to_be_bytes());
        bytes.extend(tag.to_be_bytes());
    }
    bytes.extend(ethertype.to_be_bytes());
    leave_no_sum_to_hardware(&mut payload);
    bytes.append(&mut payload);
    Crafted { kind, bytes }
}

/// Half of all frames have an address from near the list at each place.
fn addresses(random: &mut Random, list: &List, ethertype: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..2 {
        if ethertype == IP4 {
            bytes.extend((list.v4.near(random, 30) as u32).to_be_bytes());
        } else {
            bytes.extend(list.v6.near(random, 30).to_be_bytes());
        }
    }
    bytes
}

/// An IPv4 packet: options, fragments, lengths and checksums that are wrong.
fn four(random: &mut Random, list: &List) -> (String, u16, Vec<u8>) {
    let words = if random.percent(20) {
        5 + random.below(11)
    } else {
        5
    };
    let data = random.below(200);
    let total = words * 4 + data;
    let (fragment, what) = match random.below(8) {
        0 => (0x2000, "first fragment"),
        1 => (0x2000 | 185, "middle fragment"),
        2 => (185, "last fragment"),
        3 => (0x4000, "not to be cut"),
        _ => (0, "whole"),
    };
    let any = random.draw() as u8;
    let protocol = *random.pick(&[6, 17, 1, 47, 4, 41, 255, any]);
    let mut packet = vec![0x40 | words as u8, 0];
    let (said, odd) = match random.below(10) {
        0 => (total + 1 + random.below(100), ", longer than it is"),
        1 => (total - random.below(total), ", padded"),
        _ => (total, ""),
    };
    packet.extend((said as u16).to_be_bytes());
    packet.extend((random.draw() as u16).to_be_bytes());
    packet.extend(u16::to_be_bytes(fragment));
    packet.extend([random.draw() as u8, protocol, 0, 0]);
    packet.append(&mut addresses(random, list, IP4));
    // No operation, so that options are sound.
    packet.resize(words * 4, 1);
    if !random.percent(10) {
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    packet.extend((0..data).map(|_| random.draw() as u8));
    let kind = format!("IPv4, {what}, protocol {protocol}, {words} words{odd}");
    (kind, IP4, packet)
}

/// An IPv6 packet behind some extension headers.
fn six(random: &mut Random, list: &List) -> (String, u16, Vec<u8>) {
    let headers = [0_u8, 43, 44, 60, 17, 6, 58, 59, 50, 51, 253];
    let next = *random.pick(&headers);
    let data = 8 + random.below(200);
    let mut packet = vec![0x60, 0, 0, 0];
    let (said, odd) = match random.below(10) {
        0 => (data + 1 + random.below(100), ", longer than it is"),
        1 => (random.below(data), ", padded"),
        _ => (data, ""),
    };
    packet.extend((said as u16).to_be_bytes());
    packet.extend([next, random.draw() as u8]);
    packet.append(&mut addresses(random, list, IP6));
    // The next header's next header, and random lengths and offsets.
    packet.push(*random.pick(&headers));
    packet.extend((1..data).map(|_| random.draw() as u8));
    (format!("IPv6, header {next}{odd}"), IP6, packet)
}

/// ARP that names listed addresses: no IP.
fn resolution(random: &mut Random, list: &List) -> (String, u16, Vec<u8>) {
    let named = addresses(random, list, IP4);
    let mut packet = vec![0, 1, 8, 0, 6, 4, 0, 1, 2, 0x53, 0, 0, 0, 1];
    packet.extend(&named[..4]);
    packet.extend([0; 6]);
    packet.extend(&named[4..]);
    ("ARP".to_owned(), 0x0806, packet)
}

/// An IP packet whose end is missing, mostly within its header.
fn cut_short(random: &mut Random, list: &List) -> (String, u16, Vec<u8>) {
    let (kind, ethertype, mut packet) = if random.percent(50) {
        four(random, list)
    } else {
        six(random, list)
    };
    let left = random.below(packet.len().min(48));
    packet.truncate(left);
    (format!("{kind}, cut after {left} bytes"), ethertype, packet)
}

/// What says that it is IP and is not, or the other way round.
fn strange(random: &mut Random, list: &List) -> (String, u16, Vec<u8>) {
    let (kind, ethertype, mut packet) = if random.percent(50) {
        four(random, list)
    } else {
        six(random, list)
    };
    match random.below(3) {
        0 => (format!("{kind}, of ethertype 88b5"), 0x88b5, packet),
        1 if ethertype == IP4 => {
            let words = random.below(5) as u8;
            packet[0] = 0x40 | words;
            (format!("{kind}, {words} words said"), ethertype, packet)
        }
        _ => {
            let version = random.below(16) as u8;
            packet[0] = (version << 4) | packet[0] & 15;
            (format!("{kind}, of version {version}"), ethertype, packet)
        }
    }
}

/// A random checksum field of TCP or UDP equals the sum of its pseudo header once in 65,536 frames.
/// A bridge over AF_XDP takes such a field for one left to hardware, and finishes it. The field
/// gets another value here.
fn leave_no_sum_to_hardware(packet: &mut [u8]) {
    let word = |at: usize| Some([*packet.get(at)?, *packet.get(at + 1)?]);
    let said = |at| word(at).map_or(0, |word| usize::from(u16::from_be_bytes(word)));
    let (addresses, protocol, start, len) = match packet.first().map(|first| first >> 4) {
        Some(4) => {
            let start = usize::from(packet[0] & 15) * 4;
            (12..20, 9, start, said(2).wrapping_sub(start))
        }
        Some(6) => (8..40, 6, 40, said(4)),
        _ => return,
    };
    let (Some(addresses), Some(&protocol)) = (packet.get(addresses), packet.get(protocol)) else {
        return;
    };
    let len = (len as u16).to_be_bytes();
    let pseudo = !checksum(&[addresses, &[0, protocol], &len].concat());
    let field = start + if protocol == 6 { 16 } else { 6 };
    if word(field) == Some(pseudo.to_be_bytes()) {
        packet[field] ^= 1;
    }
}

/// Of the Internet (RFC 1071), over whole words.
fn checksum(header: &[u8]) -> u16 {
    let words = header.chunks_exact(2);
    let mut sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
