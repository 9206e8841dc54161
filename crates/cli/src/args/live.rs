//! `linerate set ...` of a running daemon.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use daemon::rpc::answers::{Action, Side};

use super::policy::PlaceArgs;
use super::{EtcdArgs, SocketArgs};
use crate::exit::EXIT_CODES;

/// List the sets of a running daemon: action, entries, source, and when it was last loaded.
///
/// 'entries' counts those of the file and those added one by one, 'dynamic' the latter alone,
/// 'timed' those of them that go by themselves.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after(LIST_EXAMPLES))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// Show one set of a running daemon.
///
/// Says what a hit does and since when, how many entries there are and of what kind, what was hit,
/// where entries come from, and why the last refresh was refused, if it was. 'would drop' are the
/// frames that the set would have dropped while its action was count, each counted once.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after(SHOW_EXAMPLES))]
pub(crate) struct ShowSetArgs {
    /// The name of the set.
    #[arg(value_name = "NAME")]
    pub(crate) set: String,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// Add entries to a set of a running daemon: done when every worker sees them.
///
/// An entry is an address, a network or a range. '-' reads them from standard input, one a line,
/// as fast as they come; a note may follow an entry, as in a list. A line that is no entry is
/// named and left out, and the exit code is 1. Entries that are there already get the new timeout
/// and comment. They survive a restart of the daemon. With --etcd they go into etcd instead, for
/// all daemons that have their lists there.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after(ADD_EXAMPLES))]
pub(crate) struct AddArgs {
    /// Take the entries out again by themselves after this time, as 90s, 30m, 1h30m or 7d.
    #[arg(long, value_name = "TIME", value_parser = super::duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// Say why, for whoever asks later; at most 255 bytes.
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
    #[command(flatten)]
    pub(crate) which: EntryArgs,
    #[command(flatten)]
    pub(crate) etcd: EtcdArgs,
}

/// Take entries out of a set of a running daemon: done when no worker sees them.
///
/// Each is taken out as it went in, whether it was added or is from a file; a network takes no
/// addresses within it along. '-' reads entries from standard input, one a line. The exit code is
/// 1 if the set had none of some entry, unless --exist says that this is no fault. With --etcd they
/// are taken out of etcd instead.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after(DEL_EXAMPLES))]
pub(crate) struct DelArgs {
    /// Succeed also for entries that are not in the set, as those that have timed out.
    #[arg(long)]
    pub(crate) exist: bool,
    #[command(flatten)]
    pub(crate) which: EntryArgs,
    #[command(flatten)]
    pub(crate) etcd: EtcdArgs,
}

/// A set and entries of it.
#[derive(Clone, Debug, Args)]
pub(crate) struct EntryArgs {
    /// The name of the set.
    #[arg(value_name = "NAME")]
    pub(crate) set: String,
    /// Addresses, networks and ranges; '-' alone reads them from standard input.
    #[arg(value_name = "ENTRY", required = true)]
    pub(crate) entries: Vec<String>,
    /// Change a set of address space that 'keep' exempts, too (keep-private, keep-local).
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// Replace what a set of a running daemon has from its file, or read its source now.
///
/// Without FILE the set's own source, a file, address or command, is read again, and what it gives
/// is loaded. Entries added one by one stay. The list is refused, and the old one stays, when a
/// line is bad, when it is empty, changes the set by more than its max_change, or newly covers
/// private space or this machine's own addresses; --force overrides all but the first. The file is
/// opened here, by your rights, in any format that 'set check' reads, by columns or paths if they
/// are given. A set with a source of its own goes back to that at its next refresh.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after(LOAD_EXAMPLES))]
pub(crate) struct LoadArgs {
    /// The name of the set.
    #[arg(value_name = "NAME")]
    pub(crate) set: String,
    /// The list; '-' is standard input. Without it the set's own source is read.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// Load it whatever the guards say.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) places: PlaceArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// Take all entries out of a set of a running daemon, those of its file too.
///
/// A set with a source has the source's entries again at its next refresh.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after(FLUSH_EXAMPLES))]
pub(crate) struct FlushArgs {
    /// The name of the set.
    #[arg(value_name = "NAME")]
    pub(crate) set: String,
    /// Change a set of address space that 'keep' exempts, too (keep-private, keep-local).
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// Write the entries of a set of a running daemon into a file that 'set load' reads.
///
/// The file is there whole or not at all. Without FILE, entries go to standard output.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after(SAVE_EXAMPLES))]
pub(crate) struct SaveArgs {
    /// The name of the set.
    #[arg(value_name = "NAME")]
    pub(crate) set: String,
    /// Where to write; without it, or with '-', standard output.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) daemon: SocketArgs,
}

/// Say of an address which sets of a running daemon have it, by which entry, and since when.
///
/// Names the entry, the line of the file or who gave it, its comment, when it goes by itself, what
/// a hit does, and how often the address was hit lately, in any set: hits are counted by address,
/// and an entry that is a network has those of each of its addresses apart. The last lines say what
/// all sets together do to a frame from this address and to one to it. The exit code is 1 if no set
/// has it.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after(TEST_EXAMPLES))]
pub(crate) struct TestArgs {
    /// The address to look for in every set.
    #[arg(value_name = "ADDRESS", value_parser = super::set::address)]
    pub(crate) address: IpAddr,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// Change what a hit of a set does, while frames go by: block, count or allow.
///
/// 'count' counts what 'block' would drop, and drops nothing: a trial. The change survives a
/// restart of the daemon, unless the configuration has another action by then. --side
/// changes it for that address of a frame alone, --port for frames that come in by that port
/// alone. Without either, the action holds everywhere, and earlier ones for a side or a port end.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after(ACTION_EXAMPLES))]
pub(crate) struct ActionArgs {
    /// The name of the set.
    #[arg(value_name = "NAME")]
    pub(crate) set: String,
    /// What a hit does from now on.
    #[arg(value_name = "ACTION", hide_possible_values = true)]
    pub(crate) action: ActionWord,
    /// For this address of a frame alone: source (src) or destination (dst).
    #[arg(long, value_name = "SIDE", hide_possible_values = true)]
    pub(crate) side: Option<SideWord>,
    /// For frames that come in by this port alone.
    #[arg(long, value_name = "NAME")]
    pub(crate) port: Option<String>,
    /// Change a set of address space that 'keep' exempts, too (keep-private, keep-local).
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// Actions as they are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ActionWord {
    #[value(aliases = ["drop", "deny"])]
    Block,
    Count,
    #[value(aliases = ["accept", "permit", "pass"])]
    Allow,
}

impl From<ActionWord> for Action {
    fn from(word: ActionWord) -> Self {
        match word {
            ActionWord::Block => Self::Block,
            ActionWord::Count => Self::Count,
            ActionWord::Allow => Self::Allow,
        }
    }
}

/// Sides as they are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SideWord {
    #[value(alias = "src")]
    Source,
    #[value(alias = "dst")]
    Destination,
}

impl From<SideWord> for Side {
    fn from(word: SideWord) -> Self {
        match word {
            SideWord::Source => Self::Source,
            SideWord::Destination => Self::Destination,
        }
    }
}

/// Which daemon, and how its answer is told.
#[derive(Clone, Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Print the daemon's answer as one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) daemon: SocketArgs,
}

const LIST_EXAMPLES: &str = "\
  linerate set list
      the sets of the daemon on this machine
  linerate set list --json
      the same for programs";
const SHOW_EXAMPLES: &str = "\
  linerate set show bad
      one set";
const ADD_EXAMPLES: &str = "\
  linerate set add bad 192.0.2.7 198.51.100.0/24
      an address and a network, for good
  linerate set add bad 2001:db8::7 --timeout 1h --comment scan
      an address that goes by itself
  linerate set add bad 192.0.2.7 --timeout 1h --etcd http://127.0.0.1:2379
      for all daemons of a group; etcd takes it out after an hour
  zcat addresses.gz | linerate set add bad -
      a million of them, in seconds";
const DEL_EXAMPLES: &str = "\
  linerate set del bad 192.0.2.7
      one entry
  linerate set del bad 192.0.2.7 --exist
      the same, and no fault if it has timed out: for programs that ban and unban
  cut -f1 innocent.tsv | linerate set del bad -
      many";
const LOAD_EXAMPLES: &str = "\
  linerate set load bad ipsum.txt
      another file, behind the guards
  linerate set load bad ipsum.txt --force
      the same, after you looked at it
  linerate set load bad flows.csv --column src_ip
      one column of a list with columns
  linerate set load bad --force
      take what the set's own source gives, which a guard refused";
const FLUSH_EXAMPLES: &str = "\
  linerate set flush bad
      nothing is in it any more";
const SAVE_EXAMPLES: &str = "\
  linerate set save bad bad.txt
      into a file
  linerate set save bad | wc -l
      onto standard output";
const TEST_EXAMPLES: &str = "\
  linerate set test 192.0.2.7
      why is this address blocked, or is it?
  linerate set test 2001:db8::7 --json
      the same for programs";
const ACTION_EXAMPLES: &str = "\
  linerate set action bad count
      try it
  linerate set action bad block
      mean it
  linerate set action bad block --side source --port outside
      for sources of frames that come in by port outside";

fn after(examples: &str) -> String {
    format!("Examples:\n  {examples}\n\n{EXIT_CODES}")
}
