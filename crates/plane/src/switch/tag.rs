//! How a frame's tag changes between the port that it came in by and the one it leaves by.

use frame::{Frame, PortId};
use wire::Tag;

use super::Admitted;
use super::vlan_table::SwitchTable;

/// What becomes of the outermost tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retag {
    /// The frame has a tag, which goes.
    off: bool,
    /// The tag that it leaves with.
    on: Option<Tag>,
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
        let priority = || self.port(from).map_or(0, |port| port.priority);
        let tag = admitted.tag.unwrap_or_else(|| Tag::priority(priority()));
        let tpid = self.port(to).map_or(tag.tpid, |port| port.tpid);
        let on = Some(tag.renamed(tpid, admitted.vlan));
        Retag { off, on }
    }
}

impl Retag {
    /// Changes the frame; false when it has no room for a tag: then it is as before.
    #[inline]
    pub(super) fn apply(&self, frame: &mut Frame) -> bool {
        let done = match (self.off, self.on) {
            (false, None) => return true,
            (true, Some(tag)) => {
                write(frame, tag);
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
        let (addresses, rest) = bytes.split_at(Tag::OFFSET);
        let rest = if self.off { &rest[Tag::BYTES..] } else { rest };
        let tag = self.on.map(Tag::to_bytes);
        let tag = tag.as_ref().map_or(&[][..], |tag| tag);
        if copy.set_len(Tag::OFFSET + tag.len() + rest.len()).is_err() {
            return false;
        }
        let (first, others) = copy.bytes_mut().split_at_mut(Tag::OFFSET);
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
        const BYTES: u32 = Tag::BYTES as u32;
        let Some(length) = frame.meta().map(|meta| meta.original_len) else {
            return;
        };
        if length != 0 {
            let on = if self.on.is_some() { BYTES } else { 0 };
            let off = if self.off { BYTES } else { 0 };
            frame.meta_mut().original_len = length.saturating_add(on).saturating_sub(off);
        }
    }
}

fn take_off(frame: &mut Frame) -> bool {
    frame.bytes_mut().copy_within(..Tag::OFFSET, Tag::BYTES);
    frame.trim_front(Tag::BYTES).is_ok()
}

/// Puts a tag before the type: into the headroom where there is some, else into the tail.
fn put_on(frame: &mut Frame, tag: Tag) -> bool {
    if frame.extend_front(Tag::BYTES).is_ok() {
        frame
            .bytes_mut()
            .copy_within(Tag::BYTES..Tag::BYTES + Tag::OFFSET, 0);
    } else {
        let len = frame.len();
        if frame.set_len(len + Tag::BYTES).is_err() {
            return false;
        }
        frame
            .bytes_mut()
            .copy_within(Tag::OFFSET..len, Tag::OFFSET + Tag::BYTES);
    }
    write(frame, tag);
    true
}

fn write(frame: &mut Frame, tag: Tag) {
    frame.bytes_mut()[Tag::OFFSET..][..Tag::BYTES].copy_from_slice(&tag.to_bytes());
}
