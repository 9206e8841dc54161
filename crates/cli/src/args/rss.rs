//! `linerate rss ...`.

use std::net::IpAddr;

use clap::{Args, Subcommand};
use wire::toeplitz::Key;

use super::{RssApplyArgs, RssShowArgs, RssVerifyArgs};
use crate::exit::EXIT_CODES;

/// Hash flows as NICs do to place them (receive side scaling), and look at NICs.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct RssArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: RssCommand,
}

/// What can be done with hashes.
#[derive(Debug, Subcommand)]
pub(crate) enum RssCommand {
    Hash(RssHashArgs),
    Vectors(RssVectorsArgs),
    Plan(RssPlanArgs),
    Show(RssShowArgs),
    Apply(RssApplyArgs),
    Verify(RssVerifyArgs),
}

/// The key and the buckets.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Placement")]
pub(crate) struct PlacementArgs {
    /// The key: microsoft (what many drivers begin with), symmetric (6d:5a repeated, both
    /// directions alike), or its 40 or 52 bytes as 'ethtool -x' prints them.
    #[arg(long, value_name = "KEY", default_value = "microsoft")]
    pub(crate) key: Key,
    /// Buckets of the indirection table, a power of two: the low bits of the hash choose one.
    #[arg(long, value_name = "N", default_value = "128", value_parser = buckets)]
    pub(crate) buckets: usize,
}

/// Print the hash of a flow, and its bucket.
///
/// Once over the addresses alone and, with ports, once over addresses and ports: which of the two
/// a NIC uses is its hash type for the protocol ('ethtool -n IFACE rx-flow-hash udp4').
#[derive(Clone, Debug, Args)]
#[command(after_long_help = hash_examples())]
pub(crate) struct RssHashArgs {
    /// The source address, IPv4 or IPv6.
    pub(crate) src: IpAddr,
    /// The destination address, of the same family.
    pub(crate) dst: IpAddr,
    /// The source port, to hash ports too.
    #[arg(requires = "dst_port")]
    pub(crate) src_port: Option<u16>,
    /// The destination port, beside the source port.
    pub(crate) dst_port: Option<u16>,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) placement: PlacementArgs,
}

/// Hash Microsoft's verification suite by every means this machine has, and compare.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = vectors_examples())]
pub(crate) struct RssVectorsArgs {
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Find one source address for each bucket, as a list that 'gen --src @FILE' reads.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = plan_examples())]
pub(crate) struct RssPlanArgs {
    /// The network to take sources from.
    #[arg(long, value_name = "NET")]
    pub(crate) src: String,
    /// The destination of all frames.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) dst: IpAddr,
    /// Source and destination port, where the NIC hashes ports too.
    #[arg(long, value_name = "SRC,DST", value_parser = ports)]
    pub(crate) ports: Option<(u16, u16)>,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) placement: PlacementArgs,
}

fn buckets(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(buckets) if usize::is_power_of_two(buckets) && buckets <= 4096 => Ok(buckets),
        _ => Err("not a power of two from 1 to 4096".to_owned()),
    }
}

fn ports(text: &str) -> Result<(u16, u16), String> {
    let parts = text.split_once(',');
    let parsed = parts.and_then(|(src, dst)| Some((src.parse().ok()?, dst.parse().ok()?)));
    parsed.ok_or_else(|| "not two ports: write 1024,443".to_owned())
}

const EXAMPLES: &str = "\
Examples:
  linerate rss hash 66.9.149.187 161.142.100.80 2794 1766
      hash and bucket of a flow
  linerate rss plan --src 10.0.0.0/16 --dst 192.0.2.1
      one source a bucket
  linerate rss vectors
      is our hash the published one on this machine?
  linerate rss show eth0
      the key, the table and the hash types of a NIC
  linerate rss verify eth0
      does the NIC do as it says?";

fn hash_examples() -> String {
    format!(
        "\
Examples:
  linerate rss hash 66.9.149.187 161.142.100.80
      addresses alone
  linerate rss hash 66.9.149.187 161.142.100.80 2794 1766 --key symmetric --buckets 64
      with ports, by another key, in 64 buckets

{EXIT_CODES}"
    )
}

fn vectors_examples() -> String {
    format!(
        "\
Examples:
  linerate rss vectors
      as a table; exit code 1 if a hash is not the published one
  linerate rss vectors --json
      the same for programs

{EXIT_CODES}"
    )
}

fn plan_examples() -> String {
    format!(
        "\
Examples:
  linerate rss plan --src 10.0.0.0/16 --dst 192.0.2.1 > sources.txt
      one source for each of 128 buckets of a NIC with the default key; send them with
      'linerate gen PORT --src @sources.txt --dst 192.0.2.1'

{EXIT_CODES}"
    )
}
