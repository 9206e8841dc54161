//! Frames of all queues of a port, shown to a verifier and let go.

use std::time::{Duration, Instant};

use frame::{Burst, Frame, FrameMeta, FramePool, PoolRequest, QueueId, Region};
use port::{Port, PortQueue, QUEUE_UNTOLD, RxState};
use wire::Fragment;

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

/// Receives from all queues of `port` until enough was seen, all of them have ended, or `stop` says
/// so. `queues` has an entry for each: the interface's queue that frames without a record of their
/// own came by, where that is known.
///
/// # Errors
/// Memory or queues that cannot be had.
pub fn observe(
    port: &mut dyn Port,
    queues: &[Option<u32>],
    verifier: &mut Verifier,
    enough: Enough,
    stop: &dyn Fn() -> bool,
) -> Result<(), EngineError> {
    let bytes = port.frame_bytes_max_hint() as u32 + HEADROOM_BYTES;
    // One pool for all queues, and each of them holds as many.
    let held = port.frames_held_max(queues.len());
    let held = held.saturating_mul(queues.len() as u32);
    let request = PoolRequest {
        frames: FRAMES.saturating_add(held),
        stride_bytes: bytes.next_multiple_of(64).max(2048),
        headroom_bytes: HEADROOM_BYTES,
        node: None,
    };
    let (region, mut pools) = Region::with_pools(&[request])?;
    let mut pool = pools.remove(0);
    port.prepare(region)?;
    let open = |(queue, number): (usize, &Option<u32>)| {
        Ok((
            port.open_queue(QueueId(queue as u16), queues.len())?,
            *number,
        ))
    };
    let opened = queues.iter().enumerate().map(open);
    let mut opened = opened.collect::<Result<Vec<_>, EngineError>>()?;
    for (queue, _) in &mut opened {
        queue.begin(&mut pool)?;
    }
    let begun = Instant::now();
    while begun.elapsed() < enough.duration && !stop() {
        if !look(&mut opened, &mut pool, verifier, enough.frames) {
            break;
        }
    }
    for (queue, _) in &mut opened {
        queue.finish()?;
    }
    Ok(())
}

/// One burst of each queue; whether more may come and is wanted.
fn look(
    queues: &mut [(Box<dyn PortQueue>, Option<u32>)],
    pool: &mut FramePool,
    verifier: &mut Verifier,
    frames_max: u64,
) -> bool {
    let mut burst = Burst::new();
    let (before, mut open) = (verifier.frames(), false);
    for (queue, number) in queues {
        open |= queue.rx_burst(pool, &mut burst, BURST) == RxState::Open;
        for frame in burst.frames() {
            if verifier.frames() < frames_max {
                verifier.see(sighting(frame, *number));
            }
        }
        pool.free_burst(&mut burst);
    }
    if open && verifier.frames() == before {
        std::thread::sleep(REST);
    }
    open && verifier.frames() < frames_max
}

fn sighting(frame: &Frame, number: Option<u32>) -> Option<Sighting> {
    let parsed = wire::parse(frame.bytes(), plane::original_len(frame));
    let told = |meta: &FrameMeta| {
        let queue = (meta.queue.0 != QUEUE_UNTOLD).then_some(u32::from(meta.queue.0));
        (meta.rss_hash, queue)
    };
    // A record that nobody wrote says queue 0 of each frame.
    let (hash, queue) = frame.meta().map_or((0, number), told);
    Some(Sighting {
        flow: parsed.flow_key()?,
        hash,
        queue,
        fragment: parsed.fragment != Fragment::Whole,
    })
}
