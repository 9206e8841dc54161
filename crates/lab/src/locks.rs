//! What it costs that a table can be changed while it is read: locks a packet and a burst, a
//! shared counter, a pre-empted holder, and the publishing scheme of the engine.
//!
//! Threads look the addresses of random frames up in one table. What a lock costs is the
//! difference to the same batch without one: a lock a packet also forbids to look up more than a
//! packet at a time, and that difference is `none` against `none_packet`.

mod crew;
mod findings;
mod over;
mod scheme;
#[cfg(test)]
mod tests;
mod writer;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::allowed_cpus;
use frame::CpuId;
use table::{CompiledLists, Entries};

use crate::contest::refused;
use crate::design::array::{ArrayTable, HEADS_MORE};
use crate::experiment::{LabError, Outcome, Published, Row, Settings};
use crate::key::Stream;
use crate::lock::locked;
use crate::shuffle::Seeded;
use crate::{Chart, ChartKind, Samples, interleave};
use crew::{Crew, Share};
use scheme::{Scheme, Table};
use writer::{Source, Writer};

const ENTRIES: usize = 6_000_000;
const ROUNDS_QUICK: usize = 11;
const ROUNDS: usize = 21;
/// Rounds of the two that a bound of 3 % is asked for, beyond those of all: many and short, since
/// the speed of the machine drifts by more than that within a tenth of a second.
const ROUNDS_PAIR_QUICK: usize = 400;
const ROUNDS_PAIR: usize = 600;
const TRIAL_PAIR: Duration = Duration::from_millis(6);
const TRIAL_QUICK: Duration = Duration::from_millis(15);
const TRIAL: Duration = Duration::from_millis(30);
const CHANGES_PER_SECOND: u64 = 1000;
/// Changes before the first trial, so many that each of the table's 326 pages has some: all schemes
/// read pages that changes have copied, from the first trial to the last.
const CHANGES_BEFORE: usize = 4000;

/// A row to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    scheme: Scheme,
    threads: usize,
    writer: bool,
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    if let Some(wire) = settings.wire {
        return over::run(settings, wire);
    }
    let cpus = allowed_cpus();
    let bench = Bench::new(settings, cpus)?;
    let variants = bench.variants();
    let rounds = if settings.quick { ROUNDS_QUICK } else { ROUNDS };
    let measured = interleave(settings, variants.len(), rounds, |variant, trial| {
        bench.frames_per_second(variants[variant], trial.seed, bench.trial)
    });
    let mut samples = measured.samples;
    let pair = bench.pair(&variants);
    if let [_, _] = pair[..] {
        let rounds = if settings.quick {
            ROUNDS_PAIR_QUICK
        } else {
            ROUNDS_PAIR
        };
        let beside = interleave(settings, pair.len(), rounds, |place, trial| {
            bench.frames_per_second(variants[pair[place]], trial.seed, TRIAL_PAIR)
        });
        for (&variant, more) in pair.iter().zip(&beside.samples) {
            more.all()
                .iter()
                .for_each(|&sample| samples[variant].push(sample));
        }
    }
    let rows: Vec<Row> = variants
        .iter()
        .zip(samples)
        .map(|(&variant, samples)| row(variant, samples))
        .collect();
    Ok(Outcome {
        findings: findings::sentences(&rows),
        varies: varies(),
        skipped: skipped(bench.cpus.len()),
        published: published(&rows),
        charts: charts(),
        rows,
        noise: Some(measured.noise),
    })
}

/// What all trials share.
struct Bench {
    cpus: Vec<CpuId>,
    /// The table of schemes whose readers read what the writer makes.
    read: Mutex<Writer>,
    /// The table that a writer changes where nobody reads what it makes.
    unread: Mutex<Writer>,
    /// Two versions that share nothing and were never changed.
    apart: [Table; 2],
    /// The table of the published experiment, with the same addresses.
    array: Arc<ArrayTable>,
    stream: Stream<u32>,
    trial: Duration,
}

fn list(seed: u64) -> Entries {
    let mut seeded = Seeded::new(seed ^ ENTRIES as u64);
    let mut list = Entries::default();
    list.v4.addresses = (0..ENTRIES).map(|_| seeded.next() as u32).collect();
    list
}

