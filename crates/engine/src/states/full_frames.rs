//! Whether a driver drops frames because they are long.
//!
//! Some drivers show a program a frame in one piece of a size of their own, and count a longer one
//! as dropped, without a word: all goes well but full frames, so that a connection opens and then
//! stands still. Nothing tells the lengths of what was dropped. So the rule is: the driver dropped
//! more than the port knows of, and no full frame came.

use port::interface::View;

/// Every driver has room for frames of this MTU.
const MTU_SAFE: u32 = 1500;
/// Bytes in front of a packet, without tags.
const HEADER_BYTES: u32 = 14;
/// Frames dropped of which it is said: fewer may be anything's.
const DROPPED_MIN: u64 = 3;

/// What the counters said when no full frame had come yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    index: u32,
    mtu: u32,
    dropped: u64,
    missed: u64,
}

/// What came of looks at one interface.
#[derive(Debug, Default)]
pub(super) struct FullFrames {
    start: Option<Start>,
    /// Frames dropped that nothing explains, at the last look.
    unexplained: u64,
}

/// What there is to say.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Frames are lost, and no full frame came.
    Lost { detail: String, said: String },
    /// A full frame came.
    Came,
}

impl FullFrames {
    /// `missed` frames of those dropped the port could not receive for another reason, which it
    /// shows later than the driver: what two looks in a row find is so.
    pub(super) fn look(&mut self, view: &View, missed: u64) -> Option<Seen> {
        let (drops, mtu, index) = (view.driver_drops?, view.mtu?, view.link.index()?);
        if drops.longest >= mtu + HEADER_BYTES {
            self.start = None;
            return Some(Seen::Came);
        }
        if mtu <= MTU_SAFE {
            self.start = None;
            return None;
        }
        let fresh = |start: &Start| (start.index, start.mtu) == (index, mtu);
        let Some(start) = self.start.filter(fresh) else {
            let dropped = drops.frames;
            self.start = Some(Start {
                index,
                mtu,
                dropped,
                missed,
            });
            self.unexplained = 0;
            return None;
        };
        let dropped = drops.frames.saturating_sub(start.dropped);
        let now = dropped.saturating_sub(missed.saturating_sub(start.missed));
        let before = std::mem::replace(&mut self.unexplained, now);
        let lost = now.min(before);
        (lost >= DROPPED_MIN).then(|| self::lost(view, lost, drops.longest, mtu))
    }
}

fn lost(view: &View, frames: u64, longest: u32, mtu: u32) -> Seen {
    let name = view.new_name.as_ref().unwrap_or(&view.name);
    Seen::Lost {
        detail: format!("{frames} dropped, longest received {longest} bytes, MTU {mtu}"),
        said: format!(
            "its driver dropped {frames} frames (rx_driver_drop), and none as long as its MTU of \
             {mtu} came, the longest having {longest} bytes: it may have no room for full frames; \
             `ip link set dev {name} mtu {MTU_SAFE}` at all ends, mode=generic or packet:{name} \
             lets them pass"
        ),
    }
}

#[cfg(test)]
mod tests {
    use port::interface::{DriverDrops, Link};

    use super::*;

    /// MTU, dropped by the driver, longest received, missed by the port.
    type Look = (u32, u64, u32, u64);

    fn look(frames: &mut FullFrames, (mtu, dropped, longest, missed): Look) -> Option<Seen> {
        let view = View {
            mtu: Some(mtu),
            name: "eth1".to_owned(),
            driver_drops: Some(DriverDrops {
                frames: dropped,
                longest,
            }),
            ..View::of(Link::Up(3))
        };
        frames.look(&view, missed)
    }

    #[test]
    fn frames_that_vanish_while_no_full_one_comes_are_told_of() {
        let table: [(&[Look], Option<u64>); 11] = [
            // Dropped before the port was opened.
            (&[(9000, 70, 60, 0); 4], None),
            (
                &[(9000, 0, 60, 0), (9000, 3, 60, 0), (9000, 3, 60, 0)],
                Some(3),
            ),
            (
                &[(9000, 5, 60, 0), (9000, 9, 60, 0), (9000, 12, 60, 0)],
                Some(4),
            ),
            (
                &[(9000, 0, 60, 0), (9000, 2, 60, 0), (9000, 2, 60, 0)],
                None,
            ),
            // One look is not enough, since the port shows later what it missed.
            (&[(9000, 0, 60, 0), (9000, 99, 60, 0)], None),
            (
                &[(9000, 0, 60, 0), (9000, 99, 60, 0), (9000, 99, 60, 99)],
                None,
            ),
            (
                &[(9000, 0, 60, 5), (9000, 9, 60, 7), (9000, 9, 60, 7)],
                Some(7),
            ),
            // An MTU that all drivers have room for, and a full frame that came.
            (
                &[(1500, 0, 60, 0), (1500, 9, 60, 0), (1500, 9, 60, 0)],
                None,
            ),
            (
                &[(9000, 0, 9013, 0), (9000, 9, 9013, 0), (9000, 9, 9013, 0)],
                Some(9),
            ),
            // An MTU that was raised is judged from then on.
            (
                &[(1500, 0, 1514, 0), (9000, 9, 1514, 0), (9000, 9, 1514, 0)],
                None,
            ),
            (
                &[
                    (1500, 0, 1514, 0),
                    (9000, 0, 1514, 0),
                    (9000, 9, 1514, 0),
                    (9000, 9, 1514, 0),
                ],
                Some(9),
            ),
        ];
        for (looks, expected) in table {
            let mut frames = FullFrames::default();
            let seen = looks.iter().filter_map(|&at| look(&mut frames, at)).last();
            match (seen, expected) {
                (Some(Seen::Lost { said, .. }), Some(number)) => {
                    assert!(said.contains(&format!("dropped {number} frames")), "{said}");
                    assert!(said.contains("ip link set dev eth1 mtu 1500"), "{said}");
                }
                (None | Some(Seen::Came), None) => {}
                (seen, _) => panic!("{looks:?}: {seen:?}"),
            }
        }
    }

    #[test]
    fn a_full_frame_with_or_without_a_tag_ends_it() {
        for longest in [9014, 9018] {
            let mut frames = FullFrames::default();
            for _ in 0..3 {
                let seen = look(&mut frames, (9000, 99, longest, 0));
                assert_eq!(seen, Some(Seen::Came));
            }
        }
    }

    #[test]
    fn where_nothing_is_counted_nothing_is_said() {
        let mut frames = FullFrames::default();
        let view = View::of(Link::Up(3));
        assert_eq!(frames.look(&view, 0), None);
    }
}
