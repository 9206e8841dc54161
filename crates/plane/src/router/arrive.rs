//! By which interface a frame came, and where its packet begins.

use frame::PortId;
use wire::{Malformed, Tag, ether_type};

use super::{InterfaceId, InterfaceTags, RouterTable};
use crate::DropReason;

const ADDRESSES: usize = Tag::OFFSET;
const TAG: usize = Tag::BYTES;
const PLAIN: usize = 14;
/// The bits of a tag that number the VLAN.
const VID: u16 = 0x0FFF;

/// What the link header says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) interface: InterfaceId,
    /// Where the packet begins.
    pub(super) l3: usize,
    pub(super) ether_type: u16,
    /// The frame is for more stations than one.
    pub(super) to_group: bool,
}

impl RouterTable {
    /// Reads the link header of a frame that came in by a port.
    #[inline]
    pub(super) fn arrive(&self, port: PortId, bytes: &[u8]) -> Result<Arrival, DropReason> {
        let (tags, l3, ether_type) = read(bytes)?;
        let interface = self
            .interface_of(port, tags)
            .ok_or(DropReason::NoInterface)?;
        let to_group = bytes[0] & 1 != 0;
        if !to_group && bytes[..6] != self.link(interface).mac.0 {
            return Err(DropReason::OtherStation);
        }
        Ok(Arrival {
            interface,
            l3,
            ether_type,
            to_group,
        })
    }
}

/// The tags, where the packet begins, and its type.
#[inline]
fn read(bytes: &[u8]) -> Result<(InterfaceTags, usize, u16), DropReason> {
    if bytes.len() < PLAIN {
        return Err(DropReason::Malformed(Malformed::EthernetTruncated));
    }
    match word(bytes, ADDRESSES)? {
        ether_type::VLAN => one_tag(bytes),
        ether_type::VLAN_SERVICE => two_tags(bytes),
        kind => Ok((InterfaceTags::None, PLAIN, kind)),
    }
}

fn one_tag(bytes: &[u8]) -> Result<(InterfaceTags, usize, u16), DropReason> {
    let vlan = word(bytes, ADDRESSES + 2)? & VID;
    let kind = word(bytes, ADDRESSES + TAG)?;
    // VLAN 0 names a priority alone.
    let tags = match vlan {
        0 => InterfaceTags::None,
        vlan => InterfaceTags::Vlan(vlan),
    };
    behind_tags(tags, PLAIN + TAG, kind)
}

fn two_tags(bytes: &[u8]) -> Result<(InterfaceTags, usize, u16), DropReason> {
    let outer = word(bytes, ADDRESSES + 2)? & VID;
    if word(bytes, ADDRESSES + TAG)? != ether_type::VLAN {
        return Err(DropReason::NoInterface);
    }
    let inner = word(bytes, ADDRESSES + TAG + 2)? & VID;
    let kind = word(bytes, ADDRESSES + 2 * TAG)?;
    let tags = InterfaceTags::Double { outer, inner };
    behind_tags(tags, PLAIN + 2 * TAG, kind)
}

/// What follows the tags, which is not one more.
fn behind_tags(
    tags: InterfaceTags,
    l3: usize,
    kind: u16,
) -> Result<(InterfaceTags, usize, u16), DropReason> {
    match ether_type::is_vlan(kind) {
        true => Err(DropReason::NoInterface),
        false => Ok((tags, l3, kind)),
    }
}

#[inline]
fn word(bytes: &[u8], at: usize) -> Result<u16, DropReason> {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found
        .map(|&word| u16::from_be_bytes(word))
        .ok_or(DropReason::Malformed(Malformed::VlanTagTruncated))
}
