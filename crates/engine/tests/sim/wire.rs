//! A port of the simulation: its wire loses, doubles, delays and reorders, and it takes few frames
//! at a time, keeps them for a while, and is down now and then.

use std::collections::VecDeque;

use frame::{Burst, Frame, FramePool, PortId};
use port::{PortError, PortQueue, PortStatistics, RxState};

use crate::shape::PortShape;
use crate::world::{LEN, Shared};

pub(crate) struct Wire {
    pub(crate) port: usize,
    pub(crate) queue: usize,
    pub(crate) shape: PortShape,
    pub(crate) world: Shared,
    /// Frames that may still come.
    pub(crate) left: usize,
    /// Frames that others overtake.
    late: VecDeque<[u8; LEN]>,
    /// Frames under way, and the step in which each has left.
    flight: VecDeque<(usize, Frame)>,
    refused: u64,
    statistics: PortStatistics,
}

impl Wire {
    pub(crate) fn new(port: usize, queue: usize, world: &Shared) -> Self {
        let shape = world.lock().shape.clone();
        Self {
            port,
            queue,
            world: world.clone(),
            left: shape.frames,
            shape: shape.ports[port].clone(),
            late: VecDeque::new(),
            flight: VecDeque::new(),
            refused: 0,
            statistics: PortStatistics::default(),
        }
    }

    /// What the wire brings next.
    fn next(&mut self) -> Option<[u8; LEN]> {
        let mut world = self.world.lock();
        if !self.late.is_empty() && (self.left == 0 || world.random.once_in(4)) {
            return self.late.pop_front();
        }
        self.left = self.left.checked_sub(1)?;
        let bytes = world.draw_frame(self.port, self.queue)?;
        match world.random.below(20) {
            // Lost.
            0 => None,
            1 => {
                self.late.push_back(bytes);
                None
            }
            2 => {
                self.late.push_back(bytes);
                Some(bytes)
            }
            _ => Some(bytes),
        }
    }
}

impl PortQueue for Wire {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        if self.left == 0 && self.late.is_empty() {
            return RxState::Ended;
        }
        let want = {
            let mut world = self.world.lock();
            let surges = world.random.once_in(self.shape.surge);
            match (world.down[self.port], surges) {
                (true, _) => 0,
                (false, true) => max,
                (false, false) => world.random.below(max + 1),
            }
        };
        for _ in 0..want {
            let Some(mut frame) = pool.alloc() else {
                break;
            };
            let Some(mut bytes) = self.next() else {
                pool.free(frame);
                continue;
            };
            self.world.lock().number(&mut bytes);
            frame.copy_from(&bytes).expect("a chunk holds a frame");
            assert!(burst.push(frame).is_ok(), "there is room for {max}");
            self.statistics.rx_frames += 1;
        }
        RxState::Open
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        let mut world = self.world.lock();
        if world.down[self.port] {
            // As what goes down with an interface.
            let gone = world.random.below(burst.len() + 1);
            self.refused += gone as u64;
            burst.drain_front(gone).for_each(|frame| pool.free(frame));
            return;
        }
        let takes = world.random.below(self.shape.takes + 1).min(burst.len());
        let takes = takes.min(self.shape.flight - self.flight.len());
        for frame in burst.drain_front(takes) {
            world.leaves(PortId(self.port as u8), frame.bytes());
            let until = world.step + world.random.below(self.shape.delay + 1);
            self.flight.push_back((until, frame));
        }
        self.statistics.tx_frames += takes as u64;
    }

    fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.refused)
    }

    fn reclaim(&mut self, pool: &mut FramePool) {
        let world = self.world.lock();
        let has_left = |until: usize| world.closes || until <= world.step;
        while self
            .flight
            .front()
            .is_some_and(|(until, _)| has_left(*until))
            && let Some((_, frame)) = self.flight.pop_front()
        {
            pool.free(frame);
        }
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }

    fn in_flight(&self) -> u32 {
        self.flight.len() as u32
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        Ok(Vec::new())
    }
}
