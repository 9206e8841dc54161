//! Distance of two frames in memory: how many cache sets their headers share.
//!
//! A header lies in one line of its frame, so frames at a distance of `n` lines use
//! `64 / gcd(n, 64)` of the 64 sets of a first-level cache, and as small a part of the second
//! level's. At 2,048 bytes that is two sets: a dozen ways each, and no more headers than that stay
//! near. At an odd number of lines every set is used.

mod findings;
mod headers;

use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use frame::Frame;

use crate::caches::{Caches, sets_used};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::wired::{self, Way, Wire};
use crate::{Chart, ChartKind, Samples, Value, interleave};
use headers::{Access, Headers, Offset, Order, Variant};

/// Sets of a first-level cache on the processors of the last ten years.
const SETS: u64 = 64;
const STRIDES_QUICK: [u32; 5] = [1920, 1984, 2048, 2112, 4096];
const STRIDES: [u32; 13] = [
    1920, 1984, 2048, 2112, 2176, 2240, 2304, 2560, 3072, 3136, 3584, 4032, 4096,
];
/// The smallest stays in the first level at any stride: it tells what that takes.
const POOL_NEAR: u32 = 8;
const POOLS_QUICK: [u32; 6] = [POOL_NEAR, 256, 1024, 2048, 8192, 65_536];
const POOLS: [u32; 10] = [
    POOL_NEAR, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536,
];
/// All, and first those of a quick run.
const WAYS: [(Order, Access); 5] = [
    (Order::Shuffled, Access::Chased),
    (Order::Shuffled, Access::Read),
    (Order::Ring, Access::Read),
    (Order::Shuffled, Access::Written),
    (Order::Ring, Access::Written),
];
const ROUNDS_QUICK: usize = 11;
const ROUNDS: usize = 15;
const OFFSET: Offset = Offset::Bytes(engine::HEADROOM_BYTES);

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    if let Some(wire) = settings.wire {
        return over(settings, wire);
    }
    let (variants, rounds) = match settings.quick {
        true => (
            variants(&STRIDES_QUICK, &POOLS_QUICK, &WAYS[..4]),
            ROUNDS_QUICK,
        ),
        false => (variants(&STRIDES, &POOLS, &WAYS), ROUNDS),
    };
    let largest = |of: fn(&Variant) -> u32| variants.iter().map(of).max().unwrap_or(0);
    let (pool, stride) = (largest(|of| of.pool), largest(|of| of.stride_bytes));
    let mut headers = Headers::new(pool, stride, settings.seed)?;
    let measured = interleave(settings, variants.len(), rounds, |variant, trial| {
        headers.nanos_per_frame(&variants[variant], trial.shift_lines)
    });
    let rows = variants.iter().zip(measured.samples);
    let rows: Vec<Row> = rows
        .map(|(variant, samples)| row(variant, samples))
        .collect();
    Ok(Outcome {
        findings: findings::sentences(&rows, Caches::read()),
        varies: varies(),
        skipped: vec![
            "DDIO, by which a NIC writes headers into the last-level cache: it needs a NIC. \
             'written' has the CPU write them half a pool ahead instead, so its own near caches \
             hold what a NIC's writes would take out of them"
                .to_owned(),
        ],
        charts: charts(),
        rows,
        noise: Some(measured.noise),
        ..Outcome::default()
    })
}

/// The distances over real interfaces: of each frame that arrives the header is read, and nothing
/// else is done. Frames in use are those that the port holds.
fn over(settings: &mut Settings<'_>, wire: Wire<'_>) -> Result<Outcome, LabError> {
    let (strides, rounds): (&[u32], usize) = match settings.quick {
        true => (&STRIDES_QUICK, 5),
        false => (&STRIDES, 10),
    };
    let way = |&stride: &u32| Way {
        variant: vec![
            ("stride", stride.into()),
            ("sets", sets_used(stride.into(), SETS).into()),
        ],
        stride,
        batch: engine::DEFAULT_BURST,
        work: Rc::new(|frames| {
            let read = |frame: &Frame| frame.bytes().first().copied().unwrap_or(0);
            black_box(frames.iter().map(read).fold(0, u8::wrapping_add));
        }),
    };
    let ways: Vec<Way> = strides.iter().map(way).collect();
    let wanted = Duration::from_millis(100);
    let mut outcome = wired::measure(settings, wire, &ways, (rounds, wanted))?;
    outcome.varies = vec![
        "Varied: the distance of two frames in the memory that the port receives into. Held: \
         frames of 64 bytes, sent flat out; 64 are taken together, a line of each is read, and \
         they end."
            .to_owned(),
    ];
    Ok(outcome)
}

