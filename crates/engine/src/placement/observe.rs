//! Frames of all queues of a port, shown to a verifier and let go.

use std::time::{Duration, Instant};

use frame::{Burst, Frame, FramePool, PoolRequest, QueueId, Region};
use port::{Port, PortQueue, QUEUE_UNTOLD, RxState};

use super::verify::{Sighting, Verifier};
use crate::{EngineError, HEADROOM_BYTES};

/// Frames in the pool, beside those that queues hold.
const FRAMES: u32 = 1024;
/// Frames that a queue is asked for at a time.
const BURST: usize = 64;
/// How long to wait where nothing came: far less than a ring of the kernel holds.
const REST: Duration = Duration::from_micros(200);

/// When enough was seen.
#[derive(Clone, Copy, Debug)]
pub struct Enough {
    /// Frames.
    pub frames: u64,
    /// Time.
    pub duration: Duration,
}

/// Receives from `queues` queues of `port` until enough was seen, all of them have ended, or `stop`
/// says so.
///
/// # Errors
/// Memory or queues that cannot be had.
pub fn observe(
    port: &mut dyn Port,
    queues: usize,
    verifier: &mut Verifier,
    enough: Enough,
    stop: &dyn Fn() -> bool,
) -> Result<(), EngineError> {
    let bytes = port.frame_bytes_max_hint() as u32 + HEADROOM_BYTES;
    let request = PoolRequest {
        frames: FRAMES.saturating_add(port.frames_held_max(queues)),
        stride_bytes: bytes.next_multiple_of(64).max(2048),
        headroom_bytes: HEADROOM_BYTES,
        node: None,
    };
    let (region, mut pools) = Region::with_pools(&[request])?;
    let mut pool = pools.remove(0);
    port.prepare(region)?;
    let opened = (0..queues).map(|queue| port.open_queue(QueueId(queue as u16), queues));
    let mut opened = opened.collect::<Result<Vec<_>, _>>()?;
    for queue in &mut opened {
        queue.begin(&mut pool)?;
    }
    let begun = Instant::now();
    while begun.elapsed() < enough.duration && !stop() {
        if !look(&mut opened, &mut pool, verifier, enough.frames) {
            break;
        }
    }
    for queue in &mut opened {
        queue.finish()?;
    }
    Ok(())
}

/// One burst of each queue; whether more may come and is wanted.
fn look(
    queues: &mut [Box<dyn PortQueue>],
    pool: &mut FramePool,
    verifier: &mut Verifier,
    frames_max: u64,
) -> bool {
    let mut burst = Burst::new();
    let (before, mut open) = (verifier.frames(), false);
    for queue in queues {
        open |= queue.rx_burst(pool, &mut burst, BURST) == RxState::Open;
        for frame in burst.frames() {
            if verifier.frames() < frames_max {
                verifier.see(sighting(frame));
            }
        }
        pool.free_burst(&mut burst);
    }
    if open && verifier.frames() == before {
        std::thread::sleep(REST);
    }
    open && verifier.frames() < frames_max
}

fn sighting(frame: &Frame) -> Option<Sighting> {
    let meta = frame.meta().copied().unwrap_or_default();
    let parsed = wire::parse(frame.bytes(), plane::original_len(frame));
    let told = meta.queue.0 != QUEUE_UNTOLD;
    Some(Sighting {
        flow: parsed.flow_key()?,
        hash: meta.rss_hash,
        queue: told.then_some(u32::from(meta.queue.0)),
    })
}
