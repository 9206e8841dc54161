//! `linerate load http`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::{HttpTlsArgs, TcpLoadArgs, UdpLoadArgs, count, duration};
use load::client::{Expectation, Rates, Sources, Url, parse_rate};

/// Send requests to servers, and say what became of each.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct LoadRequestsArgs {
    /// What to ask for.
    #[command(subcommand)]
    pub(crate) command: LoadCommand,
}

/// Protocols of requests.
#[derive(Debug, Subcommand)]
pub(crate) enum LoadCommand {
    Http(Box<HttpLoadArgs>),
    Tcp(Box<TcpLoadArgs>),
    Udp(Box<UdpLoadArgs>),
}

/// Send HTTP requests at a rate, whatever the server does, and say what became of each.
#[derive(Clone, Debug, Args)]
#[command(long_about = ABOUT, after_long_help = HELP)]
pub(crate) struct HttpLoadArgs {
    /// What to ask for, as in http://10.0.0.1:8080/index.html; {n} counts requests, {random:1-1000}
    /// is drawn for each.
    #[arg(value_name = "URL", required_unless_present = "profile", value_parser = url)]
    pub(crate) url: Option<Url>,
    /// Read pools of clients from this TOML file instead.
    #[arg(long, value_name = "FILE", 
        conflicts_with_all = ["url", "HttpRequestArgs", "HttpClientArgs", "HttpTlsArgs"])]
    pub(crate) profile: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pace: HttpPaceArgs,
    #[command(flatten)]
    pub(crate) pool: HttpPoolArgs,
    #[command(flatten)]
    pub(crate) verdict: HttpVerdictArgs,
}

/// The clients of a URL: what they ask for, and how.
#[derive(Clone, Debug, Args)]
pub(crate) struct HttpPoolArgs {
    #[command(flatten)]
    pub(crate) request: HttpRequestArgs,
    #[command(flatten)]
    pub(crate) clients: HttpClientArgs,
    #[command(flatten)]
    pub(crate) tls: HttpTlsArgs,
}

/// When requests are sent.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Pace")]
pub(crate) struct HttpPaceArgs {
    /// Send so many requests a second, on all connections together [default: each connection sends
    /// as soon as it has its answer].
    ///
    /// 1000:10s,2000:10s are steps, and the run ends behind the last; 0-2000:20s is a ramp within
    /// 20 s; a last rate without a time stays, as in 0-2000:20s,2000.
    #[arg(long, short = 'R', value_name = "RATE", value_parser = rates,
        conflicts_with = "profile")]
    pub(crate) rate: Option<Rates>,
    /// Send at the times in this file, one a line in seconds, instead of at a rate.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "rate", "arrivals", "ramp"])]
    pub(crate) replay: Option<PathBuf>,
    /// Leave out what is due while all connections wait, as most tools do. With --rate.
    #[arg(long)]
    pub(crate) closed: bool,
    /// How due times lie: constant (equal distances) or poisson (at random).
    #[arg(
        long,
        value_name = "KIND",
        default_value = "constant",
        hide_possible_values = true,
        requires = "rate"
    )]
    pub(crate) arrivals: ArrivalKind,
    /// Let the rate grow from 0 for so long.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "rate",
        conflicts_with = "arrivals")]
    pub(crate) ramp: Option<Duration>,
    /// Send for so long [default: 10s, or as long as the steps of --rate or --replay].
    #[arg(long, short, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) duration: Option<Duration>,
    /// Send at most N requests.
    #[arg(long, short = 'n', value_name = "N", value_parser = count::parse,
        conflicts_with = "profile")]
    pub(crate) requests: Option<u64>,
}

/// How due times lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalKind {
    Constant,
    Poisson,
}

/// What is asked.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Request")]
pub(crate) struct HttpRequestArgs {
    /// Ask by this method.
    #[arg(long, short, value_name = "METHOD", default_value = "GET", value_parser = token)]
    pub(crate) method: String,
    /// A further header, as in 'Accept: text/html'; may be repeated.
    #[arg(long, short = 'H', value_name = "HEADER", value_parser = header)]
    pub(crate) header: Vec<(String, String)>,
    /// Send a body of N bytes, made of the pattern that 'serve http' checks.
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) body: Option<u64>,
    /// Check bodies of answers byte by byte: announced (those whose header says that they are the
    /// pattern), always or never.
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "announced",
        hide_possible_values = true
    )]
    pub(crate) check: CheckWhen,
}

/// Which bodies are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckWhen {
    Announced,
    Always,
    Never,
}

/// Who asks.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Clients")]
pub(crate) struct HttpClientArgs {
    /// Connections, all threads together.
    #[arg(long, short, value_name = "N", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) connections: u32,
    /// End a connection after N requests; 1 is a new connection for each [default: never].
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) requests_each: Option<u64>,
    /// Give clients these addresses: 10.0.0.1, 10.0.0.0/24 or 10.0.0.1-10.0.0.9.
    ///
    /// They have to be addresses of this host. A whole prefix becomes that by
    /// 'ip route add local 10.0.0.0/24 dev lo'; 127.0.0.0/8 is one from the start.
    #[arg(long, value_name = "ADDRESSES", value_parser = sources)]
    pub(crate) from: Option<Sources>,
    /// Give a request up after so long, and count it as a timeout.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse)]
    pub(crate) timeout: Duration,
}

