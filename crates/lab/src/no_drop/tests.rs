//! Devices of known capacity, and devices that have none.

use std::time::Duration;

use super::*;

/// A slow device, so that a search of a minute takes a moment: the relations are those of 1 Mpps
/// with twenty times the queue.
const CAPACITY: f64 = 50_000.0;

/// What makes a steady device unstable.
type Spoil = fn(ModelSpec) -> ModelSpec;

/// Of each kind of unstable device; 20 of each were run for the design note.
const SEEDS_UNSTABLE: u64 = 10;

fn steady(seed: u64) -> ModelSpec {
    ModelSpec {
        // No round number, so that no step of the search falls on it.
        capacity: CAPACITY * (1.0 + (seed % 7) as f64 * 0.0371),
        queue: 64,
        noise: 0.3,
        seed,
        ..ModelSpec::default()
    }
}

fn plan(losses: &[f64]) -> SearchPlan {
    let goal = |&loss: &f64| Goal::new(loss, Duration::from_secs(1), 0.005);
    let goals = losses.iter().map(goal).collect();
    SearchPlan::new(goals, 200_000, LoadLimit::LineRate)
}

fn run(spec: ModelSpec, plan: SearchPlan) -> Finding {
    let mut device = ModelDevice::new(spec);
    search(&mut device, plan, &mut |_, _| true).expect("a model never fails")
}

#[track_caller]
fn expect_near(found: Option<u64>, capacity: f64, share: f64, what: &ModelSpec) {
    let rate = found.expect("a rate") as f64;
    let apart = (rate / capacity - 1.0).abs();
    assert!(
        apart <= share,
        "{rate} of {capacity}: {apart:.4} with {what}"
    );
}

#[test]
fn the_capacity_is_found_within_one_percent_in_20_of_20_seeds() {
    for seed in 1..=20 {
        let spec = steady(seed);
        let finding = run(spec, plan(&[0.0]));
        let found = &finding.goals[0];
        println!(
            "seed {seed}: {:?} {} trials",
            found.lower,
            finding.trials.len()
        );
        assert_eq!(
            found.verdict,
            Verdict::Found,
            "{:?} with {spec}",
            finding.reason
        );
        expect_near(found.lower, spec.capacity, 0.01, &spec);
        assert!(finding.trials.len() < 100, "{spec}");
    }
}

#[test]
fn both_directions_at_once() {
    for seed in 1..=3 {
        let spec = ModelSpec {
            bidirectional: true,
            ..steady(seed)
        };
        let finding = run(spec, plan(&[0.0]));
        assert_eq!(finding.trials[0].outcome.directions.len(), 2);
        expect_near(finding.goals[0].lower, spec.capacity, 0.01, &spec);
    }
}

/// Of what comes, at most the capacity leaves: at 0.5 % loss the load is that much larger.
#[test]
fn a_loss_ratio_is_found_beside_the_rate_without_loss() {
    for seed in 1..=5 {
        let spec = steady(seed);
        let finding = run(spec, plan(&[0.05, 0.0]));
        let [ndr, pdr] = &finding.goals[..] else {
            panic!("two goals");
        };
        assert_eq!((ndr.goal.loss, pdr.goal.loss), (0.0, 0.05));
        assert_eq!(
            (ndr.verdict, pdr.verdict),
            (Verdict::Found, Verdict::Found),
            "{spec}"
        );
        expect_near(ndr.lower, spec.capacity, 0.01, &spec);
        expect_near(pdr.lower, spec.capacity / 0.95, 0.01, &spec);
        let throughput = pdr.conditional_throughput.expect("full trials");
        assert!(
            (throughput / spec.capacity - 1.0).abs() < 0.01,
            "{throughput}"
        );
    }
}

#[test]
fn unstable_devices_are_refused_with_a_reason() {
    let unstable: [(&str, Spoil); 4] = [
        ("capacity falls", |spec| ModelSpec {
            drift: -0.0007,
            ..spec
        }),
        ("capacity grows", |spec| ModelSpec {
            drift: 0.0007,
            ..spec
        }),
        ("capacity wanders", |spec| ModelSpec {
            wander: 0.05,
            ..spec
        }),
        ("pauses", |spec| ModelSpec {
            pauses: Some(Pauses {
                every: Duration::from_secs(1),
                lasting: Duration::from_millis(20),
            }),
            ..spec
        }),
    ];
    for (name, change) in unstable {
        for seed in 1..=SEEDS_UNSTABLE {
            let spec = change(steady(seed));
            let finding = run(spec, plan(&[0.0]));
            let found = &finding.goals[0];
            println!(
                "{name}, seed {seed}: {} {}, noise {:.4}, {} trials",
                found.verdict.name(),
                finding
                    .reason
                    .map_or(String::new(), |reason| reason.to_string()),
                finding.noise(),
                finding.trials.len()
            );
            assert_eq!(found.verdict, Verdict::Unstable, "{spec}");
            // The reason gives the noise, and that is more than the precision.
            assert!(finding.noise() > found.goal.width, "{spec}");
            assert!(!finding.is_sound());
        }
    }
}

