//! What moving buckets brings under a skewed load: loss and delay of two workers at 80 % of what
//! both can do together, where buckets of flows stay and where they move.

mod load;
mod ports;
mod tally;

use std::time::Duration;

use engine::{DEFAULT_POOL_FRAMES, DispatchPolicy, Engine, RunReport, cpu_time_nanos};
use frame::CpuId;
use port::Port;

use crate::contest::{plain_plan, refused, two_cpus};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::shuffle::Seeded;
use crate::{Noise, Samples};
use load::{Load, Shape};
use ports::{Nic, Toil, toil};
use tally::{Seen, Tally};

/// Of what both workers can do.
const SHARE: f64 = 0.8;
/// What a frame costs to transmit, about: so the source, which the workers are too, is a small part
/// of what they do.
const WORK: Duration = Duration::from_nanos(2000);
/// Not counted at the begin of a run: buckets move then.
const SETTLE: Duration = Duration::from_millis(2000);
const COUNTED: Duration = Duration::from_millis(1000);
/// The same of a run that shows what can be done.
const CAPACITY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(300));
/// What can be done after a trial may differ so much from what could be done before.
const STEADY: f64 = 0.1;
const REPEATS: usize = 3;
const ROUNDS_QUICK: usize = 2;
const ROUNDS: usize = 7;

/// A row to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    shape: Shape,
    balance: bool,
}

/// How many steps of work take so long on this machine now.
fn steps_of(work: Duration) -> u32 {
    const STEPS: u32 = 2_000_000;
    let begun = cpu_time_nanos();
    toil(STEPS);
    let taken = (cpu_time_nanos() - begun).max(1);
    let steps = u64::from(STEPS) * work.as_nanos() as u64 / taken;
    u32::try_from(steps).unwrap_or(STEPS).max(1)
}

/// One run.
struct Ran {
    report: RunReport,
    seen: Seen,
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let cpus = match two_cpus() {
        Ok(cpus) => cpus,
        Err(skipped) => return Ok(*skipped),
    };
    let rounds = if settings.quick { ROUNDS_QUICK } else { ROUNDS };
    let mut bench = Bench::new(cpus);
    let mut seeded = Seeded::new(settings.seed);
    let mut order = variants();
    let trials = order.len();
    for round in 0..rounds {
        seeded.shuffle(&mut order);
        for (done, &variant) in order.iter().enumerate() {
            (settings.progress)(round * trials + done + 1, rounds * trials);
            bench.measure_steadily(variant, &mut seeded)?;
        }
    }
    Ok(bench.outcome())
}

fn variants() -> Vec<Variant> {
    let shapes = Shape::ALL.into_iter();
    let both = shapes.flat_map(|shape| [false, true].map(|balance| Variant { shape, balance }));
    both.collect()
}

/// Runs, and what came of them.
struct Bench {
    cpus: Vec<CpuId>,
    /// Steps of work that take about [`WORK`].
    steps: u32,
    /// Frames a second of CPU time, before each trial.
    capacities: Samples,
    /// The one after a trial over the one before, where they differed little.
    ratios: Samples,
    /// By variant: loss, p50, p99, buckets moved, elephants.
    found: Vec<(Variant, [Samples; 5])>,
    reordered: u64,
    /// Trials in which the machine changed its speed.
    unsteady: u64,
}

impl Bench {
    fn new(cpus: Vec<CpuId>) -> Self {
        let found = variants()
            .into_iter()
            .map(|variant| (variant, Default::default()));
        Self {
            cpus,
            steps: steps_of(WORK),
            capacities: Samples::default(),
            ratios: Samples::default(),
            found: found.collect(),
            reordered: 0,
            unsteady: 0,
        }
    }

    /// Measures what both workers can do on an even load: more is offered than that.
    fn capacity(&mut self, seed: u64) -> Result<f64, LabError> {
        let offered = 1.5 * 2e9 / WORK.as_nanos() as f64;
        let alike = Variant {
            shape: Shape::Even,
            balance: false,
        };
        let ran = self.trial(alike, offered, CAPACITY, seed)?;
        let workers = ran.report.workers.iter();
        let cpu: f64 = workers.map(|worker| worker.cpu_seconds).sum();
        let rate = ran.report.accounting.tx as f64 * self.cpus.len() as f64 / cpu;
        self.capacities.push(rate);
        Ok(rate)
    }

    /// A trial between two looks at what can be done: where these differ, the machine changed its
    /// speed, and 80 % of what it could do before is anything. Such a trial is repeated.
    fn measure_steadily(&mut self, variant: Variant, seeded: &mut Seeded) -> Result<(), LabError> {
        let mut before = self.capacity(seeded.next())?;
        for repeats in 0..=REPEATS {
            let rate = SHARE * before;
            let ran = self.trial(variant, rate, (SETTLE, COUNTED), seeded.next())?;
            self.reordered += ran.seen.reordered;
            let after = self.capacity(seeded.next())?;
            let ratio = after / before;
            if (ratio - 1.0).abs() <= STEADY {
                self.ratios.push(ratio);
                self.keep(variant, &ran);
                return Ok(());
            }
            self.unsteady += 1;
            if repeats == REPEATS {
                self.keep(variant, &ran);
            }
            before = after;
        }
        Ok(())
    }

