//! A recipe from text: `key=value` as a user writes it.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Flows, Protocol, Recipe, Stamp};
use crate::{Choice, Cover, RecipeError, Share, Sizes};

/// What [`Recipe::set`] takes.
const KEYS: &str = "size, protocol, flags, ipv6, src, dst, sport, dport, smac, dmac, vlan, flows, \
                    new-flows, hit, seed, sign, stream, cover";

/// Letters of TCP flags from bit 0 (RFC 9293 section 3.1).
const FLAG_LETTERS: &str = "FSRPAUEC";

impl Recipe {
    /// Sets one property from text.
    ///
    /// | key | value |
    /// | --- | --- |
    /// | `size` | see [`Sizes::parse`] |
    /// | `protocol` | `udp`, `tcp` or `icmp` |
    /// | `flags` | of TCP, letters of `FSRPAUEC`: `S`, `SA`; makes frames TCP |
    /// | `ipv6` | a share: `0.5`, `50%` |
    /// | `src`, `dst` | `random`, an address, `FIRST-LAST`, or `ADDRESS/BITS`; of either family |
    /// | `sport`, `dport` | `random`, a number, `FIRST-LAST` |
    /// | `smac`, `dmac` | `random`, a MAC, `FIRST-LAST` |
    /// | `vlan` | `none`, or one or two tags `OUTER.INNER`, each `random`, a number, `FIRST-LAST` |
    /// | `flows` | `random` (a flow a frame) or a number |
    /// | `new-flows` | new flows a second; with `flows` so many at a time, else one |
    /// | `hit` | a share of frames with an address out of the samples |
    /// | `seed` | a number |
    /// | `sign` | `yes` or `no` |
    /// | `stream` | the stream of the first worker; signs |
    /// | `cover` | `network` or `link`: what the check covers; signs |
    ///
    /// An address sets its family's choice and leaves [`Self::ipv6`], the share, alone.
    ///
    /// # Errors
    /// A sentence that names key, value and what the key takes.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), RecipeError> {
        match key {
            "size" => self.sizes = Sizes::parse(value)?,
            "protocol" => self.protocol = protocol(value, self.protocol)?,
            "flags" => {
                self.protocol = Protocol::Tcp {
                    flags: flags(value)?,
                }
            }
            "ipv6" => self.ipv6 = Share::parse(key, value)?,
            "src" => address(key, value, &mut self.src_v4, &mut self.src_v6)?,
            "dst" => address(key, value, &mut self.dst_v4, &mut self.dst_v6)?,
            "sport" => self.src_port = port(key, value)?,
            "dport" => self.dst_port = port(key, value)?,
            "smac" => self.src_mac = mac(key, value)?,
            "dmac" => self.dst_mac = mac(key, value)?,
            "vlan" => self.vlan = vlan(value)?,
            "flows" => self.set_flows(value)?,
            "new-flows" => self.set_new_flows(value)?,
            "hit" => self.hit = Share::parse(key, value)?,
            "seed" => self.seed = number(key, value, "a number from 0 to 2^64 - 1")?,
            "sign" => self.stamp = sign(value, self.stamp)?,
            "stream" => {
                let wanted = "a number from 0 to 65535";
                self.stamp.get_or_insert_default().first_stream = number(key, value, wanted)?;
            }
            "cover" => self.stamp.get_or_insert_default().cover = cover(value)?,
            _ => {
                let sentence = format!("{key}= is no property of frames; there are {KEYS}");
                return Err(RecipeError::new(sentence));
            }
        }
        Ok(())
    }

    fn set_flows(&mut self, value: &str) -> Result<(), RecipeError> {
        if value == "random" {
            self.flows = Flows::Endless;
            return Ok(());
        }
        let count = number("flows", value, "random, or a number from 1 to 4294967295")?;
        self.flows = match self.flows {
            Flows::Renewed { per_second, .. } => Flows::Renewed { count, per_second },
            _ => Flows::Fixed(count),
        };
        Ok(())
    }

    fn set_new_flows(&mut self, value: &str) -> Result<(), RecipeError> {
        let per_second = number("new-flows", value, "new flows a second, 1 to 4294967295")?;
        self.flows = match self.flows {
            Flows::Renewed { count, .. } | Flows::Fixed(count) => {
                Flows::Renewed { count, per_second }
            }
            Flows::Endless => Flows::Renewed {
                count: 1,
                per_second,
            },
        };
        Ok(())
    }
}

fn number<T: std::str::FromStr>(key: &str, text: &str, wanted: &str) -> Result<T, RecipeError> {
    let digits = text.replace('_', "");
    digits
        .parse()
        .map_err(|_| RecipeError::value(key, text, wanted))
}