#[test]
fn a_sender_that_is_the_limit_is_not_called_the_device() {
    let spec = ModelSpec {
        sender: Some(30_000.0),
        ..steady(1)
    };
    let finding = run(spec, plan(&[0.0]));
    let found = &finding.goals[0];
    assert_eq!(found.verdict, Verdict::AtLeast(LoadLimit::Sender));
    assert_eq!((found.lower, found.upper), (Some(30_000), None));
    assert!(finding.unsent >= 3);
    let mut unsent = finding.trials.iter().filter(|trial| !trial.verified);
    assert!(unsent.all(|trial| trial.plan.load > 30_000));
}

/// A device that nobody can load, and a sender whose limit depends on the trial.
struct Unsteady {
    done: usize,
    limit: fn(usize) -> f64,
}

impl Device for Unsteady {
    fn trial(&mut self, plan: &TrialPlan) -> Result<TrialOutcome, crate::LabError> {
        self.done += 1;
        let sender = Some((self.limit)(self.done));
        let spec = ModelSpec {
            capacity: 1e6,
            sender,
            ..steady(1)
        };
        ModelDevice::new(spec).trial(plan)
    }
}

fn run_unsteady(limit: fn(usize) -> f64) -> Finding {
    let mut device = Unsteady { done: 0, limit };
    let mut tell = |_: &Progress, _: &TrialPlan| true;
    search(&mut device, plan(&[0.0]), &mut tell).expect("a plan that can be searched")
}

#[test]
fn a_sender_that_slows_down_is_the_limit_where_it_ends() {
    let finding = run_unsteady(|done| if done < 12 { 30_000.0 } else { 28_500.0 });
    assert_eq!(finding.reason, None);
    let found = &finding.goals[0];
    assert_eq!(found.verdict, Verdict::AtLeast(LoadLimit::Sender));
    assert!(
        found
            .lower
            .is_some_and(|load| (28_000..=28_500).contains(&load)),
        "{found:?}"
    );
    assert!(
        (0.04..0.06).contains(&finding.sender_noise),
        "{}",
        finding.sender_noise
    );
    assert!(finding.noise() >= finding.sender_noise);
}

/// The largest load is tried again at the end: what a sender that has recovered sends then is no
/// ceiling above the one that the search went by.
#[test]
fn a_sender_that_recovers_does_not_lift_the_ceiling() {
    let finding = run_unsteady(|done| match done {
        0..4 => 300_000.0,
        4..12 => 30_000.0,
        _ => 33_000.0,
    });
    assert_eq!((finding.reason, finding.unsent > 5), (None, true));
    assert_eq!(
        finding.goals[0].verdict,
        Verdict::AtLeast(LoadLimit::Sender)
    );
    assert!(finding.load_max.0 <= 30_000, "{:?}", finding.load_max);
}

#[test]
fn a_sender_that_never_holds_still_gives_no_rate_but_its_noise() {
    let finding = run_unsteady(|done| 40_000.0 * 0.99_f64.powi(done as i32));
    assert!(!finding.is_sound(), "{:?}", finding.goals);
    let reason = finding.reason.expect("a reason");
    assert!(reason.has_noise(), "{reason}");
    assert!(finding.noise() > 0.1, "{}", finding.noise());
}

#[test]
fn a_device_faster_than_the_line_is_found_at_the_line() {
    let mut fast = plan(&[0.0]);
    fast.load_max = 40_000;
    let found = run(steady(1), fast);
    assert_eq!(
        found.goals[0].verdict,
        Verdict::AtLeast(LoadLimit::LineRate)
    );
    assert_eq!(found.goals[0].lower, Some(40_000));
}

#[test]
fn a_device_that_loses_at_any_load_never_meets_the_goal() {
    let spec = ModelSpec {
        loss: 0.01,
        ..steady(3)
    };
    let mut slow = plan(&[0.0, 0.02]);
    slow.load_min = 5_000;
    let finding = run(spec, slow);
    assert_eq!(finding.goals[0].verdict, Verdict::NeverMet);
    assert_eq!(finding.goals[1].verdict, Verdict::Found);
    assert!(!finding.is_sound());
}