    fn keep(&mut self, variant: Variant, ran: &Ran) {
        let dispatch = &ran.report.dispatch;
        let figures = [
            ran.seen.lost_percent,
            ran.seen.p50_us,
            ran.seen.p99_us,
            dispatch.moved as f64,
            dispatch.elephants.len() as f64,
        ];
        let own = self.found.iter_mut().find(|(own, _)| *own == variant);
        if let Some((_, samples)) = own {
            for (samples, figure) in samples.iter_mut().zip(figures) {
                samples.push(figure);
            }
        }
    }

    /// One run at `rate` frames a second, counted from `settle` on.
    fn trial(
        &self,
        variant: Variant,
        rate: f64,
        (settle, counted): (Duration, Duration),
        seed: u64,
    ) -> Result<Ran, LabError> {
        let until = settle + counted;
        let tally = Tally::new(settle.as_nanos() as u64..until.as_nanos() as u64);
        let load = Load::new(variant.shape);
        let ports: Vec<Box<dyn Port>> = vec![
            Box::new(Nic::new(&load, rate, seed, &tally)),
            Box::new(Toil::new(&tally, self.steps)),
        ];
        let mut plan = plain_plan(ports, self.cpus.clone())?;
        plan.burst = 64;
        plan.pool_frames = 4 * DEFAULT_POOL_FRAMES;
        plan.dispatch.policy = Some(DispatchPolicy::Hybrid);
        plan.dispatch.balance = variant.balance;
        let report = Engine::start(plan).map_err(refused)?;
        let report = report.join().map_err(refused)?;
        match report.balanced {
            true => Ok(Ran {
                report,
                seen: tally.seen(),
            }),
            false => Err(LabError(format!(
                "books do not close: {:?}",
                report.accounting
            ))),
        }
    }

    fn outcome(self) -> Outcome {
        let mut rows = vec![Row {
            variant: vec![("load", "all that can be done".into())],
            metric: "frames_per_second",
            samples: self.capacities.clone(),
        }];
        let metrics = ["lost_percent", "p50_us", "p99_us", "moved", "elephants"];
        for (variant, samples) in &self.found {
            for (metric, samples) in metrics.into_iter().zip(samples) {
                rows.push(Row {
                    variant: variant.columns(),
                    metric,
                    samples: samples.clone(),
                });
            }
        }
        Outcome {
            findings: self.findings(),
            varies: varies(),
            rows,
            noise: Some(Noise {
                ratios: self.ratios,
            }),
            ..Outcome::default()
        }
    }

    fn findings(&self) -> Vec<String> {
        let of = |shape, balance| {
            let wanted = Variant { shape, balance };
            let found = self.found.iter().find(|(variant, _)| *variant == wanted);
            found.map(|(_, samples)| samples.each_ref().map(Samples::median))
        };
        let sentence = |shape: Shape| {
            let [lost, _, p99, ..] = of(shape, false)?;
            let [moved_lost, _, moved_p99, moved, elephants] = of(shape, true)?;
            let told = match elephants > 0.0 {
                true => "; an elephant was told of",
                false => "",
            };
            Some(format!(
                "{}: {lost:.2} % lost where buckets stay, {moved_lost:.2} % where they move \
                 ({moved:.0} of them); p99 {p99:.0} and {moved_p99:.0} us{told}",
                shape.name()
            ))
        };
        let mut findings: Vec<String> = Shape::ALL.into_iter().filter_map(sentence).collect();
        findings.push(format!(
            "{} frames were out of order; {} trials in which the machine changed its speed by more \
             than {:.0} % were repeated, {REPEATS} times at most",
            self.reordered,
            self.unsteady,
            STEADY * 100.0
        ));
        findings
    }
}

impl Variant {
    fn columns(self) -> Vec<(&'static str, crate::Value)> {
        let buckets = if self.balance { "move" } else { "stay" };
        vec![
            ("load", self.shape.name().into()),
            ("buckets", buckets.into()),
        ]
    }
}

fn varies() -> Vec<String> {
    vec![
        "how much each of 4,096 flows brings (all alike; by Zipf's law with exponent 1, the 32 \
         heaviest by the first queue; one of 66 %), and whether buckets of flows may move from a \
         worker that has too much to the other"
            .to_owned(),
        format!(
            "held: two workers that spin, on the first two CPUs allowed, hybrid dispatch; frames \
             due at {:.0} % of what both can do on the even load, measured before and after each \
             round, by the CPU time of the worker whose queue they come by; queues of 4,096 \
             frames, what does not fit is lost; some {} ns of work to transmit a frame; the first \
             {:.1} s are not counted, buckets move then; delay is from the time a frame is due to \
             its transmission",
            SHARE * 100.0,
            WORK.as_nanos(),
            SETTLE.as_secs_f64(),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints what the experiment finds; for work on the balancer.
    #[test]
    #[ignore = "half a minute of two CPUs"]
    fn look() {
        let mut settings = Settings {
            quick: true,
            seed: 1,
            wire: None,
            progress: &mut |_, _| {},
        };
        let outcome = run(&mut settings).expect("an outcome");
        for row in &outcome.rows {
            println!("{:?} {} {:?}", row.variant, row.metric, row.samples.all());
        }
        outcome
            .findings
            .iter()
            .for_each(|finding| println!("{finding}"));
    }
}
