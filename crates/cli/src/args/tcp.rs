//! `linerate serve tcp` and `linerate load tcp`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use plane::host::End;

use super::{ClientEndsArgs, HostRunArgs, ServerPlaceArgs, count, duration, http_load};

/// Bytes of a message, at most: 1 GiB.
const MESSAGE_MAX: u64 = 1 << 30;

/// Answer TCP queries on a port, by a TCP of its own: each is a connection, a request, a response.
#[derive(Clone, Debug, Args)]
#[command(long_about = SERVE_ABOUT, after_long_help = SERVE_HELP)]
pub(crate) struct TcpServeArgs {
    #[command(flatten)]
    pub(crate) place: ServerPlaceArgs,
    /// Bytes of a response, or a file that is the response to every HTTP request.
    ///
    /// A request for a file ends with an empty line, whatever its length.
    #[arg(long, value_name = "BYTES|FILE", default_value = "206", value_parser = Response::parse)]
    pub(crate) response: Response,
    #[command(flatten)]
    pub(crate) host: HostArgs,
}

/// Send TCP queries from many addresses, by a TCP of its own, and say what became of each.
#[derive(Clone, Debug, Args)]
#[command(long_about = LOAD_ABOUT, after_long_help = LOAD_HELP)]
pub(crate) struct TcpLoadArgs {
    #[command(flatten)]
    pub(crate) ends: ClientEndsArgs,
    /// Bytes of a response.
    #[arg(long, value_name = "BYTES", default_value = "206", value_parser = message)]
    pub(crate) response: usize,
    /// Keep N connections going: where one ends, another begins [default: 1].
    #[arg(long, short, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) connections: Option<u32>,
    /// Begin so many connections a second, whatever the server does.
    #[arg(long, short = 'R', value_name = "RATE", value_parser = http_load::rate)]
    #[arg(conflicts_with = "connections")]
    pub(crate) rate: Option<f64>,
    #[command(flatten)]
    pub(crate) host: HostArgs,
}

/// What both ends of TCP queries have in common.
#[derive(Clone, Debug, Args)]
pub(crate) struct HostArgs {
    /// Where frames come and leave, as in packet:eth1, xdp:eth1 or memif:/run/m.sock.
    #[arg(value_name = "PORT")]
    pub(crate) port: String,
    /// Bytes of a request [default: 92].
    #[arg(long, value_name = "BYTES", value_parser = message)]
    pub(crate) request: Option<usize>,
    /// Who closes a connection first: server or client. It keeps the connection in TIME_WAIT.
    ///
    /// Both ends should be told the same.
    #[arg(
        long,
        value_name = "WHO",
        default_value = "server",
        hide_possible_values = true
    )]
    pub(crate) close_first: WhoCloses,
    /// End a query that takes longer by a reset.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) run: HostRunArgs,
}

/// Who closes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhoCloses {
    #[default]
    Server,
    Client,
}

impl From<WhoCloses> for End {
    fn from(who: WhoCloses) -> Self {
        match who {
            WhoCloses::Server => Self::Server,
            WhoCloses::Client => Self::Client,
        }
    }
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// So many bytes.
    Bytes(usize),
    /// What a file has, behind an empty line.
    File(PathBuf),
}

impl Response {
    /// Whatever begins as a number is one: a file of such a name is `./206`.
    fn parse(text: &str) -> Result<Self, String> {
        match text.starts_with(|first: char| first.is_ascii_digit()) {
            true => message(text).map(Self::Bytes),
            false => Ok(Self::File(text.into())),
        }
    }
}

fn message(text: &str) -> Result<usize, String> {
    match count::parse(text)? {
        bytes if bytes <= MESSAGE_MAX => Ok(bytes as usize),
        _ => Err("a message has at most 1,073,741,824 bytes".to_owned()),
    }
}

const SERVE_ABOUT: &str = "\
Answer TCP queries on a port, by a TCP of its own: each is a connection, a request, a response.

The server owns its addresses: it answers ARP, neighbour discovery and pings for them, and the \
kernel must not have them. When so many bytes as a request has have come, it sends the response: \
byte k of a message is k modulo 256. With a file as the response, each request ends with an empty \
line and is answered by what the file has, as in an HTTP response with its head. A frame that is \
for no own address is dropped and counted.";

const SERVE_HELP: &str = "\
Examples:
  linerate serve tcp packet:eth1 --address 192.0.2.2/24 --listen 80
      92 bytes in, 206 bytes out, until Ctrl-C
  linerate serve tcp xdp:eth1 --address 192.0.2.2 --gateway 198.18.0.1 --listen 80 --idle spin
      for clients of another link, or for many of one prefix that 198.18.0.1 stands for
  linerate serve tcp packet:eth1 --address 192.0.2.2/24 --listen 80 --response answer.http
      an HTTP server for curl, ab and wrk, where answer.http has a head and a body

Exit codes:
  0  done
  1  it ran, and the port failed, the books do not balance or the ledger does not close
  2  it did not run: wrong usage, or the port cannot be opened";

const LOAD_ABOUT: &str = "\
Send TCP queries from many addresses, by a TCP of its own, and say what became of each.

A query is a connection, a request, a response and the end of the connection. The client owns its \
addresses: it answers ARP, neighbour discovery and pings for them, and the kernel must not have \
them. Addresses are used in turn, and so are the 28,232 source ports (32768 to 60999) of each.";

const LOAD_HELP: &str = "\
Examples:
  linerate load tcp packet:eth1 --clients 192.0.2.9/24 --server 192.0.2.2:80 -c 100 -d 10s
      100 connections that begin anew as soon as they end
  linerate load tcp xdp:eth1 --clients 198.18.0.0/16 --server 192.0.2.2:80 -R 50k -d 10s --idle spin
      50,000 queries a second from 65,534 addresses
  linerate load tcp packet:eth1 --clients 192.0.2.9 --server 192.0.2.2:80 --close-first client
      the client closes first and has the TIME_WAITs: ports of one address are used up soon

Exit codes:
  0  done, and no query failed
  1  it ran, and a query failed, none was done, the port failed, the books do not balance or the
     ledger does not close
  2  it did not run: wrong usage, or the port cannot be opened";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses() {
        for (text, response) in [
            ("206", Response::Bytes(206)),
            ("10k", Response::Bytes(10_000)),
            ("answer.http", Response::File("answer.http".into())),
            ("./206", Response::File("./206".into())),
            ("/tmp/206", Response::File("/tmp/206".into())),
        ] {
            assert_eq!(Response::parse(text), Ok(response), "{text}");
        }
        for text in ["0", "2G", "206x"] {
            assert!(Response::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn messages() {
        assert_eq!(message("92"), Ok(92));
        assert_eq!(message("10M"), Ok(10_000_000));
        for text in ["0", "-1", "2G", "x"] {
            assert!(message(text).is_err(), "{text}");
        }
    }
}
