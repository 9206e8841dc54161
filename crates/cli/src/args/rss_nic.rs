//! `linerate rss show`, `apply` and `verify`: the receive hash of an interface.

use std::time::Duration;

use clap::{Args, ValueEnum};
use wire::toeplitz::Key;

use super::{count, duration};
use crate::exit::EXIT_CODES;

/// Print key, indirection table, hash function and hash types of an interface.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = show_examples())]
pub(crate) struct RssShowArgs {
    /// The interface, as in eth0; a port such as xdp:eth0 stands for its interface.
    #[arg(value_name = "PORT")]
    pub(crate) port: String,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A key, or one to be drawn.
#[derive(Clone, Debug)]
pub(crate) enum KeyChoice {
    Random,
    Given(Key),
}

impl std::str::FromStr for KeyChoice {
    type Err = wire::toeplitz::KeyText;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "random" => Ok(Self::Random),
            text => text.parse().map(Self::Given),
        }
    }
}

/// What of TCP and UDP is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TypesChoice {
    /// Addresses and ports.
    Ports,
    /// Addresses alone.
    Addresses,
    /// TCP by ports, UDP by addresses.
    UdpByAddresses,
}

/// Set key, table and hash types of an interface, and put them back at the end.
///
/// Runs until Ctrl-C or for --duration. After 'kill -9' they are put back by the next program that
/// changes the interface, or by 'linerate restore'.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = apply_examples())]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct RssApplyArgs {
    /// The interface, as in eth0; a port such as xdp:eth0 stands for its interface.
    #[arg(value_name = "PORT")]
    pub(crate) port: String,
    /// The key: random (drawn now and checked), microsoft, symmetric, or its 40 or 52 bytes.
    #[arg(long, value_name = "KEY", group = "what")]
    pub(crate) key: Option<KeyChoice>,
    /// Deal the buckets of the table out to the first N queues, in turn.
    #[arg(long, value_name = "N", group = "what")]
    pub(crate) queues: Option<u32>,
    /// What of TCP and UDP is hashed.
    #[arg(long, value_name = "TYPES", group = "what")]
    pub(crate) types: Option<TypesChoice>,
    /// How long; until Ctrl-C where it is not given.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) duration: Option<Duration>,
    /// Print what is set as one JSON object on standard output, as soon as it is.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Hold the hash, the queue and the flow of each received frame against what the interface says.
///
/// Looks at frames by packet sockets and takes none from anybody; send traffic of several flows
/// meanwhile.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = verify_examples())]
pub(crate) struct RssVerifyArgs {
    /// The interface, as in eth0 or packet:eth0. With xdp:eth0 frames are taken by AF_XDP, and the
    /// XDP program asks the driver for the hash.
    #[arg(value_name = "PORT")]
    pub(crate) port: String,
    /// The key, where the driver keeps its own to itself.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<Key>,
    /// Frames to look at, at most.
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = count::parse)]
    pub(crate) frames: u64,
    /// How long to look, at most.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse)]
    pub(crate) duration: Duration,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

fn show_examples() -> String {
    format!(
        "\
Examples:
  linerate rss show eth0
      what the driver tells
  linerate rss show eth0 --json
      the same for programs, the whole table among it

{EXIT_CODES}"
    )
}

fn apply_examples() -> String {
    format!(
        "\
Examples:
  linerate rss apply eth0 --key symmetric --types ports
      both directions of a flow to one queue, until Ctrl-C
  linerate rss apply eth0 --key random --queues 4 --duration 1h
      a key nobody knows, and four queues alike

What a killed one left, `linerate restore eth0` puts back.

{EXIT_CODES}"
    )
}

fn verify_examples() -> String {
    format!(
        "\
Examples:
  linerate rss verify eth0
      is the hash Toeplitz by the NIC's key, is each queue the table's, does a flow stay?
  linerate rss verify eth0 --key microsoft --duration 60s --json
      by a key that the driver does not tell, for programs

{EXIT_CODES}"
    )
}
