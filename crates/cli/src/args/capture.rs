//! `linerate capture`.

use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use daemon::capture::RATE_MAX;

use super::{SocketArgs, count, duration};
use crate::exit::EXIT_CODES;

/// Take samples of the frames that a running daemon drops or counts.
///
/// A sample is a frame with the reason it was dropped for and the sets it hit, and stands for a
/// number of frames like it: --rate bounds how many are taken, so that a flood costs the workers no
/// more than a trickle. Where FILE is slow, samples are left out and the next one stands for more.
///
/// pcapng has reason, sets and number in each packet's comment, which tshark and Wireshark show.
/// JSON is one object a line: time, port, five-tuple, VLAN, sets with their entries and actions,
/// reason, and the number of frames that the sample stands for.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after_long())]
#[command(group = ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct CaptureArgs {
    /// Where samples go: a file, '-' for standard output, 'unix:PATH' for a Unix socket, or
    /// 'syslog:' for the system's log.
    #[arg(value_name = "FILE", value_parser = destination)]
    pub(crate) file: String,
    /// Frames that were dropped.
    #[arg(long, group = "what")]
    pub(crate) drops: bool,
    /// Frames that hit a set and were forwarded.
    #[arg(long, group = "what")]
    pub(crate) counted: bool,
    /// Of these, only frames that hit this set.
    #[arg(long, value_name = "NAME")]
    pub(crate) set: Option<String>,
    /// Samples a second at most, as in 100/s.
    #[arg(long, value_name = "RATE", default_value = "100/s", value_parser = rate)]
    pub(crate) rate: u32,
    /// End after so many samples.
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) count: Option<u64>,
    /// End after this time.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) duration: Option<Duration>,
    /// Bytes of a frame at most.
    #[arg(long, value_name = "BYTES", default_value_t = 1536)]
    pub(crate) snap: u32,
    /// Write pcapng or json [default: json to sockets, logs and files named so, else pcapng].
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) format: Option<CaptureFormat>,
    #[command(flatten)]
    pub(crate) daemon: SocketArgs,
}

/// How samples are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaptureFormat {
    Pcapng,
    Json,
}

/// `100/s`, `100`, `1k/s`.
fn rate(text: &str) -> Result<u32, String> {
    let number = count::parse(text.strip_suffix("/s").unwrap_or(text))?;
    let rate = u32::try_from(number).ok().filter(|&rate| rate <= RATE_MAX);
    rate.ok_or_else(|| format!("a daemon gives at most {RATE_MAX}/s"))
}

/// A port is none: it would be a file of that name.
fn destination(text: &str) -> Result<String, String> {
    match text.strip_prefix("pcap:") {
        None => Ok(text.to_owned()),
        Some(rest) => {
            let file = rest.strip_prefix("out=").unwrap_or(rest);
            let file = file.split(',').next().filter(|file| !file.is_empty());
            Err(format!(
                "samples go into a file and not to a port: write {} alone",
                file.unwrap_or("FILE")
            ))
        }
    }
}

fn after_long() -> String {
    format!(
        "\
Examples:
  linerate capture --drops drops.pcapng
      100 dropped frames a second, until Ctrl-C
  linerate capture --drops --set spamhaus --count 1000 spamhaus.pcapng
      a thousand that hit one set
  linerate capture --counted --format json - | jq .sets
      what a set in count mode would have dropped
  linerate capture --drops --rate 10/s syslog:
      ten a second into the system's log

{EXIT_CODES}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_go_to_no_port() {
        for text in ["a.pcapng", "-", "unix:/run/a", "syslog:", "./pcap:a"] {
            assert_eq!(destination(text).as_deref(), Ok(text));
        }
        for (text, file) in [
            ("pcap:out=a.pcapng,format=pcap", "write a.pcapng alone"),
            ("pcap:a.pcapng", "write a.pcapng alone"),
            ("pcap:", "write FILE alone"),
        ] {
            let refused = destination(text).expect_err(text);
            assert!(refused.ends_with(file), "{text}: {refused}");
        }
    }

    #[test]
    fn rates() {
        assert_eq!(rate("100/s"), Ok(100));
        assert_eq!(rate("1k"), Ok(1_000));
        for text in ["0/s", "10001/s", "/s", "5/m", "-1"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
