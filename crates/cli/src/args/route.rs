//! `linerate route`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use daemon::router::{OnExit, RouterSettings, RouterWords};
use daemon::switch::{PortNames, WordError};
use plane::router::ReversePath;

use super::{ForwardArgs, count};
use crate::exit::EXIT_CODES;

/// Route IPv4 and IPv6 packets between ports, with ARP, neighbour discovery and ICMP.
#[derive(Clone, Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = after_long())]
#[command(mut_args(ForwardArgs::behind))]
pub(crate) struct RouteArgs {
    /// The ports, with names for the other options, as in A=xdp:eth1.
    #[arg(value_name = "PORT", num_args = 1.., required = true)]
    pub(crate) ports: Vec<String>,
    #[command(flatten)]
    pub(crate) settings: RouterSettingArgs,
    #[command(flatten)]
    pub(crate) common: ForwardArgs,
}

/// What is set for a router.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Router")]
pub(crate) struct RouterSettingArgs {
    /// A port or a VLAN of one, and its addresses, as in lan=A.10,10.0.0.1/24,fd00::1/64.
    ///
    /// A.10 is VLAN 10 of port A, and A.10.20 the inner VLAN 20 of the outer VLAN 10 (Q-in-Q).
    /// 'mac=' and 'mtu=' behind the addresses set what is else taken from the port; 'vrf=NAME' is
    /// as --vrf.
    #[arg(
        long,
        value_name = "NAME=PORT[.VLAN],ADDRESS/LENGTH",
        required_unless_present = "kernel"
    )]
    pub(crate) interface: Vec<String>,
    /// A VRF: interfaces of these ports or VLANs have routes of their own.
    ///
    /// As in guests=A.20,B. Routes with 'table guests' are its routes. Addresses of one VRF may be
    /// those of another one.
    #[arg(long, value_name = "NAME=PORT[.VLAN],...", hide_short_help = true)]
    pub(crate) vrf: Vec<String>,
    /// A route, as `ip route` prints it: '10.0.0.0/8 via 10.0.0.2', 'default via fd00::2'.
    ///
    /// Or 'blackhole 192.0.2.0/24'. Words that ip prints too (proto, scope, metric) may stay. 'dev'
    /// names an interface of the router; several next hops are written 'nexthop via ADDRESS weight
    /// N' each.
    #[arg(long, value_name = "ROUTE")]
    pub(crate) route: Vec<String>,
    /// A file of routes, one a line, as `ip route` prints them.
    #[arg(long, value_name = "FILE")]
    pub(crate) routes: Vec<PathBuf>,
    /// A neighbour that is not asked for its Ethernet address, or a range of them.
    ///
    /// As in 10.0.0.2=02:00:00:00:00:09@lan or 10.0.0.2-10.0.0.9=02:00:00:00:00:09@lan.
    #[arg(long, value_name = "ADDRESS[-ADDRESS]=MAC@INTERFACE")]
    pub(crate) neighbour: Vec<String>,
    /// Go by the kernel's interfaces, addresses, routes and neighbours, and follow their changes.
    ///
    /// Ports are xdp: and packet: ports. FRR, BIRD or 'ip route' set routes in the kernel; the
    /// kernel answers for its addresses and asks for neighbours. Its VLANs of a port are
    /// interfaces.
    #[arg(long, conflicts_with_all = ["interface", "vrf", "route", "routes", "neighbour"])]
    pub(crate) kernel: bool,
    /// What happens when a router with --kernel has ended: 'closed' refuses to start where the
    /// kernel would go on forwarding, 'open' lets it.
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "closed",
        requires = "kernel",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) on_exit: OnExitWord,
    /// Which packets are dropped for their source: none (off), those whose source has no route
    /// (loose), or those whose route leads back by another interface (strict).
    #[arg(
        long,
        value_name = "MODE",
        default_value = "off",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) reverse_path: ReversePathWord,
    /// ICMP errors that are sent in a second at most, 1,000 unless it is given.
    #[arg(long, value_name = "N", value_parser = rate, hide_short_help = true)]
    pub(crate) icmp_rate: Option<u32>,
    /// A file of rules for NAT, in words like those of nft. Needs one worker.
    ///
    /// As in 'oif "wan" masquerade', or 'iif "wan" tcp dport 8080 dnat to 10.0.0.5:80'.
    #[arg(long, value_name = "FILE")]
    pub(crate) nat: Option<PathBuf>,
    /// A tap: port whose host takes what is for the router and it does not answer itself.
    ///
    /// The host has the router's addresses on its end of the tap, and answers with them. Pings stay
    /// with the router.
    #[arg(
        long,
        value_name = "PORT",
        conflicts_with = "kernel",
        hide_short_help = true
    )]
    pub(crate) punt: Option<String>,
    /// Neighbours that are known at most, 65,536 unless it is given.
    #[arg(long, value_name = "N", value_parser = rate, hide_short_help = true)]
    pub(crate) neighbours: Option<u32>,
}

