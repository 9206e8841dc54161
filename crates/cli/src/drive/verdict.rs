//! Whether a rate was reached, what was in its way, and what that means for the exit code.

use engine::TrialReport;
use serde::Serialize;

use super::figures::{Arrived, AskedSize, Figures, asked_pps};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::report::number::{count, plural, rate, seconds};

/// A rate is reached when no more than this share of its frames was put off or left out.
const MISSED_MAX: f64 = 0.005;
/// Frames that waited for room at the port for more than this share of the time were held up by it.
const WAITED_SHARE: f64 = 0.02;

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
    let due = trial.sent + trial.behind - trial.late;
    let missed = asked_pps(trial).is_some() && is_missed(due, trial.behind);
    if !missed && trial.lag_nanos.is_none() {
        return None;
    }
    let waited = trial.full_seconds / trial.seconds.max(1e-9);
    Some(if waited > WAITED_SHARE {
        Limit::Port
    } else {
        Limit::Generator
    })
}

/// Whether frames that were put off or left out are more of those that were due than a rate may
/// lack: counted in frames, so that a start and an end do not matter in a short run.
fn is_missed(due: u64, behind: u64) -> bool {
    behind as f64 > due as f64 * MISSED_MAX
}

/// Why what was measured is no result: something did not leave or could not arrive, the rate was
/// not reached, or a capture kept too little of what arrived.
pub(super) fn no_result(figures: &Figures) -> Option<String> {
    let links = [&figures.departure.sentence, &figures.arrival.sentence];
    let links: Vec<&str> = links.into_iter().flatten().map(String::as_str).collect();
    let links = (!links.is_empty()).then(|| links.join("; "));
    links
        .or_else(|| interrupted(figures))
        .or_else(|| unreached(figures))
        .or_else(|| unkept(figures))
        .or_else(|| unjudged(figures))
}

/// The sentence about a run that was to have an end, and that somebody ended before.
fn interrupted(figures: &Figures) -> Option<String> {
    if figures.ended_by != "asked" {
        return None;
    }
    let done = match &figures.sent {
        Some(sent) => sent.frames,
        None => figures.sinks().map(|arrived| arrived.frames).sum(),
    };
    match figures.asked {
        AskedSize {
            frames: Some(all), ..
        } if done >= all => None,
        AskedSize {
            frames: Some(all), ..
        } => Some(format!(
            "interrupted after {} of {} frames",
            count(done),
            count(all)
        )),
        AskedSize {
            seconds: Some(all), ..
        } => Some(format!(
            "interrupted after {} of {}, when {} frames had been {}",
            seconds(figures.run_seconds),
            seconds(all),
            count(done),
            if figures.sent.is_some() {
                "sent"
            } else {
                "taken in"
            }
        )),
        _ => None,
    }
}

/// The sentence about a capture whose pace was not kept to.
fn unkept(figures: &Figures) -> Option<String> {
    let sent = figures.sent.as_ref()?;
    let lag = sent.lag_ns?;
    Some(format!(
        "the pace of the capture was not kept: the last frame left {} later than it is due, so \
         what follows is no result at that pace; end what else runs on the CPUs of this \
         generator, lower --speed, or give --speed max",
        seconds(lag as f64 / 1e9)
    ))
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
        "asked {} and sent {}, {} behind the schedule, so what follows is no result at the rate \
         asked for; {what}",
        rate(asked, "pps"),
        rate(sent.pps, "pps"),
        plural(sent.behind, "frame", "frames"),
    ))
}

/// The sentence about frames that were asked for by number and that there were not: of a capture
/// that ended, or of a sink alone, to which none came or less than that.
pub(super) fn short_of_count(figures: &Figures, asked: Option<u64>) -> Option<String> {
    let asked = asked.unwrap_or(0);
    if let Some(sent) = &figures.sent {
        let ended = figures.ended_by == "sources";
        return (ended && sent.frames < asked).then(|| {
            format!(
                "the capture ended after {}, fewer than the {} that --count asks for: repeat it \
                 with --replay FILE,loop=N, or ask for no more than it has",
                plural(sent.frames, "frame", "frames"),
                count(asked)
            )
        });
    }
    let arrived: u64 = figures.sinks().map(|arrived| arrived.frames).sum();
    match arrived {
        0 => Some(match &figures.arrival.link_down {
            Some(down) => format!("no test frame arrived; {}", down.sentence()),
            None => "no test frame arrived; see the sender and the wire".to_owned(),
        }),
        _ if asked != 0 && figures.ended_by != "frames" => Some(format!(
            "{} arrived, fewer than the {} that --count asks for",
            plural(arrived, "test frame", "test frames"),
            count(asked)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_missed_by_its_share_of_frames_however_few_they_are() {
        // Frames that were due, and those behind of them.
        let table = [
            (0, 0, false),
            (1, 0, false),
            (2, 1, true),
            (101, 1, true),
            (199, 1, true),
            (200, 1, false),
            (1_004, 5, false),
            (1_005, 6, true),
            (200_000_000, 1_000_000, false),
            (199_000_000, 1_000_000, true),
        ];
        for (due, behind, missed) in table {
            assert_eq!(is_missed(due, behind), missed, "{due} {behind}");
        }
    }
}
