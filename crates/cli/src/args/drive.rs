//! `linerate gen` and `linerate sink`.

use std::time::Duration;

use clap::Args;
use traffic::{Rate, Speed};

use super::answer::AnswerArgs;
use super::bridge::IdleWhen;
use super::{WorkerArgs, count, duration};
use crate::exit::EXIT_CODES;

/// Send test frames by a port at a rate, and say what became of them.
#[derive(Clone, Debug, Args)]
#[command(long_about = GEN_ABOUT, after_long_help = gen_examples())]
pub(crate) struct GenArgs {
    /// The port to send by, as in xdp:eth1.
    #[arg(value_name = "PORT")]
    pub(crate) port: String,
    /// Take the frames in again at this port, in the same process, and account for each.
    #[arg(long, value_name = "PORT")]
    pub(crate) sink: Option<String>,
    /// Expect the frames back at PORT: with --sink it sends them back, without it another
    /// 'linerate sink --reflect' does.
    #[arg(long)]
    pub(crate) reflect: bool,
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    #[command(flatten)]
    pub(crate) frames: FrameArgs,
    #[command(flatten)]
    pub(crate) replay: ReplayArgs,
    #[command(flatten)]
    pub(crate) workers: WorkerArgs,
    /// Let half of the workers send and the other half take in, instead of each doing both.
    #[arg(
        long,
        hide_short_help = true,
        requires = "sink",
        help_heading = "Workers and memory"
    )]
    pub(crate) apart: bool,
    #[command(flatten, next_help_heading = "Run")]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    pub(crate) manner: DriveArgs,
    /// What workers do while nothing is due and nothing comes: spin (go on looking) or doze.
    ///
    /// A worker that dozes may wake late, which the report shows as an error of its pace.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "MODE",
        default_value = "spin",
        hide_possible_values = true,
        help_heading = "Workers and memory"
    )]
    pub(crate) idle: IdleWhen,
}

/// How fast, how many, how long.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Pace")]
pub(crate) struct PaceArgs {
    /// Send at this rate, all workers together: 1Mpps, 1Gbps (with preamble and gap, the speed of
    /// an interface), 1GbpsL2 (with FCS alone), or max [default: max].
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) rate: Option<Rate>,
    /// Send N frames, as in 1000000 or 1M.
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) count: Option<u64>,
    /// Send for this long, as in 500ms, 10s, 2m; a bare number is seconds.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) duration: Option<Duration>,
    /// Wait this long, after the last frame, for those under way.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "TIME",
        default_value = "200ms",
        value_parser = duration::parse,
    )]
    pub(crate) drain: Duration,
    /// Do not measure first, by sending flat out for 200 ms, how much this port takes.
    #[arg(long, hide_short_help = true)]
    pub(crate) no_trial: bool,
}

/// What frames are made.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Frames")]
pub(crate) struct FrameArgs {
    /// Bytes with FCS, 64 to 9216: 64, 64-1518, imix, or sizes by weight as in 64:7+570:4+1518:1
    /// [default: 64].
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// What is in them: udp, tcp or icmp (echo requests) [default: udp].
    #[arg(long, value_name = "NAME")]
    pub(crate) protocol: Option<String>,
    /// TCP with these flags, as in S or SA.
    #[arg(long, hide_short_help = true, value_name = "LETTERS")]
    pub(crate) flags: Option<String>,
    /// The share of frames that is IPv6, as in 0.5 or 50% [default: 0].
    #[arg(long, value_name = "SHARE")]
    pub(crate) ipv6: Option<String>,
    /// Source addresses: random, 10.0.0.1, 10.0.0.1-10.0.0.9, 10.0.0.0/8, or @FILE for those of a
    /// list [default: random].
    #[arg(long, value_name = "ADDRESSES")]
    pub(crate) src: Option<String>,
    /// Destination addresses, the same.
    #[arg(long, value_name = "ADDRESSES")]
    pub(crate) dst: Option<String>,
    /// Source ports: random, 53, 1024-65535, or @FILE [default: random].
    #[arg(long, value_name = "PORTS")]
    pub(crate) sport: Option<String>,
    /// Destination ports, the same.
    #[arg(long, value_name = "PORTS")]
    pub(crate) dport: Option<String>,
    /// Source MACs: random, 02:00:00:00:00:01, FIRST-LAST, or @FILE.
    #[arg(long, hide_short_help = true, value_name = "MACS")]
    pub(crate) smac: Option<String>,
    /// Destination MACs, the same.
    #[arg(long, hide_short_help = true, value_name = "MACS")]
    pub(crate) dmac: Option<String>,
    /// VLAN tags: 5, 1-4094, random, @FILE; two as in 10.20 [default: none].
    #[arg(long, value_name = "IDS")]
    pub(crate) vlan: Option<String>,
    /// N flows, each with addresses and ports of its own; random makes every frame one
    /// [default: random].
    #[arg(long, value_name = "N")]
    pub(crate) flows: Option<String>,
    /// Replace the oldest flow by a new one N times a second.
    #[arg(long, hide_short_help = true, value_name = "N")]
    pub(crate) new_flows: Option<String>,
    /// The share of frames with an address out of --hits, as in 0.1 or 10%.
    #[arg(long, hide_short_help = true, value_name = "SHARE", requires = "hits")]
    pub(crate) hit: Option<String>,
    /// Lists of addresses and networks that --hit draws from.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub(crate) hits: Vec<String>,
    /// Make frames without a signature: nothing is known of them when they arrive.
    #[arg(long, hide_short_help = true)]
    pub(crate) unsigned: bool,
    /// What the signature protects: network (what a router leaves alone) or link (every byte)
    /// [default: network].
    #[arg(
        long,
        hide_short_help = true,
        value_name = "WHAT",
        conflicts_with_all = ["unsigned", "reflect"],
    )]
    pub(crate) cover: Option<String>,
}

