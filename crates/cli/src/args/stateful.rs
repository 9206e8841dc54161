//! Options of a bridge that remembers conversations.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use daemon::config::FLOWS_MAX;
use plane::{StatefulConfig, Timeouts};
use table::flows::WhenFull;

use super::count;

/// What a bridge remembers.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Conversations")]
pub(crate) struct StatefulArgs {
    /// Let only conversations pass that began on some side, as in allow-new=eth0.
    ///
    /// The sides are allow-new=PORT or allow-new=PORT,PORT; PORT is 'first' or 'second', or the
    /// name of one of the ports, as eth0 of xdp:eth0. What is of a known conversation passes both
    /// ways. TCP is followed by its flags, ICMP errors pass if they quote a packet of a known
    /// conversation. Of several workers each knows the conversations of its buckets, and frames go
    /// to who knows theirs (--dispatch hybrid).
    #[arg(long, value_name = "RULE")]
    pub(crate) stateful: Option<AllowNew>,
    /// Remember N conversations at most, of IPv4 and as many of IPv6.
    ///
    /// They are spread over 128 buckets by a hash, each with its part of them.
    #[arg(
        long,
        value_name = "N",
        default_value = "65536",
        value_parser = count::parse,
        requires = "stateful",
        hide_short_help = true
    )]
    pub(crate) flows: u64,
    /// Do this with new conversations where there is no room: refuse, or evict another one.
    ///
    /// Evicted is, of eight, the one that would be over first: those that nobody answered go before
    /// those that both sides speak.
    #[arg(
        long,
        value_name = "ACTION",
        default_value = "refuse",
        hide_possible_values = true,
        requires = "stateful",
        hide_short_help = true
    )]
    pub(crate) flows_full: FlowsFull,
    /// Write conversations down as JSON lines, in FILE or, for -, standard output: when they are
    /// over, and now and then while they go on.
    ///
    /// A file is appended to, and begun anew when it was renamed. What comes faster than it can be
    /// written is counted and left out: frames never wait for the log.
    #[arg(
        long,
        value_name = "FILE",
        requires = "stateful",
        hide_short_help = true
    )]
    pub(crate) flow_log: Option<PathBuf>,
    /// Write a conversation that goes on down with its first packet of every TIME; 0s for never.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "60s",
        value_parser = daemon::config::parse_duration,
        requires = "flow_log",
        hide_short_help = true
    )]
    pub(crate) flow_log_interval: Duration,
}

/// The names behind `allow-new=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AllowNew(pub(crate) Vec<String>);

impl std::str::FromStr for AllowNew {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = text.strip_prefix("allow-new=").unwrap_or_default();
        let names: Vec<String> = names.split(',').map(str::to_owned).collect();
        if names.iter().any(String::is_empty) {
            return Err("write allow-new=PORT, as in allow-new=first or allow-new=eth0".to_owned());
        }
        Ok(Self(names))
    }
}

/// What happens when there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlowsFull {
    #[default]
    Refuse,
    Evict,
}

impl StatefulArgs {
    /// What the bridge is told, if it is to remember; `ports` are as they were typed.
    pub(crate) fn config(&self, ports: [&str; 2]) -> Result<Option<StatefulConfig>, String> {
        let Some(AllowNew(names)) = &self.stateful else {
            return Ok(None);
        };
        let mut allow_new = plane::Ports::NONE;
        for name in names {
            allow_new = allow_new.with(frame::PortId(place_of(name, ports)?));
        }
        let flows = u32::try_from(self.flows)
            .ok()
            .filter(|&flows| flows <= FLOWS_MAX);
        let flows = flows.ok_or_else(|| {
            format!(
                "--flows {}: a worker remembers at most {FLOWS_MAX} conversations: choose fewer",
                self.flows
            )
        })?;
        Ok(Some(StatefulConfig {
            allow_new,
            flows,
            full: match self.flows_full {
                FlowsFull::Refuse => WhenFull::Refuse,
                FlowsFull::Evict => WhenFull::Evict,
            },
            timeouts: Timeouts::default(),
            log: self
                .flow_log
                .is_some()
                .then(|| daemon::config::log_config(self.flow_log_interval)),
        }))
    }
}

/// Which port a name means.
fn place_of(name: &str, ports: [&str; 2]) -> Result<u8, String> {
    let short = |spec: &str| {
        let of_driver = spec.split_once(':').map_or(spec, |(_, rest)| rest);
        let first = of_driver.split(',').next();
        // What has no setting has the driver's name alone.
        first
            .filter(|name| !name.is_empty())
            .unwrap_or(spec)
            .to_owned()
    };
    let is = [0, 1].map(|place: usize| {
        let word = ["first", "second"][place];
        name == word || name == ports[place] || name == short(ports[place])
    });
    match is {
        [true, false] => Ok(0),
        [false, true] => Ok(1),
        [true, true] => Err(format!(
            "--stateful: both ports are called '{name}': write first or second"
        )),
        [false, false] => Err(format!(
            "--stateful: no port is called '{name}': write first or second, or {} or {}",
            short(ports[0]),
            short(ports[1])
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_by_their_names() {
        let ports = ["xdp:eth0,queues=2", "packet:eth1"];
        for (name, place) in [("first", 0), ("second", 1), ("eth0", 0), ("packet:eth1", 1)] {
            assert_eq!(place_of(name, ports), Ok(place), "{name}");
        }
        assert!(place_of("eth2", ports).is_err_and(|why| why.contains("eth0 or eth1")));
        assert!(place_of("null", ["tap:null", "memif:null"]).is_err());
    }

    #[test]
    fn names_are_asked_for() {
        let names = "allow-new=a,b".parse::<AllowNew>();
        assert_eq!(names, Ok(AllowNew(vec!["a".to_owned(), "b".to_owned()])));
        for text in ["", "a", "allow-new=", "allow-new=a,"] {
            assert!(text.parse::<AllowNew>().is_err(), "{text}");
        }
    }
}
