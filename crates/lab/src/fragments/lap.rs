//! Frames in memory that are made the fragments of a lap, and the path that they go.

use std::sync::Arc;
use std::time::{Duration, Instant};

use frame::{BURST_MAX, Burst, Frame, FramePool, Nanos, PoolRequest, PortId, Region};
use plane::{
    Bridge, Fragments, HitAddresses, Policy, Ports, Ruleset, Stateful, StatefulConfig, Timeouts,
    Verdict, Verdicts,
};
use table::CompiledLists;
use table::flows::WhenFull;
use table::fragments::FragmentLimits;

use crate::contest::refused;
use crate::experiment::LabError;
use crate::shuffle::Seeded;

/// Packets whose fragments come together: no whole number of bursts.
pub(super) const TOGETHER: usize = 24;
/// Frames of a lap, at most.
const FRAMES: usize = 8192;
/// Flows that are known.
pub(super) const FLOWS: u64 = 1000;
/// Flows of which each packet begins one: the table has room for a part of them, and they
/// come again when it has forgotten them.
const NEW_FLOWS: u64 = 1 << 20;
/// Flows that the table has room for.
const FLOWS_MAX: u32 = 65_536;
/// Nanoseconds from one frame to the next.
pub(super) const APART: u64 = 100;
/// Bytes of a packet in each fragment: with headers no less than a frame must have.
const DATA: u16 = 24;
/// Bytes of a frame without FCS.
pub(super) const LEN: usize = 60;
const FROM: PortId = PortId(0);

/// In which order the fragments of some packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    FirstFirst,
    Random,
    LastFirst,
}

impl Order {
    pub(super) const ALL: [Self; 3] = [Self::FirstFirst, Self::Random, Self::LastFirst];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::FirstFirst => "first first",
            Self::Random => "random",
            Self::LastFirst => "last first",
        }
    }
}

/// Whose packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flows {
    /// Of a thousand flows, which the bridge knows.
    Known,
    /// Each begins a flow, and one of those known ends for it.
    New,
}

impl Flows {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::New => "new",
        }
    }
}

/// What comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lap {
    /// Fragments a packet; 1 for whole packets.
    pub(super) pieces: u8,
    pub(super) order: Order,
    pub(super) flows: Flows,
    /// Lost fragments in a thousand.
    pub(super) loss: u16,
}

impl Lap {
    /// Which packet of those that come together, and which fragment of it, in the order in which
    /// they come.
    pub(super) fn roles(self, random: &mut Seeded, roles: &mut Vec<(usize, u8)>) {
        let of_group = TOGETHER * usize::from(self.pieces);
        roles.clear();
        roles.extend((0..of_group).map(|at| (at % TOGETHER, (at / TOGETHER) as u8)));
        match self.order {
            Order::FirstFirst => {}
            Order::Random => random.shuffle(roles),
            Order::LastFirst => roles.reverse(),
        }
    }
}

/// What remembers flows.
pub(super) fn flows() -> StatefulConfig {
    StatefulConfig {
        allow_new: Ports::ALL,
        flows: FLOWS_MAX,
        full: WhenFull::Evict,
        answers_from_any: false,
        timeouts: Timeouts::default(),
        log: None,
    }
}

/// The bounds of a bridge that is not told any.
pub(super) fn limits() -> FragmentLimits {
    FragmentLimits::default()
}

/// Frames, and what they are made next.
pub(super) struct Stage {
    pub(super) pool: FramePool,
    random: Seeded,
    identification: u32,
    frames: Vec<Frame>,
}

impl Stage {
    pub(super) fn new(seed: u64) -> Result<Self, LabError> {
        let request = PoolRequest {
            // Each variant may hold some, and loses none of them.
            frames: (FRAMES + 64 * limits().held as usize) as u32,
            stride_bytes: 1984,
            headroom_bytes: engine::HEADROOM_BYTES,
            node: None,
        };
        let pool = Region::with_pools(&[request]).map_err(refused)?.1.remove(0);
        Ok(Self {
            pool,
            random: Seeded::new(seed),
            identification: 0,
            frames: Vec::with_capacity(FRAMES),
        })
    }

    /// The frames of a lap, in the order in which they come.
    pub(super) fn frames(&mut self, lap: Lap) -> Vec<Frame> {
        let mut frames = std::mem::take(&mut self.frames);
        frames.clear();
        let of_group = TOGETHER * usize::from(lap.pieces);
        let mut roles: Vec<(usize, u8)> = Vec::with_capacity(of_group);
        while frames.len() + of_group <= FRAMES {
            lap.roles(&mut self.random, &mut roles);
            let (flow, flows) = match lap.flows {
                Flows::Known => (self.random.next() % FLOWS, FLOWS),
                Flows::New => (u64::from(self.identification), NEW_FLOWS),
            };
            for &(packet, piece) in &roles {
                let lost = self.random.next() % 1000 < u64::from(lap.loss);
                if lost && lap.pieces > 1 {
                    continue;
                }
                let Some(mut frame) = self.pool.alloc() else {
                    return frames;
                };
                let flow = (flow + packet as u64) % flows;
                let identification = self.identification.wrapping_add(packet as u32);
                let bytes = stamped(flow as u32, identification, (piece, lap.pieces));
                match frame.copy_from(&bytes) {
                    Ok(()) => frames.push(frame),
                    Err(_) => self.pool.free(frame),
                }
            }
            self.identification = self.identification.wrapping_add(TOGETHER as u32);
        }
        frames
    }
}

