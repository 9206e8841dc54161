//! Targets of the crate `traffic`.

use std::cell::RefCell;

use frame::{Burst, FramePool, Nanos, PoolRequest, Region};
use traffic::{Recipe, Signature, Sink, SinkLimits, Source};

thread_local! {
    /// Memory of frames is never given back: one pool for all inputs.
    static POOL: RefCell<FramePool> = RefCell::new(pool());
}

fn pool() -> FramePool {
    let request = PoolRequest {
        frames: 64,
        stride_bytes: 9_600,
        headroom_bytes: 128,
        node: None,
    };
    let (_, mut pools) = Region::with_pools(&[request]).expect("memory for 64 frames");
    pools.remove(0)
}

/// Frames as they arrive, two bytes of length and four of time in front of each: whatever they
/// say, the sink's sums agree.
pub fn sink(mut bytes: &[u8]) {
    let limits = SinkLimits {
        streams: 3,
        window: 64,
        record: 64,
    };
    let mut sink = Sink::new(limits);
    let mut now = Nanos(0);
    let (mut frames, mut sound) = (0, 0);
    while let Some((&[high, low, time @ ..], rest)) = bytes.split_first_chunk::<6>() {
        let len = usize::from(u16::from_be_bytes([high, low])).min(rest.len());
        let (frame, behind) = rest.split_at(len);
        now = now.after(u32::from_be_bytes(time).into());
        sink.take(frame, now);
        frames += 1;
        sound += u64::from(Signature::of(frame).is_some());
        bytes = behind;
    }
    let report = sink.report();
    let mut counted = report.beyond_streams;
    for stream in &report.streams {
        counted += stream.received;
        let named = stream.unique + stream.duplicated + stream.outside_window;
        assert_eq!(stream.received, named);
        assert_eq!(stream.unique, stream.latency.count + stream.arrived_early);
        assert!(stream.lowest <= stream.highest && stream.reordered <= stream.unique);
    }
    assert_eq!(counted, sound);
    assert_eq!(report.frames, sound + report.corrupted + report.foreign);
    assert_eq!(report.frames, frames);
}

/// A recipe as a user writes it, `key=value` between spaces: one that is accepted makes frames
/// without a fault, and signatures that can be read.
pub fn recipe(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut recipe = Recipe::default();
    for part in text.split(' ') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        if recipe.set(key, value).is_err() {
            return;
        }
    }
    let Ok(mut source) = Source::new(&recipe, 0, 1) else {
        return;
    };
    let mut burst = Burst::new();
    POOL.with_borrow_mut(|pool| {
        for turn in 0..4 {
            assert_eq!(source.fill(pool, &mut burst, 50, Nanos(turn)), 50);
            for frame in burst.frames() {
                let parsed = wire::parse(frame.bytes(), frame.len());
                assert_eq!(parsed.fault, None);
                let signature = Signature::of(frame.bytes());
                assert_eq!(signature.is_some(), source.stream().is_some());
            }
            pool.free_burst(&mut burst);
        }
    });
}
