//! The link header of an interface's frames.

use frame::{Frame, PortId};
use wire::{MacAddress, Tag, ether_type};

use super::{InterfaceTags, RouterInterface, VrfId};
use crate::original_len;

/// Bytes of two addresses and a type.
const PLAIN: usize = 14;
const TAG: usize = Tag::BYTES;
const TAGS_MAX: usize = 2;
/// The shortest frame, without FCS.
const FRAME_BYTES_MIN: usize = 60;

/// What frames of an interface have in front of their packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) port: PortId,
    pub(super) mac: MacAddress,
    pub(super) mtu: usize,
    pub(super) vrf: VrfId,
    tags: [Tag; TAGS_MAX],
    tags_len: usize,
}

impl Link {
    pub(super) fn of(interface: &RouterInterface) -> Self {
        let (tags, tags_len) = match interface.tags {
            InterfaceTags::None => ([Tag::vlan(0); TAGS_MAX], 0),
            InterfaceTags::Vlan(vlan) => ([Tag::vlan(vlan); TAGS_MAX], 1),
            InterfaceTags::Double { outer, inner } => ([Tag::service(outer), Tag::vlan(inner)], 2),
        };
        Self {
            port: interface.port,
            mac: interface.mac,
            mtu: interface.mtu.into(),
            vrf: interface.vrf,
            tags,
            tags_len,
        }
    }

    /// The tags, outermost first.
    pub(super) fn tags(&self) -> &[Tag] {
        &self.tags[..self.tags_len]
    }

    /// Bytes of the header.
    #[inline]
    pub(super) fn header_len(&self) -> usize {
        PLAIN + TAG * self.tags_len
    }

    /// Puts this link's header in front of the packet that begins at `l3` of a frame, to the
    /// station `to`. False where the chunk has no room for it: then the frame is not to be used.
    #[inline]
    pub(super) fn put_on(&self, frame: &mut Frame, l3: usize, to: MacAddress) -> bool {
        let len = self.header_len();
        if !move_start(frame, l3, len) {
            return false;
        }
        correct_length(frame, l3, len);
        let is_v6 = frame.bytes().get(len).is_some_and(|first| first >> 4 == 6);
        let kind = if is_v6 {
            ether_type::IPV6
        } else {
            ether_type::IPV4
        };
        let header = &mut frame.bytes_mut()[..len];
        header[..6].copy_from_slice(&to.0);
        header[6..12].copy_from_slice(&self.mac.0);
        for (place, tag) in header[12..].chunks_exact_mut(TAG).zip(self.tags()) {
            place.copy_from_slice(&tag.to_bytes());
        }
        header[len - 2..].copy_from_slice(&kind.to_be_bytes());
        pad(frame);
        true
    }

    /// Names another station in a header that [`Link::put_on`] wrote.
    pub(super) fn readdress(frame: &mut Frame, to: MacAddress) {
        if let Some(place) = frame.bytes_mut().first_chunk_mut::<6>() {
            *place = to.0;
        }
    }
}

/// What a capture cut off is as long as before.
#[inline]
fn correct_length(frame: &mut Frame, from: usize, to: usize) {
    let Some(length) = frame.meta().map(|meta| meta.original_len) else {
        return;
    };
    if length != 0 {
        frame.meta_mut().original_len = (length as usize + to).saturating_sub(from) as u32;
    }
}

/// Makes the `from` bytes in front of a packet `to` bytes.
#[inline]
fn move_start(frame: &mut Frame, from: usize, to: usize) -> bool {
    if from >= to {
        return frame.trim_front(from - to).is_ok();
    }
    let more = to - from;
    if frame.extend_front(more).is_ok() {
        return true;
    }
    let len = frame.len();
    if frame.set_len(len + more).is_err() {
        return false;
    }
    frame.bytes_mut().copy_within(from..len, to);
    true
}

/// Zeros follow a packet that is shorter than the shortest frame, unless a capture cut it.
#[inline]
fn pad(frame: &mut Frame) {
    let len = frame.len();
    if len < FRAME_BYTES_MIN && original_len(frame) == len && frame.set_len(FRAME_BYTES_MIN).is_ok()
    {
        frame.bytes_mut()[len..].fill(0);
    }
}
