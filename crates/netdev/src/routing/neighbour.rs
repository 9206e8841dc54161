//! Neighbours (`struct ndmsg`, `linux/neighbour.h`).

use std::net::IpAddr;

use wire::MacAddress;

use super::attributes::{INET, INET6, address_of, attributes, byte, mac, number, short, word};
use super::fault::Reason;

/// Bytes of `struct ndmsg`.
pub(super) const INFO_BYTES: usize = 12;
pub(super) const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
pub(super) const NDA_FLAGS_EXT: u16 = 15;
const NTF_PROXY: u8 = 0x08;
pub(super) const NTF_EXT_MANAGED: u32 = 1;

/// Which neighbour on which link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NeighbourKey {
    /// The number of the link.
    pub link: u32,
    /// Its IP address.
    pub address: IpAddr,
}

/// A neighbour, as the kernel knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Which it is.
    pub key: NeighbourKey,
    /// Its Ethernet address, where that is known.
    pub mac: Option<MacAddress>,
    /// What the kernel thinks of it.
    pub state: NeighbourState,
    /// The kernel asks for it again and again by itself, so that it is never stale for long
    /// (`NTF_EXT_MANAGED`, since Linux 5.16).
    pub is_managed: bool,
}

/// What the kernel thinks of a neighbour (RFC 4861, section 7.3.2, and two more).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeighbourState {
    /// It was asked for and has not answered.
    Incomplete,
    /// It was there a moment ago.
    Reachable,
    /// It was there, and nobody has sent to it since.
    Stale,
    /// Somebody sent to it, and it will be asked soon.
    Delay,
    /// It is asked whether it is still there.
    Probe,
    /// It did not answer.
    Failed,
    /// Link layers without neighbours, and multicast.
    NoArp,
    /// An administrator set it.
    Permanent,
}

impl NeighbourState {
    fn of(bits: u16) -> Option<Self> {
        Some(match bits & 0xFF {
            0x01 => Self::Incomplete,
            0x02 => Self::Reachable,
            0x04 => Self::Stale,
            0x08 => Self::Delay,
            0x10 => Self::Probe,
            0x20 => Self::Failed,
            0x40 => Self::NoArp,
            0x80 => Self::Permanent,
            _ => return None,
        })
    }

    /// Frames can be sent to its Ethernet address.
    #[must_use]
    pub fn is_valid(self) -> bool {
        !matches!(self, Self::Incomplete | Self::Failed)
    }
}

/// What a message says of a neighbour.
pub(super) enum Report {
    Known(Neighbour),
    /// The kernel has begun to know it, and nothing of it yet.
    Unknown(NeighbourKey),
}

/// From a message; `None` for forwarding entries of bridges and for proxies.
pub(super) fn read(body: &[u8]) -> Result<Option<Report>, Reason> {
    let family = byte(body, 0)?;
    let state = short(body.get(8..10).ok_or(Reason::Truncated)?)?;
    let flags = byte(body, 10)?;
    if (family != INET && family != INET6) || flags & NTF_PROXY != 0 {
        return Ok(None);
    }
    let (mut address, mut known, mut flags_more) = (None, None, 0);
    for attribute in attributes(body, INFO_BYTES)? {
        match attribute? {
            (NDA_DST, value) => address = Some(address_of(family, value)?),
            (NDA_LLADDR, value) => known = mac(value),
            (NDA_FLAGS_EXT, value) => flags_more = number(value)?,
            _ => {}
        }
    }
    let key = NeighbourKey {
        link: word(body, 4)?,
        address: address.ok_or(Reason::Anonymous)?,
    };
    Ok(Some(match NeighbourState::of(state) {
        None => Report::Unknown(key),
        Some(state) => Report::Known(Neighbour {
            key,
            mac: known.filter(|_| state.is_valid()),
            state,
            is_managed: flags_more & NTF_EXT_MANAGED != 0,
        }),
    }))
}
