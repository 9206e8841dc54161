//! What was typed: the command line as data. Nothing here touches the machine.

mod answer;
mod bridge;
mod bypass;
mod capture;
mod count;
mod counters;
mod cpu_list;
mod demo;
mod dispatch;
mod doctor;
mod drive;
mod duration;
mod etcd;
mod explain;
mod fragments;
mod frame_bytes;
mod health;
mod host_ends;
mod host_run;
mod http_load;
mod http_serve;
mod http_tls;
mod interface_word;
mod lab;
mod layout;
mod live;
mod locks;
mod ndr;
mod pages;
mod policy;
mod port_names;
mod restore;
mod route;
mod rss;
mod rss_nic;
mod rules;
mod run;
mod sentences;
mod set;
mod set_file;
mod show;
mod simulated;
mod socket;
mod stateful;
mod switch;
mod tcp;
mod top;
mod tunnels;
mod udp;
mod workers;

#[cfg(test)]
mod tests;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use answer::Answer;
pub(crate) use bridge::{BridgeArgs, ForwardArgs, IdleWhen, RunArgs};
pub(crate) use bypass::{BypassArgs, BypassCommand, BypassOffArgs, BypassPlace, BypassShowArgs};
pub(crate) use capture::{CaptureArgs, CaptureFormat};
pub(crate) use counters::CountersArgs;
pub(crate) use cpu_list::CpuList;
pub(crate) use demo::DemoArgs;
pub(crate) use dispatch::DispatchArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use drive::{FrameArgs, GenArgs, SinkArgs};
pub(crate) use etcd::{EtcdArgs, PushArgs};
pub(crate) use explain::{ExplainArgs, FrameSource};
pub(crate) use fragments::FragmentArgs;
pub(crate) use health::{DrainArgs, HealthArgs};
pub(crate) use host_ends::{ClientEndsArgs, OwnAddress, ServerPlaceArgs};
pub(crate) use host_run::HostRunArgs;
pub(crate) use http_load::{
    ArrivalKind, CheckWhen, HttpLoadArgs, HttpPaceArgs, HttpPoolArgs, HttpVerdictArgs, LoadCommand,
    LoadRequestsArgs,
};
pub(crate) use http_serve::{HttpServeArgs, ServeArgs, ServeCommand};
pub(crate) use http_tls::{HttpTlsArgs, TlsServeArgs};
pub(crate) use lab::{LabArgs, LabCommand, LabCompareArgs, LabRunArgs};
pub(crate) use layout::{
    BetterWhich, LayoutArgs, LayoutCheckArgs, LayoutCommand, LayoutOnly, LayoutRunArgs,
};
pub(crate) use live::{
    ActionArgs, AddArgs, DelArgs, EntryArgs, FlushArgs, ListArgs, LoadArgs, SaveArgs, ShowSetArgs,
    TestArgs,
};
pub(crate) use locks::{LockColumn, LocksArgs};
pub(crate) use ndr::{NdrArgs, NdrSearchArgs};
pub(crate) use pages::{CompletionsArgs, ManArgs};
pub(crate) use policy::{Keep, Otherwise, PolicyArgs, ReadArgs};
pub(crate) use port_names::PortNames;
pub(crate) use restore::RestoreArgs;
pub(crate) use route::RouteArgs;
pub(crate) use rss::{RssArgs, RssCommand, RssHashArgs, RssPlanArgs, RssVectorsArgs};
pub(crate) use rss_nic::{KeyChoice, RssApplyArgs, RssShowArgs, RssVerifyArgs, TypesChoice};
pub(crate) use rules::{RulesArgs, RulesCheckArgs, RulesCommand, RulesImportArgs, RulesLoadArgs};
pub(crate) use run::DaemonArgs;
pub(crate) use sentences::ended;
pub(crate) use set::{CheckArgs, SetArgs, SetCommand};
pub(crate) use set_file::SetFile;
pub(crate) use show::{
    ReloadArgs, ShowArgs, ShowCommand, ShowFdbArgs, ShowHitsArgs, ShowNatArgs, ShowNeighboursArgs,
    ShowPortsArgs, ShowRoutesArgs, ShowRulesArgs,
};
pub(crate) use socket::{FactArgs, SocketArgs};
pub(crate) use stateful::StatefulArgs;
pub(crate) use switch::SwitchArgs;
pub(crate) use tcp::{HostArgs, Response, TcpLoadArgs, TcpServeArgs};
pub(crate) use top::TopArgs;
pub(crate) use tunnels::{MatchRule, TunnelArgs};
pub(crate) use udp::{UdpHostArgs, UdpLoadArgs, UdpServeArgs};
pub(crate) use workers::WorkerArgs;