fn protocol(value: &str, current: Protocol) -> Result<Protocol, RecipeError> {
    match (value, current) {
        ("udp", _) => Ok(Protocol::Udp),
        ("tcp", Protocol::Tcp { .. }) => Ok(current),
        ("tcp", _) => Ok(Protocol::Tcp { flags: 1 << 4 }),
        ("icmp", _) => Ok(Protocol::IcmpEcho),
        _ => Err(RecipeError::value("protocol", value, "udp, tcp or icmp")),
    }
}

fn flags(value: &str) -> Result<u8, RecipeError> {
    let flag = |letter: char| {
        FLAG_LETTERS
            .find(letter.to_ascii_uppercase())
            .map(|bit| 1 << bit)
    };
    value
        .chars()
        .try_fold(0, |flags, letter| Some(flags | flag(letter)?))
        .ok_or_else(|| {
            let wanted = "letters of FSRPAUEC: S for a SYN, SA for its answer";
            RecipeError::value("flags", value, wanted)
        })
}

fn address(
    key: &str,
    value: &str,
    v4: &mut Choice<u32>,
    v6: &mut Choice<u128>,
) -> Result<(), RecipeError> {
    if value == "random" {
        (*v4, *v6) = (Choice::Random, Choice::Random);
    } else if let Some(choice) = choice_v4(value) {
        *v4 = choice;
    } else if let Some(choice) = choice_v6(value) {
        *v6 = choice;
    } else {
        let wanted = "random, an address, FIRST-LAST or ADDRESS/BITS";
        return Err(RecipeError::value(key, value, wanted));
    }
    Ok(())
}

fn choice_v4(text: &str) -> Option<Choice<u32>> {
    let address = |text: &str| text.parse::<Ipv4Addr>().ok().map(u32::from);
    let Some((text, bits)) = text.split_once('/') else {
        return Choice::parse(text, address);
    };
    let host = u32::MAX
        .checked_shr(bits.parse().ok().filter(|bits| *bits <= 32)?)
        .unwrap_or(0);
    let first = address(text)? & !host;
    Some(Choice::Range(first, first | host))
}

fn choice_v6(text: &str) -> Option<Choice<u128>> {
    let address = |text: &str| text.parse::<Ipv6Addr>().ok().map(u128::from);
    let Some((text, bits)) = text.split_once('/') else {
        return Choice::parse(text, address);
    };
    let host = u128::MAX
        .checked_shr(bits.parse().ok().filter(|bits| *bits <= 128)?)
        .unwrap_or(0);
    let first = address(text)? & !host;
    Some(Choice::Range(first, first | host))
}

fn port(key: &str, value: &str) -> Result<Choice<u16>, RecipeError> {
    Choice::parse(value, |text| text.parse().ok())
        .ok_or_else(|| RecipeError::value(key, value, "random, a number to 65535, or FIRST-LAST"))
}

fn mac(key: &str, value: &str) -> Result<Choice<u64>, RecipeError> {
    let address = |text: &str| {
        let wire::MacAddress(bytes) = text.parse().ok()?;
        Some(
            bytes
                .iter()
                .fold(0, |value, byte| value << 8 | u64::from(*byte)),
        )
    };
    Choice::parse(value, address).ok_or_else(|| {
        let wanted = "random, an address like 02:00:00:00:00:01, or FIRST-LAST";
        RecipeError::value(key, value, wanted)
    })
}

fn vlan(value: &str) -> Result<Vec<Choice<u16>>, RecipeError> {
    if value == "none" {
        return Ok(Vec::new());
    }
    let tags: Option<Vec<_>> = value
        .split('.')
        .map(|tag| Choice::parse(tag, |text| text.parse().ok()))
        .collect();
    let legal = |tags: &Vec<Choice<u16>>| {
        tags.len() <= 2
            && tags
                .iter()
                .all(|ids| ids.is_within(super::validate::VLAN_ID_MAX))
    };
    tags.filter(legal).ok_or_else(|| {
        let wanted = "none, or one or two of random, 0 to 4094, or FIRST-LAST, as OUTER.INNER";
        RecipeError::value("vlan", value, wanted)
    })
}

fn sign(value: &str, current: Option<Stamp>) -> Result<Option<Stamp>, RecipeError> {
    match value {
        "yes" => Ok(Some(current.unwrap_or_default())),
        "no" => Ok(None),
        _ => Err(RecipeError::value("sign", value, "yes or no")),
    }
}

fn cover(value: &str) -> Result<Cover, RecipeError> {
    match value {
        "network" => Ok(Cover::Network),
        "link" => Ok(Cover::Link),
        _ => Err(RecipeError::value("cover", value, "network or link")),
    }
}
