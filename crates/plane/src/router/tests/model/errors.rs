//! ICMP errors (RFC 792, RFC 1812 section 4.3, RFC 4443).

use std::net::IpAddr;

use super::bytes::{Ip, own_header};
use super::{Fate, Leaves, Model, Outcome, Told, Way, alone};
use crate::DropReason;

impl Model {
    /// A packet that goes no further, with the error that its source gets.
    pub(super) fn dropped(&self, ip: &Ip, reason: DropReason, told: Option<Told>) -> Vec<Outcome> {
        let fate = Fate::Dropped(reason);
        let Some(told) = told.filter(|_| may_be_told(ip)) else {
            return vec![alone(fate)];
        };
        let ways = self.ways_back(ip);
        if ways.is_empty() {
            return vec![alone(fate)];
        }
        let outcome = |way| Outcome {
            fate: fate.clone(),
            told: self.error(ip, told, way),
        };
        ways.into_iter().map(outcome).collect()
    }

    fn error(&self, ip: &Ip, told: Told, way: Way) -> Option<Leaves> {
        let interface = &self.config.interfaces[way.interface];
        let family = interface
            .addresses
            .iter()
            .filter(|own| own.address.is_ipv4() == ip.is_v4);
        let beside = family.clone().find(|own| own.prefix().holds(ip.src));
        let own: IpAddr = beside.or(family.clone().next())?.address;
        let mtu = usize::from(interface.mtu);
        let most = match ip.is_v4 {
            true => mtu.min(576) - 28,
            false => mtu.min(1280) - 48,
        };
        let quoted = &ip.packet[..ip.packet.len().min(most)];
        let (kind, code, rest) = if ip.is_v4 { of_v4(told) } else { of_v6(told) };
        let message = [&[kind, code, 0, 0], &u32::to_be_bytes(rest)[..], quoted].concat();
        let packet = own_header(own, ip.src, &message, |header| {
            if ip.is_v4 {
                header[1] = 0xC0 | ip.packet[1] & 0x1E;
            }
        });
        self.framed(way, &packet)
    }
}

/// Type, code and second word.
fn of_v4(told: Told) -> (u8, u8, u32) {
    match told {
        Told::NoRoute => (3, 0, 0),
        Told::Unreachable => (3, 1, 0),
        Told::Protocol => (3, 2, 0),
        Told::Port => (3, 3, 0),
        Told::TooBig(mtu) => (3, 4, mtu.into()),
        Told::Prohibited => (3, 13, 0),
        Told::Time => (11, 0, 0),
        Told::Parameter(at) => (12, 0, u32::from(at) << 24),
    }
}

fn of_v6(told: Told) -> (u8, u8, u32) {
    match told {
        Told::NoRoute | Told::Unreachable => (1, 0, 0),
        Told::Prohibited => (1, 1, 0),
        Told::Port => (1, 4, 0),
        Told::TooBig(mtu) => (2, 0, mtu.into()),
        Told::Time => (3, 0, 0),
        Told::Parameter(at) => (4, 0, at.into()),
        Told::Protocol => (4, 1, 6),
    }
}

/// No error is sent about errors and later fragments. Groups have ended before.
fn may_be_told(ip: &Ip) -> bool {
    let body = &ip.packet[ip.header..];
    match (ip.is_v4, ip.protocol) {
        (true, _) if ip.is_later_fragment() => false,
        (true, 1) => !matches!(body.first(), None | Some(3 | 4 | 5 | 11 | 12)),
        (true, _) => true,
        (false, next) => !is_error_v6(next, body),
    }
}

/// Whether an ICMPv6 error, or what may be one, is behind the extension headers.
fn is_error_v6(next: u8, rest: &[u8]) -> bool {
    match next {
        58 => rest.first().is_none_or(|&kind| kind < 128),
        44 if rest.len() >= 8 && (rest[2] != 0 || rest[3] >= 8) => false,
        0 | 43 | 44 | 60 if rest.len() >= 8 => {
            let len = if next == 44 {
                8
            } else {
                8 + 8 * usize::from(rest[1])
            };
            is_error_v6(rest[0], &rest[len.min(rest.len())..])
        }
        _ => false,
    }
}