use crate::exit::EXIT_CODES;

/// Bridge packets at line rate and look up the source and destination of each in sets of millions.
#[derive(Debug, Parser)]
#[command(name = "linerate", version)]
#[command(long_about = LONG_ABOUT, after_long_help = after_long())]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Everywhere.
    #[command(flatten)]
    pub(crate) manners: Manners,
}

const LONG_ABOUT: &str = "\
Bridge packets at line rate and look up the source and destination of each in sets of millions \
of addresses and networks.

Start with 'linerate demo': it needs no arguments, no privileges and no NIC.";

fn after_long() -> String {
    format!(
        "\
Examples:
  linerate demo
      6,000,000 addresses, generated frames, ten seconds: how fast is this machine?
  linerate bridge pcap:in=a.pcap pcap:out=b.pcap --block list.txt
      filter a capture by a list of addresses and networks
  linerate set check list.txt --test 192.0.2.1
      what does a list hold, and does it hold this address?
  linerate gen xdp:eth1 --sink xdp:eth2 --rate 1Mpps --duration 10s
      send test frames through whatever is between, and say what was lost and how late they came
  linerate doctor eth0
      what will this machine and this interface do to packets?

{EXIT_CODES}"
    )
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Bridge(Box<BridgeArgs>),
    Switch(Box<SwitchArgs>),
    Route(Box<RouteArgs>),
    Explain(Box<ExplainArgs>),
    Run(DaemonArgs),
    Gen(Box<GenArgs>),
    Sink(SinkArgs),
    Load(LoadRequestsArgs),
    Serve(ServeArgs),
    Bypass(BypassArgs),
    Set(SetArgs),
    Rules(RulesArgs),
    Show(ShowArgs),
    Reload(ReloadArgs),
    Health(HealthArgs),
    Drain(DrainArgs),
    Top(TopArgs),
    Capture(CaptureArgs),
    Doctor(DoctorArgs),
    Restore(RestoreArgs),
    Rss(RssArgs),
    Ndr(Box<NdrArgs>),
    Lab(LabArgs),
    Layout(Box<LayoutArgs>),
    Counters(CountersArgs),
    Locks(LocksArgs),
    Drops(DropsArgs),
    Man(ManArgs),
    Completions(CompletionsArgs),
}

/// Options of every command.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Manners")]
pub(crate) struct Manners {
    /// Show no live lines and no progress: only reports, warnings and errors.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Use colours: auto (on a terminal, unless NO_COLOR is set), always or never.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) color: ColorWhen,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

/// Print every reason for which a frame can be dropped.
///
/// The names are those of the report and of 'frames.dropped' in the JSON. A reason that can stop
/// a frame and is missing here does not exist.
#[derive(Debug, Args)]
#[command(after_long_help = DROPS_EXAMPLES)]
pub(crate) struct DropsArgs {
    /// Print them as one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the page of the documentation: every reason, what it means and what helps.
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

const DROPS_EXAMPLES: &str = "\
Examples:
  linerate drops
      a table of all reasons
  linerate drops --json
      the same for programs
  linerate drops --markdown
      with what helps, as in docs/daemon/drops.md";
