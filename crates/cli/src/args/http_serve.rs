//! `linerate serve http`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::{TcpServeArgs, TlsServeArgs, UdpServeArgs, count, duration};

/// Answer requests, so that a client or what stands before a server has something to talk to.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct ServeArgs {
    /// What to answer.
    #[command(subcommand)]
    pub(crate) command: ServeCommand,
}

/// Protocols of requests.
#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    Http(HttpServeArgs),
    Tcp(Box<TcpServeArgs>),
    Udp(Box<UdpServeArgs>),
}

/// Answer HTTP requests as their paths ask for.
///
/// /size/N is a body of N bytes, /chunked/N the same in chunks, /time/MS waits before it answers,
/// /rate/BYTES_PER_S answers slowly, /status/CODE answers with a status, and several in one path
/// hold together, as in /size/100000/rate/20000. /echo sends the body of the request back. Bodies
/// are a pattern that 'load http' checks. Requests that two readers could read differently
/// (request smuggling) are refused.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct HttpServeArgs {
    /// Where to listen, as in 127.0.0.1:8080 or `[::]:8080`; port 0 takes one that is free.
    #[arg(value_name = "ADDRESS:PORT")]
    pub(crate) address: SocketAddr,
    /// Threads, each with its own connections [default: one a CPU].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// End after so long [default: on Ctrl-C].
    #[arg(long, short, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) duration: Option<Duration>,
    /// End a connection after N requests [default: never].
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) requests_each: Option<u64>,
    /// End a connection that is silent for so long.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration::parse)]
    pub(crate) idle: Duration,
    /// Serve the files of this folder, too; / is its index.html.
    ///
    /// Nothing outside of it is served: neither by '..' nor by links. Names that begin with a dot
    /// are not served either.
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tls: TlsServeArgs,
    /// Show a line a second, also where standard error is no terminal.
    #[arg(long)]
    pub(crate) progress: bool,
    /// Print one JSON object at the end on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  linerate serve http 127.0.0.1:8080
      answer HTTP requests on this host
  linerate serve tcp packet:eth1 --address 192.0.2.2/24 --listen 80
      answer TCP queries on a network interface, by a TCP of its own
  linerate serve udp packet:eth1 --address 192.0.2.2/24 --listen 9
      send UDP datagrams back";

const HELP: &str = "\
Examples:
  linerate serve http 127.0.0.1:8080
      answer until Ctrl-C; 'curl http://127.0.0.1:8080/size/1000' shows what
  linerate serve http [::]:8080 --requests-each 100 --idle 5s
      connections end as those of a strict server do
  linerate serve http 127.0.0.1:8080 --files /usr/share/doc
      http://127.0.0.1:8080/bash/README and all others below
  linerate serve http 127.0.0.1:8443 --tls-cert server.pem --tls-key server.key
      https://127.0.0.1:8443/

Exit codes:
  0  done
  1  it ran, and a thread could not go on
  2  it did not run: wrong usage, or the address cannot be listened at, or a file cannot
     be read";
