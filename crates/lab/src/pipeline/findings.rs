//! What follows from the rows of `pipeline`.

use super::without::Without;
use super::{ENTRIES, POOL, STRIDE};
use crate::Samples;
use crate::experiment::Row;
use crate::paired::{paired, with_interval};

/// Lines a frame needs: header, source, destination.
const LINES_A_FRAME: f64 = 3.0;

/// The rows of one table and pool.
struct Rows<'a> {
    rows: Vec<&'a Row>,
    entries: u64,
    pool: u64,
    stride: u64,
}

impl<'a> Rows<'a> {
    fn of(rows: &'a [Row], entries: u64, pool: u64, stride: u64) -> Self {
        let same = |row: &&Row| {
            row.is("entries", entries) && row.is("pool", pool) && row.is("stride", stride)
        };
        Self {
            rows: rows.iter().filter(same).collect(),
            entries,
            pool,
            stride,
        }
    }

    fn samples(&self, path: &'static str, without: Without) -> Option<&'a Samples> {
        let found = self
            .rows
            .iter()
            .find(|row| row.is("path", path) && row.is("without", without.name()));
        found.map(|row| &row.samples)
    }

    fn bridge(&self, without: Without) -> Option<&'a Samples> {
        self.samples("bridge", without)
    }

    /// Nanoseconds a frame that a stage adds to the rest of the path.
    fn added(&self, without: Without) -> Option<Samples> {
        let (all, rest) = (self.bridge(Without::Nothing)?, self.bridge(without)?);
        Some(paired(all, rest, |all, rest| 1e9 / all - 1e9 / rest))
    }
}

/// One sentence a thing that follows.
pub(super) fn sentences(rows: &[Row]) -> Vec<String> {
    let mut sentences = Vec::new();
    for rows in groups(rows) {
        sentences.extend(against_limit(&rows));
        sentences.extend(against_lookups(&rows));
        sentences.extend(stages(&rows));
    }
    sentences
}

/// One group a table and pool, in the order of the rows.
fn groups(rows: &[Row]) -> Vec<Rows<'_>> {
    let of = |row: &Row, field: &str| row.number(field).unwrap_or(0);
    let mut keys: Vec<[u64; 3]> = Vec::new();
    for row in rows {
        let key = ["entries", "pool", "stride"].map(|field| of(row, field));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let group = |[entries, pool, stride]: [u64; 3]| Rows::of(rows, entries, pool, stride);
    keys.into_iter().map(group).collect()
}

fn against_limit(rows: &Rows<'_>) -> Option<String> {
    let limit = rows.samples("limit", Without::Nothing)?;
    let all = rows.bridge(Without::Nothing)?;
    let far_side = rows.samples("far_side", Without::Nothing)?;
    let share = paired(all, limit, |all, limit| LINES_A_FRAME * all / limit);
    let ours = paired(all, far_side, |all, far| 1.0 / (1.0 / all - 1.0 / far));
    let our_share = paired(&ours, limit, |ours, limit| LINES_A_FRAME * ours / limit);
    let wanted = rows.entries == ENTRIES as u64
        && rows.pool == u64::from(POOL)
        && rows.stride == u64::from(STRIDE);
    Some(format!(
        "{} entries, {} frames {} bytes apart: {:.1} Mpps. A frame reads three cache lines, so \
         this is {} of the limit of {:.0} M lines/s. The far side takes {:.1} ns a frame, which \
         no worker does; without them it is {}{}",
        rows.entries,
        rows.pool,
        rows.stride,
        all.median() / 1e6,
        with_interval(&share, 2),
        limit.median() / 1e6,
        1e9 / far_side.median(),
        with_interval(&our_share, 2),
        if wanted { " (asked for: 0.35)" } else { "" },
    ))
}

fn against_lookups(rows: &Rows<'_>) -> Option<String> {
    let added = rows.added(Without::Lookup)?;
    let bare = rows.samples("lookups", Without::Nothing)?;
    let times = paired(&added, bare, |added, bare| added * bare / 1e9);
    Some(format!(
        "{} entries, {} frames {} bytes apart: the two lookups of a frame cost {:.1} ns, {} times \
         the {:.1} ns of two lookups without frames (asked for: at most 1.5)",
        rows.entries,
        rows.pool,
        rows.stride,
        added.median(),
        with_interval(&times, 2),
        1e9 / bare.median(),
    ))
}

fn stages(rows: &Rows<'_>) -> Option<String> {
    let all = rows.bridge(Without::Nothing)?;
    let costs: Vec<String> = Without::EVERY
        .into_iter()
        .skip(1)
        .filter_map(|without| {
            let added = rows.added(without)?;
            Some(format!("{} {}", without.cost(), with_interval(&added, 1)))
        })
        .collect();
    Some(format!(
        "{} entries, {} frames {} bytes apart: a frame takes {:.1} ns. Without one stage it takes \
         less by (ns, with 95 % intervals): {}. A stage with a number below zero saves time",
        rows.entries,
        rows.pool,
        rows.stride,
        1e9 / all.median(),
        costs.join(", "),
    ))
}