/// How the run is judged and told.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct HttpVerdictArgs {
    /// Exit with code 1 unless this holds, as in p99=50ms,errors=0.1%.
    ///
    /// Also p99.9=1s, max=2s, and rate=1000 answers a second at least.
    #[arg(long, value_name = "LIST", value_parser = expectations)]
    pub(crate) expect: Option<Expectations>,
    /// Threads, each with its own connections [default: one a CPU].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Seed random times, paths and choices.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Show a line a second, also where standard error is no terminal.
    #[arg(long, hide_short_help = true)]
    pub(crate) progress: bool,
    /// Serve figures to Prometheus at ADDRESS:PORT while it runs.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Print one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A list of expectations.
#[derive(Clone, Debug)]
pub(crate) struct Expectations(pub(crate) Vec<Expectation>);

/// `1000`, `2.5` or `50k`, above zero.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    parse_rate(text).map_err(|error| error.to_string())
}

fn rates(text: &str) -> Result<Rates, String> {
    Rates::parse(text, duration::parse).map_err(|error| error.to_string())
}

pub(super) fn url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    load::client::Template::parse(&url.path).map_err(|error| error.to_string())?;
    Ok(url)
}

fn sources(text: &str) -> Result<Sources, String> {
    Sources::parse(text).map_err(|error| error.to_string())
}

pub(super) fn expectations(text: &str) -> Result<Expectations, String> {
    let all = Expectation::parse_all(text, |time| duration::parse(time).ok());
    all.map(Expectations).map_err(|error| error.to_string())
}

fn token(text: &str) -> Result<String, String> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase());
    match plain && text != "CONNECT" {
        true => Ok(text.to_owned()),
        false => Err("write a method in capitals, as in GET or POST; CONNECT is none".to_owned()),
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    load::client::header(text).map_err(|error| error.to_string())
}

const ABOUT: &str = "\
Send HTTP requests at a rate, whatever the server does, and say what became of each.

With --rate, requests are due by the clock (an open loop), and a latency counts from the time a \
request was due: a server that stalls is late for all that was due meanwhile. Without a rate each \
connection sends as soon as it has its answer (a closed loop, as wrk and ab do), and the report \
says so. Every request is accounted for: due = sent + not sent + left out, and sent = answered + \
aborted + each error + unfinished.";

const EXAMPLES: &str = "\
Examples:
  linerate load http http://127.0.0.1:8080/ -c 100 -d 30s -R 2000
      2,000 requests a second on 100 connections
  linerate load tcp packet:eth1 --clients 198.18.0.0/16 --server 192.0.2.2:80 --connections 100
      TCP queries from 65,534 addresses, by a TCP of its own
  linerate load udp packet:eth1 --clients 198.18.0.0/16 --server 192.0.2.2:9 --rate 50k
      UDP datagrams from as many addresses, which the server sends back";

const HELP: &str = "\
Examples:
  linerate load http http://127.0.0.1:8080/ -t 2 -c 100 -d 30s
      as fast as 100 connections get answers: a closed loop
  linerate load http http://127.0.0.1:8080/ -c 100 -R 2000 --expect p99=50ms,errors=0.1%
      2,000 requests a second; exit code 1 if one of 100 takes longer than 50 ms
  linerate load http http://127.0.0.1:8080/item/{random:1-1000} -R 500 --arrivals poisson --json
      random paths at random times, for programs
  linerate load http http://127.0.0.1:8080/ --requests-each 1 --from 127.1.0.0/16 -R 5000
      a new connection for each request, from 65,536 addresses
  linerate load http https://127.0.0.1:8443/ --ca ca.pem --requests-each 1 --no-resumption -R 500
      500 whole TLS handshakes a second
  linerate load http http://127.0.0.1:8080/ -c 100 --rate 1000:10s,2000:10s,4000:10s
      ten seconds each at three rates
  linerate load http http://127.0.0.1:8080/ -R 500 -d 10m --metrics 127.0.0.1:9178
      counts and latencies for Prometheus while it runs
  linerate load http --profile clients.toml
      several pools of clients

Exit codes:
  0  done, and what was expected holds
  1  it ran, and an expectation does not hold, no request was answered, the books do not balance,
     or the report could not be written
  2  it did not run: wrong usage, or no address, no file or no thread";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        for (text, expected) in [
            ("1000", 1000.0),
            ("0.5", 0.5),
            ("50k", 50_000.0),
            ("2M", 2e6),
        ] {
            assert_eq!(rate(text), Ok(expected), "{text}");
        }
        for text in ["", "0", "-1", "k", "1e3", "nan", "11M", "1kk"] {
            assert!(rate(text).is_err(), "{text}");
        }
        assert!(token("GET").is_ok() && token("get").is_err() && token("CONNECT").is_err());
        assert!(url("http://a/{n}").is_ok() && url("http://a/{x}").is_err());
    }
}
