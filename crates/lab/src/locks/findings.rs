//! What follows from the rows of `locks`.

use super::scheme::Scheme;
use super::{CHANGES_PER_SECOND, is};
use crate::experiment::Row;
use crate::{Ratio, Samples};

pub(super) fn sentences(rows: &[Row]) -> Vec<String> {
    let mut sentences: Vec<String> = ours(rows).into_iter().collect();
    for scheme in Scheme::EVERY {
        sentences.extend(against_base(rows, scheme));
    }
    sentences.extend(published(rows));
    sentences
}

fn samples(rows: &[Row], scheme: Scheme, threads: u64, writer: u64) -> Option<&Samples> {
    let row = rows.iter().find(|row| is(row, scheme, threads, writer))?;
    Some(&row.samples)
}

fn most_threads(rows: &[Row], writer: u64) -> Option<u64> {
    let of_writer = rows.iter().filter(|row| row.is("writer", writer));
    of_writer.filter_map(|row| row.number("threads")).max()
}

/// `median [low to high]` in per cent.
fn per_cent(ratio: Ratio) -> String {
    let of = |ratio: f64| (ratio - 1.0) * 100.0;
    let (median, low, high) = (of(ratio.median), of(ratio.low), of(ratio.high));
    format!("{median:+.1} % [{low:+.1} to {high:+.1}]")
}

/// The bound: our scheme within 3 % of no lock, writer running.
fn ours(rows: &[Row]) -> Option<String> {
    let threads = most_threads(rows, CHANGES_PER_SECOND)?;
    let of = |scheme| samples(rows, scheme, threads, CHANGES_PER_SECOND);
    let ours = of(Scheme::Ours)?;
    let ratio = Ratio::paired(ours, of(Scheme::None)?)?;
    let Ratio { low, high, .. } = ratio;
    let verdict = if low >= 0.97 && high <= 1.03 {
        "within 3 %"
    } else if low >= 0.97 {
        "not slower by 3 %"
    } else if high < 0.97 {
        "not within 3 %"
    } else {
        "not told apart from 3 % by this run"
    };
    Some(format!(
        "ours against no lock, {threads} reader(s), {CHANGES_PER_SECOND} changes a second: {} of \
         {} rounds (95 % interval of the median): {verdict}",
        per_cent(ratio),
        ours.all().len(),
    ))
}

/// Those of the rounds that `other` has too: two schemes have more, behind.
fn of_rounds(samples: &Samples, other: &Samples) -> Samples {
    let mut first = Samples::default();
    let rounds = samples.all().iter().take(other.all().len());
    rounds.for_each(|&sample| first.push(sample));
    first
}

/// What a scheme costs against the same batch without a lock, with one thread and with most.
fn against_base(rows: &[Row], scheme: Scheme) -> Option<String> {
    if scheme.base() == scheme {
        return None;
    }
    let mut parts = Vec::new();
    for writer in [0, CHANGES_PER_SECOND] {
        let mut counts = vec![1];
        counts.extend(most_threads(rows, writer).filter(|&most| most > 1));
        for threads in counts {
            let of = |scheme| samples(rows, scheme, threads, writer);
            let (Some(with), Some(without)) = (of(scheme), of(scheme.base())) else {
                continue;
            };
            let Some(ratio) = Ratio::paired(with, &of_rounds(without, with)) else {
                continue;
            };
            let beside = if writer == 0 { "" } else { " and a writer" };
            parts.push(format!("{threads} thread(s){beside} {}", per_cent(ratio)));
        }
    }
    Some(format!(
        "{} against {}: {}",
        scheme.name(),
        scheme.base().name(),
        parts.join(", ")
    ))
}

/// The shape of the published figures, on the published table and on ours.
fn published(rows: &[Row]) -> Option<String> {
    let most = most_threads(rows, 0)?;
    let ratio = |scheme: Scheme, threads| {
        let of = |scheme| samples(rows, scheme, threads, 0);
        let ratio = Ratio::paired(of(scheme)?, of(scheme.base())?)?;
        Some(ratio.median)
    };
    let both = |scheme| {
        let (one, most) = (ratio(scheme, 1)?, ratio(scheme, most)?);
        Some((one, most))
    };
    let (one, all) = both(Scheme::RwLockPrefetch4Array)?;
    let (ours_one, ours_all) = both(Scheme::RwLockPrefetch4)?;
    Some(format!(
        "published: a read lock a packet takes one thread to 0.79 of its rate and four to 0.39; \
         here, on the published table, one to {one:.2} and {most} to {all:.2}, on ours one to \
         {ours_one:.2} and {most} to {ours_all:.2}",
    ))
}
