//! Whether a switch takes a frame in, and of which VLAN it is.

use frame::PortId;
use wire::Malformed;

use super::config::{Accept, Mac, SwitchPort, VLAN_MAX};
use super::vlan_table::SwitchTable;
use crate::DropReason;

/// Bytes of two addresses and a type.
const HEADER: usize = 14;
/// Bytes of a header with one tag.
const TAGGED: usize = 18;
/// The bits of a tag that number the VLAN.
const VID: u16 = 0xFFF;
/// A group of addresses that bridges keep to themselves, but for the last four bits.
const RESERVED: Mac = [0x01, 0x80, 0xC2, 0, 0, 0];

/// What a frame that is taken in says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Its VLAN; 0 in modes without VLANs.
    pub vlan: u16,
    /// Its tag (TCI), where the port knows one: it is taken off, or written anew.
    pub tag: Option<u16>,
    /// Where it goes.
    pub destination: Mac,
    /// Where it comes from.
    pub source: Mac,
}

impl Admitted {
    /// Whether it goes to a group of stations, or all of them.
    #[must_use]
    #[inline]
    pub fn is_to_group(&self) -> bool {
        self.destination[0] & 1 != 0
    }
}

impl SwitchTable {
    /// Reads the header of a frame that comes in by `from`.
    ///
    /// # Errors
    ///
    /// The reason why the frame is dropped.
    #[inline]
    pub fn admit(&self, from: PortId, bytes: &[u8]) -> Result<Admitted, DropReason> {
        let Some(([destination, source], kind)) = addresses(bytes) else {
            return Err(DropReason::Malformed(Malformed::EthernetTruncated));
        };
        if source[0] & 1 != 0 || source == [0; 6] {
            return Err(DropReason::BadSource);
        }
        if is_reserved(&destination) && !self.config().forward_reserved {
            return Err(DropReason::ReservedAddress);
        }
        let admitted = |vlan, tag| Admitted {
            vlan,
            tag,
            destination,
            source,
        };
        match self.port(from) {
            Some(port) if self.has_vlans() => {
                let tag = tag_of(port, kind, bytes)?;
                let vlan = self.vlan_of(from, port, tag)?;
                Ok(admitted(vlan, tag))
            }
            _ => Ok(admitted(0, None)),
        }
    }

    /// The VLAN of a frame with this tag, if the port takes it in.
    #[inline]
    fn vlan_of(
        &self,
        from: PortId,
        port: &SwitchPort,
        tag: Option<u16>,
    ) -> Result<u16, DropReason> {
        let named = tag.map_or(0, |tag| tag & VID);
        if named > VLAN_MAX {
            return Err(DropReason::VlanReserved);
        }
        match port.accept {
            Accept::Tagged if named == 0 => return Err(DropReason::FrameType),
            Accept::Untagged if named != 0 => return Err(DropReason::FrameType),
            _ => {}
        }
        let vlan = match named {
            0 => port.pvid.ok_or(DropReason::NoVlan)?,
            named => named,
        };
        let members = self.members(vlan).ok_or(DropReason::VlanUnknown)?;
        if port.ingress_filter && !members.all.contains(from) {
            return Err(DropReason::NotMember);
        }
        Ok(vlan)
    }
}

/// Destination, source and type of a frame that has them.
#[inline]
fn addresses(bytes: &[u8]) -> Option<([Mac; 2], u16)> {
    let (header, _) = bytes.split_first_chunk::<HEADER>()?;
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = *header;
    let kind = u16::from_be_bytes([m, n]);
    Some(([[a, b, c, d, e, f], [g, h, i, j, k, l]], kind))
}

/// The tag of a frame, if it has one of the kind that the port knows.
#[inline]
fn tag_of(port: &SwitchPort, kind: u16, bytes: &[u8]) -> Result<Option<u16>, DropReason> {
    if port.tunnel || kind != port.tpid {
        return Ok(None);
    }
    match bytes.get(HEADER..TAGGED) {
        Some(&[high, low, ..]) => Ok(Some(u16::from_be_bytes([high, low]))),
        _ => Err(DropReason::Malformed(Malformed::VlanTagTruncated)),
    }
}

#[inline]
fn is_reserved(destination: &Mac) -> bool {
    let [.., last] = *destination;
    destination[..5] == RESERVED[..5] && last < 0x10
}
