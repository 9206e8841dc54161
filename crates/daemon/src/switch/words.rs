//! The settings of a switch in words: `10=A,Bt` for a VLAN, `A=10` for a port.

use std::fmt;
use std::time::Duration;

use frame::PortId;
use plane::Ports;
use plane::switch::{
    Accept, StaticStation, SwitchConfig, SwitchPort, SwitchTable, VLAN_MAX, Vlan, VlanMode,
};
use wire::{MacAddress, ether_type};

use super::PortNames;

/// Stations that are learned unless it is said otherwise.
const STATIONS: u32 = 65_536;
/// A station that sends nothing for so long is forgotten, unless it is said otherwise
/// (IEEE 802.1Q-2022, table 8-6).
const AGE: Duration = Duration::from_secs(300);

/// What a user wrote, by option or key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchWords {
    /// Which frames may pass between which ports; where it is left out, what the others need.
    pub vlan_mode: Option<VlanMode>,
    /// `10=A,Bt` or `10-20=A,Bt`.
    pub vlan: Vec<String>,
    /// `A,B`.
    pub group: Vec<String>,
    /// `A=10` or `A=none`.
    pub pvid: Vec<String>,
    /// `A=5`.
    pub priority: Vec<String>,
    /// `A=all`, `A=tagged` or `A=untagged`.
    pub accept: Vec<String>,
    /// `A=on` or `A=off`.
    pub filter: Vec<String>,
    /// `A=0x88a8`.
    pub tpid: Vec<String>,
    /// `A`.
    pub tunnel: Vec<String>,
    /// `A`.
    pub isolated: Vec<String>,
    /// `A`.
    pub hairpin: Vec<String>,
    /// `A=1000`, or `1000` for each port.
    pub storm: Vec<String>,
    /// `A=1000`.
    pub port_stations: Vec<String>,
    /// `MAC@VLAN=A`, or `MAC=A` where there are no VLANs.
    pub r#static: Vec<String>,
    /// After how long a station is forgotten.
    pub age: Option<Duration>,
    /// How many stations are learned.
    pub stations: Option<u32>,
    /// Frames to 01-80-C2-00-00-00 to 0F are forwarded.
    pub forward_reserved: bool,
}

/// A word that cannot be read, or settings that cannot be together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordError {
    /// The option or key, as fields of [`SwitchWords`] are called; none where several disagree.
    pub key: Option<&'static str>,
    /// What is wrong and what to do.
    pub sentence: String,
}

impl fmt::Display for WordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for WordError {}

/// Adds the key to what is wrong with a word.
fn of_key<T>(key: &'static str, read: Result<T, String>) -> Result<T, WordError> {
    read.map_err(|sentence| WordError {
        key: Some(key),
        sentence,
    })
}

impl SwitchWords {
    /// The settings that are meant.
    ///
    /// # Errors
    ///
    /// The first word that cannot be read; then the first thing that is wrong with all of them.
    pub fn table(&self, names: &PortNames) -> Result<SwitchTable, WordError> {
        SwitchTable::new(self.config(names)?).map_err(|errors| {
            let name = |port| names.shown(port);
            let sentences: Vec<String> = errors.iter().map(|one| one.sentence(&name)).collect();
            WordError {
                key: None,
                sentence: sentences.join("; "),
            }
        })
    }

    fn config(&self, names: &PortNames) -> Result<SwitchConfig, WordError> {
        let vlans = of_key("vlan", vlans(&self.vlan, names))?;
        let groups = self.group.iter().map(|text| names.ports(text));
        let groups: Vec<Ports> = of_key("group", groups.collect())?;
        let mode = self.vlan_mode.unwrap_or(match (vlans.len(), groups.len()) {
            (0, 0) => VlanMode::Default,
            (0, _) => VlanMode::Port,
            _ => VlanMode::Dot1q,
        });
        let statics = self.r#static.iter().map(|text| station(text, names));
        Ok(SwitchConfig {
            ports: self.ports(names, &vlans)?,
            statics: of_key("static", statics.collect())?,
            mode,
            vlans,
            groups,
            age: self.age.unwrap_or(AGE),
            stations: self.stations(),
            forward_reserved: self.forward_reserved,
        })
    }

