//! The report as one JSON object. Its field names are a contract: later tools read them, so a
//! name may be added and none may change its meaning or vanish.

use std::collections::BTreeMap;

use engine::{Accounting, EndedBy, Machine, RunReport};
use plane::NodeCount;
use serde::Serialize;

use super::dispatched::Dispatch;
use super::flows::Flows;
use super::fragments::Fragments;
use super::ledger::LedgerJson;
use super::rules::RuleReport;
use super::starved;
use crate::build::{DEBUG, VERSION};

/// A run's report.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The program's.
    pub(crate) version: &'static str,
    /// True for builds whose figures mean nothing.
    pub(crate) debug_build: bool,
    /// From the start to the last frame moved.
    pub(crate) seconds: f64,
    /// From the start to the end.
    pub(crate) run_seconds: f64,
    /// What became of the frames.
    pub(crate) frames: Frames,
    /// Whether every frame and its memory is accounted for:
    /// `rx + originated + cloned = tx + consumed + punted + held + sum(dropped)`, for all workers
    /// together and, with what was handed over, for each.
    pub(crate) balanced: bool,
    /// Frames by where they were counted, and a name for every difference.
    pub(crate) ledger: LedgerJson,
    /// Received frames a second, in millions: `rx / seconds / 1e6`.
    pub(crate) mpps: f64,
    /// Busy time of all workers by received frames, nanoseconds: what one frame costs one worker.
    /// Idle polling is not in it. 0 when no frame came.
    pub(crate) ns_per_frame: f64,
    /// Frames that count sets would have dropped, were they block sets, and no block set did.
    pub(crate) would_drop: u64,
    /// Frames that would have been dropped and passed by a rule (`--pass`); only rules by which
    /// some passed.
    pub(crate) passed: BTreeMap<&'static str, u64>,
    /// What a switch counted beside frames; none of a bridge.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) switch: BTreeMap<&'static str, u64>,
    /// What a router counted beside frames; none of others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) router: BTreeMap<&'static str, u64>,
    /// What a host counted beside frames; none of others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) host: BTreeMap<&'static str, u64>,
    /// None where there are no rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rules: Option<RuleReport>,
    /// One a worker.
    pub(crate) workers: Vec<Worker>,
    /// How frames got to the worker that decided on them.
    pub(crate) dispatch: Dispatch,
    /// None where the bridge remembered no flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flows: Option<Flows>,
    /// None where the bridge followed no fragments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fragments: Option<Fragments>,
    /// In the order given.
    pub(crate) ports: Vec<Port>,
    /// In the order of the policy.
    pub(crate) sets: Vec<Set>,
    /// Frame memory.
    pub(crate) memory: Memory,
    /// Where it ran.
    pub(crate) machine: MachineFacts,
    /// Why it ended: `sources`, `duration`, `frames`, `asked` or `failed`.
    pub(crate) ended_by: &'static str,
    /// What failed, where that ended it.
    pub(crate) failure: Option<String>,
    /// What standard error was told, a sentence each.
    pub(crate) warnings: Vec<String>,
    /// Only of `linerate demo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) demo: Option<DemoFigures>,
}

/// Frames by what became of them.
#[derive(Debug, Serialize)]
pub(crate) struct Frames {
    /// Received by ports.
    pub(crate) rx: u64,
    /// Transmitted by ports.
    pub(crate) tx: u64,
    /// Made here.
    pub(crate) originated: u64,
    /// Ended here, their purpose served.
    pub(crate) consumed: u64,
    /// Given to the host's own stack.
    pub(crate) punted: u64,
    /// Kept by a table at the end.
    pub(crate) held: u64,
    /// Copies made to flood.
    pub(crate) cloned: u64,
    /// Passed from worker to worker; neither gain nor loss.
    pub(crate) handed_off: u64,
    /// By reason; only reasons that occurred.
    pub(crate) dropped: BTreeMap<&'static str, u64>,
}

/// A worker's part.
#[derive(Debug, Serialize)]
pub(crate) struct Worker {
    pub(crate) id: u16,
    pub(crate) cpu: u16,
    pub(crate) rx: u64,
    pub(crate) tx: u64,
    pub(crate) dropped: u64,
    /// Share of the run spent in steps that moved a frame, 0 to 1.
    pub(crate) busy: f64,
    /// Frames in a received burst.
    pub(crate) burst_mean: f64,
    /// CPU time of its thread.
    pub(crate) cpu_seconds: f64,
    /// System calls it made for want of frames.
    pub(crate) sleeps: u64,
    /// What a host's part on this worker counted; none of others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) host: BTreeMap<&'static str, u64>,
}

