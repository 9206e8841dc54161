//! Packets in fragments: what following them costs a worker, by how many there are, in which order
//! and with how much loss, beside whole packets on the same path and beside putting them together.

mod lap;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use frame::Nanos;
use plane::{Reassembled, Reassembler};

use crate::contest::{Contest, Contestant, ratio};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::{Chart, ChartKind};
use lap::{Lap, Order, Stage, Virtual};

/// Fragments a packet.
const PIECES: [u8; 4] = [2, 4, 8, 45];
/// Of the table of loss and order.
const FEW: u8 = 4;
/// Lost fragments in a thousand.
const LOSSES: [u16; 3] = [0, 10, 100];
const RATE: &str = "fragments_per_second";
const SHARE: &str = "held_share";

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let rounds = if settings.quick { 7 } else { 21 };
    let mut outcome = Outcome {
        varies: varies(),
        charts: charts(),
        ..Outcome::default()
    };
    let stage = Rc::new(RefCell::new(Stage::new(settings.seed)?));
    let pieces: &[u8] = if settings.quick {
        &PIECES[..2]
    } else {
        &PIECES
    };
    let losses: &[u16] = if settings.quick {
        &LOSSES[..2]
    } else {
        &LOSSES
    };
    let mut contest = Contest::new(settings, rounds, pieces.len() + losses.len() - 1);
    for &pieces in pieces {
        contest.run(group(&stage, pieces, 0)?, &mut outcome);
    }
    for &loss in &losses[1..] {
        contest.run(group(&stage, FEW, loss)?, &mut outcome);
    }
    outcome.noise = Some(contest.noise());
    outcome.findings = findings(&outcome.rows);
    Ok(outcome)
}

/// Whole packets, and fragments in every order, in both modes.
fn group(stage: &Rc<RefCell<Stage>>, pieces: u8, loss: u16) -> Result<Vec<Contestant>, LabError> {
    let mut contestants = Vec::new();
    let whole = Lap {
        pieces: 1,
        order: Order::FirstFirst,
        loss,
    };
    contestants.push(virtually(stage, "whole", whole, pieces)?);
    for order in Order::ALL {
        let lap = Lap {
            pieces,
            order,
            loss,
        };
        contestants.push(virtually(stage, "virtual", lap, pieces)?);
        contestants.push(held_share(stage, lap)?);
        contestants.push(together(stage, lap));
    }
    Ok(contestants)
}

fn variant(mode: &'static str, lap: Lap, pieces: u8) -> Vec<(&'static str, crate::Value)> {
    vec![
        ("mode", mode.into()),
        ("pieces", u64::from(pieces).into()),
        ("order", lap.order.name().into()),
        ("loss_permille", u64::from(lap.loss).into()),
    ]
}

/// A bridge that remembers conversations. `pieces` is what the row is shown beside.
fn virtually(
    stage: &Rc<RefCell<Stage>>,
    mode: &'static str,
    lap: Lap,
    pieces: u8,
) -> Result<Contestant, LabError> {
    let stage = Rc::clone(stage);
    let mut bridge = Virtual::new()?;
    Ok(Contestant {
        variant: variant(mode, lap, pieces),
        metric: RATE,
        measure: Box::new(move |_| {
            let stage = &mut stage.borrow_mut();
            rate(|| bridge.pass(stage, lap))
        }),
    })
}

/// How many of the fragments wait.
fn held_share(stage: &Rc<RefCell<Stage>>, lap: Lap) -> Result<Contestant, LabError> {
    let stage = Rc::clone(stage);
    let mut bridge = Virtual::new()?;
    Ok(Contestant {
        variant: variant("virtual", lap, lap.pieces),
        metric: SHARE,
        measure: Box::new(move |_| {
            let (count, _) = bridge.pass(&mut stage.borrow_mut(), lap);
            bridge.take_waited() as f64 / count as f64
        }),
    })
}

/// Packets put together.
fn together(stage: &Rc<RefCell<Stage>>, lap: Lap) -> Contestant {
    let stage = Rc::clone(stage);
    let mut reassembler = Reassembler::new(lap::limits());
    let mut now = Nanos(0);
    Contestant {
        variant: variant("full", lap, lap.pieces),
        metric: RATE,
        measure: Box::new(move |_| {
            let stage = &mut stage.borrow_mut();
            rate(|| {
                let mut frames = stage.frames(lap);
                let count = frames.len();
                let begun = Instant::now();
                for frame in frames.drain(..) {
                    match reassembler.accept(frame, &mut stage.pool) {
                        Reassembled::Held => {}
                        Reassembled::Untouched(frame)
                        | Reassembled::Packet(frame)
                        | Reassembled::Lost(frame, _) => stage.pool.free(frame),
                    }
                }
                now = now.after(lap::APART * count as u64);
                reassembler.set_now(now);
                while let Some((frame, _)) = reassembler.next_lost() {
                    stage.pool.free(frame);
                }
                (count, begun.elapsed())
            })
        }),
    }
}

