//! The circle a frame goes round: a memory ring into the worker, the worker, a memory ring out of
//! it, and the far side, which stamps fresh addresses and sends it round again.
//!
//! All frames of the pool circulate, first in, first out: between two visits to a frame every
//! other frame is visited, so that its header is no longer near. The far side stamps a frame when
//! it comes out, and it waits in the inward ring for a whole round after that: what the worker
//! reads was written and left the near caches since, as after a NIC's DMA.
//!
//! As a worker does, it sends the burst before and receives the next one while one waits for lines
//! of the table. So the far side stamps a frame a burst after the worker read it, with 20 KB of
//! lines in between, which first-level caches of 32 KB still hold beside it: it fetches no line of
//! its own.

use engine::Ahead;
use frame::{BURST_MAX, Burst, Frame, FramePool, PoolRequest, PortId, QueueId, Region};
use plane::{Bridge, Classifier, Ruleset, Verdict, Verdicts};
use port::{OpenContext, PortQueue, PortSpec};
use wire::emit::{Ipv4, Network, Recipe, Transport};
use wire::{Parsed, PlainV4};

use super::without::Without;
use crate::experiment::LabError;
use crate::shuffle::Seeded;

/// 64 bytes on the wire less the FCS.
const FRAME_BYTES: usize = 60;
/// Where source and destination stand in a frame of IPv4 without tags.
const ADDRESSES: std::ops::Range<usize> = 26..34;
/// The discard service (RFC 863), which is no tunnel's.
const UDP_PORT: u16 = 9;
/// Where the worker's frames come from and where they go.
pub(crate) const PORTS: [PortId; 2] = [PortId(0), PortId(1)];

/// What the far side writes into a frame that goes round again.
pub(crate) trait Stamp {
    /// Writes the next of its values.
    fn stamp(&mut self, frame: &mut Frame);
}

/// Random addresses.
impl Stamp for Seeded {
    #[inline(always)]
    fn stamp(&mut self, frame: &mut Frame) {
        if let Some(place) = frame.bytes_mut().get_mut(ADDRESSES) {
            place.copy_from_slice(&self.next().to_ne_bytes());
        }
    }
}

/// Frames, rings, and both sides' ends of them.
pub(crate) struct Circuit<S = Seeded> {
    pool: FramePool,
    /// The worker's ends.
    inward: Box<dyn PortQueue>,
    outward: Box<dyn PortQueue>,
    /// The far side's ends.
    sender: Box<dyn PortQueue>,
    receiver: Box<dyn PortQueue>,
    burst: Box<Burst>,
    /// The next one, as of a worker.
    ahead: Ahead,
    staged: Burst,
    returned: Burst,
    verdicts: Verdicts,
    stamp: S,
    /// Bursts decided on where they lie, where rings are left out; empty otherwise.
    parked: Vec<Box<Burst>>,
    next_parked: usize,
}

impl<S: Stamp> Circuit<S> {
    /// A pool of `frames` at a distance of `stride_bytes`, all of them on their way to the worker.
    pub(crate) fn new(frames: u32, stride_bytes: u32, stamp: S) -> Result<Self, LabError> {
        let request = PoolRequest {
            frames,
            stride_bytes,
            headroom_bytes: engine::HEADROOM_BYTES,
            node: None,
        };
        let refused = |error: frame::RegionError| LabError(error.to_string());
        let pool = Region::with_pools(&[request]).map_err(refused)?.1.remove(0);
        let [inward, sender] = ring(frames)?;
        let [outward, receiver] = ring(frames)?;
        let mut circuit = Self {
            pool,
            inward,
            outward,
            sender,
            receiver,
            burst: Box::new(Burst::new()),
            ahead: Ahead::new(),
            staged: Burst::new(),
            returned: Burst::new(),
            verdicts: Verdicts::new(),
            stamp,
            parked: Vec::new(),
            next_parked: 0,
        };
        circuit.fill()?;
        Ok(circuit)
    }

    /// Writes every frame once and sends it off.
    fn fill(&mut self) -> Result<(), LabError> {
        let template = template()?;
        while let Some(mut frame) = self.pool.alloc() {
            frame
                .copy_from(&template)
                .map_err(|error| LabError(error.to_string()))?;
            self.stamp.stamp(&mut frame);
            if let Err(frame) = self.returned.push(frame) {
                self.pool.free(frame);
                self.sender.tx_burst(&mut self.returned, &mut self.pool);
            }
        }
        self.sender.tx_burst(&mut self.returned, &mut self.pool);
        Ok(())
    }