/// What must hold for the source of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReversePathWord {
    #[default]
    Off,
    Loose,
    Strict,
}

/// What happens when a router by the kernel's routes has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnExitWord {
    #[default]
    Closed,
    Open,
}

impl From<OnExitWord> for OnExit {
    fn from(word: OnExitWord) -> Self {
        match word {
            OnExitWord::Closed => Self::Closed,
            OnExitWord::Open => Self::Open,
        }
    }
}

impl From<ReversePathWord> for ReversePath {
    fn from(word: ReversePathWord) -> Self {
        match word {
            ReversePathWord::Off => Self::Off,
            ReversePathWord::Loose => Self::Loose,
            ReversePathWord::Strict => Self::Strict,
        }
    }
}

impl RouterSettingArgs {
    /// The settings that are meant. Files of routes are read.
    pub(crate) fn read(&self, names: &PortNames) -> Result<RouterSettings, String> {
        let words = RouterWords {
            interface: self.interface.clone(),
            vrf: self.vrf.clone(),
            route: self.route.clone(),
            routes: self.routes.clone(),
            neighbour: self.neighbour.clone(),
            reverse_path: self.reverse_path.into(),
            icmp_rate: self.icmp_rate,
            neighbours: self.neighbours,
            kernel: self.kernel,
            on_exit: self.on_exit.into(),
            nat: self.nat.clone(),
            punt: self.punt.clone(),
        };
        let said = |error: &WordError| match error.key {
            Some(key) => format!("--{}: {error}", key.replace('_', "-")),
            None => error.to_string(),
        };
        words.settings(names).map_err(|errors| {
            let said: Vec<String> = errors.iter().map(said).collect();
            said.join("; ")
        })
    }
}

fn rate(text: &str) -> Result<u32, String> {
    let many = |_| "more than can be counted: choose fewer".to_owned();
    u32::try_from(count::parse(text)?).map_err(many)
}

const LONG_ABOUT: &str = "\
Route IPv4 and IPv6 packets between ports, with ARP, neighbour discovery and ICMP.

A PORT is what 'linerate bridge' takes, with a name before it: A=xdp:eth1. An interface is a port \
or a VLAN of one, and has addresses. Packets to an address that no interface has leave by the \
route with the longest prefix. The router asks neighbours for their Ethernet addresses, answers \
requests for its own, and answers pings; what it cannot forward, it reports by ICMP.

An interface has the Ethernet address and the MTU of its port unless mac= and mtu= are given; \
a port that has none, as a capture, has 02:00:00:00:00:01 and so on, by its number, and 1,500 \
bytes. The kernel must not route between the same interfaces, nor have the router's addresses.

With captures at the ports, packets are routed in the order of their time stamps over all \
captures; of equal ones, the first port's are first.";

fn after_long() -> String {
    format!(
        "\
Examples:
  linerate route A=xdp:eth1 B=xdp:eth2 --interface lan=A,10.0.0.1/24 \\
      --interface wan=B,192.0.2.2/30 --route 'default via 192.0.2.1'
      a router between two interfaces
  linerate route T=xdp:eth1 --interface v10=T.10,10.100.0.1/24 --interface v11=T.11,10.101.0.1/24
      from VLAN to VLAN of one port
  linerate route A=xdp:eth1 B=xdp:eth2 --interface a=A,10.0.0.1/24 --interface b=B,10.0.1.1/24 \\
      --routes table.txt --neighbour 10.0.1.2=02:00:00:00:00:09@b
      a table of routes as `ip route` prints it, and a neighbour that is not asked
  linerate route xdp:eth1 xdp:eth2 --kernel
      by the kernel's routes, which FRR, BIRD or `ip route` change meanwhile
  linerate route A=xdp:eth1 B=xdp:eth2 --interface lan=A,10.0.0.1/24 \\
      --interface wan=B,192.0.2.2/30 --route 'default via 192.0.2.1' --nat gateway.nat
      hosts behind eth1 share 192.0.2.2, where gateway.nat says: oif wan masquerade
  linerate route A=pcap:in=a.pcap,out=a2.pcap B=pcap:in=b.pcap,out=b2.pcap \\
      --interface a=A,10.0.0.1/24 --interface b=B,10.0.1.1/24
      what would leave by which port? The same over captures

{EXIT_CODES}"
    )
}
