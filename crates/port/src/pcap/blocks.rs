//! Which blocks of a pcapng a reader cares for, and the frame in one that holds a frame.

use wire::capture::CaptureFault;
use wire::capture::pcapng::{self, BlockHead, InterfaceDescription, PacketRecord};

use super::interfaces::Interfaces;

/// Whether a block holds a frame.
pub(super) const fn is_packet(kind: u32) -> bool {
    matches!(
        kind,
        pcapng::ENHANCED_PACKET | pcapng::SIMPLE_PACKET | pcapng::OBSOLETE_PACKET
    )
}

/// Whether a block holds no frame and has a number among frames all the same, as Wireshark numbers
/// them: an entry of the systemd journal, a custom block, events of sysdig and Falco.
pub(super) const fn is_numbered(kind: u32) -> bool {
    matches!(
        kind,
        9 | 0x0bad | 0x4000_0bad | 0x204 | 0x208 | 0x216 | 0x221 | 0x222 | 0x223
    )
}

/// Whether a block is read at all; others are passed over.
pub(super) const fn matters(kind: u32) -> bool {
    is_packet(kind) || matches!(kind, pcapng::SECTION_HEADER | pcapng::INTERFACE_DESCRIPTION)
}

/// The frame of a packet block, and the interface it was captured on.
#[inline]
pub(super) fn parse_packet<'a, 'b>(
    body: &'a [u8],
    head: BlockHead,
    interfaces: &'b Interfaces,
) -> Result<(PacketRecord<'a>, &'b InterfaceDescription), CaptureFault> {
    let packet = match head.kind {
        pcapng::ENHANCED_PACKET => pcapng::parse_enhanced(body, head.order)?,
        pcapng::OBSOLETE_PACKET => pcapng::parse_obsolete(body, head.order)?,
        _ => pcapng::parse_simple(body, head.order, interfaces.get(0)?.snaplen)?,
    };
    Ok((packet, interfaces.get(packet.interface)?))
}
