//! Ports that words set something for.

use frame::PortId;
use plane::Ports;
use plane::switch::{SwitchPort, Vlan};

use super::super::PortNames;
use super::values::{accept, number, on_or_off, only_untagged, tpid, tunnel};
use super::{Faults, SwitchWords};

impl SwitchWords {
    /// The settings of each port.
    pub(super) fn ports(
        &self,
        names: &PortNames,
        vlans: &[Vlan],
        faults: &mut Faults,
    ) -> Vec<SwitchPort> {
        let count = u8::try_from(names.len()).unwrap_or(u8::MAX);
        let port = |port| SwitchPort {
            pvid: only_untagged(port, vlans),
            ..SwitchPort::plain(self.stations())
        };
        let mut ports: Vec<SwitchPort> = (0..count).map(PortId).map(port).collect();
        let mut set = Setting {
            names,
            ports: &mut ports,
            faults,
        };
        set.each("pvid", &self.pvid, |port, value| {
            port.pvid = match value {
                "none" => None,
                vlan => Some(number(vlan, "a VLAN, or none")?),
            };
            Ok(())
        });
        set.each("priority", &self.priority, |port, value| {
            port.priority = number(value, "a priority from 0 to 7")?;
            Ok(())
        });
        set.each("accept", &self.accept, |port, value| {
            port.accept = accept(value)?;
            Ok(())
        });
        set.each("filter", &self.filter, |port, value| {
            port.ingress_filter = on_or_off(value)?;
            Ok(())
        });
        set.each("tpid", &self.tpid, |port, value| {
            port.tpid = tpid(value)?;
            Ok(())
        });
        set.each("port_stations", &self.port_stations, |port, value| {
            port.stations = number(value, "a number of stations")?;
            Ok(())
        });
        set.tunnels(&self.tunnel);
        set.named("isolated", &self.isolated, |port| port.isolated = true);
        set.named("hairpin", &self.hairpin, |port| port.hairpin = true);
        set.storms(&self.storm);
        ports
    }
}

struct Setting<'a> {
    names: &'a PortNames,
    ports: &'a mut [SwitchPort],
    faults: &'a mut Faults,
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
    ) {
        let numbered = texts.iter().map(String::as_str).enumerate();
        self.each_of(key, numbered, set);
    }

    fn each_of<'t>(
        &mut self,
        key: &'static str,
        texts: impl Iterator<Item = (usize, &'t str)>,
        set: impl Fn(&mut SwitchPort, &str) -> Result<(), String>,
    ) {
        let mut given = Ports::NONE;
        for (index, text) in texts {
            let done = self.set_one(text, &mut given, &set);
            self.faults.take(key, index, done);
        }
    }

    /// `PORT=VALUE`, if the port is not among those that were given one.
    fn set_one(
        &mut self,
        text: &str,
        given: &mut Ports,
        set: impl Fn(&mut SwitchPort, &str) -> Result<(), String>,
    ) -> Result<(), String> {
        let (port, value) = text
            .rsplit_once('=')
            .ok_or_else(|| format!("'{text}' has no value: write PORT=VALUE"))?;
        let port = self.names.port(port)?;
        if given.contains(port) {
            let name = self.names.shown(port);
            return Err(format!("{name} is given twice: leave one out"));
        }
        *given = given.with(port);
        self.one(port).map_or(Ok(()), |port| set(port, value))
    }

    /// `PORT,PORT`.
    fn named(&mut self, key: &'static str, texts: &[String], set: impl Fn(&mut SwitchPort)) {
        let names = self.names;
        let all = self.faults.take_all(key, texts, |text| names.ports(text));
        for port in all.into_iter().flat_map(Ports::iter) {
            self.one(port).into_iter().for_each(&set);
        }
    }

    /// `PORT`, `PORT=TYPE`.
    fn tunnels(&mut self, texts: &[String]) {
        for (index, text) in texts.iter().enumerate() {
            let (ports, kind) = tunnel(text);
            let ports = self.names.ports(ports);
            let ports = self.faults.take("tunnel", index, ports);
            for port in ports.into_iter().flat_map(Ports::iter) {
                if let Some(port) = self.one(port) {
                    port.tunnel = true;
                    port.tpid = kind.unwrap_or(port.tpid);
                }
            }
        }
    }

    /// `PORT=RATE`, or `RATE` for all ports that have none of their own.
    fn storms(&mut self, texts: &[String]) {
        let rate = |text: &str| number(text, "a number of frames a second");
        let numbered = || texts.iter().map(String::as_str).enumerate();
        for (index, text) in numbered().filter(|(_, text)| !text.contains('=')) {
            if let Some(rate) = self.faults.take("storm", index, rate(text)) {
                let ports = self.ports.iter_mut();
                ports.for_each(|port| port.storm = Some(rate));
            }
        }
        let own = numbered().filter(|(_, text)| text.contains('='));
        self.each_of("storm", own, |port, value| {
            port.storm = Some(rate(value)?);
            Ok(())
        });
    }
}
