//! Packets in fragments: what following them costs a worker, by how many there are, in which order
//! and with how much loss, beside whole packets on the same path and beside putting them together.

mod lap;
mod workers;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use frame::Nanos;
use plane::{Reassembled, Reassembler};

use crate::contest::{Contest, Contestant, ratio, two_cpus};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::{Chart, ChartKind};
use lap::{Flows, Lap, Order, Stage, Virtual};

/// Fragments a packet.
const PIECES: [u8; 4] = [2, 4, 8, 45];
/// Of the table of loss and order.
const FEW: u8 = 4;
/// Of the table of flows that begin.
const OF_NEW: [u8; 2] = [2, 4];
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
    let groups = pieces.len() + losses.len() - 1 + OF_NEW.len() + 1;
    let mut contest = Contest::new(settings, rounds, groups);
    for &pieces in pieces {
        contest.run(group(&stage, (pieces, Flows::Known), 0)?, &mut outcome);
    }
    for &loss in &losses[1..] {
        contest.run(group(&stage, (FEW, Flows::Known), loss)?, &mut outcome);
    }
    for pieces in OF_NEW {
        contest.run(group(&stage, (pieces, Flows::New), 0)?, &mut outcome);
    }
    by_workers(&mut contest, &mut outcome)?;
    outcome.noise = Some(contest.noise());
    let found = findings(&outcome.rows);
    outcome.findings.splice(0..0, found);
    Ok(outcome)
}

/// The engine with one worker and with two.
fn by_workers(contest: &mut Contest<'_, '_>, outcome: &mut Outcome) -> Result<(), LabError> {
    let Ok(cpus) = two_cpus() else {
        let missing = "workers: two of them need two CPUs";
        outcome.skipped.push(missing.to_owned());
        return Ok(());
    };
    let seen = Rc::new(RefCell::new(workers::Seen::default()));
    contest.run(workers::contestants(&cpus, &seen), outcome);
    let seen = seen.take();
    outcome.findings.extend(of_workers(&outcome.rows));
    outcome.findings.push(format!(
        "frames dropped in all runs with one worker and with two: {}",
        seen.dropped
    ));
    seen.failed.map_or(Ok(()), Err)
}

/// Whole packets, and fragments in every order, in both modes.
fn group(
    stage: &Rc<RefCell<Stage>>,
    (pieces, flows): (u8, Flows),
    loss: u16,
) -> Result<Vec<Contestant>, LabError> {
    let mut contestants = Vec::new();
    let whole = Lap {
        pieces: 1,
        order: Order::FirstFirst,
        flows,
        loss,
    };
    contestants.push(virtually(stage, "whole", whole, pieces)?);
    for order in Order::ALL {
        let lap = Lap {
            pieces,
            order,
            flows,
            loss,
        };
        contestants.push(virtually(stage, "virtual", lap, pieces)?);
        contestants.push(held_share(stage, lap)?);
        // Who puts packets together looks no flow up.
        if flows == Flows::Known {
            contestants.push(together(stage, lap));
        }
    }
    Ok(contestants)
}

fn variant(mode: &'static str, lap: Lap, pieces: u8) -> Vec<(&'static str, crate::Value)> {
    vec![
        ("mode", mode.into()),
        ("pieces", u64::from(pieces).into()),
        ("order", lap.order.name().into()),
        ("conversations", lap.flows.name().into()),
        ("loss_permille", u64::from(lap.loss).into()),
    ]
}

/// A bridge that remembers flows. `pieces` is what the row is shown beside.
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
         in which a bridge that remembers flows passes fragments on, and full, in which \
         packets are put together and their fragments freed.",
        "Varied besides: the flows, which are a thousand that are known, or such that each \
         packet begins one and another ends for it, the table of 65,536 being full.",
        "Held: IPv4 of UDP, frames of 60 bytes in 8,192 chunks of 1,984, bursts of 64, a clock of \
         100 ns a frame, the bounds a bridge has unless told otherwise. 'whole' is the same path \
         of the virtual mode with packets of one frame. 'held_share' is how many of the fragments \
         wait.",
        "Mode 'engine': whole runs of one worker and of two, on as many CPUs, of known \
         flows. Each frame comes by a queue drawn at random, which are never more than 256 \
         frames apart; workers make them themselves, by a copy, and free them.",
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
        only: vec![
            ("loss_permille", 0_u64.into()),
            ("conversations", Flows::Known.name().into()),
        ],
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
                && row.value("conversations") == like.value("conversations")
        })
    };
    let mut findings = Vec::new();
    for whole in rows.iter().filter(|row| row.is("mode", "whole")) {
        for order in Order::ALL {
            let (Some(virtually), Some(held)) = (
                find(whole, "virtual", order, RATE),
                find(whole, "virtual", order, SHARE),
            ) else {
                continue;
            };
            let full = find(whole, "full", order, RATE).map_or(String::new(), |full| {
                format!("; {:.1} Mpps put together", full.samples.median() / 1e6)
            });
            let begins = match whole.is("conversations", Flows::New.name()) {
                true => ", each the first of a flow",
                false => "",
            };
            findings.push(format!(
                "{} fragments a packet{begins}, {}, {} of 1,000 lost: {:.1} Mpps virtually, {:.2} \
                 of whole packets on the same path, {:.0} % of them held{full}",
                whole.number("pieces").unwrap_or(0),
                order.name(),
                whole.number("loss_permille").unwrap_or(0),
                virtually.samples.median() / 1e6,
                ratio(virtually, whole),
                held.samples.median() * 100.0,
            ));
        }
    }
    findings
}

/// What handing over costs each worker.
fn of_workers(rows: &[Row]) -> Vec<String> {
    let find = |workers: u64, pieces: u8, order: Order| {
        rows.iter().find(|row| {
            row.metric == workers::RATE
                && row.number("workers") == Some(workers)
                && row.number("pieces") == Some(pieces.into())
                && row.is("order", order.name())
        })
    };
    let sentence = |(pieces, order): (u8, Order)| {
        let (one, two) = (find(1, pieces, order)?, find(2, pieces, order)?);
        Some(format!(
            "{pieces} fragments a packet, {}, by the engine: {:.1} Mpps with one worker, {:.1} \
             each with two that receive frames by queues drawn at random, {:.2} of that",
            order.name(),
            one.samples.median() / 1e6,
            two.samples.median() / 1e6,
            ratio(two, one),
        ))
    };
    workers::LAPS.into_iter().filter_map(sentence).collect()
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
                flows: Flows::Known,
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

    /// Known flows stay, all thousand of them, and new ones are new.
    #[test]
    fn flows_are_what_they_say() {
        let mut stage = Stage::new(1).expect("memory");
        for flows in [Flows::Known, Flows::New] {
            let lap = Lap {
                pieces: 2,
                order: Order::FirstFirst,
                flows,
                loss: 0,
            };
            let mut bridge = Virtual::new().expect("memory");
            let laps = 20;
            let packets: usize = (0..laps).map(|_| bridge.pass(&mut stage, lap).0 / 2).sum();
            let (known, begun) = bridge.flows();
            match flows {
                Flows::Known => assert_eq!((known, begun), (1000, 1000)),
                Flows::New => assert_eq!(begun, packets as u64),
            }
        }
    }
}
