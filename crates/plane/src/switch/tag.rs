//! How a frame's tag changes between the port that it came in by and the one it leaves by.

use frame::{Frame, PortId};

use super::Admitted;
use super::vlan_table::SwitchTable;

/// Bytes of the two addresses, which the tag follows.
const ADDRESSES: usize = 12;
/// Bytes of a tag.
const TAG: usize = 4;
/// The bits of a tag that give the priority: PCP and DEI.
const PRIORITY: u16 = 0xF000;
/// Where the PCP begins.
const PCP_SHIFT: u16 = 13;

/// What becomes of the outermost tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retag {
    /// The frame has a tag, which goes.
    off: bool,
    /// The tag that it leaves with.
    on: Option<[u8; TAG]>,
}

impl SwitchTable {
    /// What becomes of the tag of a frame that leaves by `to`.
    #[inline]
    pub(super) fn retag(&self, from: PortId, admitted: &Admitted, to: PortId) -> Retag {
        let off = admitted.tag.is_some();
        let members = self.members(admitted.vlan);
        if !members.is_some_and(|members| members.tagged.contains(to)) {
            return Retag { off, on: None };
        }
        let priority = |from| self.port(from).map_or(0, |port| u16::from(port.priority));
        let bits = admitted.tag.unwrap_or_else(|| priority(from) << PCP_SHIFT) & PRIORITY;
        let [a, b] = self.port(to).map_or(0, |port| port.tpid).to_be_bytes();
        let [c, d] = (bits | admitted.vlan).to_be_bytes();
        Retag {
            off,
            on: Some([a, b, c, d]),
        }
    }
}

impl Retag {
    /// Changes the frame; false when it has no room for a tag: then it is as before.
    #[inline]
    pub(super) fn apply(&self, frame: &mut Frame) -> bool {
        let done = match (self.off, self.on) {
            (false, None) => return true,
            (true, Some(tag)) => {
                frame.bytes_mut()[ADDRESSES..ADDRESSES + TAG].copy_from_slice(&tag);
                return true;
            }
            (true, None) => take_off(frame),
            (false, Some(tag)) => put_on(frame, tag),
        };
        if done {
            self.correct_length(frame);
        }
        done
    }

    /// Makes `copy` what `frame` is to become; false when it has no room for that.
    #[inline]
    pub(super) fn copy(&self, frame: &Frame, copy: &mut Frame) -> bool {
        let bytes = frame.bytes();
        let (addresses, rest) = bytes.split_at(ADDRESSES);
        let rest = if self.off { &rest[TAG..] } else { rest };
        let tag = self.on.as_ref().map_or(&[][..], |tag| tag);
        if copy.set_len(ADDRESSES + tag.len() + rest.len()).is_err() {
            return false;
        }
        let (first, others) = copy.bytes_mut().split_at_mut(ADDRESSES);
        first.copy_from_slice(addresses);
        let (second, third) = others.split_at_mut(tag.len());
        second.copy_from_slice(tag);
        third.copy_from_slice(rest);
        if let Some(meta) = frame.meta() {
            *copy.meta_mut() = *meta;
            self.correct_length(copy);
        }
        true
    }

    /// What a capture cut off is as long as before.
    fn correct_length(&self, frame: &mut Frame) {
        let Some(length) = frame.meta().map(|meta| meta.original_len) else {
            return;
        };
        if length != 0 {
            let on = if self.on.is_some() { TAG as u32 } else { 0 };
            let off = if self.off { TAG as u32 } else { 0 };
            frame.meta_mut().original_len = length.saturating_add(on).saturating_sub(off);
        }
    }
}

fn take_off(frame: &mut Frame) -> bool {
    frame.bytes_mut().copy_within(..ADDRESSES, TAG);
    frame.trim_front(TAG).is_ok()
}

/// Puts a tag before the type: into the headroom where there is some, else into the tail.
fn put_on(frame: &mut Frame, tag: [u8; TAG]) -> bool {
    if frame.extend_front(TAG).is_ok() {
        frame.bytes_mut().copy_within(TAG..TAG + ADDRESSES, 0);
    } else {
        let len = frame.len();
        if frame.set_len(len + TAG).is_err() {
            return false;
        }
        frame
            .bytes_mut()
            .copy_within(ADDRESSES..len, ADDRESSES + TAG);
    }
    frame.bytes_mut()[ADDRESSES..ADDRESSES + TAG].copy_from_slice(&tag);
    true
}
