//! From frames to buckets, and from buckets to workers: receive-side scaling in software.

use std::sync::Arc;

use frame::{BURST_MAX, Burst, Frame, WorkerId};
use plane::Route;
use wire::toeplitz::{Key, Toeplitz};
use wire::{FlowKey, Fragment, Parsed, Piece, Placing};

use super::handover::Handover;
use crate::gathering::Gatherers;
use crate::placement::{BUCKETS_MIN, BucketLoads};

/// Buckets that flows are hashed to.
pub(crate) const BUCKETS: usize = BUCKETS_MIN;

/// The place of frames without addresses, behind the buckets: the first worker's, for good.
pub(crate) const NO_FLOW: usize = BUCKETS;

/// A place of the table for each bucket, and one for what has no flow.
pub(crate) const PLACES: usize = BUCKETS + 1;

/// Where a frame belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// To the owner of this place of the table.
    Place(u8),
    /// To the owner of this place: the first fragment of a packet that was gathered.
    First(u8),
    /// To where the first fragment of its packet went.
    Later,
    /// To the worker that gathers its packet.
    Piece(WorkerId),
}

/// What a frame is placed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The flow of its innermost or outermost packet.
    Flow(Placing),
    /// The flow of that packet, which for an ICMP error is that of the one it quotes.
    TrackedFlow(Placing),
}

/// One worker's copy of the indirection, and what it received by bucket.
///
/// The key is the symmetric one, so both directions of a flow meet on one worker. A flow key has
/// ports for whole packets only: of a fragmented one only the first piece has them. Whose flow a
/// frame inside a tunnel is of, [`By`] says.
pub(crate) struct Steering {
    me: WorkerId,
    hash: Toeplitz,
    by: By,
    owners: [WorkerId; PLACES],
    /// Who gathers fragments; none where they are not followed by several workers.
    gatherers: Option<Gatherers>,
    /// Where the frames of the burst that was placed last belong.
    found: Box<[Found; BURST_MAX]>,
    loads: BucketLoads,
    pub(crate) handover: Arc<Handover>,
    /// Of the copy.
    pub(crate) version: u64,
    /// Buckets that come to this worker and whose frames it keeps back until then.
    coming: [bool; PLACES],
    /// Whose they were; empty where none come. As much room as there are workers.
    sources: Vec<WorkerId>,
    /// Buckets that have left this worker, and where to; empty when it has drained. As much room
    /// as there are buckets.
    left: Vec<(u16, WorkerId)>,
}

const _: () = assert!(PLACES <= 1 << u8::BITS && BUCKETS.is_power_of_two());

impl Steering {
    /// The view of worker `me` of `workers`.
    pub(crate) fn new(
        (me, workers): (WorkerId, usize),
        handover: &Arc<Handover>,
        (loads, by): (BucketLoads, By),
        gatherers: &Option<Gatherers>,
    ) -> Self {
        let mut steering = Self {
            me,
            hash: Toeplitz::new(&Key::SYMMETRIC),
            by,
            owners: [WorkerId(0); PLACES],
            gatherers: gatherers.clone(),
            found: Box::new([Found::Place(0); BURST_MAX]),
            loads,
            handover: Arc::clone(handover),
            version: handover.owners.version(),
            coming: [false; PLACES],
            sources: Vec::with_capacity(workers),
            left: Vec::with_capacity(BUCKETS),
        };
        steering.copy_owners();
        steering
    }

    /// Finds the place of each frame of a burst that this worker received by a port with `queues`
    /// queues, and counts it. Fragments are counted when they go on.
    #[inline]
    pub(crate) fn place_received(&mut self, burst: &Burst, queues: u16) {
        for frame in burst.frames() {
            frame::prefetch::read(frame.header_ptr());
        }
        let gatherers = self.gatherers.as_ref().map(|of| (of, queues));
        for (found, frame) in self.found.iter_mut().zip(burst.frames()) {
            *found = find(&self.hash, &self.by, frame, gatherers);
            if let Found::Place(place) = *found
                && usize::from(place) != NO_FLOW
            {
                self.loads.count(u16::from(place), frame.len() as u32);
            }
        }
    }