/// Fragments a second over laps of some 20 ms together; one goes before them.
fn rate(mut pass: impl FnMut() -> (usize, Duration)) -> f64 {
    pass();
    let (mut count, mut taken) = (0, Duration::ZERO);
    while taken < Duration::from_millis(20) {
        let (passed, time) = pass();
        count += passed;
        taken += time;
    }
    count as f64 / taken.as_secs_f64()
}

fn varies() -> Vec<String> {
    [
        "Varied: fragments a packet; the order in which those of 24 packets at a time come (first \
         ones first, at random, last ones first); fragments lost on the way; the mode: virtual, \
         in which a bridge that remembers conversations passes fragments on, and full, in which \
         packets are put together and their fragments freed.",
        "Held: IPv4 of UDP, frames of 60 bytes, a thousand known conversations, bursts of 64, a \
         clock of 100 ns a frame, the bounds a bridge has unless told otherwise. 'whole' is the \
         same path of the virtual mode with packets of one frame. 'held_share' is how many of the \
         fragments wait.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn charts() -> Vec<Chart> {
    vec![Chart {
        title: "Fragments by how many a packet has".to_owned(),
        caption: "Fragments a second that one worker follows, without loss.".to_owned(),
        kind: ChartKind::Lines,
        metric: RATE,
        beside: None,
        x: "pieces",
        series: vec!["mode", "order"],
        only: vec![("loss_permille", 0_u64.into())],
    }]
}

fn findings(rows: &[Row]) -> Vec<String> {
    let find = |like: &Row, mode: &'static str, order: Order, metric: &'static str| {
        rows.iter().find(|row| {
            row.metric == metric
                && row.is("mode", mode)
                && row.is("order", order.name())
                && row.number("pieces") == like.number("pieces")
                && row.number("loss_permille") == like.number("loss_permille")
        })
    };
    let mut findings = Vec::new();
    for whole in rows.iter().filter(|row| row.is("mode", "whole")) {
        for order in Order::ALL {
            let (Some(virtually), Some(full), Some(held)) = (
                find(whole, "virtual", order, RATE),
                find(whole, "full", order, RATE),
                find(whole, "virtual", order, SHARE),
            ) else {
                continue;
            };
            findings.push(format!(
                "{} fragments a packet, {}, {} of 1,000 lost: {:.1} Mpps virtually, {:.2} of \
                 whole packets on the same path, {:.0} % of them held; {:.1} Mpps put together",
                whole.number("pieces").unwrap_or(0),
                order.name(),
                whole.number("loss_permille").unwrap_or(0),
                virtually.samples.median() / 1e6,
                ratio(virtually, whole),
                held.samples.median() * 100.0,
                full.samples.median() / 1e6,
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every fragment of every packet comes out in both modes, and without order few are held.
    #[test]
    fn laps_are_what_they_say() {
        let mut stage = Stage::new(1).expect("memory");
        for (order, most) in [
            (Order::FirstFirst, 0.0),
            (Order::Random, 0.6),
            (Order::LastFirst, 0.9),
        ] {
            let lap = Lap {
                pieces: 4,
                order,
                loss: 0,
            };
            let mut bridge = Virtual::new().expect("memory");
            let (count, _) = bridge.pass(&mut stage, lap);
            let held = bridge.take_waited() as f64 / count as f64;
            assert!(held <= most, "{order:?}: {held}");
            assert_eq!(bridge.left(), 0, "{order:?}: nothing waits at the end");
            assert_eq!(bridge.passed(), count as u64);
            let free = stage.pool.free_count();
            let mut reassembler = Reassembler::new(lap::limits());
            let mut packets = 0;
            for frame in stage.frames(lap) {
                match reassembler.accept(frame, &mut stage.pool) {
                    Reassembled::Held => {}
                    Reassembled::Packet(frame) => {
                        packets += 1;
                        stage.pool.free(frame);
                    }
                    other => panic!("{order:?}: {other:?}"),
                }
            }
            assert_eq!(packets, count / 4, "{order:?}");
            assert_eq!(stage.pool.free_count(), free);
        }
    }
}
