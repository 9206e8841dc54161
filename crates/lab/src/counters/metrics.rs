//! What counts mean: quotients with a name, a threshold, and a sentence.
//!
//! Thresholds are rules of thumb: beyond one a cause is worth a look, and nothing is proved.

use super::events::TASK_CLOCK;
use super::{Count, Family};

/// When a value deserves attention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// Above this.
    Above(f64),
    /// Below this.
    Below(f64),
}

impl Threshold {
    fn is_crossed(self, value: f64) -> bool {
        match self {
            Self::Above(limit) => value > limit,
            Self::Below(limit) => value < limit,
        }
    }
}

/// What a sum of events is divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Under {
    Event(&'static str),
    /// Slots of the front end: cycles times its width.
    Slots,
    /// Seconds by the clock.
    Seconds,
}

/// A quotient of counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// In tables.
    pub name: &'static str,
    /// In JSON.
    pub key: &'static str,
    over: &'static [&'static str],
    under: Under,
    scale: f64,
    /// What one of the value is.
    pub unit: &'static str,
    /// When it deserves attention; none where it only describes.
    pub threshold: Option<Threshold>,
    /// What it means then, and what helps.
    pub sentence: &'static str,
}

/// A metric with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Valued {
    /// The metric.
    pub metric: Metric,
    /// Its value.
    pub value: f64,
}

impl Valued {
    /// Whether it deserves attention.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        self.metric
            .threshold
            .is_some_and(|threshold| threshold.is_crossed(self.value))
    }
}

const PERCENT: (f64, &str) = (100.0, "%");
const PER_THOUSAND: (f64, &str) = (1000.0, "in 1,000 instructions");
const PER_SECOND: (f64, &str) = (1.0, "a second");

impl Metric {
    const fn new(name: &'static str, key: &'static str, over: &'static [&'static str]) -> Self {
        Self {
            name,
            key,
            over,
            under: Under::Seconds,
            scale: 1.0,
            unit: "a second",
            threshold: None,
            sentence: "",
        }
    }

    const fn of(self, under: Under, (scale, unit): (f64, &'static str)) -> Self {
        Self {
            under,
            scale,
            unit,
            ..self
        }
    }

    const fn above(self, limit: f64, sentence: &'static str) -> Self {
        Self {
            threshold: Some(Threshold::Above(limit)),
            sentence,
            ..self
        }
    }

    const fn below(self, limit: f64, sentence: &'static str) -> Self {
        Self {
            threshold: Some(Threshold::Below(limit)),
            sentence,
            ..self
        }
    }

    /// How it is computed, of names of events.
    #[must_use]
    pub fn formula(&self) -> String {
        let over = self.over.join(" + ");
        let over = match self.over {
            [_] => over,
            _ => format!("({over})"),
        };
        let under = match self.under {
            Under::Event(name) => name,
            Under::Slots => "(cycles * width)",
            Under::Seconds => "seconds",
        };
        match self.scale {
            1.0 => format!("{over} / {under}"),
            small if small < 1.0 => format!("{small:e} * {over} / {under}"),
            scale => format!("{scale} * {over} / {under}"),
        }
    }

    /// None where an event is missing, or there is nothing to divide by.
    fn value(&self, family: Family, seconds: f64, counts: &[Count]) -> Option<f64> {
        let count = |name: &str| {
            let found = counts.iter().find(|count| count.event.name == name);
            found.map(|count| count.value)
        };
        let over: Option<f64> = self.over.iter().map(|name| count(name)).sum();
        let under = match self.under {
            Under::Event(name) => count(name)?,
            Under::Slots => count("cycles")? * family.width()?,
            Under::Seconds => seconds,
        };
        (under > 0.0).then_some(self.scale * over? / under)
    }
}

const CYCLES: Under = Under::Event("cycles");
const INSTRUCTIONS: Under = Under::Event("instructions");

