//! What passes by a key beside a packet's own: the other pieces of a packet, and the answers of
//! many to one that asked a group.
//!
//! Who answers, and from which port, is not known when somebody asks (SSDP, WS-Discovery): the key
//! has the address and port of who asked, and in place of the other end nobody's address.

use table::Address;
use wire::{Family, FlowKey, Fragment, Parsed, protocol};

use super::{Beside, Judged, Known, SECOND_PORT, sighting};
use crate::DropReason;

/// The port in keys of answers: those of pieces have none there in IPv4.
const ANYBODY: u16 = 1;

/// The key of what a packet asks of many, or of what it may answer. `may_begin`: it comes from a
/// side where somebody may ask.
pub(super) fn asked(parsed: &Parsed, may_begin: bool) -> Option<(Beside, FlowKey)> {
    let is_udp = parsed.protocol == protocol::UDP && parsed.readable.ports();
    if !is_udp || parsed.fragment != Fragment::Whole {
        return None;
    }
    let (beside, address, port) = match (may_begin, goes_to_many(parsed)) {
        (true, true) => (Beside::Asks, parsed.src, parsed.src_port),
        (false, false) => (Beside::Answers, parsed.dst, parsed.dst_port),
        _ => return None,
    };
    let key = FlowKey {
        src: address,
        dst: 0,
        src_port: port,
        dst_port: ANYBODY,
        // As of pieces: of no flow.
        protocol: protocol::FRAGMENT,
        family: parsed.family,
    };
    Some((beside, key))
}

/// To a group, or to all of an IPv4 link.
fn goes_to_many(parsed: &Parsed) -> bool {
    match parsed.family {
        Family::V4 => parsed.dst >> 28 == 0xE || parsed.dst == u128::from(u32::MAX),
        Family::V6 => parsed.dst >> 120 == 0xFF,
        Family::None => false,
    }
}

impl<A: Address> Known<A> {
    /// Lets what a packet expects pass: its other pieces, or the answers of all.
    pub(super) fn expect(&mut self, at: usize, on: &Judged<'_>) -> Result<(), DropReason> {
        let (sighting, packet) = (sighting(&self.beside[at], on.hash), self.packets[at]);
        let flow = self.begin(&sighting, on)?;
        if packet.beside == Beside::Asks {
            flow.state = on.arrival as u8 * SECOND_PORT;
            flow.count(sighting.from, packet.bytes, on.now);
            flow.set_timeout(on.config.timeouts.udp_ticks());
        } else {
            flow.set_timeout(on.config.timeouts.pieces_ticks());
        }
        Ok(())
    }

    /// Whether somebody of the other side asked many, from where this packet goes.
    pub(super) fn was_asked(&mut self, at: usize, on: &Judged<'_>) -> bool {
        let mut place = [None];
        let sighting = sighting(&self.beside[at], on.hash);
        self.table.locate(&[sighting], &mut place);
        let flow = place[0].and_then(|place| self.table.flow_mut(place));
        flow.is_some_and(|flow| {
            let asked_at = usize::from(flow.state & SECOND_PORT != 0);
            !flow.is_over(on.now) && asked_at != on.arrival
        })
    }
}
