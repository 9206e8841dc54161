//! A capture that holds both directions of its traffic, given to a stateful bridge as one side.

use engine::RunReport;
use plane::DropReason;
use port::PortSpec;

use crate::report::number::count;

/// Says that such a capture was read, with the way to give each side what it sent. Answers in it
/// come in by the side that asked, and the bridge drops them.
pub(super) fn warning(ports: &[PortSpec], run: &RunReport) -> Option<String> {
    let dropped = run.accounting.dropped.iter();
    let (_, frames) = dropped
        .copied()
        .find(|&(reason, _)| reason == DropReason::OtherSide)?;
    let reads = |port: &&PortSpec| matches!(port, PortSpec::Pcap(spec) if spec.input.is_some());
    let captures: Vec<String> = ports
        .iter()
        .filter(reads)
        .map(PortSpec::to_string)
        .collect();
    if captures.is_empty() {
        return None;
    }
    Some(format!(
        "{} frames of known flows came in by the side of the other end and were dropped \
         (other_side): {} holds both directions, and a port is one side. Give each side its own \
         capture: with a list INSIDE of the addresses of one side, 'linerate bridge \
         pcap:in=BOTH pcap:out=FROM-INSIDE --block-dst INSIDE' writes what they send, and \
         --block-src INSIDE what they are sent",
        count(frames),
        captures.join(" or "),
    ))
}