/// All metrics, in the order of the table.
const METRICS: [Metric; 19] = [
    Metric::new("CPUs busy", "cpus_busy", &[TASK_CLOCK]).of(Under::Seconds, (1e-9, "CPUs")),
    Metric::new(
        "context switches",
        "context_switches",
        &["context_switches"],
    )
    .of(Under::Seconds, PER_SECOND)
    .above(
        10_000.0,
        "threads wait for each other or share CPUs: 'linerate locks' names waits",
    ),
    Metric::new("migrations", "migrations", &["migrations"])
        .of(Under::Seconds, PER_SECOND)
        .above(
            100.0,
            "threads move between CPUs and leave their caches behind: pin them",
        ),
    Metric::new(
        "page faults",
        "page_faults",
        &["minor_faults", "major_faults"],
    )
    .of(Under::Seconds, PER_SECOND)
    .above(
        10_000.0,
        "memory is touched for the first time: keep it, or fault it in before",
    ),
    Metric::new("faults that read a disk", "major_faults", &["major_faults"])
        .of(Under::Seconds, PER_SECOND)
        .above(
            10.0,
            "memory or code comes from a disk: the program waits for it",
        ),
    Metric::new(
        "instructions a cycle",
        "instructions_a_cycle",
        &["instructions"],
    )
    .of(CYCLES, (1.0, "a cycle"))
    .below(
        1.0,
        "the core waits more than it works: the lines below say for what",
    ),
    Metric::new("cycles without a result", "stalled", &["stalled_cycles"])
        .of(CYCLES, PERCENT)
        .above(50.0, "no instruction ended in these cycles"),
    Metric::new(
        "cycles waiting for memory",
        "memory_stalled",
        &["memory_stalled_cycles"],
    )
    .of(CYCLES, PERCENT)
    .above(
        20.0,
        "loads missed the last cache: prefetch, or make the working set smaller",
    ),
    Metric::new("L2 misses", "l2_misses", &["l2_misses"])
        .of(INSTRUCTIONS, PER_THOUSAND)
        .above(10.0, "the working set is larger than the L2 cache"),
    Metric::new("last-level misses", "llc_misses", &["llc_misses"])
        .of(INSTRUCTIONS, PER_THOUSAND)
        .above(
            1.0,
            "loads go to memory: prefetch, or make the working set smaller",
        ),
    Metric::new("cache misses", "cache_misses", &["cache_misses"])
        .of(Under::Event("cache_references"), PERCENT)
        .above(
            20.0,
            "references that the kernel's generic event counts as misses",
        ),
    Metric::new("page walks", "page_walks", &["page_walks"])
        .of(INSTRUCTIONS, PER_THOUSAND)
        .above(
            1.0,
            "the TLB is too small for the pages in use: huge pages help",
        ),
    Metric::new("split lines", "split_lines", &["split_loads"])
        .of(INSTRUCTIONS, PER_THOUSAND)
        .above(
            5.0,
            "loads cross the end of a cache line: align the data ('linerate layout')",
        ),
    Metric::new(
        "blocked forwards",
        "blocked_forwards",
        &["blocked_forwards"],
    )
    .of(INSTRUCTIONS, PER_THOUSAND)
    .above(
        1.0,
        "loads wait for a store of another size or place: load what was stored",
    ),
    Metric::new("page aliasing", "page_aliases", &["page_aliases"])
        .of(INSTRUCTIONS, PER_THOUSAND)
        .above(
            1.0,
            "loads and stores lie a multiple of 4 KiB apart ('linerate layout')",
        ),
    Metric::new("contested lines", "contested_lines", &["contested_lines"])
        .of(INSTRUCTIONS, PER_THOUSAND)
        .above(
            0.5,
            "lines come from caches of other cores: threads write to the same lines",
        ),
    Metric::new(
        "empty slots of the front end",
        "front_end",
        &["empty_slots"],
    )
    .of(Under::Slots, PERCENT)
    .above(
        25.0,
        "instructions come too slowly: large code, or branches all over it",
    ),
    Metric::new("branch misses", "branch_misses", &["branch_misses"])
        .of(INSTRUCTIONS, PER_THOUSAND)
        .above(
            5.0,
            "branches go another way than predicted: sort, batch, or compute instead",
        ),
    Metric::new("clears", "clears", &["clears"])
        .of(INSTRUCTIONS, PER_THOUSAND)
        .above(
            0.5,
            "work is thrown away: memory written by others, or code that changes",
        ),
];

