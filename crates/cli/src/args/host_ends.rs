//! Whose addresses a host has, and whom it asks.

use std::net::{IpAddr, SocketAddr};

use clap::Args;
use plane::router::Prefix;

/// Where a server listens.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServerPlaceArgs {
    /// Own addresses: 192.0.2.2, or 192.0.2.2/24 whose neighbours are on the link, or a whole
    /// prefix as 198.18.0.0/16.
    #[arg(
        long,
        value_name = "ADDRESS[/LENGTH]",
        required = true,
        value_delimiter = ','
    )]
    #[arg(value_parser = OwnAddress::parse)]
    pub(crate) address: Vec<OwnAddress>,
    /// The port to listen at.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) listen: u16,
}

/// Who asks, and whom.
#[derive(Clone, Debug, Args)]
pub(crate) struct ClientEndsArgs {
    /// Own addresses, used in turn: 192.0.2.9, or 192.0.2.9/24 whose neighbours are on the link,
    /// or all hosts of a prefix as 198.18.0.0/16.
    #[arg(
        long,
        value_name = "ADDRESS[/LENGTH]",
        required = true,
        value_delimiter = ','
    )]
    #[arg(value_parser = OwnAddress::parse)]
    pub(crate) clients: Vec<OwnAddress>,
    /// The server, as in 192.0.2.2:80 or `[fd00::2]:80`.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = server)]
    pub(crate) server: SocketAddr,
}

/// An own address, or a prefix of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnAddress {
    /// What is own: one address, or a whole prefix.
    pub(crate) own: Prefix,
    /// The prefix whose stations are on the link.
    pub(crate) on_link: Option<Prefix>,
}

impl OwnAddress {
    /// The address, or the first one of the prefix.
    pub(crate) fn address(&self) -> IpAddr {
        self.own.first
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{text}' is no address: write 192.0.2.2, 192.0.2.2/24 or a prefix as \
                     198.18.0.0/16"
            )
        };
        let (address, len) = match text.split_once('/') {
            Some((address, len)) => (address, Some(len.parse::<u8>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let Some(len) = len else {
            return Ok(Self {
                own: Prefix::of_one(address),
                on_link: None,
            });
        };
        if len == 0 || len > bits {
            return Err(format!("'{text}' has a length that is not 1 to {bits}"));
        }
        let prefix = Prefix::holding(address, len);
        Ok(match prefix.first == address {
            true => Self {
                own: prefix,
                on_link: None,
            },
            false => Self {
                own: Prefix::of_one(address),
                on_link: Some(prefix),
            },
        })
    }
}

/// A server: nobody listens at port 0.
fn server(text: &str) -> Result<SocketAddr, String> {
    let server: SocketAddr = text.parse().map_err(|error| format!("{error}"))?;
    match server.port() {
        0 => Err("port 0 is none that a server can have: write 1 to 65535".to_owned()),
        _ => Ok(server),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_prefixes() {
        for (text, own, on_link) in [
            ("192.0.2.2", "192.0.2.2/32", None),
            ("192.0.2.2/32", "192.0.2.2/32", None),
            ("192.0.2.2/24", "192.0.2.2/32", Some("192.0.2.0/24")),
            ("198.18.0.0/16", "198.18.0.0/16", None),
            ("fd00::2", "fd00::2/128", None),
            ("fd00::2/64", "fd00::2/128", Some("fd00::/64")),
            ("fd00::/64", "fd00::/64", None),
        ] {
            let read = OwnAddress::parse(text).expect(text);
            assert_eq!(read.own.to_string(), own, "{text}");
            let found = read.on_link.map(|prefix| prefix.to_string());
            assert_eq!(found.as_deref(), on_link, "{text}");
        }
        for text in [
            "",
            "192.0.2",
            "192.0.2.2/33",
            "192.0.2.2/0",
            "192.0.2.2/x",
            "fd00::/129",
        ] {
            assert!(OwnAddress::parse(text).is_err(), "{text}");
        }
    }
}
