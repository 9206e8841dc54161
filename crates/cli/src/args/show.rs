//! `linerate show ...` and `linerate reload`.

use std::net::IpAddr;

use clap::{Args, Subcommand};

use super::{FactArgs, SocketArgs};
use crate::exit::EXIT_CODES;

/// Show what a running daemon does: ports, workers, dispatch, flows, rules, drops, sets, hits.
#[derive(Debug, Args)]
#[command(after_long_help = SHOW_EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct ShowArgs {
    /// What to show.
    #[command(subcommand)]
    pub(crate) what: ShowCommand,
}

/// What can be shown.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ShowCommand {
    Ports(ShowPortsArgs),
    Workers(ShowWorkersArgs),
    Dispatch(ShowDispatchArgs),
    Flows(ShowFlowsArgs),
    Rss(ShowRssArgs),
    Fdb(ShowFdbArgs),
    Vlans(ShowVlansArgs),
    Neighbours(ShowNeighboursArgs),
    Routes(ShowRoutesArgs),
    Nat(ShowNatArgs),
    Rules(ShowRulesArgs),
    Drops(ShowDropsArgs),
    Sets(ShowSetsArgs),
    Hits(ShowHitsArgs),
    Memory(ShowMemoryArgs),
    Config(ShowConfigArgs),
}

