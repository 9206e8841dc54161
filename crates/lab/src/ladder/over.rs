//! The rungs over real interfaces.

use std::rc::Rc;
use std::time::Duration;

use super::{ENTRIES, RUNGS, Rung, Tables, charts, published, step};
use crate::contest::ratios;
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::wired::{self, Way, Wire};

/// Why a step may be small over an interface.
const OVER: &str = "receiving a frame costs the same on both rungs, and over an interface without \
                    a NIC's DMA it may cost more than all that is looked up";

/// The rungs over real interfaces, each with what arrives there. Where the published figures stand
/// is the rate at which frames arrived and were looked up.
pub(super) fn run(settings: &mut Settings<'_>, wire: Wire<'_>) -> Result<Outcome, LabError> {
    let (rounds, millis) = if settings.quick { (5, 60) } else { (15, 200) };
    let tables = Tables::new(ENTRIES, settings.seed)?;
    let way = |rung: &Rung| {
        let (table, batch, asked) = (tables.of(rung), rung.batch, rung.prefetch.asked());
        Way {
            variant: rung.variant(),
            stride: rung.stride,
            batch,
            work: Rc::new(move |frames| {
                table.pass(frames, batch, asked);
            }),
        }
    };
    let ways: Vec<Way> = RUNGS.iter().map(way).collect();
    let wanted = Duration::from_millis(millis);
    let mut outcome = wired::measure(settings, wire, &ways, (rounds, wanted))?;
    outcome.varies = [
        "Varied: one thing a rung, in the order in which it was published in 2015.",
        "Held: frames of 64 bytes with random addresses, sent flat out; source and destination of \
         each that arrives are looked up among 6 million, and it ends there. A batch is as many \
         frames as were there when the port was asked, up to that many.",
    ]
    .map(str::to_owned)
    .to_vec();
    outcome.charts = charts();
    outcome.published = published();
    for beside in &mut outcome.published {
        beside.row += RUNGS.len();
    }
    outcome.findings.extend(steps_over(&outcome.rows));
    Ok(outcome)
}

/// What each rung gained by the time that a frame takes.
fn steps_over(rows: &[Row]) -> Vec<String> {
    let rungs = rows.get(..RUNGS.len()).unwrap_or_default();
    let steps = rungs.windows(2).zip(RUNGS.windows(2));
    steps
        .map(|(rows, rungs)| {
            // Of nanoseconds: what the rung before takes over what this one does.
            step(&rungs[0], &rungs[1], &ratios(&rows[0], &rows[1]), OVER)
        })
        .collect()
}
