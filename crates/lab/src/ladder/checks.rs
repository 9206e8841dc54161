//! What is measured below the ladder: why a rung may do nothing here, or harm.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::{POOL, RUNGS, Tables};
use crate::contest::{Contestant, ratios};
use crate::design::array::{ArrayTable, HEADS, HEADS_MORE};
use crate::experiment::{LabError, Row};
use crate::key::Key;
use crate::stamped::{Stamped, Table};

/// What checks multiply entries and heads by: no cache holds either table then.
const LARGER: usize = 4;
const NAMES_LARGER: [&str; 2] = ["x 4: 2,097,152 heads", "x 4: 8,388,608 heads"];
const NAMES_HEADERS: [&str; 2] = ["headers only, stride 2048", "headers only, stride 1920"];
const NAMES_FEW: [&str; 2] = ["1,024 frames, stride 2048", "1,024 frames, stride 1920"];
/// Frames of the smaller pools: at no distance do their headers take much of a second-level cache.
const FEW: u32 = 1024;
/// Not the metric of the rungs, so that the chart is of rungs alone.
pub(super) const METRIC: &str = "ns_per_frame";

/// Two strides by themselves and in smaller pools, and the step to more heads on larger tables: why
/// a rung may do nothing here, or harm, is measured.
pub(super) fn contestants(
    tables: &Tables,
    entries: u32,
    seed: u64,
    wanted: Duration,
    frames: &Rc<RefCell<Stamped>>,
) -> Result<Vec<Contestant>, LabError> {
    let check = |name: &'static str, table: Table, ways, frames: Rc<RefCell<Stamped>>| Contestant {
        variant: vec![("rung", name.into())],
        metric: METRIC,
        measure: Box::new(move |_| 1e9 / table.rate(&frames, wanted, ways)),
    };
    let mut checks = Vec::new();
    for (rung, name) in RUNGS.iter().zip(NAMES_HEADERS) {
        let frames = Stamped::new(rung.stride, POOL, seed)?;
        let ways = (rung.batch, rung.prefetch.asked());
        checks.push(check(name, Table::None, ways, frames));
    }
    for (rung, name) in RUNGS.iter().zip(NAMES_FEW) {
        let frames = Stamped::new(rung.stride, FEW, seed)?;
        let ways = (rung.batch, rung.prefetch.asked());
        checks.push(check(name, tables.of(rung), ways, frames));
    }
    let entries = entries * LARGER as u32;
    for ((rung, heads), name) in RUNGS[3..5]
        .iter()
        .zip([HEADS, HEADS_MORE])
        .zip(NAMES_LARGER)
    {
        let addresses = (0..entries).map(|number| u32::nth(number, seed));
        let table = Rc::new(ArrayTable::new(addresses, heads * LARGER)?);
        let ways = (rung.batch, rung.prefetch.asked());
        checks.push(check(name, Table::Array(table), ways, Rc::clone(frames)));
    }
    Ok(checks)
}

/// What the two strides are worth by themselves, against what a frame takes, and in smaller pools.
pub(super) fn headers(rungs: &[Row], checks: &[Row]) -> Option<String> {
    let alone = |name: &'static str| checks.iter().find(|row| row.is("rung", name));
    let (even, odd) = (alone(NAMES_HEADERS[0])?, alone(NAMES_HEADERS[1])?);
    let [few_even, few_odd] = [alone(NAMES_FEW[0])?, alone(NAMES_FEW[1])?];
    let [even_rung, odd_rung, ..] = rungs else {
        return None;
    };
    // Of nanoseconds: what the even distance takes over what the odd one does.
    let (few, many) = (ratios(few_even, few_odd), ratios(odd_rung, even_rung));
    let room = if many.high() < 1.0 && few.low() > many.high() {
        ": at 1920 bytes the headers of 8,192 frames stay in the second level, half a megabyte \
         that the table then lacks, where at 2048 they fall on few of its sets"
    } else {
        ""
    };
    let frame = 1e9 / rungs.first()?.samples.median();
    let [even, odd] = [even, odd].map(|row| row.samples.median());
    Some(format!(
        "reading a header and nothing else takes {even:.1} ns at 2048 bytes and {odd:.1} at 1920 \
         (measured here), which is {:.1} % of the {frame:.0} ns of a frame whose lookups wait for \
         memory. With 1,024 frames the same step gives {:.2} times (measured here){room}. More of \
         it would take a NIC, which writes headers into a part of the third-level cache: that is \
         not measured here",
        (even - odd) / frame * 100.0,
        few.median()
    ))
}

/// The step to more heads where no cache holds the table.
pub(super) fn larger(checks: &[Row]) -> Option<String> {
    let larger = |name: &'static str| checks.iter().find(|row| row.is("rung", name));
    let (few, more) = (larger(NAMES_LARGER[0])?, larger(NAMES_LARGER[1])?);
    // Of nanoseconds: what the few take over what the many do.
    let times = ratios(few, more);
    let said = format!(
        "with four times the entries and the heads, of which no cache holds much, the same step \
         gives {:.2} times (measured here)",
        times.median()
    );
    Some(if times.low() > 1.0 {
        format!(
            "{said}: the published direction. That leaves the caches as the difference: these \
             tables take 28 and 41 MB, and of the smaller they hold more"
        )
    } else {
        format!(
            "{said}, so that caches are not the reason: both tables wait for a line of heads and \
             for one of arrays, and this CPU reads the rest of an array ahead by itself"
        )
    })
}
