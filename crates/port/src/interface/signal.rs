//! What the control side and the queues of one port tell each other: workers have no clock, and the
//! control side no frames.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::Link;

/// Words that both sides have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signal(Arc<Words>);

#[derive(Debug, Default)]
struct Words {
    /// Written by the control side, on lines that workers only read.
    changes: AtomicU32,
    /// Written once by a worker.
    checksums_left: AtomicBool,
    /// The largest MTU whose frames fit frame memory; 0 until a queue knows.
    mtu_max: AtomicU32,
    /// The first MTU that the interface had, and the largest.
    mtu_first: AtomicU32,
    mtu_seen: AtomicU32,
    /// Bytes of the longest frame that came; 0 where queues do not tell. Written when one is longer
    /// than all before, a few times in a run.
    longest: AtomicU32,
}

impl Signal {
    /// How often the control side saw something change: a queue that sees another number than
    /// before looks after its interface at once.
    #[inline]
    pub(crate) fn changes(&self) -> u32 {
        self.0.changes.load(Ordering::Relaxed)
    }

    /// Queues are to look after their interface.
    pub(super) fn changed(&self) {
        self.0.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Frames come whose checksum is left to the receiver.
    #[cold]
    pub(crate) fn checksums_left(&self) {
        // The line is read by all workers: no second store.
        if !self.has_checksums_left() {
            self.0.checksums_left.store(true, Ordering::Relaxed);
        }
    }

    /// Whether such frames came.
    pub(super) fn has_checksums_left(&self) -> bool {
        self.0.checksums_left.load(Ordering::Relaxed)
    }

    /// A frame came that is longer than all before it on a queue.
    #[cold]
    pub(crate) fn received(&self, bytes: usize) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.0.longest.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Bytes of the longest frame that came.
    pub(super) fn longest(&self) -> u32 {
        self.0.longest.load(Ordering::Relaxed)
    }

    /// A queue has room for frames of this MTU, and of none larger.
    pub(crate) fn takes_mtu(&self, mtu_max: u32) {
        self.0.mtu_max.store(mtu_max, Ordering::Relaxed);
    }

    /// The largest MTU whose frames the port has room for, where that is known.
    pub(super) fn mtu_max(&self) -> Option<u32> {
        let mtu_max = self.0.mtu_max.load(Ordering::Relaxed);
        (mtu_max != 0).then_some(mtu_max)
    }

    /// The MTU that it was opened with.
    pub(super) fn mtu_first(&self) -> Option<u32> {
        let first = self.0.mtu_first.load(Ordering::Relaxed);
        (first != 0).then_some(first)
    }

    /// The interface has this MTU: the first call is the port's, when it is opened.
    pub(crate) fn saw_mtu(&self, mtu: u32) {
        let (first, relaxed) = (&self.0.mtu_first, Ordering::Relaxed);
        let _is_known = first.compare_exchange(0, mtu, relaxed, relaxed);
        self.0.mtu_seen.fetch_max(mtu, Ordering::Relaxed);
    }

    /// Why received frames of the interface `name` found no room, where its MTU explains it: the
    /// end of a sentence.
    pub(crate) fn outgrown(&self, name: &str) -> Option<String> {
        let (seen, mtu_max) = (self.0.mtu_seen.load(Ordering::Relaxed), self.mtu_max()?);
        (seen > mtu_max).then(|| {
            format!(
                "its MTU was {seen}, and frame memory has room for {mtu_max}: start anew, or `ip \
                 link set dev {name} mtu {mtu_max}`"
            )
        })
    }
}

/// Whether the other end of a port that is no interface of the kernel's is there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Presence(Arc<AtomicBool>);

impl Presence {
    pub(crate) fn set(&self, there: bool) {
        self.0.store(there, Ordering::Relaxed);
    }

    /// Whether it is there now.
    pub(crate) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// As the link of an interface.
    pub(super) fn link(&self) -> Link {
        match self.is_there() {
            true => Link::Up(0),
            false => Link::NoCarrier(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_mtu_explains_a_loss_only_where_it_was_larger_than_what_fits() {
        for (fits, seen, explains) in [
            (Some(1834), &[1500, 9000, 1500][..], true),
            (Some(1834), &[1500, 1835], true),
            (Some(1834), &[1834, 1400], false),
            (Some(1834), &[], false),
            (None, &[9000], false),
        ] {
            let signal = Signal::default();
            fits.into_iter().for_each(|fits| signal.takes_mtu(fits));
            seen.iter().for_each(|&mtu| signal.saw_mtu(mtu));
            assert_eq!(signal.mtu_first(), seen.first().copied());
            let said = signal.outgrown("eth1");
            assert_eq!(said.is_some(), explains, "{fits:?} {seen:?}");
            assert!(said.is_none_or(|said| said.ends_with("dev eth1 mtu 1834`")));
        }
    }
}
