//! Options of a switch, as the words that the daemon's configuration has too.

use std::time::Duration;

use clap::{Args, ValueEnum};
use daemon::switch::{PortNames, SwitchWords, WordError};
use plane::switch::{SwitchTable, VlanMode};

use super::super::{count, duration};

/// What is set for a switch and its ports.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Switch")]
pub(crate) struct SwitchSettingArgs {
    /// Which ports may talk: default (all, tags are data), port (by --group) or dot1q (by --vlan).
    ///
    /// Where it is left out, --vlan means dot1q and --group means port.
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    vlan_mode: Option<ModeWord>,
    /// A VLAN and its members, 't' behind those that get its frames tagged: 10=A,Bt or 10-20=A,Bt.
    ///
    /// A word that is the whole name of a port means that port, untagged. Where a word can be read
    /// in two ways, it is refused.
    #[arg(long, value_name = "VLAN=PORT,...")]
    vlan: Vec<String>,
    /// The VLAN of frames without one, as in A=10; A=none drops them.
    ///
    /// Without it, that is the VLAN of which the port is an untagged member, if there is just one.
    #[arg(long, value_name = "PORT=VLAN")]
    pvid: Vec<String>,
    /// The priority, 0 to 7, of frames that bring none, as in A=5.
    #[arg(long, value_name = "PORT=N", hide_short_help = true)]
    priority: Vec<String>,
    /// The frames that a port takes: all, tagged or untagged (or with a priority alone).
    #[arg(long, value_name = "PORT=WHICH")]
    accept: Vec<String>,
    /// Whether frames of VLANs that the port is no member of are dropped: on (the default) or off.
    #[arg(long, value_name = "PORT=SWITCH", hide_short_help = true)]
    filter: Vec<String>,
    /// The type of a port's tags, as in A=88a8; 8100 unless it is given.
    #[arg(long, value_name = "PORT=TYPE", hide_short_help = true)]
    tpid: Vec<String>,
    /// A port of a customer, whose tags are data (Q-in-Q): A, or A=88a8 with the type of its tags.
    #[arg(long, value_name = "PORT", hide_short_help = true)]
    tunnel: Vec<String>,
    /// Ports that talk to each other (mode port), as in A,B.
    #[arg(long, value_name = "PORT,...")]
    group: Vec<String>,
    /// Ports that talk to no other isolated port, as in A,B.
    #[arg(long, value_name = "PORT,...", hide_short_help = true)]
    isolated: Vec<String>,
    /// Ports whose frames may leave by the port that they came in by.
    #[arg(long, value_name = "PORT,...", hide_short_help = true)]
    hairpin: Vec<String>,
    /// Flood at most N frames a second of a port; N alone: of each.
    #[arg(long, value_name = "PORT=N")]
    storm: Vec<String>,
    /// A station that does not move; without VLANs MAC=PORT.
    #[arg(long = "static", value_name = "MAC@VLAN=PORT")]
    statics: Vec<String>,
    /// Forget a station that sends nothing for so long (300s).
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    age: Option<Duration>,
    /// Learn at most N stations; 65536 unless it is given.
    #[arg(long, value_name = "N", value_parser = stations, hide_short_help = true)]
    stations: Option<u32>,
    /// Learn at most N stations behind a port, as in A=1000.
    #[arg(long, value_name = "PORT=N", hide_short_help = true)]
    port_stations: Vec<String>,
    /// Leave the port with the higher number out for so long when a station moves between two ports
    /// ten times in a second, as in a loop.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, hide_short_help = true)]
    loop_quiet: Option<Duration>,
    /// What is done with frames to 01-80-C2-00-00-00 to 0F (STP, LACP, LLDP): drop or forward.
    #[arg(
        long,
        value_name = "ACTION",
        default_value = "drop",
        hide_possible_values = true,
        hide_short_help = true
    )]
    reserved: Reserved,
}

/// Words for modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeWord {
    Default,
    Port,
    Dot1q,
}

/// What happens to frames for bridges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Reserved {
    #[default]
    Drop,
    Forward,
}

impl From<ModeWord> for VlanMode {
    fn from(word: ModeWord) -> Self {
        match word {
            ModeWord::Default => Self::Default,
            ModeWord::Port => Self::Port,
            ModeWord::Dot1q => Self::Dot1q,
        }
    }
}

