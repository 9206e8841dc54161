//! What follows from the rows of `stride`.

use super::{OFFSET, POOL_NEAR, offset_value};
use crate::Samples;
use crate::caches::{Cache, Caches};
use crate::experiment::Row;
use crate::paired::{paired, with_interval};

/// The usual stride, and the next one with an odd number of lines.
const EVEN: u64 = 2048;
const ODD: u64 = 2112;
/// From here on the difference of the two is asked about.
const POOL_MIN: u64 = 2048;
/// And this much is expected.
const EXPECTED: f64 = 3.0;
/// More than the first level of any processor holds, and less than the second of most: what a
/// header there takes at an odd distance.
const POOL_SECOND: u64 = 2048;
/// More than the second level of any holds at the usual distance, and less than the third: what a
/// header there takes.
const POOL_THIRD: u64 = 8192;

pub(super) fn sentences(rows: &[Row], caches: Caches) -> Vec<String> {
    let rows = Rows(rows);
    // The main result first: what the usual distance costs.
    let mut sentences = rows.even_against_odd();
    sentences.extend(rows.offsets());
    let levels = rows.levels();
    sentences.extend(levels.map(|levels| levels.sentence()));
    if let Some(levels) = levels {
        let strides = rows.all("stride");
        sentences.extend(
            strides
                .iter()
                .filter_map(|&stride| rows.leaves(stride, levels, caches)),
        );
    }
    sentences
}

/// What a header takes in each level, nanoseconds.
#[derive(Clone, Copy)]
struct Levels {
    first: f64,
    second: f64,
    third: f64,
}

impl Levels {
    fn sentence(self) -> String {
        format!(
            "a header takes {:.1} ns in the L1 cache, {:.1} in the L2 cache and {:.1} in the L3 \
             cache, its address computed from the header before",
            self.first, self.second, self.third
        )
    }
}

struct Rows<'a>(&'a [Row]);

impl<'a> Rows<'a> {
    fn samples(
        &self,
        way: (&'static str, &'static str),
        stride: u64,
        pool: u64,
    ) -> Option<&'a Samples> {
        let (order, access) = way;
        let found = self.0.iter().find(|row| {
            row.is("order", order)
                && row.is("access", access)
                && row.is("stride", stride)
                && row.is("pool", pool)
                && row.is("offset", offset_value(OFFSET))
        });
        found.map(|row| &row.samples)
    }

    /// Every value of a numeric field, ascending.
    fn all(&self, field: &str) -> Vec<u64> {
        let mut all: Vec<u64> = self.0.iter().filter_map(|row| row.number(field)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn latency(&self, stride: u64, pool: u64) -> Option<f64> {
        let samples = self.samples(("shuffled", "chased"), stride, pool)?;
        Some(samples.median())
    }

    fn levels(&self) -> Option<Levels> {
        Some(Levels {
            first: self.latency(ODD, POOL_NEAR.into())?,
            second: self.latency(ODD, POOL_SECOND)?,
            third: self.latency(EVEN, POOL_THIRD)?,
        })
    }

    /// The pools between which a stride leaves first and second level, beside arithmetic.
    fn leaves(&self, stride: u64, levels: Levels, caches: Caches) -> Option<String> {
        let held = |cache: Option<Cache>| match cache {
            Some(cache) => format!(" (arithmetic: {} frames)", cache.frames(stride)),
            None => String::new(),
        };
        Some(format!(
            "stride {stride} leaves the L1 cache {}{} and the L2 cache {}{}",
            self.left(stride, (levels.first * levels.second).sqrt())?,
            held(caches.first),
            self.left(stride, (levels.second * levels.third).sqrt())?,
            held(caches.second),
        ))
    }

    /// Where latency first exceeds `bound`, in words.
    fn left(&self, stride: u64, bound: f64) -> Option<String> {
        let mut stayed = None;
        for pool in self.all("pool") {
            if self.latency(stride, pool)? > bound {
                return Some(match stayed {
                    Some(stayed) => format!("between {stayed} and {pool} frames"),
                    None => format!("below {pool} frames"),
                });
            }
            stayed = Some(pool);
        }
        Some(format!("above {} frames", stayed?))
    }

    /// 2048 against 2112, each way of touching headers in its own sentence, and why it is less
    /// than expected where it is.
    fn even_against_odd(&self) -> Vec<String> {
        const WAYS: [(&str, &str); 5] = [
            ("shuffled", "chased"),
            ("shuffled", "read"),
            ("ring", "read"),
            ("shuffled", "written"),
            ("ring", "written"),
        ];
        let mut sentences = Vec::new();
        for way in WAYS {
            let ratios = self.ratios(way);
            if ratios.is_empty() {
                continue;
            }
            let part = |(pool, ratio): &(u64, Samples)| {
                format!("{pool} frames {}", with_interval(ratio, 1))
            };
            let parts: Vec<String> = ratios.iter().map(part).collect();
            sentences.push(format!(
                "{EVEN} against {ODD}, {} {}: times {}",
                way.0,
                way.1,
                parts.join(", ")
            ));
            if way == ("shuffled", "read") {
                sentences.extend(self.explanation(&ratios));
            }
        }
        sentences
    }

    /// By pool, what a header takes at the even distance over what it takes at the odd one.
    fn ratios(&self, way: (&'static str, &'static str)) -> Vec<(u64, Samples)> {
        let pools = self
            .all("pool")
            .into_iter()
            .filter(|&pool| pool >= POOL_MIN);
        let of = |pool| {
            let (even, odd) = (
                self.samples(way, EVEN, pool)?,
                self.samples(way, ODD, pool)?,
            );
            Some((pool, paired(even, odd, |even, odd| even / odd)))
        };
        pools.filter_map(of).collect()
    }

    /// Why some ratios are below what is expected, in this run's numbers.
    fn explanation(&self, ratios: &[(u64, Samples)]) -> Option<String> {
        let short = ratios.iter().filter(|(_, ratio)| ratio.median() < EXPECTED);
        let part = |&(pool, _): &(u64, Samples)| {
            let of =
                |access, stride| Some(self.samples(("shuffled", access), stride, pool)?.median());
            let (even, odd) = (of("chased", EVEN)?, of("chased", ODD)?);
            Some(format!(
                "at {pool} frames a header is {even:.1} ns away at {EVEN} and {odd:.1} at {ODD}, \
                 and {:.1} and {:.1} reads are on their way at once",
                even / of("read", EVEN)?,
                odd / of("read", ODD)?,
            ))
        };
        let parts: Vec<String> = short.filter_map(part).collect();
        (!parts.is_empty()).then(|| {
            format!(
                "less than {EXPECTED:.0} times where headers {ODD} apart have left near caches \
                 too, or where reads that overlap hide the rest: {}",
                parts.join("; ")
            )
        })
    }

    /// What the header's place does.
    fn offsets(&self) -> Option<String> {
        let other = |stride: u64, offset: &'static str| {
            let found = self.0.iter().find(|row| {
                row.is("stride", stride) && row.is("offset", offset) && row.is("pool", POOL_MIN)
            })?;
            Some(found.samples.median())
        };
        Some(format!(
            "a header one line further from frame to frame, eight places in all, takes {:.1} ns \
             at {EVEN} where one place takes {:.1}: it uses eight times the sets",
            other(EVEN, "spread")?,
            self.latency(EVEN, POOL_MIN)?,
        ))
    }
}