/// A port's part. Bytes are Ethernet without FCS.
#[derive(Debug, Serialize)]
pub(crate) struct Port {
    pub(crate) id: u8,
    /// What the user calls it, where it was given a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) spec: String,
    pub(crate) rx_frames: u64,
    pub(crate) rx_bytes: u64,
    pub(crate) tx_frames: u64,
    pub(crate) tx_bytes: u64,
    /// Frames that the kernel forwarded past the workers, because they are surely in no list
    /// (`shortcut`): beside the books.
    pub(crate) shortcut: u64,
    /// Frames that were there and never received: beside the books, not in them.
    pub(crate) missed: u64,
    /// Frames left to the host, whose they are (`keep-local`): beside the books.
    pub(crate) to_host: u64,
    /// Frames that the kernel forwarded past the workers during the run (`bypass`): beside the
    /// books.
    pub(crate) unfiltered: u64,
    /// The same from the start of the run before until this one took over; 0 where it left no
    /// bypass.
    pub(crate) unfiltered_before: u64,
    /// Of those: merged of several, by their sender or on receive.
    pub(crate) missed_merged: u64,
    /// Of those: longer than a chunk.
    pub(crate) missed_too_long: u64,
    pub(crate) mode: String,
    /// What its interface was in that it should not be; only what occurred.
    pub(crate) states: Vec<State>,
}

/// A state of a port's interface.
#[derive(Debug, Serialize)]
pub(crate) struct State {
    /// By the names of [`engine::PortState`].
    pub(crate) state: &'static str,
    /// The same for people.
    #[serde(skip)]
    pub(crate) name: String,
    /// Whether it was so still at the end.
    pub(crate) active: bool,
    /// How often it began.
    pub(crate) count: u64,
    /// When it last began, from the start.
    pub(crate) since_seconds: f64,
    /// For how long it was so in all.
    pub(crate) seconds: f64,
    pub(crate) detail: String,
}

/// A set's part.
#[derive(Debug, Serialize)]
pub(crate) struct Set {
    pub(crate) name: String,
    /// `block`, `count` or `allow`.
    pub(crate) action: &'static str,
    /// As given, before merging.
    pub(crate) entries: u64,
    /// Its part of the one structure that all sets are compiled into, by share of entries; the
    /// parts add up to the whole.
    pub(crate) bytes: u64,
    /// Frames with such a source.
    pub(crate) hits_src: u64,
    /// Frames with such a destination.
    pub(crate) hits_dst: u64,
    /// Of a count set: frames that it would have dropped, and no block set did.
    pub(crate) would_drop: u64,
}

/// Frame memory.
#[derive(Debug, Serialize)]
pub(crate) struct Memory {
    /// The pages that were got.
    pub(crate) pages: String,
    /// Mapped for frames.
    pub(crate) bytes: u64,
    /// Distance of two frames.
    pub(crate) stride_bytes: u32,
    /// Of all pools.
    pub(crate) frames: u64,
    /// NUMA nodes of the pools; empty on machines with one.
    pub(crate) nodes: Vec<u16>,
}

/// The machine.
#[derive(Debug, Serialize)]
pub(crate) struct MachineFacts {
    pub(crate) cpu: String,
    pub(crate) kernel: String,
    /// CPUs that the program may use.
    pub(crate) cpus: usize,
}

/// What only the demo knows.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct DemoFigures {
    /// Addresses in the set.
    pub(crate) entries: u64,
    /// Time to make them.
    pub(crate) generate_seconds: f64,
    /// Time to compile them into a table.
    pub(crate) compile_seconds: f64,
    /// What the generator takes for a frame, measured alone before and after the run.
    pub(crate) generator_ns_per_frame: f64,
    /// The same by `ns_per_frame`, 0 to 1.
    pub(crate) generator_share: f64,
}

/// What loading knows of a set and a run does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetFacts {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

impl Report {
    /// Joins what the run, the loader (one place a set, in the policy's order) and the machine say.
    pub(crate) fn new(run: &RunReport, facts: &[SetFacts], machine: &Machine) -> Self {
        let (rx, seconds) = (run.accounting.rx, run.seconds);
        let busy_nanos: u64 = run.workers.iter().map(|worker| worker.busy_nanos).sum();
        Self {
            version: VERSION,
            debug_build: DEBUG,
            seconds,
            run_seconds: run.run_seconds,
            frames: Frames::of(&run.accounting),
            balanced: run.balanced,
            ledger: LedgerJson::of(&run.ledger),
            mpps: ratio(rx as f64 / 1e6, seconds),
            ns_per_frame: ratio(busy_nanos as f64, rx as f64),
            would_drop: run.would_drop,
            passed: passed(run),
            switch: node_counts(run, "switch", &run.node),
            router: node_counts(run, "router", &run.node),
            host: node_counts(run, "host", &run.node),
            rules: None,
            workers: run
                .workers
                .iter()
                .map(|own| Worker::of_run(run, own))
                .collect(),
            dispatch: Dispatch::of(&run.dispatch),
            flows: run.flows.as_ref().map(Flows::of),
            fragments: run.fragments.as_ref().map(Fragments::of),
            ports: run.ports.iter().map(Port::of).collect(),
            sets: run
                .sets
                .iter()
                .zip(facts)
                .map(|(hits, facts)| Set::of(hits, *facts))
                .collect(),
            memory: Memory::of(&run.memory),
            machine: MachineFacts::of(machine),
            ended_by: ended_by(&run.ended_by),
            failure: match &run.ended_by {
                EndedBy::Failed(error) => Some(error.to_string()),
                _ => None,
            },
            warnings: run
                .warnings
                .iter()
                .cloned()
                .chain(starved(&run.workers))
                .collect(),
            demo: None,
        }
    }

