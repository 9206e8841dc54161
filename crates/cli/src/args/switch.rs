//! `linerate switch`.

mod settings;

use clap::Args;

use super::ForwardArgs;
use crate::exit::EXIT_CODES;

use settings::SwitchSettingArgs;

/// Switch frames between ports: learn where stations are, by VLANs if asked for.
#[derive(Clone, Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = after_long())]
#[command(mut_args(ForwardArgs::behind))]
// What a port accepts has the word here that elsewhere is another one for --allow.
#[command(mut_arg("allow", |arg| arg.alias(None).visible_alias(None)))]
pub(crate) struct SwitchArgs {
    /// The ports, as in xdp:eth1 or, with a name for options, A=xdp:eth1.
    #[arg(value_name = "PORT", num_args = 2.., required = true)]
    pub(crate) ports: Vec<String>,
    #[command(flatten)]
    pub(crate) settings: SwitchSettingArgs,
    #[command(flatten)]
    pub(crate) common: ForwardArgs,
}

const LONG_ABOUT: &str = "\
Switch frames between ports: learn where stations are, by VLANs if asked for.

A PORT is what 'linerate bridge' takes, with or without a name before it: A=xdp:eth1. A name has \
letters, digits, '-', '_' and '.'. Options mean a port by its name; one without a name by its \
number from 1, by its whole text, or by what is behind the driver, as eth1 of xdp:eth1.

A frame to a known station leaves by the station's port alone. All others leave by every port of \
their VLAN but the one that they came in by. There is no spanning tree: leave no loop in the wires.

With captures at the ports, frames are switched in the order of their time stamps over all \
captures; of equal ones, the first port's are first.";

fn after_long() -> String {
    format!(
        "\
Examples:
  linerate switch xdp:eth1 xdp:eth2 xdp:eth3
      a switch of three ports, all one network
  linerate switch A=xdp:eth1 B=xdp:eth2 C=xdp:eth3 --vlan 10=A,Bt --vlan 20=C,Bt
      A and C are access ports of VLANs 10 and 20; B is a trunk with both, tagged
  linerate switch A=xdp:eth1 B=xdp:eth2 host=tap:host0 --vlan 10=At,Bt,host --vlan 11-20=At,Bt
      two trunks; this machine takes part in VLAN 10 by the interface host0
  linerate switch up=xdp:eth1 1=xdp:eth2 2=xdp:eth3 --group up,1 --group up,2
      1 and 2 reach the uplink, and not each other
  linerate switch A=pcap:in=a.pcap,out=a2.pcap B=pcap:in=b.pcap,out=b2.pcap --vlan 10=A,Bt
      what would leave by which port? The same over captures
  linerate switch A=xdp:eth1 B=xdp:eth2 --static 02:00:00:00:00:01=A --storm 1000
      a station that does not move, and at most 1,000 flooded frames a second from each port

{EXIT_CODES}"
    )
}
