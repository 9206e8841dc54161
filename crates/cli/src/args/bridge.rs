//! `linerate bridge`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, Args, ValueEnum};
use engine::IdleMode;

use super::{
    DispatchArgs, FragmentArgs, FrameSource, PolicyArgs, ReadArgs, StatefulArgs, WorkerArgs, count,
    duration,
};
use crate::exit::EXIT_CODES;

/// Bridge two ports: what comes in by one leaves by the other, unless the policy stops it.
#[derive(Clone, Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = after_long())]
pub(crate) struct BridgeArgs {
    /// One port, as in pcap:in=a.pcap.
    #[arg(value_name = "PORT")]
    pub(crate) first: String,
    /// The other, as in pcap:out=b.pcap; frames pass both ways.
    #[arg(value_name = "PORT")]
    pub(crate) second: String,
    #[command(flatten)]
    pub(crate) common: ForwardArgs,
}

/// What a bridge, a switch and a router have in common.
#[derive(Clone, Debug, Args)]
pub(crate) struct ForwardArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Try the rules of FILE, in their order, on what the sets let pass.
    ///
    /// The first rule that matches decides, as in 'tcp dport { 22, 443 } ip saddr @known accept';
    /// see 'linerate rules'. Rules see IP packets, by their outermost headers. '-' is standard
    /// input.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) stateful: StatefulArgs,
    #[command(flatten)]
    pub(crate) fragments: FragmentArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Load the rest of a list that has bad lines, and say how many were left out.
    #[arg(long, help_heading = "Lists")]
    pub(crate) skip_bad_lines: bool,
    #[command(flatten)]
    pub(crate) workers: WorkerArgs,
    #[command(flatten)]
    pub(crate) dispatch: DispatchArgs,
    /// What workers do while no frame comes: doze (sleep until one does) or spin (go on looking).
    ///
    /// A worker that dozes takes a few hundredths of its CPU, and the first frame after a pause
    /// waits for it to wake. One that spins takes its CPU whole.
    #[arg(
        long,
        value_name = "MODE",
        default_value = "doze",
        hide_possible_values = true,
        help_heading = "Workers and memory"
    )]
    pub(crate) idle: IdleWhen,
    /// Put the interrupt of each queue beside its worker, and back at the end.
    ///
    /// Beside is another thread of the worker's core if no worker runs there, else the worker's own
    /// CPU. Interfaces without interrupts of their own (veth, loopback, tap) are said to have none.
    #[arg(long, help_heading = "Workers and memory")]
    pub(crate) pin_irqs: bool,
    #[command(flatten)]
    pub(crate) explain: ExplainedArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// One frame in place of a run.
#[derive(Clone, Debug, Args)]
pub(crate) struct ExplainedArgs {
    /// Open no port: say what would become of FRAME, which is written as for 'linerate explain'.
    ///
    /// What would decide has learned nothing yet: it knows static stations and neighbours alone.
    #[arg(
        long = "explain",
        value_name = "FRAME",
        conflicts_with = "dry_run",
        hide_short_help = true
    )]
    pub(crate) frame: Option<FrameSource>,
    /// The port that FRAME comes in by, instead of the first one.
    #[arg(
        long = "explain-at",
        value_name = "PORT",
        requires = "frame",
        hide_short_help = true
    )]
    pub(crate) at: Option<String>,
}

impl ForwardArgs {
    /// An option as commands of more ports than two show it: whole headings are left to the long
    /// help, and what needs two ports to the bridge.
    pub(super) fn behind(arg: Arg) -> Arg {
        match arg.get_help_heading() {
            Some("Flows") => arg.hide(true),
            Some("Tunnels" | "Lists") => arg.hide_short_help(true),
            _ => arg,
        }
    }
}

/// What idle workers do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum IdleWhen {
    #[default]
    Doze,
    Spin,
}

impl From<IdleWhen> for IdleMode {
    fn from(when: IdleWhen) -> Self {
        match when {
            IdleWhen::Doze => Self::Doze,
            IdleWhen::Spin => Self::Spin,
        }
    }
}

/// When to end and what to say.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// End after this time, as in 500ms, 10s, 2m; a bare number is seconds.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) duration: Option<Duration>,
    /// End after N received frames, as in 1000000 or 1M.
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) frames: Option<u64>,
    /// Seed generated traffic; the same seed gives the same frames.
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub(crate) seed: u64,
    /// Print the report as one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what would run here, and run nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const LONG_ABOUT: &str = "\
Bridge two ports: what comes in by one leaves by the other, unless the policy stops it.

A PORT is DRIVER:NAME[,key=value]...:
  pcap:in=FILE,out=FILE   a capture to read, to write, or both; '-' is standard input or output
  xdp:eth0                a network interface, by AF_XDP; needs root
  packet:eth0             a network interface, by packet sockets; needs root
  memif:/run/m.sock       shared memory with VPP or DPDK; role=leader listens
  gen:size=64,hit=0.1     generated traffic: random addresses, a share of them from the sets
  null:                   swallows what it is sent

Without --duration and --frames it runs until the sources end or Ctrl-C is pressed, and ends with
a report. Its rates, and the time in its first line, are of the time until the last frame; how long
the run took stands beside where that is longer.";

fn after_long() -> String {
    format!(
        "\
Examples:
  linerate bridge pcap:in=a.pcap pcap:out=b.pcap --block ipsum.txt
      filter a capture by a list; frames keep their bytes and times
  linerate bridge pcap:in=a.pcap null: --count bad=ipsum.txt --json
      what would that list drop? A trial run that drops nothing
  zcat a.gz | linerate bridge pcap:in=- pcap:out=- --allow web.txt --default drop | tcpdump -r -
      only what speaks to the servers, as a filter between two programs
  linerate bridge xdp:eth1 xdp:eth2 --block ipsum.txt
      a filter in the wire between two network interfaces, until Ctrl-C
  linerate bridge xdp:eth1 xdp:eth2 --stateful allow-new=eth1
      what is behind eth1 may speak to all, and be answered; nobody else begins
  linerate bridge xdp:eth1 xdp:eth2 --workers 2 --pin-irqs --idle spin
      the same for the least delay: workers never sleep, interrupts come beside them
  linerate bridge xdp:eth1,bypass=on xdp:eth2,bypass=on --block ipsum.txt
      the same, and the wire is not cut when it ends (see 'linerate bypass')
  linerate bridge xdp:eth1,keep-local xdp:eth2 --block ipsum.txt
      the same where eth1 has an address of this machine, which stays reachable
  linerate bridge gen:size=64,hit=0.1 null: --block ipsum.txt --duration 5s --workers 2
      how fast is that on generated traffic?
  linerate bridge gen: null: --block level1.netset --keep private,local --dry-run
      what would run, with which CPUs and which memory?

{EXIT_CODES}"
    )
}
