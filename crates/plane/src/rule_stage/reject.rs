//! Answers to packets that a rule rejects: the frame becomes its own answer, and leaves by the port
//! that it came in by.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::IpAddr;

use frame::{Burst, Frame, Nanos, PortId};
use stack::Limiter;
use stack::icmp::{REPORT_BYTES_MAX, Report, may_be_reported, write_report};
use wire::emit::{Ipv4, Ipv6, Network, Recipe, Tcp, Transport};
use wire::view::TcpView;
use wire::{Family, Fragment, Parsed, protocol};

use crate::{Rejection, Verdict, Verdicts};

/// Answers a second of one worker; a tenth of it to one source.
const PER_SECOND: u32 = 1000;
/// An Ethernet header without tags.
const LINK_BYTES: usize = 14;
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// What a worker has to answer of the burst, and how much it may.
#[derive(Debug)]
pub(super) struct Rejected {
    /// Places in the burst, with what is said.
    places: Vec<(usize, Rejection, Parsed)>,
    limiter: Limiter,
    /// The packet before the frame is written over.
    about: Box<[u8; REPORT_BYTES_MAX]>,
}

impl Rejected {
    pub(super) fn new() -> Self {
        let random = RandomState::new();
        let key = [random.hash_one(0), random.hash_one(1)];
        Self {
            places: Vec::with_capacity(frame::BURST_MAX),
            limiter: Limiter::new(PER_SECOND, key),
            about: Box::new([0; REPORT_BYTES_MAX]),
        }
    }

    pub(super) fn begin(&mut self) {
        self.places.clear();
    }

    #[inline]
    pub(super) fn add(&mut self, place: usize, with: Rejection, parsed: &Parsed) {
        self.places.push((place, with, *parsed));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Makes answers of the frames that were rejected. One that gets none stays dropped.
    pub(super) fn answer(
        &mut self,
        (burst, from): (&mut Burst, PortId),
        verdicts: &mut Verdicts,
        now: Nanos,
    ) {
        let places = std::mem::take(&mut self.places);
        for (place, with, parsed) in &places {
            let Some(frame) = burst.frames_mut().get_mut(*place) else {
                continue;
            };
            let dropped = matches!(verdicts.as_slice().get(*place), Some(Verdict::Drop(_)));
            if dropped && self.turn(frame, *with, parsed, now) {
                verdicts.set(*place, Verdict::Forward(from));
            }
        }
        self.places = places;
        self.places.clear();
    }

    /// Writes the answer over the frame, if there may be one.
    fn turn(&mut self, frame: &mut Frame, with: Rejection, parsed: &Parsed, now: Nanos) -> bool {
        let l3 = usize::from(parsed.l3_offset);
        let Some((link, packet)) = frame.bytes().split_at_checked(l3) else {
            return false;
        };
        let Some([first, ..]) = link.first_chunk::<LINK_BYTES>() else {
            return false;
        };
        let is_group = first & 1 != 0;
        let (Some(src), Some(dst)) = (parsed.src_ip(), parsed.dst_ip()) else {
            return false;
        };
        let report = match with {
            Rejection::TcpReset => Report::PortUnreachable,
            Rejection::Icmp(report) => report,
        };
        let is_later = parsed.fragment == Fragment::Later;
        if is_group || is_later || !may_be_reported(report, packet) {
            return false;
        }
        let mut out = [0; REPORT_BYTES_MAX];
        let written = match (with, parsed.protocol) {
            (Rejection::TcpReset, protocol::TCP) => reset(packet, l3, parsed, &mut out),
            _ if is_reset(packet, l3, parsed) => None,
            _ => write_report(report, dst, trimmed(packet), &mut out).ok(),
        };
        let Some(written) = written.filter(|&written| written > LINK_BYTES) else {
            return false;
        };
        self.limiter.take(src, now) && self.replace(frame, l3, &out[LINK_BYTES..written])
    }

    /// Gives the frame another packet, and sends it back: tags stay.
    fn replace(&mut self, frame: &mut Frame, l3: usize, packet: &[u8]) -> bool {
        let len = l3 + packet.len();
        let Some(room) = self.about.get_mut(..len) else {
            return false;
        };
        room[..l3].copy_from_slice(&frame.bytes()[..l3]);
        let (to, from) = room[..12].split_at_mut(6);
        to.swap_with_slice(from);
        room[l3..].copy_from_slice(packet);
        if frame.copy_from(room).is_err() {
            return false;
        }
        frame.meta_mut().original_len = len as u32;
        true
    }
}

/// The packet without what stands behind its end.
fn trimmed(packet: &[u8]) -> &[u8] {
    let length = |at: usize| {
        let bytes = packet.get(at..at + 2)?;
        Some(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    };
    let end = match packet.first().map(|first| first >> 4) {
        Some(4) => length(2),
        _ => length(4).map(|payload| payload + 40),
    };
    end.and_then(|end| packet.get(..end)).unwrap_or(packet)
}

/// The segment of a packet that has one.
fn segment<'p>(packet: &'p [u8], l3: usize, parsed: &Parsed) -> Option<&'p [u8]> {
    let at = usize::from(parsed.l4_offset).checked_sub(l3)?;
    (parsed.protocol == protocol::TCP).then(|| trimmed(packet).get(at..))?
}

fn is_reset(packet: &[u8], l3: usize, parsed: &Parsed) -> bool {
    let flags = segment(packet, l3, parsed).and_then(|segment| segment.get(13).copied());
    parsed.protocol == protocol::TCP && flags.is_none_or(|flags| flags & RST != 0)
}

/// Writes the reset that answers a segment (RFC 9293 section 3.10.7.1); none to a reset.
fn reset(packet: &[u8], l3: usize, parsed: &Parsed, out: &mut [u8]) -> Option<usize> {
    let segment = segment(packet, l3, parsed)?;
    let view = TcpView::new_checked(segment).ok()?;
    let flags = view.flags();
    if flags & RST != 0 {
        return None;
    }
    let taken =
        view.payload().len() as u32 + u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0);
    let (sequence, acknowledgment, flags) = match flags & ACK != 0 {
        true => (view.acknowledgment(), 0, RST),
        false => (0, view.sequence().wrapping_add(taken), RST | ACK),
    };
    let answer = Transport::Tcp(Tcp {
        src_port: view.dst_port(),
        dst_port: view.src_port(),
        sequence,
        acknowledgment,
        flags,
        window: 0,
        options: &[],
    });
    let network = match (parsed.family, parsed.src_ip()?, parsed.dst_ip()?) {
        (Family::V4, IpAddr::V4(src), IpAddr::V4(dst)) => {
            let header = Ipv4 {
                src: dst.to_bits(),
                dst: src.to_bits(),
                ..Ipv4::default()
            };
            Network::Ipv4(header, answer)
        }
        (_, IpAddr::V6(src), IpAddr::V6(dst)) => {
            let header = Ipv6 {
                src: dst.to_bits(),
                dst: src.to_bits(),
                ..Ipv6::default()
            };
            Network::Ipv6(header, answer)
        }
        _ => return None,
    };
    let recipe = Recipe {
        network,
        ..Recipe::default()
    };
    recipe.emit(out).ok()
}
