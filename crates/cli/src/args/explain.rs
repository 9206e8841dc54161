//! `linerate explain`.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use port::PortSpec;
use port::pcap::{CapturePath, Loops, PcapSpec};

use super::frame_bytes::frame_bytes;
use super::{PolicyArgs, ReadArgs};
use crate::exit::EXIT_CODES;

/// Say what a frame is to a bridge: its headers, its worker, the sets it is in, the verdict.
///
/// The frame goes through the parser, the tables and the policy that 'bridge' uses, with the same
/// options, as one that came in by the first port. What a bridge remembers of earlier frames
/// (--stateful) is not part of it.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after_long())]
pub(crate) struct ExplainArgs {
    /// The frame: its bytes without FCS as hexadecimal digits or as tshark -x, tcpdump -xx, xxd and
    /// hexdump -C print them, or pcap:FILE:N, the frame of a capture that Wireshark numbers N,
    /// or pcap:FILE, all of them (pcap:in=FILE is the same). Bytes that begin with an IP header get
    /// an Ethernet header of zeros.
    #[arg(value_name = "FRAME")]
    pub(crate) frame: FrameSource,
    /// Deal the buckets out to N workers.
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=128))]
    pub(crate) workers: u16,
    /// Print one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Try the rules of FILE as 'bridge --rules' does, and name the one that decides.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub(crate) rules: Option<PathBuf>,
    /// What the rules call the two ports; the frame comes in by the first.
    #[arg(long, value_name = "PORT,PORT", default_value = "first,second")]
    #[arg(value_delimiter = ',', num_args = 1, help_heading = "Policy")]
    pub(crate) ports: Vec<String>,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Load the rest of a list that has bad lines, and say how many were left out.
    #[arg(long, help_heading = "Lists")]
    pub(crate) skip_bad_lines: bool,
}

/// Where the frame is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FrameSource {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// One frame of a capture, the first being 1, or all.
    Capture(CapturePath, Option<NonZeroU64>),
}

impl FromStr for FrameSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.starts_with("pcap:") {
            true => capture(text),
            false => frame_bytes(text).map(Self::Bytes).map_err(str::to_owned),
        }
    }
}

/// A port that reads a capture, as `bridge` takes it or with the file's name alone, and perhaps a
/// frame's number behind it.
fn capture(text: &str) -> Result<FrameSource, String> {
    let is_number = |tail: &str| !tail.is_empty() && tail.bytes().all(|b| b.is_ascii_digit());
    let (port, number) = match text.rsplit_once(':') {
        Some((port, tail)) if is_number(tail) => {
            let number = tail.parse().map_err(|_| "the first frame is number 1")?;
            (port, Some(number))
        }
        _ => (text, None),
    };
    if matches!(port, "pcap" | "pcap:") {
        return Err("write pcap:FILE, or pcap:FILE:N for its N-th frame".to_owned());
    }
    match PortSpec::reading(port).map_err(|error| error.to_string())? {
        PortSpec::Pcap(spec) if spec.loops != Loops::Times(1) => {
            Err("the capture is read once: leave out loop=".to_owned())
        }
        PortSpec::Pcap(PcapSpec {
            input: Some(path), ..
        }) => Ok(FrameSource::Capture(path, number)),
        spec => Err(format!("{spec} reads no capture: write pcap:FILE")),
    }
}

fn after_long() -> String {
    format!(
        "\
Examples:
  linerate explain ffffffffffff02000000000108060001080006040001 --block ipsum.txt
      what is this frame, and would it pass?
  linerate explain pcap:a.pcap:7 --block ipsum.txt
      why was the seventh frame dropped?
  linerate explain pcap:a.pcap:7 --block ipsum.txt --match outer --tunnel-ports vxlan=8472
      the same where only outer headers count, and VXLAN has Linux's old port
  linerate explain pcap:a.pcap:7 --rules rules.txt --set bad=bad.txt --ports eth1,eth2
      which rule decides on it?
  linerate explain pcap:a.pcap --workers 4 --json | jq -r '.frames[].placement.worker'
      how are these frames spread over four workers?

{EXIT_CODES}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::frame_bytes::HEX_BYTES_MAX;
    use super::*;

    #[test]
    fn frames_and_places() {
        let bytes = |text: &str| text.parse::<FrameSource>();
        for text in ["00ff10", "00 ff 10", "00:FF:10", "00-ff-10\n"] {
            assert_eq!(
                bytes(text),
                Ok(FrameSource::Bytes(vec![0, 255, 16])),
                "{text:?}"
            );
        }
        for text in [
            "", " ", "0", "00f", "0 0", "xy", "00,11", "a.pcap", "xdp:eth0",
        ] {
            assert!(bytes(text).is_err(), "{text:?}");
        }
        assert!(bytes(&"00".repeat(HEX_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn captures_are_written_as_for_a_bridge_or_by_their_name_alone() {
        let file = |name: &str| CapturePath::File(name.into());
        for (text, path, number) in [
            ("pcap:a.pcap", file("a.pcap"), 0),
            ("pcap:a:b.pcap:12", file("a:b.pcap"), 12),
            ("pcap:in=a.pcap", file("a.pcap"), 0),
            ("pcap:in=a.pcap:7", file("a.pcap"), 7),
            (r"pcap:in=a\,b.pcap:7", file("a,b.pcap"), 7),
            ("pcap:in=a.pcap,loop=1", file("a.pcap"), 0),
            ("pcap:a,b.pcap", file("a,b.pcap"), 0),
            ("pcap:./in=a", file("./in=a"), 0),
            ("pcap:x=y.pcap", file("x=y.pcap"), 0),
            ("pcap:-", CapturePath::Stdio, 0),
            ("pcap:in=-:2", CapturePath::Stdio, 2),
        ] {
            let expected = FrameSource::Capture(path, NonZeroU64::new(number));
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for (text, why) in [
            ("pcap:", "pcap:FILE:N"),
            ("pcap::3", "pcap:FILE:N"),
            ("pcap:a:0", "number 1"),
            ("pcap:in=a:0", "number 1"),
            ("pcap:in=", "in= has no value"),
            ("pcap:out=a", "leave out out="),
            ("pcap:in=a,out=b", "leave out out="),
            ("pcap:in=a,loop=2", "leave out loop="),
            ("pcap:in=a,lop=2", "did you mean loop=?"),
            ("pcap:in=a,b.pcap", "a comma within a name"),
        ] {
            let refused = text.parse::<FrameSource>().expect_err(text);
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }
}