    fn stations(&self) -> u32 {
        self.stations.unwrap_or(STATIONS)
    }

    fn ports(&self, names: &PortNames, vlans: &[Vlan]) -> Result<Vec<SwitchPort>, WordError> {
        let count = u8::try_from(names.len()).unwrap_or(u8::MAX);
        let port = |port| SwitchPort {
            pvid: only_untagged(port, vlans),
            priority: 0,
            accept: Accept::All,
            ingress_filter: true,
            tpid: ether_type::VLAN,
            tunnel: false,
            isolated: false,
            hairpin: false,
            storm: None,
            stations: self.stations(),
        };
        let mut ports: Vec<SwitchPort> = (0..count).map(PortId).map(port).collect();
        let mut set = Setting {
            names,
            ports: &mut ports,
        };
        set.each("pvid", &self.pvid, |port, value| {
            port.pvid = match value {
                "none" => None,
                vlan => Some(number(vlan, "a VLAN, or none")?),
            };
            Ok(())
        })?;
        set.each("priority", &self.priority, |port, value| {
            port.priority = number(value, "a priority from 0 to 7")?;
            Ok(())
        })?;
        set.each("accept", &self.accept, |port, value| {
            port.accept = accept(value)?;
            Ok(())
        })?;
        set.each("filter", &self.filter, |port, value| {
            port.ingress_filter = on_or_off(value)?;
            Ok(())
        })?;
        set.each("tpid", &self.tpid, |port, value| {
            port.tpid = tpid(value)?;
            Ok(())
        })?;
        set.each("port_stations", &self.port_stations, |port, value| {
            port.stations = number(value, "a number of stations")?;
            Ok(())
        })?;
        set.named("tunnel", &self.tunnel, |port| port.tunnel = true)?;
        set.named("isolated", &self.isolated, |port| port.isolated = true)?;
        set.named("hairpin", &self.hairpin, |port| port.hairpin = true)?;
        set.storms(&self.storm)?;
        Ok(ports)
    }
}

/// Ports that words set something for.
struct Setting<'a> {
    names: &'a PortNames,
    ports: &'a mut [SwitchPort],
}

impl Setting<'_> {
    fn one(&mut self, port: PortId) -> Option<&mut SwitchPort> {
        self.ports.get_mut(usize::from(port.0))
    }

    /// `PORT=VALUE`, each port once.
    fn each(
        &mut self,
        key: &'static str,
        texts: &[String],
        set: impl Fn(&mut SwitchPort, &str) -> Result<(), String>,
    ) -> Result<(), WordError> {
        let mut given = Ports::NONE;
        for text in texts {
            let read = || -> Result<(PortId, &str), String> {
                let (port, value) = text
                    .rsplit_once('=')
                    .ok_or_else(|| format!("'{text}' has no value: write PORT=VALUE"))?;
                Ok((self.names.port(port)?, value))
            };
            let (port, value) = of_key(key, read())?;
            if given.contains(port) {
                let name = self.names.shown(port);
                return of_key(key, Err(format!("{name} is given twice: leave one out")));
            }
            given = given.with(port);
            if let Some(port) = self.one(port) {
                of_key(key, set(port, value))?;
            }
        }
        Ok(())
    }

    /// `PORT,PORT`.
    fn named(
        &mut self,
        key: &'static str,
        texts: &[String],
        set: impl Fn(&mut SwitchPort),
    ) -> Result<(), WordError> {
        for text in texts {
            for port in of_key(key, self.names.ports(text))?.iter() {
                self.one(port).into_iter().for_each(&set);
            }
        }
        Ok(())
    }

    /// `PORT=RATE`, or `RATE` for all ports that have none of their own.
    fn storms(&mut self, texts: &[String]) -> Result<(), WordError> {
        let (own, all): (Vec<String>, Vec<String>) =
            texts.iter().cloned().partition(|text| text.contains('='));
        let rate = |text: &str| number(text, "a number of frames a second");
        for text in &all {
            let rate = of_key("storm", rate(text))?;
            self.ports
                .iter_mut()
                .for_each(|port| port.storm = Some(rate));
        }
        self.each("storm", &own, |port, value| {
            port.storm = Some(rate(value)?);
            Ok(())
        })
    }
}