/// The metrics that these counts have a value for.
pub(super) fn valued(family: Family, seconds: f64, counts: &[Count]) -> Vec<Valued> {
    let known = METRICS.iter().filter_map(|metric| {
        let value = metric.value(family, seconds, counts)?;
        Some(Valued {
            metric: *metric,
            value,
        })
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::super::events::events;
    use super::*;

    fn counts(family: Family, values: &[(&str, f64)]) -> Vec<Count> {
        let events = events(family);
        let count = |&(name, value): &(&str, f64)| {
            let event = events.iter().find(|event| event.name == name).expect(name);
            Count {
                event: *event,
                value,
                counted: 1.0,
            }
        };
        values.iter().map(count).collect()
    }

    fn of(found: &[Valued], key: &str) -> Option<(f64, bool)> {
        let found = found.iter().find(|valued| valued.metric.key == key);
        found.map(|valued| (valued.value, valued.is_notable()))
    }

    /// Counts as recorded of a pointer chase, of arithmetic alone, and of threads that wait.
    #[test]
    fn recorded_counts_have_the_values_that_their_programs_are_known_for() {
        let chase = [
            ("cycles", 10e9),
            ("instructions", 0.5e9),
            ("stalled_cycles", 9.5e9),
            ("memory_stalled_cycles", 9e9),
            ("llc_misses", 50e6),
            ("page_walks", 40e6),
            ("empty_slots", 4e8),
        ];
        let found = valued(
            Family::IntelSkylake,
            3.0,
            &counts(Family::IntelSkylake, &chase),
        );
        for (key, expected) in [
            ("instructions_a_cycle", Some((0.05, true))),
            ("stalled", Some((95.0, true))),
            ("memory_stalled", Some((90.0, true))),
            ("llc_misses", Some((100.0, true))),
            ("page_walks", Some((80.0, true))),
            ("front_end", Some((1.0, false))),
            ("page_aliases", None),
            ("cpus_busy", None),
        ] {
            assert_eq!(of(&found, key), expected, "{key}");
        }
        let busy = [
            ("cycles", 1e9),
            ("instructions", 4e9),
            ("branch_misses", 1e3),
        ];
        let found = valued(Family::Other, 1.0, &counts(Family::Other, &busy));
        assert_eq!(of(&found, "instructions_a_cycle"), Some((4.0, false)));
        assert_eq!(of(&found, "branch_misses"), Some((0.00025, false)));
        let waiting = [
            (TASK_CLOCK, 1e9),
            ("context_switches", 60_000.0),
            ("minor_faults", 10.0),
            ("major_faults", 2.0),
        ];
        let found = valued(Family::Other, 2.0, &counts(Family::Other, &waiting));
        assert_eq!(of(&found, "cpus_busy"), Some((0.5, false)));
        assert_eq!(of(&found, "context_switches"), Some((30_000.0, true)));
        assert_eq!(of(&found, "page_faults"), Some((6.0, false)));
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        let none = [
            ("cycles", 0.0),
            ("instructions", 0.0),
            ("context_switches", 1.0),
        ];
        assert_eq!(
            valued(Family::Other, 0.0, &counts(Family::Other, &none)),
            []
        );
        assert_eq!(valued(Family::Other, 1.0, &[]), []);
    }

    /// The width of the front end is of a family; without one there is no such metric.
    #[test]
    fn slots_depend_on_the_family() {
        let half = [("cycles", 100.0), ("empty_slots", 300.0)];
        for (family, expected) in [
            (Family::IntelSkylake, Some(75.0)),
            (Family::AmdZen4, Some(50.0)),
            (Family::AmdZen5, Some(37.5)),
        ] {
            let found = valued(family, 1.0, &counts(family, &half));
            assert_eq!(
                of(&found, "front_end").map(|(value, _)| value),
                expected,
                "{family:?}"
            );
        }
    }

    #[test]
    fn each_metric_has_a_formula_and_says_what_crossing_means() {
        for (index, metric) in METRICS.iter().enumerate() {
            let key = metric.key;
            assert_eq!(
                metric.threshold.is_none(),
                metric.sentence.is_empty(),
                "{key}"
            );
            assert!(
                METRICS[..index].iter().all(|before| before.key != key),
                "{key}"
            );
        }
        let formula = |key: &str| {
            let metric = METRICS.iter().find(|metric| metric.key == key);
            metric.map(Metric::formula)
        };
        let is = |key, text: &str| assert_eq!(formula(key).as_deref(), Some(text));
        is("page_faults", "(minor_faults + major_faults) / seconds");
        is("cpus_busy", "1e-9 * task_clock_ns / seconds");
        is("stalled", "100 * stalled_cycles / cycles");
        is("front_end", "100 * empty_slots / (cycles * width)");
    }
}
