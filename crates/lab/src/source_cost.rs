//! What a source takes for a frame when nothing is done with it: the harness measured first, so
//! that its share of a rate can be said.

use std::time::{Duration, Instant};

use frame::{Burst, PoolRequest, QueueId, Region};
use port::Port;

use crate::LabError;

/// Bursts between two looks at the clock, about 30 us of a fast generator.
const BURSTS_A_LOOK: usize = 64;

/// How the source is driven; as in the run whose harness it is.
#[derive(Clone, Copy, Debug)]
pub struct SourceSettings {
    /// Frames asked for at a time.
    pub burst: usize,
    /// Distance of two frames, bytes.
    pub stride_bytes: u32,
    /// Frames in the pool.
    pub pool_frames: u32,
    /// For about this long.
    pub duration: Duration,
}

/// Receives bursts from the first queue of `port` and frees them at once; returns nanoseconds a
/// frame, allocation and freeing included, 0 when the source gave nothing.
///
/// # Errors
///
/// A queue or memory that cannot be had.
pub fn source_cost(port: &mut dyn Port, settings: &SourceSettings) -> Result<f64, LabError> {
    let request = PoolRequest {
        frames: settings.pool_frames,
        stride_bytes: settings.stride_bytes,
        headroom_bytes: engine::HEADROOM_BYTES,
        node: None,
    };
    let failed = |error: &dyn std::fmt::Display| LabError(error.to_string());
    let (_, mut pools) = Region::with_pools(&[request]).map_err(|error| failed(&error))?;
    let mut queue = port
        .open_queue(QueueId(0), 1)
        .map_err(|error| failed(&error))?;
    let mut burst = Burst::new();
    let begun = Instant::now();
    let mut frames = 0;
    while begun.elapsed() < settings.duration {
        for _ in 0..BURSTS_A_LOOK {
            queue.rx_burst(&mut pools[0], &mut burst, settings.burst);
            frames += burst.len() as u64;
            pools[0].free_burst(&mut burst);
        }
    }
    let nanos = begun.elapsed().as_nanos() as f64;
    Ok(if frames == 0 {
        0.0
    } else {
        nanos / frames as f64
    })
}
