//! `linerate doctor`.

use std::ffi::OsString;

use clap::Args;

use super::interface_word::interface_word;
use crate::exit::EXIT_CODES;

/// Say what this machine and its interfaces will do to packet rates and to correctness.
///
/// Each line is good, doubtful, wrong or unknown, and where something can be mended the command
/// that mends it stands below. Wrong is what changes or loses frames and stays so under a bridge:
/// merging on receive (GRO, LRO) or taking VLAN tags off where it cannot be switched off, checksums
/// left to the receiver, somebody else's XDP program. Doubtful is what costs rate, and what a
/// bridge switches off by itself. For each interface the class of rate to expect is said:
/// zero-copy, copy, generic or packet. Nothing is changed. It takes a fifth of a second, to see
/// what interrupts the CPUs.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after_long())]
pub(crate) struct DoctorArgs {
    /// The interfaces to look at, by any of their names; without any, all of this network
    /// namespace.
    #[arg(value_name = "IFACE", value_parser = interface_word())]
    pub(crate) interfaces: Vec<OsString>,
    /// Print one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

fn after_long() -> String {
    format!(
        "\
Examples:
  linerate doctor
      this machine and every interface
  linerate doctor eth1 eth2
      the two interfaces of a bridge, before it is put between them
  linerate doctor eth1 --json
      the same for programs; exit code 1 if something is wrong

{EXIT_CODES}"
    )
}