#[test]
fn a_queue_that_carries_a_trial_is_told() {
    let spec = ModelSpec {
        queue: 5_000,
        ..steady(1)
    };
    let finding = run(spec, plan(&[0.0]));
    let held = finding.held.expect("a model knows what it holds");
    assert!(held > 0.05, "{held}");
}

#[test]
fn latency_grows_towards_the_rate() {
    let finding = run(steady(2), plan(&[0.0]));
    let points = finding.latencies.iter();
    let (percent, p99): (Vec<u64>, Vec<u64>) = points
        .map(|point| (point.percent, point.latency.expect("measured").p99))
        .unzip();
    assert_eq!(percent, [10, 50, 90, 100]);
    assert!(p99[0] < p99[3], "{p99:?}");
}

#[test]
fn the_number_of_trials_is_bounded_and_an_end_is_heard() {
    let mut short = plan(&[0.0]);
    short.trials_max = 9;
    let finding = run(steady(1), short);
    assert_eq!(finding.trials.len(), 9);
    assert_eq!(finding.reason, Some(Reason::TrialsUsedUp));
    assert_eq!(finding.goals[0].verdict, Verdict::Unsettled);
    let mut device = ModelDevice::new(steady(1));
    let mut tell = |progress: &Progress, _: &TrialPlan| progress.trials < 5;
    let finding = search(&mut device, plan(&[0.0]), &mut tell).expect("a model");
    assert_eq!(finding.trials.len(), 5);
    assert_eq!(finding.reason, Some(Reason::Interrupted));
}

#[test]
fn time_left_falls_as_trials_are_done() {
    let mut device = ModelDevice::new(steady(1));
    let mut left = Vec::new();
    let mut tell = |progress: &Progress, _: &TrialPlan| {
        left.push(progress.left);
        true
    };
    search(&mut device, plan(&[0.0]), &mut tell).expect("a model");
    assert!(left[0] > *left.last().expect("trials"), "{left:?}");
    // It falls within a phase, too, and stays only where a stage took more trials than expected.
    let risen = left.windows(2).filter(|two| two[1] >= two[0]).count();
    assert!(risen <= left.len() / 3, "{left:?}");
    let first = left[0].as_secs_f64();
    assert!(
        left.iter().all(|left| left.as_secs_f64() <= first),
        "{left:?}"
    );
}

/// Frames that are made, sent over rings by the engine's worker, served and accounted for.
fn run_over_rings(spec: ModelSpec, mut plan: SearchPlan) -> Finding {
    let recipe = traffic::Recipe {
        seed: spec.seed,
        stamp: Some(traffic::Stamp::default()),
        ..traffic::Recipe::default()
    };
    for goal in &mut plan.goals {
        *goal = Goal::new(goal.loss, Duration::from_millis(200), 0.008);
    }
    plan.latency_at = vec![50];
    let mut device = RingSetup::open(spec, recipe).expect("frame memory");
    search(&mut device, plan, &mut |_, _| true).expect("rings do not fail")
}

#[test]
fn over_ring_ports_the_capacity_is_found_within_one_percent_in_20_of_20_seeds() {
    for seed in 1..=20 {
        let spec = ModelSpec {
            queue: 16,
            noise: 0.1,
            ..steady(seed)
        };
        let finding = run_over_rings(spec, plan(&[0.0]));
        let found = &finding.goals[0];
        println!(
            "seed {seed}: {:?} {} trials",
            found.lower,
            finding.trials.len()
        );
        assert_eq!(
            found.verdict,
            Verdict::Found,
            "{:?} with {spec}",
            finding.reason
        );
        expect_near(found.lower, spec.capacity, 0.01, &spec);
    }
}

#[test]
fn over_ring_ports_both_directions_and_a_drift() {
    let both = ModelSpec {
        queue: 16,
        noise: 0.1,
        bidirectional: true,
        ..steady(3)
    };
    let finding = run_over_rings(both, plan(&[0.0]));
    let first = &finding.trials[0].outcome.directions;
    assert_eq!(first.len(), 2);
    expect_near(finding.goals[0].lower, both.capacity, 0.01, &both);
    let falling = ModelSpec {
        drift: -0.004,
        queue: 16,
        noise: 0.1,
        ..steady(4)
    };
    let finding = run_over_rings(falling, plan(&[0.0]));
    assert_eq!(finding.goals[0].verdict, Verdict::Unstable, "{falling}");
}
