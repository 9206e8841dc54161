//! Whether a rate was reached, what was in its way, and what that means for the exit code.

use engine::TrialReport;
use serde::Serialize;

use super::figures::{Arrived, Figures, asked_pps};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::report::number::{count, rate};

/// A rate is reached when it is missed by less than this share.
const REACHED: f64 = 0.995;
/// Frames that waited for room at the port for more than this share of the time were held up by it.
const WAITED_SHARE: f64 = 0.02;
/// Below so many frames a start and an end are too much of the time to judge a rate.
const JUDGED_FRAMES: u64 = 1000;

/// What was in the way of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Limit {
    /// It took no more.
    Port,
    /// The workers made no more.
    Generator,
}

/// What kept a trial from reaching its rate; nothing where it did, or had none to reach.
pub(super) fn limit(trial: &TrialReport) -> Option<Limit> {
    let asked = asked_pps(trial)?;
    // A schedule that was never put off was kept, late as the last frames may have been.
    let put_off = trial.pacing.is_none_or(|pacing| pacing.lost_ns != 0);
    let missed = put_off && trial.sent_per_second() < asked * REACHED;
    if trial.sent < JUDGED_FRAMES || !missed {
        return None;
    }
    let waited = trial.full_seconds / trial.seconds.max(1e-9);
    Some(if waited > WAITED_SHARE {
        Limit::Port
    } else {
        Limit::Generator
    })
}

/// Why what was measured is no result: something did not leave, the rate was not reached, or a
/// capture kept too little of what arrived.
pub(super) fn no_result(figures: &Figures) -> Option<String> {
    let departure = figures.departure.sentence.clone();
    departure
        .or_else(|| unreached(figures))
        .or_else(|| unjudged(figures))
}

/// The sentence about a rate that was not reached.
fn unreached(figures: &Figures) -> Option<String> {
    let sent = figures.sent.as_ref()?;
    if sent.frames == 0 {
        return Some("no frame was sent; see what is dropped, and the port's states".to_owned());
    }
    let (asked, limit) = (sent.asked_pps?, sent.limited_by?);
    let what = match limit {
        Limit::Port => {
            "the port took no more: lower --rate, or use a faster port or more --workers"
        }
        Limit::Generator => {
            "this generator made no more: lower --rate, give it more --workers, or end what else \
             runs on its CPUs"
        }
    };
    Some(format!(
        "asked {} and sent {}, so what follows is no result at the rate asked for; {what}",
        rate(asked, "pps"),
        rate(sent.pps, "pps")
    ))
}

/// The sentence of a sink alone to which nothing came, or less than was `counted` on.
pub(super) fn unarrived(figures: &Figures, counted: bool) -> Option<String> {
    if figures.sent.is_some() {
        return None;
    }
    let arrived: u64 = figures.sinks().map(|arrived| arrived.frames).sum();
    match arrived {
        0 => {
            Some("no test frame arrived; see the sender, the wire and the port's states".to_owned())
        }
        _ if counted && figures.ended_by != "frames" => Some(format!(
            "{} test frames arrived, fewer than --count asks for",
            count(arrived)
        )),
        _ => None,
    }
}

/// The sentence about frames that could not be judged, since a capture kept too little of them.
pub(super) fn unjudged(figures: &Figures) -> Option<String> {
    let cut: u64 = figures.sinks().map(|arrived| arrived.cut).sum();
    (cut != 0).then(|| {
        format!(
            "{} frames were cut when they were recorded, so what became of them is not known; \
             record with a snap length of 0 (tcpdump -s 0)",
            count(cut)
        )
    })
}

/// What went wrong on the way, in words; `None` where nothing did.
pub(super) fn harm(arrived: &Arrived) -> Option<String> {
    let parts = [
        ("lost", arrived.lost),
        ("duplicated", arrived.duplicated),
        ("reordered", arrived.reordered),
        ("corrupted", arrived.corrupted),
        (
            "too late to be told from duplicates",
            arrived.outside_window,
        ),
    ];
    let said: Vec<String> = parts
        .into_iter()
        .filter(|&(_, frames)| frames != 0)
        .map(|(name, frames)| format!("{} {name}", count(frames)))
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// The exit code, when all was printed.
pub(super) fn judge(figures: &Figures) -> Outcome {
    if !figures.balanced {
        return Err(Error::check_failed(
            "the books do not balance: frames were lost without a reason, which is a bug; please \
             report it with the command line and the output of --json",
        ));
    }
    if let Some(complaint) = figures.ledger.complaint() {
        return Err(Error::check_failed(complaint));
    }
    let harmed = figures.sinks().any(|arrived| harm(arrived).is_some());
    Ok(if harmed || figures.no_result.is_some() {
        ExitCode::CheckFailed
    } else {
        ExitCode::Done
    })
}
