//! `linerate restore`.

use clap::Args;

use super::interface_word::interface;
use crate::exit::EXIT_CODES;

/// Put back what a killed bridge left changed on interfaces.
///
/// A bridge switches off what merges frames or takes VLAN tags off, may move interrupts
/// (--pin-irqs), and puts all of it back at its end. Before it changes anything it writes down what
/// it found in /run/linerate-UID, so that it can be put back after 'kill -9' too: by the next
/// bridge on the interface, or by this command. Interfaces of a bridge that runs are left alone.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after_long())]
pub(crate) struct RestoreArgs {
    /// The interfaces to put back; without any, all of this network namespace.
    #[arg(value_name = "IFACE", value_parser = interface)]
    pub(crate) interfaces: Vec<String>,
    /// Print one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

fn after_long() -> String {
    format!(
        "\
Examples:
  linerate restore
      every interface that a killed bridge left changed
  linerate restore eth1
      that one alone
  ip netns exec lab linerate restore --json
      those of another network namespace, for programs

{EXIT_CODES}"
    )
}
