//! What a run has to say for itself.

use frame::{CpuId, NodeId, PortId, WorkerId};
use plane::{Action, NodeCount};
use port::PortError;
use wire::LinkProtocol;

use crate::{Accounting, DispatchReport, FlowReport, FragmentReport, Ledger, StateReport};

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// No source had anything left.
    Sources,
    /// Its time was up.
    Duration,
    /// The frames asked for had been received.
    Frames,
    /// Somebody asked it to stop.
    Asked,
    /// The link of the port that sends was down, and nothing else would have ended it; of drives
    /// alone.
    LinkDown,
    /// A port failed; the error says which and how.
    Failed(PortError),
}

/// Counts while a run goes on, all workers together; up to a millisecond old.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Since the start.
    pub seconds: f64,
    /// Frames received.
    pub rx: u64,
    /// Their bytes, without FCS.
    pub rx_bytes: u64,
    /// Frames transmitted.
    pub tx: u64,
    /// Frames dropped, for whatever reason.
    pub dropped: u64,
    /// Time that workers spent in steps that moved a frame, all together, nanoseconds.
    pub busy_nanos: u64,
}

/// Less than this share of its busy time is what interrupts take of any thread.
const STARVED_SHARE_MIN: f64 = 0.03;
/// The start and the end of a run are not told apart from less.
const STARVED_SECONDS_MIN: f64 = 0.02;

/// One worker.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerReport {
    /// Its number.
    pub id: WorkerId,
    /// The CPU it was tied to.
    pub cpu: CpuId,
    /// Frames it received from ports.
    pub rx: u64,
    /// Frames it transmitted.
    pub tx: u64,
    /// Frames it dropped.
    pub dropped: u64,
    /// The share of the run that it spent in steps that moved a frame, 0 to 1.
    pub busy: f64,
    /// The same in nanoseconds.
    pub busy_nanos: u64,
    /// Frames in a received burst, empty ones left out.
    pub burst_mean: f64,
    /// CPU time of its thread, seconds.
    pub cpu_seconds: f64,
    /// System calls that it made for want of frames: to give its CPU away, or to sleep.
    pub sleeps: u64,
    /// Its own books.
    pub accounting: Accounting,
    /// What its node counted; nothing between two ports.
    pub node: Vec<NodeCount>,
}

impl WorkerReport {
    /// Time in which it had frames to work on and another thread had its CPU, seconds: steps that
    /// moved frames took longer than its thread ran. 0 where that is too little to tell.
    #[must_use]
    pub fn starved_seconds(&self) -> f64 {
        let busy = self.busy_nanos as f64 / 1e9;
        let starved = busy - self.cpu_seconds;
        if starved > STARVED_SHARE_MIN * busy && starved > STARVED_SECONDS_MIN {
            starved
        } else {
            0.0
        }
    }
}

/// One port, all its queues together.
#[derive(Clone, Debug, PartialEq)]
pub struct PortReport {
    /// Its number, in the order given.
    pub id: PortId,
    /// As the user wrote it.
    pub spec: String,
    /// Frames received.
    pub rx_frames: u64,
    /// Their bytes, without FCS.
    pub rx_bytes: u64,
    /// Frames transmitted.
    pub tx_frames: u64,
    /// Their bytes, without FCS.
    pub tx_bytes: u64,
    /// Frames that were there and never received.
    pub missed: u64,
    /// Frames left to the host, whose they are, without a worker having seen them.
    pub to_host: u64,
    /// Frames that the kernel forwarded past the workers during the run.
    pub unfiltered: u64,
    /// The same from the start of the run before, if there was a bypass, until this one took over.
    pub unfiltered_before: u64,
    /// Frames that the kernel forwarded past the workers, because they are surely in no list.
    pub shortcut: u64,
    /// Of those, frames that were merged of several before they came here.
    pub missed_merged: u64,
    /// Of those, frames longer than a chunk.
    pub missed_too_long: u64,
    /// The mode that was granted.
    pub mode: String,
    /// What its interface was in that it should not be, each that occurred.
    pub states: Vec<StateReport>,
}

/// One set of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetHits {
    /// Its name.
    pub name: String,
    /// What a hit does.
    pub action: Action,
    /// Frames whose source address is in it.
    pub hits_src: u64,
    /// Frames whose destination address is in it.
    pub hits_dst: u64,
    /// Of a count set: frames it would have dropped, were it a block set, and no block set did.
    pub would_drop: u64,
}

/// Frame memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryReport {
    /// The pages that were got, as in `2 MiB huge pages`.
    pub pages: String,
    /// Bytes mapped.
    pub bytes: usize,
    /// The memory nodes of the workers' pools; empty on machines with one node.
    pub nodes: Vec<NodeId>,
    /// Distance of two frames, bytes.
    pub stride_bytes: u32,
    /// Frames, all pools together.
    pub frames: u64,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// From the start to the last frame moved.
    pub seconds: f64,
    /// From the start to the end.
    pub run_seconds: f64,
    /// All workers' books in one.
    pub accounting: Accounting,
    /// Whether the books of each worker and of all balance, and every frame's memory is
    /// accounted for.
    pub balanced: bool,
    /// Frames by where they were counted, and a name for every difference.
    pub ledger: Ledger,
    /// Frames that at least one count set would have dropped, and no block set did.
    pub would_drop: u64,
    /// Frames that passed by a rule alone, by every rule there is.
    pub passed: Vec<(LinkProtocol, u64)>,
    /// Each worker.
    pub workers: Vec<WorkerReport>,
    /// How frames got to the worker that decided on them.
    pub dispatch: DispatchReport,
    /// Flows at the end, where the bridge remembered them.
    pub flows: Option<FlowReport>,
    /// Packets in fragments, where the bridge follows them.
    pub fragments: Option<FragmentReport>,
    /// What the node counted; nothing between two ports.
    pub node: Vec<NodeCount>,
    /// What the node is called.
    pub node_name: &'static str,
    /// Each port.
    pub ports: Vec<PortReport>,
    /// Each set, in the policy's order.
    pub sets: Vec<SetHits>,
    /// Frame memory.
    pub memory: MemoryReport,
    /// What the ports want known, a sentence each.
    pub warnings: Vec<String>,
    /// Why it ended.
    pub ended_by: EndedBy,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;

    #[test]
    fn a_worker_is_starved_where_it_was_busy_for_longer_than_it_ran() {
        let starved = |busy_seconds: f64, cpu_seconds| {
            let worker = WorkerReport {
                id: WorkerId(0),
                cpu: CpuId(0),
                rx: 0,
                tx: 0,
                dropped: 0,
                busy: 1.0,
                busy_nanos: (busy_seconds * 1e9) as u64,
                burst_mean: 0.0,
                cpu_seconds,
                sleeps: 0,
                accounting: Accounting::of(&Counters::new()),
                node: Vec::new(),
            };
            worker.starved_seconds()
        };
        assert!((starved(10.0, 6.0) - 4.0).abs() < 1e-6);
        // More CPU than busy time is what looking for frames takes.
        for (busy, cpu) in [(1.0, 10.0), (10.0, 9.8), (0.01, 0.0), (0.0, 0.0)] {
            assert_eq!(starved(busy, cpu), 0.0, "{busy} {cpu}");
        }
    }
}
