//! Workers and what they need: threads, pinning, the clock, counters, publishing of tables.
//!
//! The only crate that knows both ports and decisions, spawns workers and reads the clock. No
//! unsafe. [`Engine::start`] turns a [`Plan`] into [`Running`] workers; the [`RunReport`] at the
//! end says whether the books balance.
#![forbid(unsafe_code)]

mod accounting;
mod activity;
mod ahead;
mod attachment;
mod carried;
mod clock;
mod counters;
mod cpu;
mod dispatch;
mod doze;
mod drive;
mod exchange;
mod finish;
mod flow_log;
mod flows;
mod fragments;
mod gathering;
mod hit_counters;
mod hit_history;
mod host;
mod idle;
mod ledger;
mod machine;
mod moves;
mod other_workers;
mod overlap;
mod own_addresses;
pub mod placement;
mod plan;
mod publish;
mod reassembly;
mod receive;
mod recorded;
mod report;
mod requests;
mod run;
mod samples;
mod shortcuts;
mod shown;
mod start;
mod states;
mod status;
mod steer;
mod supervise;
#[cfg(test)]
#[path = "../tests/ports/mod.rs"]
mod test_port;
mod turns;
mod waiting;
mod worker;

pub use accounting::Accounting;
pub use activity::{Activity, CpuActivity};
pub use ahead::Ahead;
pub use clock::cpu_time_nanos;
pub use cpu::{allowed_cpus, pin_to};
pub use dispatch::{
    BucketStatus, DEFAULT_RING_LIMIT, DispatchCounts, DispatchKind, DispatchPolicy, DispatchPort,
    DispatchReport, DispatchRow, DispatchSettings, MoveError, RING_LIMIT_MAX, bucket_of,
};
pub use drive::{
    ClockDoubt, Drive, DriveClosing, DrivePlan, DriveSnapshot, Outage, Replayed, RunningDrive,
    SteppedDrive, StreamSent, Trial, TrialReport,
};
pub use flow_log::FlowLogReader;
pub use flows::FlowReport;
pub use fragments::FragmentReport;
pub use hit_counters::{HitCount, SetCounts};
pub use hit_history::{HitRange, RecentHits, TopHit, TopHits};
pub use host::Host;
pub use idle::IdleMode;
pub use ledger::{Cause, Column, Difference, Ledger, OwnCause, Step};
pub use machine::Machine;
pub use other_workers::{OtherWorker, other_workers};
pub use own_addresses::{OwnAddress, Role, own_addresses};
pub use plan::{DEFAULT_BURST, DEFAULT_POOL_FRAMES, EngineError, HEADROOM_BYTES, Limits, Plan};
pub use plane::{ListsMismatch, Ruleset};
pub use publish::{Published, Publisher, Reader};
pub use report::{EndedBy, MemoryReport, PortReport, RunReport, SetHits, Snapshot, WorkerReport};
pub use run::{Engine, Running, SteppedRun, Stopper};
pub use samples::{SNAP_BYTES_MAX, Sample, SampleError, SampleReceiver, SampleSpec, SampledSet};
pub use start::FrameMemory;
pub use states::{PortState, StateReport};
pub use status::{Observer, PortStatus, Status, WorkerStatus};