/// Sending a capture instead.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Replay")]
pub(crate) struct ReplayArgs {
    /// Send the frames of a capture, as they are, instead of making any; FILE,loop=N sends it N
    /// times, FILE,loop=forever until the run ends.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "size", "protocol", "flags", "ipv6", "src", "dst", "sport", "dport", "smac", "dmac", "vlan",
        "flows", "new_flows", "hit", "hits", "unsigned", "cover", "reflect",
    ])]
    pub(crate) replay: Option<String>,
    /// How fast: 1x as it was recorded, 2x twice as fast, max as fast as --rate allows
    /// [default: 1x].
    #[arg(long, value_name = "TIMES", requires = "replay", value_parser = speed)]
    pub(crate) speed: Option<Speed>,
}

/// What both commands take.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct DriveArgs {
    /// Seed the frames; the same seed makes the same frames.
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the report as one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Take test frames in at a port and account for each: lost, doubled, reordered, corrupted, late.
#[derive(Clone, Debug, Args)]
#[command(long_about = SINK_ABOUT, after_long_help = sink_examples())]
pub(crate) struct SinkArgs {
    /// The port to take frames in from, as in xdp:eth2.
    #[arg(value_name = "PORT")]
    pub(crate) port: String,
    /// Send every frame back to where it came from, its addresses exchanged.
    #[arg(long)]
    pub(crate) reflect: bool,
    /// End after N frames, as in 1000000 or 1M.
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) count: Option<u64>,
    /// End after this time, as in 500ms, 10s, 2m; a bare number is seconds.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) duration: Option<Duration>,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    pub(crate) workers: WorkerArgs,
    /// What workers do while no frame comes: doze (sleep until one does) or spin (go on looking).
    ///
    /// The first frame after a pause waits for a worker that dozes, which its latency shows.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "MODE",
        default_value = "doze",
        hide_possible_values = true,
        help_heading = "Workers and memory"
    )]
    pub(crate) idle: IdleWhen,
    /// Print the report as one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

fn rate(text: &str) -> Result<Rate, String> {
    Rate::parse(text).map_err(|error| error.to_string())
}

fn speed(text: &str) -> Result<Speed, String> {
    Speed::parse(text).map_err(|error| error.to_string())
}

const GEN_ABOUT: &str = "\
Send test frames by a port at a rate, and say what became of them.

Each frame carries a stream, a number and the time it was sent in its last 18 bytes, so that \
whoever takes it in ('linerate sink', or --sink here) knows what was lost, duplicated, reordered \
or corrupted, and how long it was under way. The smallest frame with room for that has 64 bytes \
for UDP and ICMP in IPv4, 76 for TCP, 20 more in IPv6 and 4 more for each VLAN tag.

First it sends flat out for 200 ms: that shows how much this port takes. A run that misses its \
rate ends with NO RESULT and exit code 1, and so does one that is interrupted before its --count \
or --duration is over. Without both it runs until Ctrl-C.";

const SINK_ABOUT: &str = "\
Take test frames in at a port and account for each: lost, duplicated, reordered, corrupted, late.

The time in its first line is that until the last frame; how long the run took stands beside it \
where that is longer.

Frames of 'linerate gen' are told from others by their signature. Latency is the difference of \
two readings of the kernel's monotonic clock, so the sender must be on the same machine, or be \
sent its frames back (--reflect) and measure the way there and back.";

fn gen_examples() -> String {
    format!(
        "\
Examples:
  linerate gen null: --duration 2s
      how many frames a second can be made here?
  linerate gen ring:x --sink ring:x --rate 1Mpps --count 2M
      a million frames a second from hand to hand within the process, and their latency
  linerate gen xdp:eth1 --sink xdp:eth2 --rate 1Gbps --size imix --duration 10s
      through whatever is between two interfaces: what is lost, and how long it takes
  linerate gen xdp:eth1 --reflect --rate 100kpps --duration 10s
      the way there and back, with 'linerate sink --reflect' at the other end
  linerate gen pcap:out=test.pcap --src 10.0.0.0/8 --dport 53 --flows 100 --count 1000
      a capture of test frames
  linerate gen packet:eth1 --replay office.pcap --speed 2x
      a capture again, twice as fast as it was recorded

{EXIT_CODES}"
    )
}

fn sink_examples() -> String {
    format!(
        "\
Examples:
  linerate sink pcap:in=test.pcap
      what is in a capture of test frames?
  linerate sink xdp:eth2 --duration 60s --json
      account for what arrives in a minute
  linerate sink packet:eth2 --reflect
      send everything back to its sender, until Ctrl-C

{EXIT_CODES}"
    )
}
