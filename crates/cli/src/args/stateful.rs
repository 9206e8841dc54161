//! Options of a bridge that remembers flows.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use daemon::config::FLOWS_MAX;
use plane::{StatefulConfig, Timeouts};
use table::flows::WhenFull;

use super::{PortNames, count};

/// What a bridge remembers.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Flows")]
pub(crate) struct StatefulArgs {
    /// Let only flows pass that began on some side, as in allow-new=eth0.
    ///
    /// The sides are allow-new=PORT or allow-new=PORT,PORT; PORT is 'first' or 'second', or the
    /// name of one of the ports, as eth0 of xdp:eth0. What is of a known flow passes both
    /// ways. TCP is followed by its flags, ICMP errors pass if they quote a packet of a known
    /// flow. Of several workers each knows the flows of its buckets, and frames go
    /// to who knows theirs (--dispatch hybrid).
    #[arg(long, value_name = "RULE")]
    pub(crate) stateful: Option<AllowNew>,
    /// Remember N flows at most, of IPv4 and as many of IPv6.
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
    /// Do this with new flows where there is no room: refuse, or evict another one.
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
    /// Let anybody answer, from any port, what was sent by UDP to a group or to all, as of SSDP.
    ///
    /// The answers go to the address and port that asked, for half a minute. One worker alone can
    /// find them.
    #[arg(long, requires = "stateful", hide_short_help = true)]
    pub(crate) answers_from_any: bool,
    /// Write flows down as JSON lines, in FILE or, for -, standard output: when they are
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
    /// Write a flow that goes on down with its first packet of every TIME; 0s for never.
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
pub(crate) struct AllowNew(PortNames);

impl std::str::FromStr for AllowNew {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = text.strip_prefix("allow-new=").unwrap_or_default();
        let names = names.parse().map_err(|_| {
            "write allow-new=PORT, as in allow-new=first or allow-new=eth0".to_owned()
        })?;
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
    pub(crate) fn config(&self, ports: &[&str]) -> Result<Option<StatefulConfig>, String> {
        let Some(AllowNew(names)) = &self.stateful else {
            return Ok(None);
        };
        let allow_new = names.ports("--stateful", ports)?;
        let flows = u32::try_from(self.flows)
            .ok()
            .filter(|&flows| flows <= FLOWS_MAX);
        let flows = flows.ok_or_else(|| {
            format!(
                "--flows {}: a worker remembers at most {FLOWS_MAX} flows: choose fewer",
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
            answers_from_any: self.answers_from_any,
            timeouts: Timeouts::default(),
            log: self
                .flow_log
                .is_some()
                .then(|| daemon::config::log_config(self.flow_log_interval)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_asked_for() {
        assert!("allow-new=a,b".parse::<AllowNew>().is_ok());
        for text in ["", "a", "allow-new=", "allow-new=a,"] {
            assert!(text.parse::<AllowNew>().is_err(), "{text}");
        }
    }
}
