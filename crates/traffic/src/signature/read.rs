//! Whether a frame is a test frame, as it was sent.

use wire::{Family, Fragment, Parsed, checksum, protocol};

use super::{Addresses, Covered, SIGNATURE_BYTES, Signature, plain};

/// What the end of a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A signature, and all it covers is as it was sent.
    Sound(Sound),
    /// Not that: what stands where a signature would, at the end of the IP packet and at the end of
    /// the frame, should the length of the packet be what was corrupted.
    Unsound([Option<Signature>; 2]),
}

/// What a test frame says that is as it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sound {
    pub(crate) signature: Signature,
    /// Its flow: a hash of addresses, ports and protocol.
    pub(crate) flow: u64,
}

/// Reads a frame in memory, without FCS.
#[inline(always)]
pub(crate) fn read(frame: &[u8]) -> Reading {
    match plain::sound(frame) {
        Some(sound) => Reading::Sound(sound),
        None => read_any(frame),
    }
}

/// Reads any frame, also those that [`plain`] takes.
#[inline(never)]
pub(super) fn read_any(frame: &[u8]) -> Reading {
    let mut parsed = Parsed::default();
    wire::parse_into(frame, frame.len(), &mut parsed);
    match sound(frame, &parsed) {
        Some(sound) => Reading::Sound(sound),
        None => unsound(frame, &parsed),
    }
}

#[cold]
fn unsound(frame: &[u8], parsed: &Parsed) -> Reading {
    let last = |bytes: &[u8]| Some(Signature::decode(bytes.last_chunk()?).1);
    let packet = packet_end(frame, parsed).and_then(|end| last(&frame[..end]));
    Reading::Unsound([packet, last(frame)])
}

/// Where the IP packet ends, within the frame.
fn packet_end(frame: &[u8], parsed: &Parsed) -> Option<usize> {
    let end = usize::from(parsed.l3_offset) + parsed.l3_len as usize;
    (parsed.is_ip() && end <= frame.len()).then_some(end)
}

/// The signature of a frame in which everything agrees.
#[inline]
fn sound(frame: &[u8], parsed: &Parsed) -> Option<Sound> {
    if parsed.fault.is_some() || parsed.fragment != Fragment::Whole || parsed.l4_offset == 0 {
        return None;
    }
    let (l3, l4) = (usize::from(parsed.l3_offset), usize::from(parsed.l4_offset));
    let segment = frame.get(l4..packet_end(frame, parsed)?)?;
    let header_len = header_len(segment, parsed)?;
    let payload_end = segment.len().checked_sub(SIGNATURE_BYTES)?;
    let payload = segment.get(header_len..payload_end)?;
    let covered = covered(segment, parsed, payload)?;
    let zeros = payload.iter().fold(0, |all, byte| all | byte) == 0;
    let (check, signature) = Signature::decode(segment.last_chunk()?);
    if check != covered.check(&signature, zeros)
        && check != covered.check_link(&signature, zeros, &frame[..l4])
    {
        return None;
    }
    let header_sum = checksum::ones_complement(frame.get(l3..l4)?);
    let header_sound = parsed.family == Family::V6 || header_sum == 0xffff;
    let transport_sum = if zeros {
        sum_around(segment, header_len)
    } else {
        checksum::ones_complement(segment)
    };
    let sum = checksum::combine(pseudo(parsed, segment.len()), transport_sum);
    let flow = covered.flow();
    (header_sound && sum == 0xffff).then_some(Sound { signature, flow })
}

/// The sum of a segment with nothing but zeros between header and signature.
#[inline]
fn sum_around(segment: &[u8], header_len: usize) -> u16 {
    let at = segment.len() - SIGNATURE_BYTES;
    let header = checksum::ones_complement(&segment[..header_len]);
    let signature = checksum::ones_complement(&segment[at..]);
    if at.is_multiple_of(2) {
        checksum::combine(header, signature)
    } else {
        checksum::combine_odd(header, signature)
    }
}

/// Bytes of the transport header; `None` if it is none of a test frame.
#[inline]
fn header_len(segment: &[u8], parsed: &Parsed) -> Option<usize> {
    match parsed.protocol {
        // 0 as a checksum says that there is none, which we never do.
        protocol::UDP => {
            let len = usize::from(u16::from_be_bytes([*segment.get(4)?, *segment.get(5)?]));
            (len == segment.len() && segment.get(6..8)? != [0, 0]).then_some(8)
        }
        protocol::TCP => (segment.get(12)? >> 4 == 5).then_some(20),
        protocol::ICMP | protocol::ICMPV6 => Some(8),
        _ => None,
    }
}

#[inline]
fn covered<'a>(segment: &[u8], parsed: &Parsed, payload: &'a [u8]) -> Option<Covered<'a>> {
    let is_icmp = matches!(parsed.protocol, protocol::ICMP | protocol::ICMPV6);
    let (ports, kind) = if is_icmp {
        (segment.get(4..8)?, *segment.first()?)
    } else {
        (segment.get(..4)?, parsed.tcp_flags)
    };
    Some(Covered {
        addresses: match parsed.family {
            Family::V4 => Addresses::V4(parsed.src as u32, parsed.dst as u32),
            Family::V6 => Addresses::V6(parsed.src, parsed.dst),
            Family::None => return None,
        },
        ports: u32::from_be_bytes(ports.try_into().ok()?),
        protocol: parsed.protocol,
        kind,
        payload,
    })
}

/// The sum in front of a transport header: ICMP in IPv4 has none.
#[inline]
fn pseudo(parsed: &Parsed, len: usize) -> u16 {
    match (parsed.family, parsed.protocol) {
        (Family::V4, protocol::ICMP) => 0,
        (Family::V4, protocol) => {
            checksum::pseudo_v4(parsed.src as u32, parsed.dst as u32, protocol, len as u16)
        }
        (_, protocol) => checksum::pseudo_v6(parsed.src, parsed.dst, protocol, len as u32),
    }
}
