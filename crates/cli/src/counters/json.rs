//! Counts as programs read them.

use std::collections::BTreeMap;

use lab::counters::{EventKind, Interrupts, Report, Target, Threshold, Valued};
use serde::Serialize;

use super::text::described;
use crate::build::VERSION;

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Counted {
    version: &'static str,
    target: String,
    cpu_family: &'static str,
    seconds: f64,
    events: BTreeMap<&'static str, EventCount>,
    metrics: BTreeMap<&'static str, MetricValue>,
    interrupts: Option<InterruptCounts>,
    missing: Vec<String>,
    failure: Option<String>,
}

#[derive(Debug, Serialize)]
struct EventCount {
    count: f64,
    /// Below 1 where counters of the CPU took turns.
    counted_share: f64,
    kind: &'static str,
    source: &'static str,
}

#[derive(Debug, Serialize)]
struct MetricValue {
    value: f64,
    unit: &'static str,
    formula: String,
    above: Option<f64>,
    below: Option<f64>,
    notable: bool,
    sentence: &'static str,
}

/// Of all CPUs, or of those that were asked for.
#[derive(Debug, Serialize)]
struct InterruptCounts {
    devices: u64,
    between_cpus: u64,
    tlb_shootdowns: u64,
}

impl Counted {
    pub(super) fn new(target: &Target, report: &Report) -> Self {
        let events = report.counts.iter().map(|count| {
            let kind = match count.event.kind {
                EventKind::Software => "software",
                EventKind::Hardware => "hardware",
            };
            let counted = EventCount {
                count: count.value,
                counted_share: count.counted,
                kind,
                source: count.event.source,
            };
            (count.event.name, counted)
        });
        let metrics = report.metrics.iter();
        Self {
            version: VERSION,
            target: described(target),
            cpu_family: report.family.name(),
            seconds: report.seconds,
            events: events.collect(),
            metrics: metrics
                .map(|valued| (valued.metric.key, MetricValue::new(valued)))
                .collect(),
            interrupts: report.interrupts.map(InterruptCounts::new),
            missing: report.missing.clone(),
            failure: report.failure.clone(),
        }
    }
}

impl MetricValue {
    fn new(valued: &Valued) -> Self {
        let (above, below) = match valued.metric.threshold {
            Some(Threshold::Above(limit)) => (Some(limit), None),
            Some(Threshold::Below(limit)) => (None, Some(limit)),
            None => (None, None),
        };
        Self {
            value: valued.value,
            unit: valued.metric.unit,
            formula: valued.metric.formula(),
            above,
            below,
            notable: valued.is_notable(),
            sentence: valued.metric.sentence,
        }
    }
}

impl InterruptCounts {
    fn new(counts: Interrupts) -> Self {
        Self {
            devices: counts.devices,
            between_cpus: counts.between_cpus,
            tlb_shootdowns: counts.shootdowns,
        }
    }
}
