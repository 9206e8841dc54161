//! `linerate set ...`.

use std::net::IpAddr;

use clap::{Args, Subcommand};

use super::live::{
    ActionArgs, AddArgs, DelArgs, FlushArgs, ListArgs, LoadArgs, SaveArgs, ShowSetArgs, TestArgs,
};
use super::{PushArgs, ReadArgs, SetFile};
use crate::exit::EXIT_CODES;

/// Look into lists of addresses and networks, and change the sets of a running daemon.
#[derive(Debug, Args)]
#[command(after_long_help = SET_EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct SetArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: SetCommand,
}

/// What can be done with lists.
#[derive(Debug, Subcommand)]
pub(crate) enum SetCommand {
    Check(CheckArgs),
    List(ListArgs),
    Show(ShowSetArgs),
    Test(TestArgs),
    Add(Box<AddArgs>),
    Del(Box<DelArgs>),
    Load(LoadArgs),
    Flush(FlushArgs),
    Save(SaveArgs),
    Push(Box<PushArgs>),
    Action(ActionArgs),
}

/// Say what a list holds, what it costs, what is wrong with it, and which entry matches an address.
///
/// Reads each FILE as 'bridge --block' would and reports its format, entries, merged entries,
/// covered addresses, memory once loaded and loading time. Warns when it covers address space
/// that a block list had better not cover. Each bad line is named; the first 20 are shown.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = check_after_long())]
pub(crate) struct CheckArgs {
    /// The lists to check; '-' is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<SetFile>,
    /// Say which entries match ADDRESS; may be given several times.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) test: Vec<IpAddr>,
    /// Check the lists as those of an allow set: words such as 'allow' agree with it, 'block' does
    /// not.
    #[arg(long)]
    pub(crate) allow: bool,
    /// Print one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

pub(super) fn address(text: &str) -> Result<IpAddr, String> {
    // A mapped address is IPv4, as in lists and in the entries of sets.
    let address = text.parse::<IpAddr>().map(|address| address.to_canonical());
    address.map_err(|_| "not an address: write 192.0.2.1 or 2001:db8::1".to_owned())
}

const SET_EXAMPLES: &str = "\
Examples:
  linerate set check list.txt
      what does this list hold, and is anything wrong with it?
  linerate set list
      the sets of a running daemon
  linerate set test 192.0.2.1
      which of them has this address, and why?
  linerate set add bad 192.0.2.1 --timeout 1h
      one more entry, for an hour";

fn check_after_long() -> String {
    format!(
        "\
Examples:
  linerate set check ipsum.txt
      one list
  linerate set check lists/*.netset.gz
      several, gzipped
  linerate set check ipsum.txt drop.json --test 192.0.2.1 --test 2001:db8::1
      which entry of which line matches? Exit code 1 if one address is in no list
  nft list set inet filter bad | linerate set check - --json
      a set of the kernel's, checked for programs

{EXIT_CODES}"
    )
}
