//! A switch with a pool and an outbox, and frames for it.

use std::sync::Arc;
use std::time::Duration;

use frame::{Burst, FramePool, Nanos, PoolRequest, PortId, Region};

use super::super::*;
use super::model::Sent;
use crate::{DropReason, Outbox, Ports, Verdict};

pub(super) const MS: u64 = 1_000_000;

/// The other ports' numbers are these too.
pub(super) const A: PortId = PortId(0);
pub(super) const B: PortId = PortId(1);
pub(super) const C: PortId = PortId(2);

pub(super) const BROADCAST: Mac = [0xFF; 6];

/// Chunks of the pool of a bench.
pub(super) const CHUNKS: u32 = 2048;

pub(super) fn station(number: u8) -> Mac {
    [2, 0, 0, 0, 0, number]
}

pub(super) fn port() -> SwitchPort {
    SwitchPort::plain(1000)
}

pub(super) fn config(mode: VlanMode, ports: usize) -> SwitchConfig {
    SwitchConfig {
        ports: vec![port(); ports],
        mode,
        vlans: Vec::new(),
        groups: Vec::new(),
        statics: Vec::new(),
        age: Duration::from_secs(300),
        stations: 1000,
        loop_quiet: None,
        forward_reserved: false,
    }
}

pub(super) fn ports(ports: &[PortId]) -> Ports {
    ports.iter().fold(Ports::NONE, |all, &port| all.with(port))
}

/// A frame, with tags as words of type and TCI.
pub(super) fn frame(to: Mac, from: Mac, tags: &[[u16; 2]]) -> Vec<u8> {
    let mut bytes = [to, from].concat();
    for word in tags.iter().flatten().chain(&[0x88B5]) {
        bytes.extend(word.to_be_bytes());
    }
    bytes.extend([0xAB; 46]);
    bytes
}

/// What became of one frame: what left, or why not.
pub(super) type Fate = Result<Sent, DropReason>;

pub(super) struct Bench {
    pub(super) switch: Switch,
    pub(super) pool: FramePool,
    pub(super) out: Outbox,
    pub(super) now: Nanos,
}

impl Bench {
    pub(super) fn new(config: SwitchConfig) -> Self {
        Self::linked(config, Links::alone())
    }

    pub(super) fn linked(config: SwitchConfig, links: Links<Sighting>) -> Self {
        let table = Arc::new(SwitchTable::new(config).expect("right settings"));
        let request = PoolRequest {
            frames: CHUNKS,
            stride_bytes: 256,
            headroom_bytes: 64,
            node: None,
        };
        Self {
            switch: Switch::new(table, [3, 5], links).expect("some memory"),
            pool: Region::with_pools(&[request]).expect("memory").1.remove(0),
            out: Outbox::with_room(1024),
            now: Nanos(1_000_000_000),
        }
    }

    /// The fates of the frames of a burst that the policy lets pass.
    pub(super) fn burst(&mut self, from: PortId, frames: &[Vec<u8>]) -> Vec<Fate> {
        let verdicts = vec![Verdict::Forward(PortId(63)); frames.len()];
        self.judged(from, frames, &verdicts)
    }

    /// The fates of the frames of a burst with these verdicts of the policy. Each frame and each
    /// copy is accounted for, and every chunk is free again.
    pub(super) fn judged(
        &mut self,
        from: PortId,
        frames: &[Vec<u8>],
        judged: &[Verdict],
    ) -> Vec<Fate> {
        let (mut burst, mut verdicts) = (Burst::new(), Verdicts::new());
        for (bytes, &verdict) in frames.iter().zip(judged) {
            let mut frame = self.pool.alloc().expect("a chunk");
            frame.copy_from(bytes).expect("short");
            burst.push(frame).expect("few");
            verdicts.push(verdict);
        }
        let before = self.switch.counts();
        self.switch.forward(
            &mut Forwarding {
                from,
                now: self.now,
                pool: &mut self.pool,
                out: &mut self.out,
            },
            &mut burst,
            &mut verdicts,
        );
        let copies = self.switch.counts().copies - before.copies;
        assert_eq!(self.out.len() as u64, copies, "every copy is in the outbox");
        assert_eq!(verdicts.as_slice().len(), frames.len());
        let fates = self.carry_out(&mut burst, &verdicts);
        self.pool.free_burst(&mut burst);
        assert_eq!(self.pool.accounts().elsewhere(), 0, "no chunk is lost");
        fates
    }

    fn carry_out(&mut self, burst: &mut Burst, verdicts: &Verdicts) -> Vec<Fate> {
        let fate = |(frame, verdict): (&frame::Frame, &Verdict)| match *verdict {
            Verdict::Forward(to) => Ok(vec![(to, frame.bytes().to_vec())]),
            Verdict::Drop(reason) => Err(reason),
            _ => Ok(Vec::new()),
        };
        let frames = burst.frames().iter().zip(verdicts.as_slice());
        let mut fates: Vec<Fate> = frames.map(fate).collect();
        for copy in self.out.drain() {
            let Verdict::Forward(to) = copy.verdict else {
                panic!("a copy leaves by a port");
            };
            match &mut fates[copy.after] {
                Ok(sent) => sent.push((to, copy.frame.bytes().to_vec())),
                // The frame itself had no room for its tag.
                Err(reason) => assert_eq!(*reason, DropReason::NoTagRoom),
            }
            self.pool.free(copy.frame);
        }
        for sent in fates.iter_mut().flatten() {
            sent.sort_unstable();
        }
        fates
    }

    /// The fate of one frame.
    pub(super) fn one(&mut self, from: PortId, bytes: &[u8]) -> Fate {
        self.burst(from, &[bytes.to_vec()]).remove(0)
    }

    /// The ports that one frame left by.
    pub(super) fn left(
        &mut self,
        from: PortId,
        to: Mac,
        source: Mac,
    ) -> Result<Vec<u8>, DropReason> {
        let sent = self.one(from, &frame(to, source, &[]))?;
        Ok(sent.iter().map(|(port, _)| port.0).collect())
    }
}