    /// Shows a bridge what the frames look like, so that it can do without its parser.
    pub(super) fn prime(&mut self, bridge: &mut Bridge) {
        let mut burst = Burst::new();
        self.inward.rx_burst(&mut self.pool, &mut burst, BURST_MAX);
        bridge.classifier().parse(&burst);
        self.sender.tx_burst(&mut burst, &mut self.pool);
    }

    /// One burst round the circle; how many frames.
    #[inline]
    pub(crate) fn turn(
        &mut self,
        bridge: &mut Bridge,
        ruleset: &Ruleset,
        without: Without,
    ) -> usize {
        if without == Without::Rings {
            return self.turn_in_place(bridge, ruleset);
        }
        self.take_up();
        let frames = self.burst.len();
        let Self {
            inward,
            pool,
            burst,
            ahead,
            verdicts,
            outward,
            staged,
            ..
        } = self;
        let mut overlap = || {
            outward.tx_burst(staged, pool);
            inward.rx_burst(pool, ahead.receive(0), engine::DEFAULT_BURST);
        };
        decide(burst, bridge, ruleset, (verdicts, without), &mut overlap);
        self.carry_out(without);
        self.come_round(without);
        frames
    }

    /// Sends the burst that was decided on last, and has it sent round.
    pub(crate) fn settle(&mut self, without: Without) {
        self.outward.tx_burst(&mut self.staged, &mut self.pool);
        self.come_round(without);
    }

    /// The burst that was received before, or one that is received now.
    #[inline]
    fn take_up(&mut self) {
        if self.ahead.is_empty() {
            let burst = self.ahead.receive(0);
            self.inward
                .rx_burst(&mut self.pool, burst, engine::DEFAULT_BURST);
        }
        self.ahead.take_up(&mut self.burst);
    }

    /// What the far side does with a burst, and nothing else: it takes what it has sent. How many
    /// frames.
    #[inline]
    pub(super) fn turn_far_side(&mut self) -> usize {
        self.inward
            .rx_burst(&mut self.pool, &mut self.returned, engine::DEFAULT_BURST);
        let frames = self.returned.len();
        self.send_round(Without::Nothing);
        frames
    }

    /// What a worker does with verdicts.
    #[inline]
    fn carry_out(&mut self, without: Without) {
        // Without a policy every frame passes.
        let whole = matches!(without, Without::CarryOut | Without::Policy | Without::All);
        if whole || matches!(self.verdicts.unanimous(), Some(Verdict::Forward(_))) {
            self.staged.append(&mut self.burst);
            return;
        }
        for (frame, &verdict) in self.burst.drain().zip(self.verdicts.as_slice()) {
            match verdict {
                Verdict::Forward(_) => {
                    // Never full: it holds as many as the burst.
                    let _full = self
                        .staged
                        .push(frame)
                        .map_err(|frame| self.pool.free(frame));
                }
                Verdict::Drop(_) | Verdict::Hold | Verdict::Consume => self.pool.free(frame),
            }
        }
    }

    /// The far side: what came out, and what was dropped, is stamped anew and sent round.
    #[inline]
    fn come_round(&mut self, without: Without) {
        let returned = &mut self.returned;
        self.receiver
            .rx_burst(&mut self.pool, returned, engine::DEFAULT_BURST);
        if self.pool.free_count() != 0 {
            revive(&mut self.pool, returned);
        }
        self.send_round(without);
    }

    #[inline]
    fn send_round(&mut self, without: Without) {
        let returned = &mut self.returned;
        if without != Without::Stamp {
            for frame in returned.frames_mut() {
                self.stamp.stamp(frame);
            }
        }
        self.sender.tx_burst(returned, &mut self.pool);
    }

    /// Takes all frames out of the rings, into bursts that stay where they are.
    pub(super) fn park(&mut self) {
        if !self.ahead.is_empty() {
            let mut burst = Box::new(Burst::new());
            self.ahead.take_up(&mut burst);
            self.parked.push(burst);
        }
        loop {
            let mut burst = Box::new(Burst::new());
            self.inward
                .rx_burst(&mut self.pool, &mut burst, engine::DEFAULT_BURST);
            if burst.is_empty() {
                return;
            }
            self.parked.push(burst);
        }
    }

    /// Sends parked frames round again.
    pub(super) fn unpark(&mut self) {
        for mut burst in self.parked.drain(..) {
            self.sender.tx_burst(&mut burst, &mut self.pool);
        }
        self.next_parked = 0;
    }