impl SwitchSettingArgs {
    /// The settings that are meant, compiled.
    pub(crate) fn table(&self, names: &PortNames) -> Result<SwitchTable, String> {
        let said = |error: &WordError| match error.key {
            Some(key) => format!("--{}: {error}", key.replace('_', "-")),
            None => error.to_string(),
        };
        self.words().table(names).map_err(|errors| {
            let said: Vec<String> = errors.iter().map(said).collect();
            said.join("; ")
        })
    }

    fn words(&self) -> SwitchWords {
        SwitchWords {
            vlan_mode: self.vlan_mode.map(VlanMode::from),
            vlan: self.vlan.clone(),
            group: self.group.clone(),
            pvid: self.pvid.clone(),
            priority: self.priority.clone(),
            accept: self.accept.clone(),
            filter: self.filter.clone(),
            tpid: self.tpid.clone(),
            tunnel: self.tunnel.clone(),
            isolated: self.isolated.clone(),
            hairpin: self.hairpin.clone(),
            storm: self.storm.clone(),
            port_stations: self.port_stations.clone(),
            r#static: self.statics.clone(),
            age: self.age,
            stations: self.stations,
            loop_quiet: self.loop_quiet,
            forward_reserved: self.reserved == Reserved::Forward,
        }
    }
}

fn stations(text: &str) -> Result<u32, String> {
    let many = |_| "more stations than can be numbered: choose fewer".to_owned();
    u32::try_from(count::parse(text)?).map_err(many)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use daemon::switch::NamedPort;

    use super::*;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        settings: SwitchSettingArgs,
    }

    /// The table that some options mean, for three ports.
    fn table(words: &str) -> Result<SwitchTable, String> {
        let ports = ["A=null:", "B=null:", "C=null:"].map(NamedPort::parse);
        let names = PortNames::new(ports.to_vec())?;
        let words = Words::try_parse_from(["switch"].into_iter().chain(words.split_whitespace()));
        words.map_err(|why| why.to_string())?.settings.table(&names)
    }

    #[test]
    fn options_mean_settings() {
        for (words, mode) in [
            ("", VlanMode::Default),
            ("--group A,B", VlanMode::Port),
            ("--vlan 10=A,Bt", VlanMode::Dot1q),
            ("--vlan-mode dot1q --vlan 10=A", VlanMode::Dot1q),
            ("--vlan-mode port --group A,B --group B,C", VlanMode::Port),
        ] {
            let table = table(words).expect(words);
            assert_eq!(table.config().mode, mode, "{words}");
        }
        let words = "--vlan-mode dot1q --vlan 10=A,Bt --vlan 20=B,C --pvid A=10 --tunnel C=88a8 \
                     --accept A=untagged --static 02:00:00:00:00:01@20=C --age 20s --stations 1k \
                     --port-stations A=7 --storm 9 --loop-quiet 60s --reserved forward";
        let table = table(words).expect(words);
        let config = table.config();
        let c = &config.ports[2];
        assert_eq!((c.tunnel, c.tpid, c.pvid), (true, 0x88A8, Some(20)));
        assert_eq!((config.ports[0].stations, config.stations), (7, 1000));
        assert_eq!(config.age, Duration::from_secs(20));
        assert_eq!(config.loop_quiet, Some(Duration::from_secs(60)));
        assert!(config.forward_reserved && config.statics.len() == 1);
        assert!(config.ports.iter().all(|port| port.storm == Some(9)));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_option() {
        for (words, said) in [
            ("--vlan 10=A,D", "--vlan: no port is called 'D'"),
            ("--vlan 10=A --pvid A=11", "is not in the VLAN table"),
            ("--vlan-mode port --vlan 10=A", "dot1q"),
            ("--vlan-mode dot1q", "without a VLAN drops every frame"),
            ("--vlan-mode port", "without a group drops every frame"),
            ("--vlan-mode default --group A,B", "VLAN mode port"),
            ("--pvid A=10", "PVID"),
            ("--vlan 10=A --tpid A=0800", "type of tags"),
            ("--vlan 10=A --accept A=any", "--accept: 'any'"),
            ("--vlan 10=A --port-stations A", "--port-stations: "),
            ("--static 01:00:5e:00:00:01=A", "no address of a station"),
            ("--tunnel A", "a tunnel port needs VLANs"),
            ("--stations 99999999999", "more stations"),
            ("--vlan-mode other", "other"),
            ("--age 0", "zero"),
        ] {
            let error = table(words).expect_err(words);
            assert!(error.contains(said), "{words}: {error}");
        }
    }
}