/// With as many heads as the last step of the published experiment had.
fn array(list: &Entries) -> Result<ArrayTable, LabError> {
    let mut addresses = list.v4.addresses.clone();
    addresses.sort_unstable();
    addresses.dedup();
    ArrayTable::new(addresses.iter().copied(), HEADS_MORE)
}

impl Bench {
    fn new(settings: &Settings<'_>, cpus: Vec<CpuId>) -> Result<Self, LabError> {
        let seed = settings.seed;
        let table = || {
            Ok(Arc::new(
                CompiledLists::compile(&[&list(seed)]).map_err(refused)?,
            ))
        };
        let writer = || -> Result<_, LabError> {
            let mut writer = Writer::of_one_address(list(seed), !seed).map_err(refused)?;
            writer.scatter(CHANGES_BEFORE, seed).map_err(refused)?;
            Ok(Mutex::new(writer))
        };
        let mut seeded = Seeded::new(seed ^ 1);
        Ok(Self {
            cpus,
            read: writer()?,
            unread: writer()?,
            apart: [table()?, table()?],
            array: Arc::new(array(&list(seed))?),
            stream: Stream::drawn(|| seeded.next() as u32)?,
            trial: if settings.quick { TRIAL_QUICK } else { TRIAL },
        })
    }

    /// Where a scheme's versions come from, and with which its readers begin.
    fn source(&self, scheme: Scheme) -> (Source<'_>, Table) {
        let first = || Arc::clone(&self.apart[0]);
        match scheme {
            Scheme::OursReplaced => (Source::Whole(&self.apart), first()),
            Scheme::Unchanged => (Source::Changed(&self.unread), first()),
            scheme => {
                let is_seen = !scheme.reads_one_table();
                let changed = if is_seen { &self.read } else { &self.unread };
                (Source::Changed(changed), locked(&self.read).version())
            }
        }
    }

    /// Every scheme with every number of threads that there are CPUs for.
    fn variants(&self) -> Vec<Variant> {
        let mut variants = Vec::new();
        for writer in [false, true] {
            let threads = thread_counts(self.cpus.len() - usize::from(writer));
            for threads in threads {
                let schemes = Scheme::EVERY.into_iter();
                let schemes = schemes.filter(|&scheme| writer || scheme != Scheme::OursReplaced);
                variants.extend(schemes.map(|scheme| Variant {
                    scheme,
                    threads,
                    writer,
                }));
            }
        }
        variants
    }

    /// The two that the bound is asked for: as many readers as there can be beside a writer.
    fn pair(&self, variants: &[Variant]) -> Vec<usize> {
        let threads = self.cpus.len() - 1;
        let wanted = [Scheme::None, Scheme::Ours].map(|scheme| Variant {
            scheme,
            threads,
            writer: true,
        });
        wanted
            .iter()
            .filter_map(|wanted| variants.iter().position(|variant| variant == wanted))
            .collect()
    }

    /// One trial: the sum over its threads, each by its own clock.
    fn frames_per_second(&self, variant: Variant, seed: u64, duration: Duration) -> f64 {
        let first = (seed % self.stream.keys().len() as u64) as usize;
        let shares = self.shares(variant, first, duration);
        shares.iter().map(Share::frames_per_second).sum()
    }

    fn shares(&self, variant: Variant, first: usize, duration: Duration) -> Vec<Share> {
        let mut readers = self.cpus[..variant.threads].to_vec();
        if variant.scheme == Scheme::Preempted {
            readers.push(self.cpus[0]);
        }
        let (source, table) = self.source(variant.scheme);
        let crew = Crew {
            scheme: variant.scheme,
            readers: &readers,
            writer: self.cpus.last().copied().filter(|_| variant.writer),
            table: &table,
            array: &self.array,
            source,
            keys: self.stream.keys(),
            first,
            duration,
        };
        crew.run()
    }
}

/// 1, 2, 4 and so on, and `most`.
fn thread_counts(most: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(1), |count| Some(count * 2));
    let mut counts: Vec<usize> = doubled.take_while(|&count| count < most).collect();
    counts.extend((most > 0).then_some(most));
    counts
}