/// The VLAN of a port's frames without one: that of which it is an untagged member, if there is
/// just one.
fn only_untagged(port: PortId, vlans: &[Vlan]) -> Option<u16> {
    let mut own = vlans.iter().filter(|vlan| vlan.untagged.contains(port));
    match (own.next(), own.next()) {
        (Some(vlan), None) => Some(vlan.id),
        _ => None,
    }
}

/// `10=A,Bt`, `10-20=A,Bt`.
fn vlans(texts: &[String], names: &PortNames) -> Result<Vec<Vlan>, String> {
    let mut vlans = Vec::new();
    for text in texts {
        let (ids, members) = text.split_once('=').ok_or_else(|| {
            format!("'{text}' names no members: write VLAN=PORT,PORTt, as in 10=A,Bt")
        })?;
        let members = names.members(members)?;
        let of = |tagged| {
            let own = members.iter().filter(|member| member.tagged == tagged);
            own.fold(Ports::NONE, |ports, member| ports.with(member.port))
        };
        for id in vlan_ids(ids)? {
            vlans.push(Vlan {
                id,
                untagged: of(false),
                tagged: of(true),
            });
        }
    }
    Ok(vlans)
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
fn station(text: &str, names: &PortNames) -> Result<StaticStation, String> {
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

fn number<T: std::str::FromStr>(text: &str, wanted: &str) -> Result<T, String> {
    // A sign is no digit here.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = text.parse().ok().filter(|_| digits);
    parsed.ok_or_else(|| format!("'{text}' is not {wanted}"))
}

fn accept(text: &str) -> Result<Accept, String> {
    match text {
        "all" => Ok(Accept::All),
        "tagged" => Ok(Accept::Tagged),
        "untagged" => Ok(Accept::Untagged),
        _ => Err(format!("'{text}' is not all, tagged or untagged")),
    }
}

fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("'{text}' is not on or off")),
    }
}

fn tpid(text: &str) -> Result<u16, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let parsed = u16::from_str_radix(digits, 16).ok();
    parsed
        .filter(|_| digits.len() == 4)
        .ok_or_else(|| format!("'{text}' is no type of tags: write four digits, as in 0x88a8"))
}

#[cfg(test)]
mod tests {
    use super::super::NamedPort;
    use super::*;

    fn names() -> PortNames {
        let ports = ["A=null:", "B=null:", "C=null:"].map(NamedPort::parse);
        PortNames::new(ports.to_vec()).expect("three names")
    }

