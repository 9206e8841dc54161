//! `linerate serve udp` and `linerate load udp`.

use clap::Args;
use traffic::Rate;

use super::{ClientEndsArgs, HostRunArgs, ServerPlaceArgs, count};

/// Take UDP datagrams on a port, and send each back, by a UDP of its own or by the kernel's.
#[derive(Clone, Debug, Args)]
#[command(long_about = SERVE_ABOUT, after_long_help = SERVE_HELP)]
pub(crate) struct UdpServeArgs {
    #[command(flatten)]
    pub(crate) place: ServerPlaceArgs,
    /// Send each datagram back (1), or only count it (0).
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) respond: u8,
    #[command(flatten)]
    pub(crate) host: UdpHostArgs,
}

/// Send UDP datagrams from many addresses, and say how many came back and when.
#[derive(Clone, Debug, Args)]
#[command(long_about = LOAD_ABOUT, after_long_help = LOAD_HELP)]
pub(crate) struct UdpLoadArgs {
    #[command(flatten)]
    pub(crate) ends: ClientEndsArgs,
    /// Bytes of a payload: 18 for its label, and more as far as the MTU allows.
    #[arg(long, value_name = "BYTES", default_value = "510", value_parser = count::parse)]
    pub(crate) size: u64,
    /// Send so many datagrams a second, as in 50k, or max.
    #[arg(long, short = 'R', value_name = "RATE", default_value = "max", value_parser = rate)]
    pub(crate) rate: Rate,
    #[command(flatten)]
    pub(crate) host: UdpHostArgs,
}

/// What both ends have in common.
#[derive(Clone, Debug, Args)]
pub(crate) struct UdpHostArgs {
    /// Where frames come and leave, as in packet:eth1, xdp:eth1 or memif:/run/m.sock.
    #[arg(
        value_name = "PORT",
        required_unless_present = "kernel",
        conflicts_with = "kernel"
    )]
    pub(crate) port: Option<String>,
    /// Use sockets of the kernel in place of a port and a UDP of its own.
    #[arg(long, conflicts_with_all = ["gateway", "idle", "WorkerArgs"])]
    pub(crate) kernel: bool,
    /// Threads, each with sockets of its own (SO_REUSEPORT) [default: one a CPU]. With --kernel.
    #[arg(
        long,
        short,
        value_name = "N",
        requires = "kernel",
        conflicts_with = "port"
    )]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) run: HostRunArgs,
}

fn rate(text: &str) -> Result<Rate, String> {
    Rate::parse(text).map_err(|error| error.to_string())
}

const SERVE_ABOUT: &str = "\
Take UDP datagrams on a port, and send each back, by a UDP of its own.

The server owns its addresses: it answers ARP, neighbour discovery and pings for them, and the \
kernel must not have them. Each datagram for its port goes back to where it came from with the \
same payload. To senders to other ports it says by ICMP that the port is unreachable, 1,000 times \
a second at most, and 100 times to each.

With --kernel, sockets of the kernel do the same at one of its addresses, one thread a CPU, and \
the report says what the kernel dropped and what it took of the machine.";

const SERVE_HELP: &str = "\
Examples:
  linerate serve udp packet:eth1 --address 192.0.2.2/24 --listen 9
      what comes to port 9 goes back, until Ctrl-C
  linerate serve udp xdp:eth1 --address 192.0.2.2 --gateway 198.18.0.1 --listen 9 --respond 0
      for clients of another link; datagrams are counted and not answered
  linerate serve udp --kernel --address 192.0.2.2 --listen 9
      the same by sockets of the kernel, to compare

Exit codes:
  0  done
  1  it ran, and the port failed, the books do not balance or the ledger does not close
  2  it did not run: wrong usage, or the port cannot be opened";

const LOAD_ABOUT: &str = "\
Send UDP datagrams from many addresses, and say how many came back and when.

The client owns its addresses: it answers ARP, neighbour discovery and pings for them, and the \
kernel must not have them. Addresses are used in turn, and behind the last one the next of 28,232 \
source ports (32768 to 60999). Each payload begins with a label of 18 bytes, its number, its time \
and a check, so that each datagram that comes back is known: generated = back + not back.

With --kernel, connected sockets of the kernel do the same, one for each address: these have to be \
its own, and 'ip route add local 198.18.0.0/24 dev lo' makes a whole prefix that.";

const LOAD_HELP: &str = "\
Examples:
  linerate load udp packet:eth1 --clients 192.0.2.9/24 --server 192.0.2.2:9 -R 10k -d 10s
      10,000 datagrams of 510 bytes a second
  linerate load udp xdp:eth1 --clients 198.18.0.0/16 --server 192.0.2.2:9 --size 18 -d 10s
      the shortest frames, from 65,534 addresses, as fast as they go
  linerate load udp --kernel --clients 127.1.0.0/28 --server 127.0.0.1:9 -d 10s
      by sockets of the kernel, on this host

Exit codes:
  0  done
  1  it ran, and nothing could be sent, nobody has the server's port, the port failed, the books
     do not balance or the ledger does not close
  2  it did not run: wrong usage, or the port cannot be opened";
