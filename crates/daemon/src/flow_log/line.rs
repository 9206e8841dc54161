//! One record as one line of JSON.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{SystemTime, UNIX_EPOCH};

use plane::FlowRecord;
use serde::Serialize;
use table::flows::Tick;

/// The names are a contract. Times are seconds since 1970, each that of the beginning of a tick of
/// 0.27 s: never behind what it tells of.
#[derive(Debug, Serialize)]
struct Line<'a> {
    time: f64,
    /// `interval`, `expired`, `evicted` or `stopped`.
    event: &'static str,
    /// `tcp`, `udp`, ..., or the number.
    protocol: String,
    src: IpAddr,
    src_port: u16,
    dst: IpAddr,
    dst_port: u16,
    /// Where the first packet came in.
    port: &'a str,
    state: &'static str,
    /// When the first packet came, and the last.
    begun: f64,
    last: f64,
    /// Packets and bytes, without FCS, that `src` sent, and that `dst` sent.
    src_frames: u64,
    src_bytes: u64,
    dst_frames: u64,
    dst_bytes: u64,
}

/// The line, with its end.
pub(super) fn of(
    record: &FlowRecord,
    ports: &[String; 2],
    time: impl Fn(Tick) -> SystemTime,
) -> String {
    let seconds = |tick| {
        let since = time(tick).duration_since(UNIX_EPOCH).unwrap_or_default();
        (since.as_secs_f64() * 1e3).round() / 1e3
    };
    let address = |address: u128| match record.is_v6 {
        true => IpAddr::V6(Ipv6Addr::from_bits(address)),
        false => IpAddr::V4(Ipv4Addr::from_bits(address as u32)),
    };
    let line = Line {
        time: seconds(record.at),
        event: record.event.name(),
        protocol: protocol(record.protocol),
        src: address(record.from.0),
        src_port: record.from.1,
        dst: address(record.to.0),
        dst_port: record.to.1,
        port: &ports[usize::from(record.arrival.min(1))],
        state: record.state(),
        begun: seconds(record.begun),
        last: seconds(record.last),
        src_frames: record.frames[0],
        src_bytes: record.bytes[0],
        dst_frames: record.frames[1],
        dst_bytes: record.bytes[1],
    };
    // Numbers, words and addresses: nothing of it can fail.
    let mut text = serde_json::to_string(&line).unwrap_or_default();
    text.push('\n');
    text
}

fn protocol(number: u8) -> String {
    use wire::protocol::{ICMP, ICMPV6, SCTP, TCP, UDP};
    match number {
        TCP => "tcp".to_owned(),
        UDP => "udp".to_owned(),
        ICMP => "icmp".to_owned(),
        ICMPV6 => "icmpv6".to_owned(),
        SCTP => "sctp".to_owned(),
        other => other.to_string(),
    }
}
