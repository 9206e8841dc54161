//! Options about workers and their memory, shared by what runs the dataplane.

use clap::Args;
use frame::BURST_MAX;

use daemon::{Layout, LayoutAsked, nodes_of};
use port::PortSpec;

use super::CpuList;
use crate::error::Error;

/// How the dataplane is laid out on the machine.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Workers and memory")]
pub(crate) struct WorkerArgs {
    /// Run N workers, each tied to a CPU of its own [default: 1].
    ///
    /// Generated or replayed traffic is shared over them by the RSS hash of its flow, so that a
    /// flow keeps its order.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Run the workers on these CPUs, as in 0,2-3.
    ///
    /// Without it, CPUs of different cores are taken first and CPU 0 last, since interrupts
    /// prefer it; on a machine with several memory nodes, those of the ports' NICs first.
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<CpuList>,
    /// Move at most N frames at a time through all stages.
    #[arg(long, value_name = "N", value_parser = burst())]
    pub(crate) burst: Option<u16>,
    /// Space frames BYTES apart in memory: a multiple of 64 from 256 to 131072.
    ///
    /// Odd multiples of 64 spread frame headers over all sets of the CPU's caches; 2048 leaves
    /// most of them unused. The largest frame a worker can hold is the stride less 128 bytes.
    #[arg(long, value_name = "BYTES", value_parser = stride, hide_short_help = true)]
    pub(crate) stride: Option<u32>,
    /// Give each worker a pool of FRAMES frames.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "FRAMES",
        value_parser = clap::value_parser!(u32).range(1..=1 << 24),
    )]
    pub(crate) pool: Option<u32>,
}

impl WorkerArgs {
    /// What the options mean on this machine, for these ports.
    pub(crate) fn layout(&self, ports: &[PortSpec]) -> Result<Layout, Error> {
        let asked = LayoutAsked {
            workers: self.workers.map(usize::from),
            cpus: self.cpus.as_ref().map(|list| list.0.clone()),
            burst: self.burst.map(usize::from),
            stride_bytes: self.stride,
            pool_frames: self.pool,
            nodes: nodes_of(ports),
            ports: ports.len(),
        };
        Layout::choose(&asked).map_err(Error::refused)
    }
}

fn burst() -> impl clap::builder::TypedValueParser<Value = u16> {
    clap::value_parser!(u16).range(1..=BURST_MAX as i64)
}

fn stride(text: &str) -> Result<u32, String> {
    let bytes = text
        .parse()
        .ok()
        .filter(|bytes| (256..=frame::STRIDE_BYTES_MAX).contains(bytes));
    bytes
        .filter(|bytes: &u32| bytes.is_multiple_of(64))
        .ok_or_else(|| "a stride is a multiple of 64 from 256 to 131072, as in 2112".to_owned())
}
