//! What a switch should do, one frame at a time and written from the rules: it takes a frame apart
//! into a list of tags, decides, and puts one together for each port.

use std::collections::BTreeMap;

use frame::PortId;
use wire::Malformed;

use super::super::{Accept, Mac, SwitchConfig, SwitchPort, Vlan, VlanMode};
use crate::DropReason;

/// What leaves by which port.
pub(super) type Sent = Vec<(PortId, Vec<u8>)>;

#[derive(Debug)]
pub(super) struct Model {
    config: SwitchConfig,
    /// The port, and when the station was seen; `None` of static ones.
    stations: BTreeMap<(u16, Mac), (PortId, Option<u64>)>,
}

/// A frame without its outermost tag, and that tag.
struct Apart {
    addresses: Vec<u8>,
    tci: Option<u16>,
    rest: Vec<u8>,
}

impl Model {
    pub(super) fn new(config: &SwitchConfig) -> Self {
        let fixed = |one: &super::super::StaticStation| ((one.vlan, one.mac), (one.port, None));
        Self {
            config: config.clone(),
            stations: config.statics.iter().map(fixed).collect(),
        }
    }

    pub(super) fn forward(
        &mut self,
        from: PortId,
        now_ms: u64,
        bytes: &[u8],
    ) -> Result<Sent, DropReason> {
        if bytes.len() < 14 {
            return Err(DropReason::Malformed(Malformed::EthernetTruncated));
        }
        let (to, source) = (mac_at(bytes, 0), mac_at(bytes, 6));
        if source == [0; 6] || source[0] % 2 == 1 {
            return Err(DropReason::BadSource);
        }
        let frame = self.take_apart(from, bytes)?;
        let vlan = self.vlan(from, &frame)?;
        self.learn((vlan, source), from, now_ms);
        let is_reserved = to[..5] == [1, 0x80, 0xC2, 0, 0] && to[5] <= 15;
        if is_reserved && !self.config.forward_reserved {
            return Err(DropReason::ReservedAddress);
        }
        let known = self.find((vlan, to), now_ms).filter(|_| to[0] % 2 == 0);
        let ports = match known {
            Some(port) => vec![self.check_known(from, vlan, port)?],
            None => self.all_others(from, vlan)?,
        };
        let made = |port| (port, self.put_together(from, vlan, &frame, port));
        Ok(ports.into_iter().map(made).collect())
    }

    pub(super) fn find(&self, station: (u16, Mac), now_ms: u64) -> Option<PortId> {
        let (port, seen) = *self.stations.get(&station)?;
        let age = self.config.age.as_millis() as u64;
        seen.is_none_or(|seen| now_ms - seen < age).then_some(port)
    }

    fn port(&self, port: PortId) -> &SwitchPort {
        &self.config.ports[port.index()]
    }

    fn vlan_table(&self, vlan: u16) -> Option<&Vlan> {
        self.config.vlans.iter().find(|one| one.id == vlan)
    }

    fn take_apart(&self, from: PortId, bytes: &[u8]) -> Result<Apart, DropReason> {
        let port = self.port(from);
        let looks_for_tags = self.config.mode == VlanMode::Dot1q && !port.tunnel;
        let mut apart = Apart {
            addresses: bytes[..12].to_vec(),
            tci: None,
            rest: bytes[12..].to_vec(),
        };
        if looks_for_tags && bytes[12..14] == port.tpid.to_be_bytes() {
            if bytes.len() < 18 {
                return Err(DropReason::Malformed(Malformed::VlanTagTruncated));
            }
            apart.tci = Some(u16::from_be_bytes([bytes[14], bytes[15]]));
            apart.rest = bytes[16..].to_vec();
        }
        Ok(apart)
    }

    fn vlan(&self, from: PortId, frame: &Apart) -> Result<u16, DropReason> {
        if self.config.mode != VlanMode::Dot1q {
            return Ok(0);
        }
        let port = self.port(from);
        let named = frame.tci.map(|tci| tci % 4096).filter(|&vid| vid != 0);
        if named == Some(4095) {
            return Err(DropReason::VlanReserved);
        }
        let is_taken = match port.accept {
            Accept::All => true,
            Accept::Tagged => named.is_some(),
            Accept::Untagged => named.is_none(),
        };
        if !is_taken {
            return Err(DropReason::FrameType);
        }
        let vlan = named.or(port.pvid).ok_or(DropReason::NoVlan)?;
        let table = self.vlan_table(vlan).ok_or(DropReason::VlanUnknown)?;
        let is_member = table.tagged.contains(from) || table.untagged.contains(from);
        if port.ingress_filter && !is_member {
            return Err(DropReason::NotMember);
        }
        Ok(vlan)
    }

    fn learn(&mut self, station: (u16, Mac), from: PortId, now_ms: u64) {
        let entry = self.stations.entry(station);
        let entry = entry.or_insert((from, Some(now_ms)));
        if entry.1.is_some() {
            *entry = (from, Some(now_ms));
        }
    }

    /// Whether two ports are together in a VLAN or a group.
    fn are_together(&self, from: PortId, vlan: u16, to: PortId) -> bool {
        let mut groups = self.config.groups.iter();
        match self.config.mode {
            VlanMode::Default => true,
            VlanMode::Port => groups.any(|group| group.contains(from) && group.contains(to)),
            VlanMode::Dot1q => self
                .vlan_table(vlan)
                .is_some_and(|table| table.tagged.contains(to) || table.untagged.contains(to)),
        }
    }

    fn check_known(&self, from: PortId, vlan: u16, to: PortId) -> Result<PortId, DropReason> {
        let is_back = from == to;
        if is_back && !self.port(from).hairpin {
            return Err(DropReason::SamePort);
        }
        let is_with_itself = is_back && self.config.mode == VlanMode::Port;
        if !is_with_itself && !self.are_together(from, vlan, to) {
            return Err(DropReason::NotMember);
        }
        if !is_back && self.port(from).isolated && self.port(to).isolated {
            return Err(DropReason::Isolated);
        }
        Ok(to)
    }

    fn all_others(&self, from: PortId, vlan: u16) -> Result<Vec<PortId>, DropReason> {
        let all = (0..self.config.ports.len()).map(|port| PortId(port as u8));
        let may = |&to: &PortId| self.check_known(from, vlan, to).is_ok();
        let ports: Vec<PortId> = all.filter(may).collect();
        match ports.is_empty() {
            true => Err(DropReason::NoPort),
            false => Ok(ports),
        }
    }

    fn put_together(&self, from: PortId, vlan: u16, frame: &Apart, to: PortId) -> Vec<u8> {
        let mut bytes = frame.addresses.clone();
        if self
            .vlan_table(vlan)
            .is_some_and(|table| table.tagged.contains(to))
        {
            let own = u16::from(self.port(from).priority) * 0x2000;
            let priority = frame.tci.map_or(own, |tci| tci & 0xF000);
            bytes.extend(self.port(to).tpid.to_be_bytes());
            bytes.extend((priority + vlan).to_be_bytes());
        }
        bytes.extend(&frame.rest);
        bytes
    }
}

fn mac_at(bytes: &[u8], at: usize) -> Mac {
    let mut mac = Mac::default();
    mac.copy_from_slice(&bytes[at..at + 6]);
    mac
}
