//! What single words of a switch's settings mean.

use std::collections::HashSet;

use frame::PortId;
use plane::Ports;
use plane::switch::{Accept, StaticStation, VLAN_MAX, Vlan};
use wire::MacAddress;

use super::super::PortNames;

/// The VLAN of a port's frames without one: that of which it is an untagged member, if there is
/// just one.
pub(super) fn only_untagged(port: PortId, vlans: &[Vlan]) -> Option<u16> {
    let mut own = vlans.iter().filter(|vlan| vlan.untagged.contains(port));
    match (own.next(), own.next()) {
        (Some(vlan), None) => Some(vlan.id),
        _ => None,
    }
}

/// `10=A,Bt`, `10-20=A,Bt`.
pub(super) fn vlans(text: &str, names: &PortNames) -> Result<Vec<Vlan>, String> {
    let (ids, members) = text.split_once('=').ok_or_else(|| {
        format!("'{text}' names no members: write VLAN=PORT,PORTt, as in 10=A,Bt")
    })?;
    let members = names.members(members)?;
    let of = |tagged| {
        let own = members.iter().filter(|member| member.tagged == tagged);
        own.fold(Ports::NONE, |ports, member| ports.with(member.port))
    };
    let (untagged, tagged) = (of(false), of(true));
    if let Some(port) = untagged.and(tagged).iter().next() {
        return Err(format!(
            "{} is a member of VLAN {ids} both tagged and untagged: choose one",
            names.shown(port)
        ));
    }
    let vlan = |id| Vlan {
        id,
        untagged,
        tagged,
    };
    Ok(vlan_ids(ids)?.map(vlan).collect())
}

/// The VLANs of a word, none of which was `given` before. A range is one mistake, not thousands.
pub(super) fn once(own: Vec<Vlan>, given: &mut HashSet<u16>) -> Result<Vec<Vlan>, String> {
    let ids = own.iter().map(|vlan| vlan.id);
    let twice: Vec<u16> = ids.filter(|&id| !given.insert(id)).collect();
    let which = match twice[..] {
        [] => return Ok(own),
        [one] => format!("VLAN {one} is"),
        [first, .., last] => format!("VLANs from {first} to {last} are"),
    };
    Err(format!(
        "{which} given twice: name all members of a VLAN at once"
    ))
}

fn vlan_ids(text: &str) -> Result<std::ops::RangeInclusive<u16>, String> {
    let id = |text: &str| -> Result<u16, String> {
        let id = number(text, "a VLAN from 1 to 4094, or a range as in 10-20")?;
        match id {
            1..=VLAN_MAX => Ok(id),
            _ => Err(format!(
                "{id} is no VLAN: give a number from 1 to {VLAN_MAX}"
            )),
        }
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (id(first)?, id(last)?);
    if first > last {
        return Err(format!("{text} is no range: write {last}-{first}"));
    }
    Ok(first..=last)
}

/// `MAC@VLAN=PORT`, `MAC=PORT`.
pub(super) fn station(text: &str, names: &PortNames) -> Result<StaticStation, String> {
    let (station, port) = text
        .split_once('=')
        .ok_or_else(|| format!("'{text}' names no port: write MAC@VLAN=PORT"))?;
    let (mac, vlan) = match station.split_once('@') {
        Some((mac, vlan)) => (mac, number(vlan, "a VLAN")?),
        None => (station, 0),
    };
    let MacAddress(mac) = mac.parse().map_err(|_| {
        format!("'{mac}' is no MAC address: write six pairs of digits, as in 02:00:00:00:00:01")
    })?;
    Ok(StaticStation {
        mac,
        vlan,
        port: names.port(port)?,
    })
}

pub(super) fn number<T: std::str::FromStr>(text: &str, wanted: &str) -> Result<T, String> {
    // A sign is no digit here.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = text.parse().ok().filter(|_| digits);
    parsed.ok_or_else(|| format!("'{text}' is not {wanted}"))
}

pub(super) fn accept(text: &str) -> Result<Accept, String> {
    match text {
        "all" => Ok(Accept::All),
        "tagged" => Ok(Accept::Tagged),
        "untagged" => Ok(Accept::Untagged),
        _ => Err(format!("'{text}' is not all, tagged or untagged")),
    }
}

pub(super) fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("'{text}' is not on or off")),
    }
}

pub(super) fn tpid(text: &str) -> Result<u16, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let parsed = u16::from_str_radix(digits, 16).ok();
    parsed
        .filter(|_| digits.len() == 4 && !digits.starts_with('+'))
        .ok_or_else(|| format!("'{text}' is no type of tags: write four digits, as in 0x88a8"))
}

/// The port of `A=88a8` and the type of its tags; a spec may have a '=' too.
pub(super) fn tunnel(text: &str) -> (&str, Option<u16>) {
    let kind = |(port, kind)| Some((port, Some(tpid(kind).ok()?)));
    let parted = text.rsplit_once('=').and_then(kind);
    parted.unwrap_or((text, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_may_say_the_type_of_its_tags() {
        for (text, port, kind) in [
            ("A", "A", None),
            ("A=88a8", "A", Some(0x88A8)),
            ("A=0x9100", "A", Some(0x9100)),
            ("pcap:in=a.pcap", "pcap:in=a.pcap", None),
            ("pcap:in=a.pcap=88a8", "pcap:in=a.pcap", Some(0x88A8)),
        ] {
            assert_eq!(tunnel(text), (port, kind), "{text}");
        }
    }
}