    fn words(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn access() -> SwitchWords {
        SwitchWords {
            vlan: words(&["10=A,Bt", "20=B,C"]),
            ..SwitchWords::default()
        }
    }

    /// The ports of letters.
    fn ports(letters: &str) -> Ports {
        let port = |letter: u8| PortId(letter - b'A');
        letters.bytes().map(port).fold(Ports::NONE, Ports::with)
    }

    #[test]
    fn vlans_say_their_members_and_the_ports_own() {
        let table = access().table(&names()).expect("sound");
        let config = table.config();
        assert_eq!(config.mode, VlanMode::Dot1q);
        let members: Vec<_> = config
            .vlans
            .iter()
            .map(|vlan| (vlan.id, vlan.untagged, vlan.tagged))
            .collect();
        let expected = [(10, ports("A"), ports("B")), (20, ports("BC"), Ports::NONE)];
        assert_eq!(members, expected);
        let pvids: Vec<_> = config.ports.iter().map(|port| port.pvid).collect();
        assert_eq!(pvids, [Some(10), Some(20), Some(20)]);
        assert!(config.ports.iter().all(|port| port.ingress_filter));
        let many = SwitchWords {
            vlan: words(&["10-12=A,B", "13=At"]),
            pvid: words(&["A=11", "B=none"]),
            ..SwitchWords::default()
        };
        let table = many.table(&names()).expect("sound");
        let pvids: Vec<_> = table.config().ports.iter().map(|port| port.pvid).collect();
        assert_eq!(pvids, [Some(11), None, None]);
        assert_eq!(table.config().vlans.len(), 4);
    }

    #[test]
    fn ports_have_what_was_set_for_them() {
        let all = SwitchWords {
            accept: words(&["A=tagged", "B=untagged"]),
            filter: words(&["A=off"]),
            priority: words(&["C=7"]),
            tpid: words(&["B=0x88a8"]),
            tunnel: words(&["C"]),
            isolated: words(&["A,B"]),
            hairpin: words(&["C"]),
            storm: words(&["100", "B=7"]),
            port_stations: words(&["A=5"]),
            r#static: words(&["02:00:00:00:00:01@20=C"]),
            age: Some(Duration::from_secs(20)),
            stations: Some(9),
            ..access()
        };
        let table = all.table(&names()).expect("sound");
        let config = table.config();
        let [a, b, c] = &config.ports[..] else {
            panic!("three ports");
        };
        assert_eq!(
            (a.accept, b.accept, c.accept),
            (Accept::Tagged, Accept::Untagged, Accept::All)
        );
        assert_eq!((a.ingress_filter, b.ingress_filter), (false, true));
        assert_eq!((a.priority, c.priority), (0, 7));
        assert_eq!((a.tpid, b.tpid, c.tunnel), (0x8100, 0x88A8, true));
        assert_eq!(
            (a.isolated, b.isolated, c.isolated, c.hairpin),
            (true, true, false, true)
        );
        assert_eq!((a.storm, b.storm), (Some(100), Some(7)));
        assert_eq!((a.stations, b.stations, config.stations), (5, 9, 9));
        assert_eq!(
            (config.statics[0].vlan, config.statics[0].port),
            (20, PortId(2))
        );
        assert_eq!(config.age, Duration::from_secs(20));
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_option() {
        let with = |set: fn(&mut SwitchWords)| {
            let mut words = access();
            set(&mut words);
            words.table(&names()).expect_err("refused")
        };
        type Change = fn(&mut SwitchWords);
        let bad: [(Change, Option<&str>, &str); 16] = [
            (|w| w.vlan = words(&["10"]), Some("vlan"), "no members"),
            (|w| w.vlan = words(&["0=A"]), Some("vlan"), "0 is no VLAN"),
            (|w| w.vlan = words(&["4095=A"]), Some("vlan"), "4095"),
            (|w| w.vlan = words(&["+1=A"]), Some("vlan"), "'+1'"),
            (|w| w.vlan = words(&["9-3=A"]), Some("vlan"), "write 3-9"),
            (|w| w.vlan = words(&["1=A", "1=B"]), None, "twice"),
            (|w| w.vlan = words(&["1=A,At"]), None, "tagged and untagged"),
            (|w| w.pvid = words(&["A"]), Some("pvid"), "PORT=VALUE"),
            (|w| w.pvid = words(&["A=30"]), None, "30"),
            (|w| w.pvid = words(&["A=10", "A=20"]), Some("pvid"), "twice"),
            (|w| w.accept = words(&["A=some"]), Some("accept"), "'some'"),
            (
                |w| w.priority = words(&["D=1"]),
                Some("priority"),
                "no port is called 'D'",
            ),
            (|w| w.tpid = words(&["A=88"]), Some("tpid"), "'88'"),
            (|w| w.storm = words(&["fast"]), Some("storm"), "'fast'"),
            (
                |w| w.r#static = words(&["02:00@10=A"]),
                Some("static"),
                "MAC address",
            ),
            (|w| w.group = words(&["A,B"]), None, "group"),
        ];
        for (set, key, part) in bad {
            let error = with(set);
            assert_eq!(error.key, key, "{error}");
            assert!(error.sentence.contains(part), "{error} has no {part}");
        }
    }
}