fn row(variant: Variant, samples: Samples) -> Row {
    Row {
        variant: vec![
            ("scheme", variant.scheme.name().into()),
            ("threads", variant.threads.into()),
            (
                "writer",
                if variant.writer {
                    CHANGES_PER_SECOND
                } else {
                    0
                }
                .into(),
            ),
            ("batch", variant.scheme.batch().into()),
        ],
        metric: "frames_per_second",
        samples,
    }
}

/// The figures of 2015: a table of 6 million addresses, over NICs.
fn published(rows: &[Row]) -> Vec<Published> {
    let figures = [
        (Scheme::NonePrefetch4Array, 1, 8.9),
        (Scheme::RwLockPrefetch4Array, 1, 7.0),
        (Scheme::NonePrefetch4Array, 4, 12.0),
        (Scheme::RwLockPrefetch4Array, 4, 4.7),
    ];
    let found = figures.into_iter().filter_map(|(scheme, threads, figure)| {
        let row = rows.iter().position(|row| is(row, scheme, threads, 0))?;
        Some(Published {
            row,
            figure,
            unit: "Mpps",
            ratio: figure / 8.9,
        })
    });
    found.collect()
}

fn is(row: &Row, scheme: Scheme, threads: u64, writer: u64) -> bool {
    row.is("scheme", scheme.name()) && row.is("threads", threads) && row.is("writer", writer)
}

fn skipped(cpus: usize) -> Vec<String> {
    let mut skipped = vec![format!(
        "more than {cpus} threads, and with a writer more than {}: this process may run on {cpus} \
         CPUs",
        cpus - 1
    )];
    if cpus < 4 {
        skipped.push(
            "the published four threads (12 Mpps without a lock, 4.7 with one): four CPUs are \
             needed"
                .to_owned(),
        );
    }
    skipped
}

fn varies() -> Vec<String> {
    vec![
        "how threads come to the table that they share, how many there are, and whether a writer \
         changes it 1,000 times a second"
            .to_owned(),
        format!(
            "held: {ENTRIES} entries, two lookups a frame of random addresses from a stream that \
             no cache holds, threads tied to CPUs, the writer on a CPU of its own; 'batch' is how \
             many frames are looked up together, and a lock is held against the same batch \
             without one"
        ),
        "the writer adds an address or takes it out again, in turn, each a version of its own: it \
         copies the 64 KiB page that the change touches and shares the rest; 'ours_replaced' puts \
         in a table that shares nothing, so that every change finds the caches holding the wrong \
         one"
        .to_owned(),
        format!(
            "'preempted' has one thread more than CPUs, on the first of them; where readers take \
             no lock and never look ('none', 'counter'), they read the version that the others \
             begin with, and the writer does the same work on another table that nobody reads; \
             all read pages that {CHANGES_BEFORE} changes and more have copied, but for \
             'unchanged' (and 'ours_replaced'), whose lines lie side by side: that is what \
             changes cost lookups, with any lock or none"
        ),
        "'prefetch4' is what was published in 2015: the heads of four packets are prefetched \
         without the lock, then each packet takes it once, round its two lookups; '_array' on the \
         published table with 2,097,152 heads, whose writer takes the lock and puts the same table \
         in again; without, on ours, which looks the four packets up once more for want of a call \
         that only prefetches, also in the base without a lock"
            .to_owned(),
    ]
}

fn charts() -> Vec<Chart> {
    vec![
        Chart {
            title: "Frames a second of all threads together, no writer".to_owned(),
            caption:
                "What writes no line that another thread reads grows with threads; a lock or a \
                      counter that all share for every packet does not."
                    .to_owned(),
            kind: ChartKind::Bars,
            metric: "frames_per_second",
            beside: None,
            x: "scheme",
            series: vec!["threads"],
            only: vec![("writer", 0u64.into())],
        },
        Chart {
            title: "With a writer, 1,000 changes a second".to_owned(),
            caption:
                "Publishing costs readers one load a burst: hold the second bar against the first."
                    .to_owned(),
            kind: ChartKind::Bars,
            metric: "frames_per_second",
            beside: None,
            x: "scheme",
            series: vec!["threads"],
            only: vec![("writer", CHANGES_PER_SECOND.into())],
        },
    ]
}