    /// Finds the place of each frame of a burst that others placed.
    pub(crate) fn place(&mut self, burst: &Burst) {
        let gathers = self.gatherers.is_some();
        for (found, frame) in self.found.iter_mut().zip(burst.frames()) {
            let place = |frame| match find(&self.hash, &self.by, frame, None) {
                Found::Place(place) => place,
                _ => NO_FLOW as u8,
            };
            *found = match gathers.then(|| part(&self.by, frame)) {
                Some(Fragment::First) => Found::First(place(frame)),
                Some(Fragment::Later) => Found::Later,
                _ => Found::Place(place(frame)),
            };
        }
    }

    /// Where a gathered packet goes, by its first fragment.
    pub(crate) fn route(&self, first: &Frame) -> Route {
        let place = match find(&self.hash, &self.by, first, None) {
            Found::Place(place) => usize::from(place),
            _ => NO_FLOW,
        };
        Route {
            worker: self.owners[place],
            bucket: place as u16,
        }
    }

    /// Counts a fragment of a bucket, which goes on from this worker.
    #[inline]
    pub(crate) fn count(&mut self, bucket: u16, bytes: u32) {
        self.loads.count(bucket, bytes);
    }

    /// Whether a bucket comes to this worker that is not here yet.
    #[inline]
    pub(crate) fn comes(&self, bucket: u16) -> bool {
        self.coming[usize::from(bucket)]
    }

    /// The places found last, one for each frame of that burst; who owns which place; and which of
    /// them come to this worker and are not here yet.
    #[inline]
    pub(crate) fn placed(&self) -> Placed<'_> {
        Placed {
            found: &self.found,
            owners: &self.owners,
            coming: &self.coming,
        }
    }

    /// Whether there is anything to do about buckets that move: one load where there is not.
    #[inline]
    pub(crate) fn is_moved(&self) -> bool {
        self.goes() || self.awaits() || self.is_stale()
    }

    /// Whether there is a newer table.
    #[inline]
    pub(crate) fn is_stale(&self) -> bool {
        self.newest() != self.version
    }

    /// The version of the newest table.
    #[inline]
    pub(crate) fn newest(&self) -> u64 {
        self.handover.owners.version()
    }

    /// Whether buckets come to this worker that are not here yet.
    #[inline]
    pub(crate) fn awaits(&self) -> bool {
        !self.sources.is_empty()
    }

    /// Whether buckets have left and this worker has not drained.
    pub(crate) fn goes(&self) -> bool {
        !self.left.is_empty()
    }

    /// Takes the newest table; the marks are set. There is no newer one before this worker has
    /// settled, so that the table stands still meanwhile.
    pub(crate) fn adopt(&mut self) {
        self.version = self.handover.owners.version();
        let before = self.owners;
        self.copy_owners();
        let owners = before.iter().zip(&self.owners);
        for (place, ((&old, &new), coming)) in owners.zip(&mut self.coming).enumerate() {
            if old == new {
                continue;
            }
            if old == self.me {
                self.left.push((place as u16, new));
            }
            if new == self.me {
                *coming = true;
                if !self.sources.contains(&old) {
                    self.sources.push(old);
                }
            }
        }
        if !self.goes() {
            self.handover.drain(self.me, self.version);
        }
        if !self.awaits() {
            self.handover.settle(self.me, self.version);
        }
        self.handover.adopt(self.me, self.version);
    }

    fn copy_owners(&mut self) {
        let owners = &self.handover.owners;
        for (place, owner) in self.owners[..BUCKETS].iter_mut().enumerate() {
            *owner = owners.owner(place as u16);
        }
    }

    /// The buckets that have left, and where to.
    pub(crate) fn left(&self) -> &[(u16, WorkerId)] {
        &self.left
    }

    /// What has left will not come back.
    pub(crate) fn drained(&mut self) {
        self.left.clear();
        self.handover.drain(self.me, self.version);
    }

    /// Whether those who lose buckets to this worker have drained.
    pub(crate) fn arrived(&self) -> bool {
        let mut sources = self.sources.iter();
        sources.all(|&source| self.handover.has_drained(source, self.version))
    }

    /// All that was kept back is decided on.
    pub(crate) fn settled(&mut self) {
        self.sources.clear();
        self.coming = [false; PLACES];
        self.handover.settle(self.me, self.version);
    }
}

