//! Messages of route netlink: what each says, and requests.

use netlink_packet_core::{NLM_F_APPEND, NLM_F_DUMP, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkBuffer};

use super::address::{Address, AddressKey};
use super::fault::{Fault, Reason};
use super::link::{self, Link};
use super::neighbour::{self, Neighbour, NeighbourKey, Report};
use super::next_hop::{self, NextHop};
use super::route_message::{self, Placed};

const NEW_LINK: u16 = 16;
const DELETED_LINK: u16 = 17;
const GET_LINK: u16 = 18;
const NEW_ADDRESS: u16 = 20;
const DELETED_ADDRESS: u16 = 21;
const GET_ADDRESS: u16 = 22;
const NEW_ROUTE: u16 = 24;
const DELETED_ROUTE: u16 = 25;
const GET_ROUTE: u16 = 26;
pub(super) const NEW_NEIGHBOUR: u16 = 28;
const DELETED_NEIGHBOUR: u16 = 29;
const GET_NEIGHBOUR: u16 = 30;
const NEW_NEXT_HOP: u16 = 104;
const DELETED_NEXT_HOP: u16 = 105;
const GET_NEXT_HOP: u16 = 106;

/// Bytes of `struct nlmsghdr`.
const HEADER_BYTES: usize = 16;

/// What a message says has become so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Update {
    Link(Link),
    LinkGone(u32),
    Address(Address),
    AddressGone(AddressKey),
    NextHop(u32, NextHop),
    NextHopGone(u32),
    Route(Placed, Standing),
    RouteGone(Placed),
    Neighbour(Neighbour),
    NeighbourGone(NeighbourKey),
}

impl Update {
    /// The listing that it belongs to.
    pub(super) fn listing(&self) -> Listing {
        match self {
            Self::Link(_) | Self::LinkGone(_) => Listing::Links,
            Self::Address(_) | Self::AddressGone(_) => Listing::Addresses,
            Self::NextHop(..) | Self::NextHopGone(_) => Listing::NextHops,
            Self::Route(..) | Self::RouteGone(_) => Listing::Routes,
            Self::Neighbour(_) | Self::NeighbourGone(_) => Listing::Neighbours,
        }
    }
}

/// Where a route stands among those of the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Before all others, or wherever the family puts it.
    First,
    /// Behind all others.
    Last,
    /// In place of one.
    Instead,
    /// As a dump lists it: behind those before, and whole.
    Listed,
}

/// What is there to be listed, in the order in which it is asked for: links first, since the
/// kernel answers that when a change of a link has had all its effects, and routes behind the
/// next-hop objects that they go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    Links,
    Addresses,
    NextHops,
    Routes,
    Neighbours,
}

impl Listing {
    pub(super) const ALL: [Self; 5] = [
        Self::Links,
        Self::Addresses,
        Self::NextHops,
        Self::Routes,
        Self::Neighbours,
    ];

    /// The type of the message that asks for it.
    pub(super) fn kind(self) -> u16 {
        match self {
            Self::Links => GET_LINK,
            Self::Addresses => GET_ADDRESS,
            Self::NextHops => GET_NEXT_HOP,
            Self::Routes => GET_ROUTE,
            Self::Neighbours => GET_NEIGHBOUR,
        }
    }

    /// The message that asks for it, for all families.
    pub(super) fn request(self, sequence: u32) -> Vec<u8> {
        let fixed = match self {
            Self::Links => 16,
            Self::Addresses | Self::NextHops => 8,
            Self::Routes | Self::Neighbours => 12,
        };
        request(self.kind(), NLM_F_DUMP, sequence, &vec![0; fixed])
    }
}

/// A message to the kernel.
pub(super) fn request(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_BYTES + body.len()];
    let length = bytes.len() as u32;
    let mut message = NetlinkBuffer::new(&mut bytes[..]);
    message.set_length(length);
    message.set_message_type(kind);
    message.set_flags(NLM_F_REQUEST | flags);
    message.set_sequence_number(sequence);
    bytes[HEADER_BYTES..].copy_from_slice(body);
    bytes
}

/// Adds an attribute to a message's body.
pub(super) fn push_attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = (4 + value.len()) as u16;
    body.extend(length.to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// The messages of a datagram, up to one that cannot be told from what is behind it.
pub(super) struct Messages<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = Result<NetlinkBuffer<&'a [u8]>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Ok(message) = NetlinkBuffer::new_checked(self.0) else {
            self.0 = &[];
            return Some(Err(Fault {
                message: 0,
                reason: Reason::Truncated,
            }));
        };
        let length = message.length() as usize;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Ok(message))
    }
}

/// What a message says; `None` where that is nothing which is mirrored.
pub(super) fn read(message: &NetlinkBuffer<&[u8]>) -> Result<Option<Update>, Fault> {
    let kind = message.message_type();
    read_body(kind, message.flags(), message.payload()).map_err(|reason| Fault {
        message: kind,
        reason,
    })
}

fn read_body(kind: u16, flags: u16, body: &[u8]) -> Result<Option<Update>, Reason> {
    Ok(match kind {
        NEW_LINK => Link::read(body)?.map(Update::Link),
        DELETED_LINK => link::index(body)?.map(Update::LinkGone),
        NEW_ADDRESS => Address::read(body)?.map(Update::Address),
        DELETED_ADDRESS => Address::read(body)?.map(|gone| Update::AddressGone(gone.key)),
        NEW_NEXT_HOP => next_hop::read(body)?.map(|(id, hop)| Update::NextHop(id, hop)),
        DELETED_NEXT_HOP => Some(Update::NextHopGone(next_hop::id(body)?)),
        NEW_ROUTE => {
            let placed = route_message::read(body)?;
            placed.map(|placed| Update::Route(placed, Standing::of(flags)))
        }
        DELETED_ROUTE => route_message::read(body)?.map(Update::RouteGone),
        NEW_NEIGHBOUR => neighbour::read(body)?.map(|report| match report {
            Report::Known(neighbour) => Update::Neighbour(neighbour),
            Report::Unknown(key) => Update::NeighbourGone(key),
        }),
        DELETED_NEIGHBOUR => neighbour::read(body)?.map(|report| match report {
            Report::Known(Neighbour { key, .. }) | Report::Unknown(key) => {
                Update::NeighbourGone(key)
            }
        }),
        _ => None,
    })
}

impl Standing {
    fn of(flags: u16) -> Self {
        if flags & NLM_F_REPLACE != 0 {
            Self::Instead
        } else if flags & NLM_F_APPEND != 0 {
            Self::Last
        } else {
            Self::First
        }
    }
}