/// Fragment `piece` of `pieces` of a packet.
pub(super) fn stamped(flow: u32, identification: u32, (piece, pieces): (u8, u8)) -> [u8; LEN] {
    const DATA_LEN: [u8; 2] = (20 + DATA).to_be_bytes();
    let mut bytes = [0; LEN];
    let more = u16::from(piece + 1 < pieces) << 13;
    let place = (u16::from(piece) * DATA / 8) | more;
    bytes[12] = 8;
    bytes[14] = 0x45;
    bytes[16..18].copy_from_slice(&DATA_LEN);
    bytes[18..20].copy_from_slice(&(identification as u16).to_be_bytes());
    bytes[20..22].copy_from_slice(&place.to_be_bytes());
    (bytes[22], bytes[23]) = (64, wire::protocol::UDP);
    bytes[26..30].copy_from_slice(&(0x2D53_0000 + flow).to_be_bytes());
    bytes[30..34].copy_from_slice(&0x0808_0808_u32.to_be_bytes());
    if piece == 0 {
        bytes[34..36].copy_from_slice(&source_port(flow).to_be_bytes());
        bytes[36..38].copy_from_slice(&53_u16.to_be_bytes());
        bytes[38..40].copy_from_slice(&(DATA * u16::from(pieces)).to_be_bytes());
    }
    bytes
}

/// As drawn. A port in step with the address would cancel it out of the hash that is symmetric, and
/// all flows would be in one bucket, which has room for half of a thousand.
fn source_port(flow: u32) -> u16 {
    1024 + ((flow.wrapping_mul(0x9E37_79B1) >> 16) as u16 >> 1)
}

/// A bridge that remembers flows and follows fragments.
pub(super) struct Virtual {
    bridge: Bridge,
    ruleset: Ruleset,
    verdicts: Verdicts,
    now: Nanos,
    out: Vec<Frame>,
    dropped: Vec<Frame>,
    waited: u64,
    passed: u64,
}

impl Virtual {
    pub(super) fn new() -> Result<Self, LabError> {
        let stateful = Box::new(Stateful::new(flows()).map_err(refused)?);
        let bridge = Bridge::new([FROM, PortId(1)], Box::new(HitAddresses::new([1, 2])));
        let lists = CompiledLists::compile(&[]).map_err(refused)?;
        let policy = Policy::new(Vec::new()).map_err(refused)?;
        Ok(Self {
            bridge: bridge
                .with_stateful(Some(stateful))
                .with_fragments(Some(Box::new(Fragments::new(limits())))),
            ruleset: Ruleset::new(Arc::new(lists), Arc::new(policy)).map_err(refused)?,
            verdicts: Verdicts::new(),
            now: Nanos(0),
            out: Vec::with_capacity(2 * FRAMES),
            dropped: Vec::with_capacity(2 * FRAMES),
            waited: 0,
            passed: 0,
        })
    }

    /// One lap: how many frames came, and how long it took to decide on them and to carry that
    /// out; making and freeing them is left out.
    pub(super) fn pass(&mut self, stage: &mut Stage, lap: Lap) -> (usize, Duration) {
        let mut frames = stage.frames(lap);
        let count = frames.len();
        let begun = Instant::now();
        let mut burst = Burst::new();
        let mut coming = frames.drain(..);
        loop {
            for frame in coming.by_ref().take(engine::DEFAULT_BURST) {
                // As many as it has room for.
                let _full = burst.push(frame).map_err(|frame| self.dropped.push(frame));
            }
            if burst.is_empty() {
                break;
            }
            self.burst(&mut burst);
        }
        let taken = begun.elapsed();
        drop(coming);
        stage.frames = frames;
        self.passed += self.out.len() as u64;
        let done = self.out.drain(..).chain(self.dropped.drain(..));
        done.for_each(|frame| stage.pool.free(frame));
        (count, taken)
    }

    #[inline]
    fn burst(&mut self, burst: &mut Burst) {
        const { assert!(engine::DEFAULT_BURST <= BURST_MAX) }
        self.now = self.now.after(APART * burst.len() as u64);
        self.bridge.set_now(self.now);
        self.bridge
            .decide(burst, FROM, &self.ruleset, &mut self.verdicts);
        let Self {
            bridge,
            verdicts,
            out,
            dropped,
            waited,
            ..
        } = self;
        let mut carry_out = |frame, verdict| match verdict {
            Verdict::Forward(_) => out.push(frame),
            Verdict::Drop(_) | Verdict::Hold | Verdict::Consume => dropped.push(frame),
        };
        let Some(fragments) = bridge.fragments() else {
            return;
        };
        if !fragments.acts() {
            for (frame, &verdict) in burst.drain().zip(verdicts.as_slice()) {
                carry_out(frame, verdict);
            }
        } else {
            let before = fragments.counts().waited;
            fragments.settle(burst, verdicts);
            *waited += fragments.counts().waited - before;
            while let Some(one) = fragments.next_released() {
                carry_out(one.frame, one.verdict);
            }
        }
        while let Some(one) = fragments.next_lost() {
            carry_out(one.frame, one.verdict);
        }
    }

    /// How many frames waited since this was last asked.
    pub(super) fn take_waited(&mut self) -> u64 {
        std::mem::take(&mut self.waited)
    }

    /// Frames that wait.
    #[cfg(test)]
    pub(super) fn left(&self) -> usize {
        self.bridge.held()
    }

    /// Flows that are known, and that began.
    #[cfg(test)]
    pub(super) fn flows(&self) -> (usize, u64) {
        self.bridge.stateful().map_or((0, 0), |stateful| {
            (stateful.len()[0], stateful.counts()[0].begun)
        })
    }

    /// Frames that were forwarded.
    #[cfg(test)]
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }
}