/// Where the frames of a burst belong.
pub(crate) struct Placed<'a> {
    pub(crate) found: &'a [Found; BURST_MAX],
    owners: &'a [WorkerId; PLACES],
    coming: &'a [bool; PLACES],
}

impl Placed<'_> {
    #[inline]
    pub(crate) fn owner(&self, place: u8) -> WorkerId {
        self.owners[usize::from(place)]
    }

    #[inline]
    pub(crate) fn comes(&self, place: u8) -> bool {
        self.coming[usize::from(place)]
    }
}

/// Where a frame belongs; fragments that can be followed to who gathers them, if somebody does.
///
/// Packets and keys are looked at where they were written: a copy is read in wider words than they
/// were written in, which waits for the writes.
#[inline]
fn find(hash: &Toeplitz, by: &By, frame: &Frame, gatherers: Option<(&Gatherers, u16)>) -> Found {
    let (bytes, mut parsed) = (frame.bytes(), Parsed::default());
    wire::parse_into(bytes, plane::original_len(frame), &mut parsed);
    let reassembles = gatherers.is_some_and(|(gatherers, _)| gatherers.reassembles);
    if reassembles && let Some(found) = gathered(bytes, &parsed, gatherers) {
        return found;
    }
    let hash = |key: &FlowKey| hash.hash(key);
    let hash = match by {
        By::Flow(placing) => placing.flow_key(bytes, &parsed).as_ref().map(hash),
        By::TrackedFlow(placing) => {
            let inner = placing.inner(bytes, &parsed);
            let packet = inner.as_ref().unwrap_or(&parsed);
            if !reassembles && let Some(found) = gathered(bytes, packet, gatherers) {
                return found;
            }
            match wire::follow(bytes, packet).key() {
                Some(key) => Some(hash(key)),
                None => packet.flow_key().as_ref().map(hash),
            }
        }
    };
    Found::Place(match hash {
        Some(hash) => bucket_of(hash) as u8,
        None => NO_FLOW as u8,
    })
}

/// Who gathers the packet of a fragment, if somebody does.
#[inline]
fn gathered(bytes: &[u8], packet: &Parsed, gatherers: Option<(&Gatherers, u16)>) -> Option<Found> {
    if packet.fragment == Fragment::Whole {
        return None;
    }
    let (gatherers, queues) = gatherers?;
    let piece = Piece::of(bytes, packet)?;
    Some(Found::Piece(gatherers.of(&piece.key, queues)))
}

/// Which part of a packet a frame is that was gathered; [`Fragment::Whole`] where it was not.
fn part(by: &By, frame: &Frame) -> Fragment {
    let gathered = frame.meta().is_some_and(|meta| meta.datagram != 0);
    match by {
        By::TrackedFlow(placing) if gathered => {
            let parsed = wire::parse(frame.bytes(), plane::original_len(frame));
            placing.packet(frame.bytes(), &parsed).fragment
        }
        _ => Fragment::Whole,
    }
}

/// The bucket that flows with this hash are in.
#[must_use]
pub fn bucket_of(hash: u32) -> u16 {
    (hash as usize % BUCKETS) as u16
}
