//! `linerate rss`: the placement hash, printed, checked and searched, and that of NICs.

mod apply;
mod hash;
mod nic;
mod plan;
mod show;
mod vectors;
mod verify;

use std::net::IpAddr;

use table::RssHash;

use crate::args::RssCommand;
use crate::error::{Error, Outcome};
use crate::output::Output;

/// Does what the subcommand says.
pub(crate) fn run(command: &RssCommand, output: Output) -> Outcome {
    match command {
        RssCommand::Hash(args) => hash::run(args, output),
        RssCommand::Vectors(args) => vectors::run(args, output),
        RssCommand::Plan(args) => plan::run(args, output),
        RssCommand::Show(args) => show::run(args, output),
        RssCommand::Apply(args) => apply::run(args, output),
        RssCommand::Verify(args) => verify::run(args, output),
    }
}

/// The hash of a flow of one family.
fn hash_of(hash: &RssHash, src: IpAddr, dst: IpAddr, ports: u32) -> Result<u32, Error> {
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            Ok(hash.one().hash_v4(src.to_bits(), dst.to_bits(), ports))
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            Ok(hash.one().hash_v6(src.to_bits(), dst.to_bits(), ports))
        }
        _ => Err(Error::refused(format!(
            "{src} and {dst} are not of one family: give two IPv4 or two IPv6 addresses"
        ))),
    }
}

/// Both ports as the hash takes them.
fn both(src: u16, dst: u16) -> u32 {
    u32::from(src) << 16 | u32::from(dst)
}
