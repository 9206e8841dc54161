//! A run as JSON: a contract, so that other programs and later versions can read it.

use std::collections::BTreeMap;

use lab::{Load, Outcome};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::facts::Facts;
use crate::build;

/// One run. Names are part of the contract; names may be added.
#[derive(Debug, Serialize)]
pub(super) struct Run<'a> {
    experiment: &'a str,
    version: &'a str,
    commit: Option<&'a str>,
    debug_build: bool,
    date: Option<&'a str>,
    quick: bool,
    seed: u64,
    command: &'a str,
    machine: MachineFacts<'a>,
    warnings: &'a [String],
    varies: &'a [String],
    findings: &'a [String],
    skipped: &'a [String],
    noise: Option<NullRun<'a>>,
    published: Vec<Published<'a>>,
    rows: Vec<Variant<'a>>,
}

#[derive(Debug, Serialize)]
struct MachineFacts<'a> {
    cpu: &'a str,
    kernel: &'a str,
    cpus: usize,
    threads_per_core: Option<usize>,
    virtual_machine: bool,
    numa_nodes: usize,
    memory_available_bytes: u64,
    governor: Option<&'a str>,
    turbo: Option<bool>,
    transparent_huge_pages: Option<&'a str>,
    huge_pages_free_bytes: u64,
    counters: &'a str,
    load: BTreeMap<&'static str, LoadFacts>,
}

/// What others did with the CPUs.
#[derive(Debug, Serialize)]
struct LoadFacts {
    others_cpus: f64,
    steal: f64,
    throttled: u64,
}

#[derive(Debug, Serialize)]
struct NullRun<'a> {
    share: f64,
    ratios: &'a [f64],
}

#[derive(Debug, Serialize)]
struct Published<'a> {
    row: usize,
    figure: f64,
    unit: &'a str,
    ratio: f64,
}

#[derive(Debug, Serialize)]
struct Variant<'a> {
    variant: Fields<'a>,
    metric: &'a str,
    median: f64,
    low: f64,
    high: f64,
    samples: &'a [f64],
    ratio_to_first: Option<Against>,
}

/// A row over the first row of its metric, round by round.
#[derive(Debug, Serialize)]
struct Against {
    median: f64,
    low: Option<f64>,
    high: Option<f64>,
    differs: bool,
}

/// An object whose fields keep their order.
#[derive(Debug)]
struct Fields<'a>(&'a [(&'static str, lab::Value)]);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            match value {
                lab::Value::Number(number) => map.serialize_entry(name, number)?,
                lab::Value::Word(word) => map.serialize_entry(name, word)?,
            }
        }
        map.end()
    }
}

impl<'a> Run<'a> {
    pub(super) fn new(facts: &'a Facts, outcome: &'a Outcome) -> Self {
        let published = outcome.published.iter().map(|published| Published {
            row: published.row,
            figure: published.figure,
            unit: published.unit,
            ratio: published.ratio,
        });
        let noise = outcome.noise.as_ref().map(|noise| NullRun {
            share: noise.share(),
            ratios: noise.ratios.all(),
        });
        Self {
            experiment: facts.experiment.name,
            version: build::VERSION,
            commit: facts.commit,
            debug_build: facts.debug,
            date: facts.date.as_deref(),
            quick: facts.quick,
            seed: facts.seed,
            command: &facts.command,
            machine: MachineFacts::of(facts),
            warnings: &facts.warnings,
            varies: &outcome.varies,
            findings: &outcome.findings,
            skipped: &outcome.skipped,
            noise,
            published: published.collect(),
            rows: (0..outcome.rows.len())
                .map(|row| Variant::of(outcome, row))
                .collect(),
        }
    }
}

impl<'a> MachineFacts<'a> {
    fn of(facts: &'a Facts) -> Self {
        let conditions = &facts.conditions;
        let spells = [
            ("before", facts.load.before),
            ("during", facts.load.during),
            ("after", facts.load.after),
        ];
        Self {
            cpu: &conditions.machine.cpu,
            kernel: &conditions.machine.kernel,
            cpus: conditions.machine.cpus,
            threads_per_core: conditions.threads_per_core,
            virtual_machine: conditions.virtual_machine,
            numa_nodes: conditions.numa_nodes,
            memory_available_bytes: conditions.machine.memory_available_bytes,
            governor: conditions.governor.as_deref(),
            turbo: conditions.turbo,
            transparent_huge_pages: conditions.transparent_huge_pages.as_deref(),
            huge_pages_free_bytes: conditions.huge_pages_free_bytes,
            counters: conditions.about_counters(),
            load: spells
                .map(|(when, load)| (when, LoadFacts::of(load)))
                .into(),
        }
    }
}

impl LoadFacts {
    fn of(load: Load) -> Self {
        Self {
            others_cpus: load.others_cpus,
            steal: load.steal,
            throttled: load.throttled,
        }
    }
}

impl<'a> Variant<'a> {
    fn of(outcome: &'a Outcome, place: usize) -> Self {
        let row = &outcome.rows[place];
        Self {
            variant: Fields(&row.variant),
            metric: row.metric,
            median: row.samples.median(),
            low: row.samples.low(),
            high: row.samples.high(),
            samples: row.samples.all(),
            ratio_to_first: outcome.against_first(place).map(|against| Against {
                median: against.median,
                low: against.ratio.map(|ratio| ratio.low),
                high: against.ratio.map(|ratio| ratio.high),
                differs: against.differs,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laboratory::sample;

    #[test]
    fn the_contract() {
        let (facts, outcome) = (sample::facts(), sample::outcome());
        let json = serde_json::to_value(Run::new(&facts, &outcome)).expect("JSON");
        assert_eq!(json["experiment"], facts.experiment.name);
        assert_eq!(json["machine"]["cpu"], "A CPU");
        assert_eq!(json["seed"], 1);
        assert_eq!(
            json["noise"]["ratios"].as_array().expect("a list").len(),
            10
        );
        assert_eq!(json["machine"]["load"]["during"]["steal"], 0.0);
        let row = &json["rows"][2];
        assert_eq!(row["variant"]["design"], "ours");
        assert_eq!(row["variant"]["entries"], 6_000_000);
        assert_eq!(row["metric"], "frames_per_second");
        for field in ["median", "low", "high"] {
            assert!(row[field].is_number(), "{field}");
        }
        assert_eq!(row["samples"].as_array().expect("a list").len(), 10);
        assert!(json["rows"][0]["ratio_to_first"].is_null());
        assert_eq!(json["rows"][1]["ratio_to_first"]["differs"], false);
        assert_eq!(row["ratio_to_first"]["differs"], true);
    }

    #[test]
    fn fields_keep_their_order() {
        let (facts, outcome) = (sample::facts(), sample::outcome());
        let text = serde_json::to_string(&Run::new(&facts, &outcome)).expect("JSON");
        assert!(
            text.contains(r#"{"design":"array","batch":1,"entries":6000000}"#),
            "{text}"
        );
    }
}
