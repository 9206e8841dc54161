//! Where the frames of a trial come from and go to: flows, each by one queue drawn at random, as an
//! interface spreads them that knows nothing of who owns a flow; and nowhere.

use frame::{Burst, FramePool};
use port::{Port, PortQueue, PortStatistics, RxState};
use wire::emit::{Ipv4, Network, Recipe, Transport};

use crate::shuffle::Seeded;
use crate::source_port::SourcePort;

/// Bytes of a frame without FCS.
const LEN: usize = 60;

/// Flows: some for each bucket, few enough to stay in the first cache.
const FLOWS: u32 = 256;

/// A port of `queues` queues that each bring `frames` frames: flows, each by one queue drawn at
/// random.
pub(super) fn flow_port(queues: usize, frames: u64, seed: u64) -> Box<dyn Port> {
    let mut flows = vec![Vec::new(); queues];
    let mut seeded = Seeded::new(seed);
    for flow in 0..FLOWS {
        // Every queue has one at least.
        let queue = match flow as usize {
            first if first < queues => first,
            _ => seeded.next() as usize % queues,
        };
        flows[queue].push(template(flow));
    }
    Box::new(SourcePort {
        spec: "flows:",
        queues,
        frame_bytes: LEN,
        open: move |queue: usize| {
            Box::new(FlowQueue {
                flows: flows[queue].clone(),
                left: frames,
                seeded: Seeded::new(seed ^ (queue as u64 + 1)),
                statistics: PortStatistics::default(),
            }) as Box<dyn PortQueue>
        },
    })
}

fn template(flow: u32) -> [u8; LEN] {
    let ip = Ipv4 {
        src: 0x0a00_0000 + flow,
        dst: 0x0b00_0000 + flow.wrapping_mul(7919) % 65_536,
        ..Ipv4::default()
    };
    let udp = Transport::Udp {
        src_port: 1000 + flow as u16,
        dst_port: 53,
    };
    let recipe = Recipe {
        network: Network::Ipv4(ip, udp),
        len_min: LEN,
        ..Recipe::default()
    };
    let mut bytes = [0; LEN];
    // A UDP frame of 60 bytes is sound.
    let _sound = recipe.emit(&mut bytes);
    bytes
}

struct FlowQueue {
    flows: Vec<[u8; LEN]>,
    left: u64,
    seeded: Seeded,
    statistics: PortStatistics,
}

impl PortQueue for FlowQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let before = burst.len();
        let want = max.min(usize::try_from(self.left).unwrap_or(max));
        let count = pool.alloc_burst_of(burst, want, LEN);
        let flows = self.flows.len() as u64;
        for frame in &mut burst.frames_mut()[before..] {
            let drawn = ((self.seeded.next() >> 32) * flows) >> 32;
            frame
                .bytes_mut()
                .copy_from_slice(&self.flows[drawn as usize]);
        }
        self.left -= count as u64;
        self.statistics.rx_frames += count as u64;
        self.statistics.rx_bytes += (count * LEN) as u64;
        if self.left > 0 {
            RxState::Open
        } else {
            RxState::Ended
        }
    }

    fn tx_burst(&mut self, _: &mut Burst, _: &mut FramePool) {}

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}