/// Every stride and pool in the ways that differ, and three places of the header for two strides.
fn variants(strides: &[u32], pools: &[u32], ways: &[(Order, Access)]) -> Vec<Variant> {
    let mut variants = Vec::new();
    for &(order, access) in ways {
        for &pool in pools {
            variants.extend(strides.iter().map(|&stride_bytes| Variant {
                stride_bytes,
                pool,
                order,
                access,
                offset: OFFSET,
            }));
        }
    }
    for offset in [Offset::Bytes(0), Offset::Spread] {
        for stride_bytes in [2048, 2112] {
            variants.push(Variant {
                stride_bytes,
                pool: 2048,
                order: Order::Shuffled,
                access: Access::Chased,
                offset,
            });
        }
    }
    variants
}

fn row(variant: &Variant, samples: Samples) -> Row {
    Row {
        variant: vec![
            ("stride", variant.stride_bytes.into()),
            ("sets", sets_used(variant.stride_bytes.into(), SETS).into()),
            ("pool", variant.pool.into()),
            ("order", order_name(variant.order).into()),
            ("access", access_name(variant.access).into()),
            ("offset", offset_value(variant.offset)),
        ],
        metric: "ns_per_frame",
        samples,
    }
}

fn order_name(order: Order) -> &'static str {
    match order {
        Order::Ring => "ring",
        Order::Shuffled => "shuffled",
    }
}

fn access_name(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Written => "written",
        Access::Chased => "chased",
    }
}

fn offset_value(offset: Offset) -> Value {
    match offset {
        Offset::Bytes(bytes) => bytes.into(),
        Offset::Spread => "spread".into(),
    }
}

fn varies() -> Vec<String> {
    [
        "the distance of two frames, the frames in use, their order, what is done with a header, \
         and where it stands in its frame; 'sets' is 64 / gcd(lines, 64), the sets of a first \
         level that headers fall into",
        "'read' knows the next address before, so that the processor overlaps reads; 'chased' \
         takes it from the header just read and shows latency; 'written' also writes the header \
         half a pool ahead of the one it reads",
        "held: one thread, one line a frame, the same memory for all variants; 8 frames stay in \
         the first level at any distance and tell what that takes",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn charts() -> Vec<Chart> {
    let chart = |title: &str, caption: &str, order: &'static str, access: &'static str| Chart {
        title: title.to_owned(),
        caption: caption.to_owned(),
        kind: ChartKind::Lines,
        metric: "ns_per_frame",
        beside: None,
        x: "pool",
        series: vec!["stride"],
        only: vec![
            ("order", order.into()),
            ("access", access.into()),
            ("offset", offset_value(OFFSET)),
        ],
    };
    vec![
        chart(
            "Latency of a header, by frames in use",
            "Each step up is a cache that the headers have left. Even distances take it at a \
             fraction of the frames.",
            "shuffled",
            "chased",
        ),
        chart(
            "Time a header where reads overlap, in random order",
            "The same steps, flattened: many reads are on their way at once.",
            "shuffled",
            "read",
        ),
        chart(
            "Time a header where reads overlap, in ring order",
            "Here the processor also foresees the next address.",
            "ring",
            "read",
        ),
        chart(
            "Time a header that was written half a pool before",
            "Lines that were written must go out before others come in.",
            "shuffled",
            "written",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variant_comes_twice() {
        let variants = variants(&STRIDES, &POOLS, &WAYS);
        for (place, variant) in variants.iter().enumerate() {
            assert!(!variants[..place].contains(variant), "{variant:?}");
        }
    }
}