    #[inline]
    fn turn_in_place(&mut self, bridge: &mut Bridge, ruleset: &Ruleset) -> usize {
        let place = self.next_parked;
        self.next_parked = (place + 1) % self.parked.len();
        let burst = &mut self.parked[place];
        bridge.decide(burst, PORTS[0], ruleset, &mut self.verdicts);
        for frame in burst.frames_mut() {
            self.stamp.stamp(frame);
        }
        burst.len()
    }

    /// What the far side writes from now on.
    pub(crate) fn stamp_mut(&mut self) -> &mut S {
        &mut self.stamp
    }

    /// Frames of the pool.
    pub(crate) fn frames(&self) -> usize {
        self.pool.total() as usize
    }

    /// What the next burst will hold, for tests: where each frame's header is and its addresses.
    #[cfg(test)]
    pub(super) fn waiting(&mut self) -> Vec<(usize, u64)> {
        let mut seen = Vec::new();
        self.park();
        for burst in &self.parked {
            let bytes = |frame: &Frame| frame.bytes()[ADDRESSES].try_into().expect("eight bytes");
            seen.extend(
                burst
                    .frames()
                    .iter()
                    .map(|frame| (frame.header_ptr().addr(), u64::from_ne_bytes(bytes(frame)))),
            );
        }
        self.unpark();
        seen
    }
}

/// Every stage but the one left out. With none left out it is what a worker calls.
#[inline]
fn decide(
    burst: &Burst,
    bridge: &mut Bridge,
    ruleset: &Ruleset,
    (verdicts, without): (&mut Verdicts, Without),
    overlap: &mut dyn FnMut(),
) {
    match without {
        Without::Nothing | Without::CarryOut | Without::Rings | Without::Stamp => {
            return bridge.decide_overlapped((burst, PORTS[0]), ruleset, verdicts, overlap);
        }
        Without::All => return overlap(),
        _ => {}
    }
    if without != Without::HeaderPrefetch {
        Classifier::prefetch_headers(burst);
    }
    let (classifier, lists) = (bridge.classifier(), ruleset.lists());
    match without {
        Without::Parse => {
            classifier.parse_with(burst, addresses_only);
            classifier.look_up(lists, overlap);
        }
        Without::Lookup => {
            classifier.parse(burst);
            overlap();
        }
        _ => classifier.read(burst, lists, overlap),
    }
    if without != Without::Policy {
        bridge.judge(PORTS[0], ruleset, verdicts);
    }
}

/// What is left of the parser when a frame is known to be like the one before.
#[inline(always)]
fn addresses_only(frame: &Frame, parsed: &mut Parsed) -> Option<PlainV4> {
    let found = frame.bytes().get(ADDRESSES).and_then(<[u8]>::first_chunk);
    let &[a, b, c, d, e, f, g, h] = found?;
    let (src, dst) = (
        u32::from_be_bytes([a, b, c, d]),
        u32::from_be_bytes([e, f, g, h]),
    );
    (parsed.src, parsed.dst) = (src.into(), dst.into());
    Some(PlainV4 {
        src,
        dst,
        dst_port: UDP_PORT,
    })
}

/// Frames that were dropped come back; they still hold what they held.
#[cold]
fn revive(pool: &mut FramePool, returned: &mut Burst) {
    let before = returned.len();
    pool.alloc_burst(returned, BURST_MAX);
    for frame in &mut returned.frames_mut()[before..] {
        let _fits = frame.set_len(FRAME_BYTES);
    }
}

/// The two ends of a memory ring with room for `frames`.
fn ring(frames: u32) -> Result<[Box<dyn PortQueue>; 2], LabError> {
    let context = OpenContext::default();
    let spec = format!("ring:circle,capacity={frames}");
    let refused = |error: &dyn std::fmt::Display| LabError(error.to_string());
    let end = || {
        let spec = PortSpec::parse(&spec).map_err(|error| refused(&error))?;
        let mut port = port::open(&spec, PORTS[0], &context).map_err(|error| refused(&error))?;
        port.open_queue(QueueId(0), 1)
            .map_err(|error| refused(&error))
    };
    Ok([end()?, end()?])
}

/// The frame that all are copies of, but for the addresses.
fn template() -> Result<Vec<u8>, LabError> {
    let udp = Transport::Udp {
        src_port: UDP_PORT,
        dst_port: UDP_PORT,
    };
    let recipe = Recipe {
        network: Network::Ipv4(Ipv4::default(), udp),
        len_min: FRAME_BYTES,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe
        .emit(&mut bytes)
        .map_err(|error| LabError(format!("{error:?}")))?;
    Ok(bytes)
}
