//! `linerate explain`.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

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
    /// or pcap:FILE, all of them. Bytes that begin with an IP header get an Ethernet header of
    /// zeros.
    #[arg(value_name = "FRAME")]
    pub(crate) frame: FrameSource,
    /// Deal the buckets out to N workers.
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=128))]
    pub(crate) workers: u16,
    /// Print one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
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
    Capture(PathBuf, Option<NonZeroU64>),
}

impl FromStr for FrameSource {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("pcap:") {
            Some(place) => capture(place),
            None => frame_bytes(text).map(Self::Bytes),
        }
    }
}

fn capture(place: &str) -> Result<FrameSource, &'static str> {
    let is_number = |tail: &str| !tail.is_empty() && tail.bytes().all(|b| b.is_ascii_digit());
    let (file, number) = match place.rsplit_once(':') {
        Some((file, tail)) if is_number(tail) => {
            let number = tail.parse().map_err(|_| "the first frame is number 1")?;
            (file, Some(number))
        }
        _ => (place, None),
    };
    if file.is_empty() {
        return Err("write pcap:FILE, or pcap:FILE:N for its N-th frame");
    }
    Ok(FrameSource::Capture(file.into(), number))
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
            "", " ", "0", "00f", "0 0", "xy", "00,11", "pcap:", "pcap::3", "pcap:a:0",
        ] {
            assert!(bytes(text).is_err(), "{text:?}");
        }
        assert!(bytes(&"00".repeat(HEX_BYTES_MAX + 1)).is_err());
        let capture =
            |file: &str, number| FrameSource::Capture(file.into(), NonZeroU64::new(number));
        assert_eq!(bytes("pcap:a.pcap"), Ok(capture("a.pcap", 0)));
        assert_eq!(bytes("pcap:a:b.pcap:12"), Ok(capture("a:b.pcap", 12)));
    }
}