    /// All drops together.
    pub(crate) fn dropped_total(&self) -> u64 {
        self.frames.dropped.values().sum()
    }
}

fn passed(run: &RunReport) -> BTreeMap<&'static str, u64> {
    let passed = run.passed.iter().filter(|(_, frames)| *frames != 0);
    passed
        .map(|&(rule, frames)| (rule.name(), frames))
        .collect()
}

/// A quotient that JSON can hold: 0 where there is nothing to divide by.
pub(crate) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

pub(crate) fn ended_by(ended: &EndedBy) -> &'static str {
    match ended {
        EndedBy::Sources => "sources",
        EndedBy::Duration => "duration",
        EndedBy::Frames => "frames",
        EndedBy::Asked => "asked",
        EndedBy::LinkDown => "link_down",
        EndedBy::Failed(_) => "failed",
    }
}

impl Frames {
    pub(crate) fn of(accounting: &Accounting) -> Self {
        Self {
            rx: accounting.rx,
            tx: accounting.tx,
            originated: accounting.originated,
            consumed: accounting.consumed,
            punted: accounting.punted,
            held: accounting.held,
            cloned: accounting.cloned,
            handed_off: accounting.handed_off,
            dropped: accounting
                .dropped
                .iter()
                .map(|&(reason, n)| (reason.name(), n))
                .collect(),
        }
    }
}

impl Worker {
    pub(crate) fn of(worker: &engine::WorkerReport) -> Self {
        Self {
            id: worker.id.0,
            cpu: worker.cpu.0,
            rx: worker.rx,
            tx: worker.tx,
            dropped: worker.dropped,
            busy: worker.busy,
            burst_mean: worker.burst_mean,
            cpu_seconds: worker.cpu_seconds,
            sleeps: worker.sleeps,
            host: BTreeMap::new(),
        }
    }

    fn of_run(run: &RunReport, worker: &engine::WorkerReport) -> Self {
        Self {
            host: node_counts(run, "host", &worker.node),
            ..Self::of(worker)
        }
    }
}

impl Report {
    /// With what rules matched.
    pub(crate) fn with_rules(self, rules: Option<RuleReport>) -> Self {
        Self { rules, ..self }
    }

    /// With the names of the ports, by their numbers.
    pub(crate) fn with_names(mut self, names: impl IntoIterator<Item = Option<String>>) -> Self {
        for (port, name) in self.ports.iter_mut().zip(names) {
            port.name = name;
        }
        self
    }
}

impl Port {
    /// What it goes by.
    pub(crate) fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.spec)
    }

    pub(crate) fn of(port: &engine::PortReport) -> Self {
        Self {
            id: port.id.0,
            name: None,
            spec: port.spec.clone(),
            rx_frames: port.rx_frames,
            rx_bytes: port.rx_bytes,
            tx_frames: port.tx_frames,
            tx_bytes: port.tx_bytes,
            missed: port.missed,
            to_host: port.to_host,
            unfiltered: port.unfiltered,
            unfiltered_before: port.unfiltered_before,
            shortcut: port.shortcut,
            missed_merged: port.missed_merged,
            missed_too_long: port.missed_too_long,
            mode: port.mode.clone(),
            states: port.states.iter().map(State::of).collect(),
        }
    }
}

impl State {
    fn of(report: &engine::StateReport) -> Self {
        Self {
            state: report.state.name(),
            name: report.state.to_string(),
            active: report.active,
            count: report.count,
            since_seconds: report.since_seconds,
            seconds: report.seconds,
            detail: report.detail.clone(),
        }
    }
}

impl Set {
    fn of(hits: &engine::SetHits, facts: SetFacts) -> Self {
        Self {
            name: hits.name.clone(),
            action: hits.action.name(),
            entries: facts.entries,
            bytes: facts.bytes,
            hits_src: hits.hits_src,
            hits_dst: hits.hits_dst,
            would_drop: hits.would_drop,
        }
    }
}

impl Memory {
    pub(crate) fn of(memory: &engine::MemoryReport) -> Self {
        Self {
            pages: memory.pages.clone(),
            bytes: memory.bytes as u64,
            stride_bytes: memory.stride_bytes,
            frames: memory.frames,
            nodes: memory.nodes.iter().map(|node| node.0).collect(),
        }
    }
}

impl MachineFacts {
    pub(crate) fn of(machine: &Machine) -> Self {
        Self {
            cpu: machine.cpu.clone(),
            kernel: machine.kernel.clone(),
            cpus: machine.cpus,
        }
    }
}
/// What the node counted, if it is called so.
/// Counts of a run's node, or of a worker's, if that is what the node is called.
fn node_counts(run: &RunReport, name: &str, all: &[NodeCount]) -> BTreeMap<&'static str, u64> {
    let counts = all.iter().filter(|_| run.node_name == name);
    counts.map(|one| (one.name, one.count)).collect()
}
