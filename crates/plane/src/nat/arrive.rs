//! What is known of a packet before its route is looked up.

use super::flow::{Hit, Origin};
use super::fragments::Addresses;
use super::tuple::{Read, Tuple};
use super::{Arrival, Nat, NatTable, tick};
use crate::DropReason;

/// A packet whose flow is to be looked up. A burst is read first, so that memory is on its way when
/// the first flow of it is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    read: Read,
    /// The place of its tuple in the index of flows.
    home: usize,
}

/// What NAT knows of a packet before its route is looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrived {
    /// Nothing: there is no NAT, or the packet is not of IPv4.
    Plain,
    /// It is of a flow.
    Flow(Of),
    /// It would begin one.
    New(New),
    /// It is a fragment of a packet, whose first one got these addresses where that is known.
    Piece(Option<Addresses>),
    /// It is of no flow that could be translated.
    Other(DropReason),
}

impl Arrived {
    /// Whether it is of a flow, or begins one by a rule for its destination: it is not for the
    /// router.
    pub(crate) fn is_redirected(&self) -> bool {
        match self {
            Self::Flow(_) => true,
            Self::New(new) => new.is_redirected(),
            Self::Piece(to) => to.is_some(),
            Self::Plain | Self::Other(_) => false,
        }
    }

    /// Where a packet goes; `None`: where it says.
    #[inline]
    pub(crate) fn destination(&self) -> Option<u32> {
        match self {
            Self::Flow(of) => Some(of.dst),
            Self::New(new) => Some(new.dst),
            Self::Piece(to) => to.map(|to| to.dst),
            Self::Plain | Self::Other(_) => None,
        }
    }

    /// Why nobody here takes it, where it was to be of a flow.
    pub(crate) fn refusal(&self) -> Option<DropReason> {
        match *self {
            Self::Plain => None,
            Self::Flow(_) | Self::New(_) => Some(DropReason::NatUnknown),
            Self::Piece(_) => Some(DropReason::NatFragment),
            Self::Other(reason) => Some(reason),
        }
    }

    /// Whether it is a fragment whose first one is not known.
    #[inline]
    pub(crate) fn is_unknown_piece(&self) -> bool {
        matches!(self, Self::Piece(None))
    }
}

/// A packet of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Of {
    pub(super) hit: Hit,
    /// Of the record when it was found: the flow may be over when the packet leaves.
    pub(super) life: u32,
    /// Where the packet goes.
    pub(super) dst: u32,
    /// It is an ICMP error about the other direction.
    pub(super) is_error: bool,
}

/// A packet that would begin a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    pub(super) tuple: Tuple,
    /// Where it goes.
    pub(super) dst: u32,
    pub(super) dst_port: u16,
    pub(super) origin: Origin,
    /// The mapping that it was sent to, or [`super::flow::NONE`].
    pub(super) mapping: u32,
}

impl Nat {
    /// Reads an IPv4 packet that came in, and begins to load where its flow is looked up.
    #[inline]
    pub(crate) fn ask(&self, packet: &[u8]) -> Asked {
        let read = Read::of(packet);
        let home = match &read {
            Read::Flow(key) | Read::Error(key) => self.flows.home(key),
            Read::Piece | Read::Other(_) => 0,
        };
        Asked { read, home }
    }

    /// Begins to load the flow of a packet.
    #[inline]
    pub(crate) fn prefetch(&self, asked: &Asked) {
        if matches!(asked.read, Read::Flow(_) | Read::Error(_)) {
            self.flows.prefetch(asked.home);
        }
    }

    /// What is known of an IPv4 packet that came in.
    pub(crate) fn arrive(&mut self, table: &NatTable, arrival: &Arrival, packet: &[u8]) -> Arrived {
        let asked = self.ask(packet);
        self.answer(table, arrival, &asked, packet)
    }

    /// The same, of a packet that was asked for.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        table: &NatTable,
        arrival: &Arrival,
        asked: &Asked,
        packet: &[u8],
    ) -> Arrived {
        let tick = tick(arrival.now);
        match asked.read {
            Read::Flow(key) => match self.find_from(asked.home, &key, table, tick) {
                Some(hit) => Arrived::Flow(self.of(hit, false)),
                None => Arrived::New(self.new_flow(table, arrival, &key)),
            },
            Read::Error(key) => match self.find_from(asked.home, &key, table, tick) {
                Some(hit) => Arrived::Flow(self.of(hit, true)),
                None => Arrived::Other(DropReason::NatUnrelated),
            },
            Read::Piece => Arrived::Piece(self.fragments.find(packet, tick)),
            Read::Other(reason) => Arrived::Other(reason),
        }
    }

    /// A packet of a flow that was found.
    #[inline]
    pub(super) fn of(&self, hit: Hit, is_error: bool) -> Of {
        let flow = self.flows.get(hit.flow);
        Of {
            hit,
            life: flow.life,
            dst: flow.key(!hit.is_reply).src,
            is_error,
        }
    }
}
