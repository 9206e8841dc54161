//! Whether a switch takes a frame in, and of which VLAN it is.

use frame::PortId;
use wire::view::EthernetView;
use wire::{MacAddress, Tag};

use super::config::{Accept, Mac, SwitchPort, VLAN_MAX};
use super::vlan_table::SwitchTable;
use crate::DropReason;

/// What a frame that is taken in says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Its VLAN; 0 in modes without VLANs.
    pub vlan: u16,
    /// Its tag, where the port knows one: it is taken off, or written anew.
    pub tag: Option<Tag>,
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
        let header = EthernetView::new_checked(bytes).map_err(DropReason::Malformed)?;
        let (destination, source) = (header.dst(), header.src());
        if source.is_multicast() || source.0 == [0; 6] {
            return Err(DropReason::BadSource);
        }
        let admitted = |vlan, tag| Admitted {
            vlan,
            tag,
            destination: destination.0,
            source: source.0,
        };
        match self.port(from) {
            Some(port) if self.has_vlans() => {
                let tag = match port.tunnel {
                    true => None,
                    false => Tag::outermost(bytes, port.tpid).map_err(DropReason::Malformed)?,
                };
                let vlan = self.vlan_of(from, port, tag)?;
                Ok(admitted(vlan, tag))
            }
            _ => Ok(admitted(0, None)),
        }
    }

    /// Whether a frame teaches where its source is, but leaves by no port: its destination is for
    /// the next bridge alone. Rules of ingress come before (IEEE 802.1Q-2022, 8.6.1 to 8.6.3).
    #[must_use]
    #[inline]
    pub fn keeps(&self, admitted: &Admitted) -> bool {
        let destination = MacAddress(admitted.destination);
        destination.is_bridge_reserved() && !self.config().forward_reserved
    }

    /// The VLAN of a frame with this tag, if the port takes it in.
    #[inline]
    fn vlan_of(
        &self,
        from: PortId,
        port: &SwitchPort,
        tag: Option<Tag>,
    ) -> Result<u16, DropReason> {
        let named = tag.map_or(0, Tag::id);
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
