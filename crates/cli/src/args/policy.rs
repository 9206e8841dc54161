//! Options that say what may pass, and how lists are read.

use clap::{Args, ValueEnum};
use list::{Column, Columns, JsonPath, JsonPathError};

use plane::PassRules;

use super::{PortNames, SetFile, TunnelArgs};

/// What may pass.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyArgs {
    /// Drop frames whose source or destination is in FILE; may be given several times.
    ///
    /// Each file forms a set with a name of its own in the report: the file's stem, or NAME as in
    /// NAME=FILE. '-' reads standard input. Gzip is recognised. A list holds one address, network
    /// or range a line; FireHOL, Spamhaus DROP, output and scripts of ipset and nft, JSON and CSV
    /// are read too.
    #[arg(
        long,
        value_name = "FILE",
        aliases = ["deny", "drop", "blocklist", "block-list", "denylist", "blacklist"]
    )]
    pub(crate) block: Vec<SetFile>,
    /// Drop frames whose source is in FILE.
    #[arg(long, value_name = "FILE", aliases = ["deny-src", "drop-src"])]
    pub(crate) block_src: Vec<SetFile>,
    /// Drop frames whose destination is in FILE.
    #[arg(long, value_name = "FILE", aliases = ["deny-dst", "drop-dst"])]
    pub(crate) block_dst: Vec<SetFile>,
    /// Look up and count as --block does, and drop nothing: a trial run.
    ///
    /// The report says how many frames the set would have dropped.
    #[arg(long, value_name = "FILE")]
    pub(crate) count: Vec<SetFile>,
    /// Load FILE as a set that rules may name, as in bad=FILE for @bad; by itself it does nothing.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) set: Vec<SetFile>,
    /// Let addresses in FILE pass although they are in a block set.
    ///
    /// An address is exempted, not a frame: an allowed server does not let blocked attackers in.
    #[arg(
        long,
        value_name = "FILE",
        aliases = ["permit", "accept", "allowlist", "allow-list", "whitelist"]
    )]
    pub(crate) allow: Vec<SetFile>,
    /// Exempt address space that a list should not cut off: private, local or both.
    ///
    /// 'private' is 10/8, 172.16/12, 192.168/16, 100.64/10 and fc00::/7. 'local' is loopback,
    /// link-local, multicast, broadcast and unspecified addresses, and the addresses, gateways
    /// and resolvers of this machine. Each becomes an allow set.
    #[arg(
        long,
        value_name = "SPACE",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub(crate) keep: Vec<Keep>,
    /// Do this with IP frames that no set decides on: forward or drop.
    ///
    /// With 'drop', at least one of a frame's addresses must be in an --allow set, or a rule of
    /// --pass lets the frame pass.
    #[arg(
        long,
        value_name = "ACTION",
        default_value = "forward",
        hide_possible_values = true
    )]
    pub(crate) default: Otherwise,
    /// Do this with frames that are not IP, such as ARP: forward or drop.
    #[arg(
        long,
        value_name = "ACTION",
        default_value = "forward",
        hide_possible_values = true
    )]
    pub(crate) non_ip: Otherwise,
    /// Do this with frames that break a protocol's rules: forward or drop.
    ///
    /// Unless it is given, a bridge drops them and a switch forwards them. A blocked address is
    /// dropped either way, wherever it can be read.
    #[arg(long, value_name = "ACTION", hide_possible_values = true)]
    pub(crate) malformed: Option<Otherwise>,
    /// Let pass what a network needs, as ARP does: nd, ra, dhcp, dhcpv6, igmp, mld; all; or none.
    ///
    /// It holds where --default drop or --stateful would drop it for want of an allowed address or
    /// of a known flow. nd is neighbour discovery, ra router discovery, igmp and mld are
    /// queries and reports of groups. A blocked address is dropped all the same, and a message that
    /// its receiver would have to ignore is judged as any other packet: discovery needs hop limit
    /// 255.
    #[arg(
        long,
        value_name = "RULES",
        default_value = "all",
        value_parser = pass_rules,
        hide_short_help = true
    )]
    pub(crate) pass: PassRules,
    /// Take routers and DHCP servers to be behind PORT, or PORT,PORT: 'first', 'second', or a
    /// port's name.
    ///
    /// Router advertisements, redirects and answers of DHCP servers pass from there alone. It is
    /// the side that is not allow-new where a bridge is --stateful, else both sides.
    #[arg(long, value_name = "PORT", hide_short_help = true)]
    pub(crate) router: Option<PortNames>,
    #[command(flatten)]
    pub(crate) tunnels: TunnelArgs,
}

fn pass_rules(text: &str) -> Result<PassRules, plane::PassRuleError> {
    PassRules::from_words(text.split(','))
}

/// How lists are read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Lists")]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) places: PlaceArgs,
    /// Take at its word what looks like a mistake: 0.0.0.0/0 and ::/0, which cover everything, and
    /// an address beside a column that may say how far it reaches.
    #[arg(long, hide_short_help = true)]
    pub(crate) force: bool,
    /// Load a list without entries, which is refused otherwise.
    #[arg(long, hide_short_help = true)]
    pub(crate) allow_empty: bool,
}

/// Where in a list its entries are.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Lists")]
pub(crate) struct PlaceArgs {
    /// Read entries from one column of CSV files, by its number from 1 or by its heading.
    ///
    /// Columns may have commas, tabs, semicolons, bars or blanks between them.
    #[arg(long, value_name = "COLUMN", conflicts_with = "columns")]
    pub(crate) column: Option<Column>,
    /// Read entries from two columns: 1-2 is a range, 1/2 an address and its prefix length or mask.
    ///
    /// Headings do as well: start_ip-end_ip. 'all' reads an entry from every column, of a list that
    /// is one long line too.
    #[arg(long, value_name = "COLUMNS", hide_short_help = true)]
    pub(crate) columns: Option<Columns>,
    /// Read addresses of JSON at PATH, as in prefixes[].ip_prefix.
    ///
    /// [] stands for each element of an array and * for any key. Several paths have commas between.
    /// Without it the one array that holds addresses is read.
    #[arg(long, value_name = "PATH", value_parser = json_paths, hide_short_help = true)]
    #[arg(conflicts_with_all = ["column", "columns"])]
    pub(crate) json_path: Vec<JsonPaths>,
}

impl PlaceArgs {
    /// Whether any of them was typed.
    pub(crate) fn is_given(&self) -> bool {
        self.column.is_some() || self.columns.is_some() || !self.json_path.is_empty()
    }

    /// All paths as one text, as they are written.
    pub(crate) fn json_path(&self) -> Option<String> {
        let paths = self.json_path.iter().flat_map(|paths| &paths.0);
        let paths: Vec<String> = paths.map(ToString::to_string).collect();
        (!paths.is_empty()).then(|| paths.join(", "))
    }

    /// The columns asked for, by either option.
    pub(crate) fn columns(&self) -> Option<Columns> {
        let one = self.column.clone().map(Columns::One);
        one.or_else(|| self.columns.clone())
    }
}

/// Paths of one option.
#[derive(Clone, Debug)]
pub(crate) struct JsonPaths(pub(crate) Vec<JsonPath>);

fn json_paths(text: &str) -> Result<JsonPaths, JsonPathError> {
    JsonPath::parse_all(text).map(JsonPaths)
}

/// What happens to frames that nothing else decides on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Otherwise {
    Forward,
    #[value(aliases = ["block", "deny"])]
    Drop,
}

/// Address space to exempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keep {
    Private,
    Local,
}