/// Show what went in and out of each port since the start.
///
/// 'missed' are frames that were there and no worker ever had: the interface could not receive them
/// whole, or a ring was full. 'dropped' behind 'received' are frames that came in by the port and
/// were dropped by their verdict; 'dropped' behind 'sent' are frames that were to leave by it and
/// did not. Bytes are those of frames without FCS. With --watch: one line a second of all ports
/// together, or of --port alone, in frames and bytes a second.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("ports", "what went in and out, a line a second"))]
pub(crate) struct ShowPortsArgs {
    /// Show this port alone, by its name in the configuration.
    #[arg(long, value_name = "NAME")]
    pub(crate) port: Option<String>,
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show how busy each worker is, how fast, and how full its bursts are.
///
/// 'busy' is the share of the last second spent on frames; ns/frame and frames a burst are averages
/// since the start. With --watch all are of the time since the last look.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("workers", "how busy they are now"))]
pub(crate) struct ShowWorkersArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show how frames get to the worker that decides on them, and how full the rings between are.
///
/// Of each worker, port and kind ('decide': frames for the owner of their flow; 'transmit': for a
/// worker that has a queue of the port): Len frames in its queues, WMark the most there ever were,
/// Disp'd handled at once under direct, HDisp'd under hybrid, QDrops dropped because a ring was
/// full, Queued, and Handled in all. With --watch, Queued and Handled are those a second.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("dispatch", "how full the rings are now"))]
pub(crate) struct ShowDispatchArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show how many flows a stateful bridge knows, and what became of the others.
///
/// 'refused' could not begin for want of room, and 'evicted' made room for others. 'written down'
/// are records of the flow log; what its writer was too slow for was not.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("flows", "how many begin a second"))]
pub(crate) struct ShowFlowsArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show whose each bucket of flows is, and what it brought.
///
/// Frames are hashed to buckets where workers hand them to each other; a bucket is one worker's.
/// With --watch, frames are those since the last look.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("rss", "which buckets are heavy now"))]
pub(crate) struct ShowRssArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show the stations that a switch knows: VLAN, address, port, and age in seconds.
///
/// 'age' is the time since the station was last seen. One that is static was given by the
/// configuration. With several workers these are the stations that the first worker knows.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("fdb", "which stations come and go"))]
pub(crate) struct ShowFdbArgs {
    /// Show the stations of this VLAN alone.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4094))]
    pub(crate) vlan: Option<u16>,
    /// Show the stations behind this port alone, by its name in the configuration.
    #[arg(long, value_name = "NAME")]
    pub(crate) port: Option<String>,
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show what a switch did, and how many frames of each VLAN came in and left.
///
/// 'out' counts every copy of a flooded frame. A 't' behind a port means tagged. With --watch, the
/// rates are those since the last look.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("vlans", "which VLANs are busy now"))]
pub(crate) struct ShowVlansArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show the neighbours that a router knows: interface, address, Ethernet address, state and age.
///
/// The states are those of RFC 4861: 'reachable' answered lately, 'stale' a while ago, 'incomplete'
/// is asked for, 'failed' did not answer; 'followed' is the kernel's. 'age' is the time in that
/// state; static neighbours are of the configuration. With several workers these are the neighbours
/// that the first worker knows.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("neighbours", "which neighbours come and go"))]
pub(crate) struct ShowNeighboursArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show the route to an address, or how many routes a router has and the first 512 of them.
///
/// The route to an address is the longest prefix that holds it. Of several next hops the flow
/// chooses.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("routes", "how many there are after each reload"))]
pub(crate) struct ShowRoutesArgs {
    /// Show the route to this address alone.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: Option<IpAddr>,
    /// Show the routes of this VRF; without it those of interfaces that are in none.
    #[arg(long, value_name = "NAME")]
    pub(crate) vrf: Option<String>,
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show which flows NAT translates: who began them, where to, and with which source and destination
/// they leave.
///
/// 'state' is new until both sides have sent, then established, and closing when both sides of a
/// TCP connection have closed or one has reset. A mapping is an inside address and port with the
/// ones that it has outside. Of an echo, ports are its identifier. 'idle' is the time since the
/// last packet, 'left' the time until the flow is over if none comes.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("nat", "which flows come and go"))]
pub(crate) struct ShowNatArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show the rules of packets in their order, each with the packets and bytes that it matched.
///
/// Counters begin at 0 when rules take the place of others. The last row is what no rule decided
/// on. A rule of more than 4096 bytes is cut.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("rules", "which rules match now"))]
pub(crate) struct ShowRulesArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show how many frames were dropped, by reason; 'linerate drops' says what the reasons mean.
///
/// The most frequent comes first; reasons that never occurred are left out. With --watch, frames a
/// second since the last look stand beside the sum.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("drops", "which reasons occur now"))]
pub(crate) struct ShowDropsArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show how often each set was hit, by side, and how many entries it has.
///
/// A hit is a frame whose source or destination is in the set. 'would drop' are the frames that a
/// set would have dropped while its action was count: each counted once, also where both of its
/// addresses hit, and only if no block set dropped it and no allow set exempts the address. With
/// --watch, hits a second since the last look stand beside the sums.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("sets", "which sets are hit now"))]
pub(crate) struct ShowSetsArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show the addresses hit most, the sets that hold them, and the sets that never hit.
///
/// Workers count in bounded memory. Where they had to forget, a count is a range, as '0 to 92': no
/// fewer than the first number and no more than the last. The addresses are sorted by what is
/// certain, the first number of the last hour.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("hits", "which addresses are hit now"))]
pub(crate) struct ShowHitsArgs {
    /// Show so many addresses, at most 1000.
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) top: u32,
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show what memory is used for.
///
/// 'resident' is what the kernel counts for the process; pages of frame memory that were never
/// touched are not in it.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("memory", "whether it grows"))]
pub(crate) struct ShowMemoryArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Show the configuration in force, every choice resolved, without secrets.
///
/// It is TOML that 'linerate run' takes. Actions changed live are not in it: 'set list' has them.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after("config", "whether somebody reloads"))]
pub(crate) struct ShowConfigArgs {
    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// Make a running daemon read its configuration again.
///
/// All that is different is changed, while frames go by, or nothing is: a fault, or something that
/// cannot change live (ports, workers, memory), refuses the whole with the reason.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = reload_after())]
pub(crate) struct ReloadArgs {
    /// Print the daemon's answer as one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) daemon: SocketArgs,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  linerate show ports --watch
      frames in and out, a line a second
  linerate show drops
      why frames were dropped
  linerate show hits --top 5
      the addresses hit most
  linerate show workers --json
      for programs";

fn after(what: &str, watched: &str) -> String {
    format!(
        "\
Examples:
  linerate show {what}
      now
  linerate show {what} --watch
      {watched}
  linerate show {what} --json
      for programs

{EXIT_CODES}"
    )
}

fn reload_after() -> String {
    format!(
        "\
Examples:
  linerate reload
      after the configuration was edited
  linerate reload --socket /run/linerate/lab.sock
      of another daemon

{EXIT_CODES}"
    )
}
