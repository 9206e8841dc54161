//! `--answer`: which addresses the ports of a test answer for.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use clap::Args;

/// `--answer`, of every command that sends test frames or takes them in.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AnswerArgs {
    /// Answer ARP and IPv6 neighbour solicitations: auto, off, or further addresses, as in
    /// 198.51.100.2,2001:db8::/64.
    ///
    /// The port that sends answers for the addresses of --src. The port that takes in answers for
    /// those of --dst, and announces itself to switches. Each answers for the addresses of its
    /// interface. All this holds for single addresses and for networks up to a /16 of IPv4 and a
    /// /64 of IPv6. Further ones are
    /// answered for by the port that takes in, or else by the one that sends. Where the host's own
    /// stack answers (packet:, keep-local), that is left to it.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "WHAT",
        default_value = "auto",
        value_parser = answer,
    )]
    pub(crate) answer: Answer,
}

/// What is written behind `--answer`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The addresses of the test frames and of the interfaces.
    #[default]
    Auto,
    /// Nothing is answered or announced.
    Off,
    /// Those of `Auto`, and these ranges at the port that takes in.
    Also(Vec<(IpAddr, IpAddr)>),
}

/// Ranges that may be written.
const RANGES_MAX: usize = 64;

/// Reads `auto`, `off`, or addresses, networks and ranges between commas.
fn answer(text: &str) -> Result<Answer, String> {
    match text {
        "auto" => return Ok(Answer::Auto),
        "off" => return Ok(Answer::Off),
        _ => {}
    }
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > RANGES_MAX {
        return Err(format!(
            "at most {RANGES_MAX} addresses and networks fit here"
        ));
    }
    let ranges = parts.into_iter().map(|part| {
        range(part.trim()).ok_or_else(|| {
            format!(
                "`{}` is no address: write auto, off, or addresses as in \
                 192.0.2.1,198.51.100.0/24,2001:db8::1",
                part.escape_debug()
            )
        })
    });
    ranges.collect::<Result<_, _>>().map(Answer::Also)
}

/// An address, `ADDRESS/BITS` or `FIRST-LAST`.
fn range(text: &str) -> Option<(IpAddr, IpAddr)> {
    if let Some((address, bits)) = text.split_once('/') {
        return network(address.parse().ok()?, bits.parse().ok()?);
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (IpAddr, IpAddr) = (first.parse().ok()?, last.parse().ok()?);
    (first.is_ipv4() == last.is_ipv4() && first <= last).then_some((first, last))
}

fn network(address: IpAddr, bits: u32) -> Option<(IpAddr, IpAddr)> {
    match address {
        IpAddr::V4(address) => {
            let host = 32_u32.checked_sub(bits)?;
            let host = u32::MAX.checked_shr(32 - host).unwrap_or(0);
            let first = address.to_bits() & !host;
            let ends = [first, first | host].map(|end| Ipv4Addr::from_bits(end).into());
            Some((ends[0], ends[1]))
        }
        IpAddr::V6(address) => {
            let host = 128_u32.checked_sub(bits)?;
            let host = u128::MAX.checked_shr(128 - host).unwrap_or(0);
            let first = address.to_bits() & !host;
            let ends = [first, first | host].map(|end| Ipv6Addr::from_bits(end).into());
            Some((ends[0], ends[1]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_networks_and_ranges() {
        assert_eq!(answer("auto"), Ok(Answer::Auto));
        assert_eq!(answer("off"), Ok(Answer::Off));
        let table = [
            ("192.0.2.1", ("192.0.2.1", "192.0.2.1")),
            ("192.0.2.9/24", ("192.0.2.0", "192.0.2.255")),
            ("192.0.2.9/32", ("192.0.2.9", "192.0.2.9")),
            ("0.0.0.0/0", ("0.0.0.0", "255.255.255.255")),
            ("192.0.2.1-192.0.2.9", ("192.0.2.1", "192.0.2.9")),
            ("2001:db8::1", ("2001:db8::1", "2001:db8::1")),
            ("2001:db8::/120", ("2001:db8::", "2001:db8::ff")),
            ("2001:db8::1/128", ("2001:db8::1", "2001:db8::1")),
        ];
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        for (text, (first, last)) in table {
            let expected = Answer::Also(vec![(ip(first), ip(last))]);
            assert_eq!(answer(text), Ok(expected), "{text}");
        }
        let Ok(Answer::Also(two)) = answer("192.0.2.1, 2001:db8::1") else {
            panic!("two addresses");
        };
        assert_eq!(two.len(), 2);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let many = ["192.0.2.1"; RANGES_MAX + 1].join(",");
        let table = [
            "",
            "on",
            "none",
            "192.0.2",
            "192.0.2.1/33",
            "2001:db8::/129",
            "192.0.2.9-192.0.2.1",
            "192.0.2.1-2001:db8::1",
            "192.0.2.1,",
            "192.0.2.1;off",
            &many,
        ];
        for text in table {
            assert!(answer(text).is_err(), "{text}");
        }
    }
}
