//! `gen:[addresses=random|N,size=64,...]`: what a user says of generated traffic.

use std::fmt;

use traffic::{RecipeError, Share, Sizes};

use crate::SpecError;
use crate::spec::Settings;

const KEYS: [&str; 7] = ["addresses", "size", "hit", "vlan", "ipv6", "seed", "frames"];
/// Greatest VLAN identifier; 4095 is reserved (IEEE 802.1Q table 9-2).
const VLAN_ID_MAX: u16 = 4094;

/// Where addresses and ports come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// Every frame is a flow of its own: any source, destination and ports.
    Random,
    /// So many flows, each with addresses and ports of its own; every frame is of one of them,
    /// drawn evenly.
    Flows(u32),
}

/// Traffic to generate: UDP in IPv4 or IPv6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenSpec {
    /// Addresses and ports.
    pub addresses: Addresses,
    /// Ethernet sizes with FCS. A frame is never shorter than its headers: 66 bytes for IPv6,
    /// and four more for each tag beyond what fits.
    pub size: Sizes,
    /// Frames with at least one address from the run's samples.
    pub hit: Share,
    /// VLAN identifiers, outermost first: one is an 802.1Q tag, two an 802.1ad tag around it.
    pub vlan: Vec<u16>,
    /// Frames that are IPv6.
    pub ipv6: Share,
    /// What the traffic is made from; the run's own seed where none is given.
    pub seed: Option<u64>,
    /// Frames in all, over all queues; without end where none is given.
    pub frames: Option<u64>,
}

impl Default for GenSpec {
    /// IPv4 frames of 64 bytes, every one a flow of its own, without end.
    fn default() -> Self {
        Self {
            addresses: Addresses::Random,
            size: Sizes::Fixed(64),
            hit: Share::NONE,
            vlan: Vec::new(),
            ipv6: Share::NONE,
            seed: None,
            frames: None,
        }
    }
}

impl GenSpec {
    pub(crate) fn from_settings(settings: &mut Settings) -> Result<Self, SpecError> {
        settings.expect(&KEYS)?;
        settings.expect_no_name("write gen:key=value, gen:size=64 for instance")?;
        let addresses = settings.take("addresses");
        let size = settings.take("size");
        let hit = settings.take("hit");
        let vlan = settings.take("vlan");
        let ipv6 = settings.take("ipv6");
        Ok(Self {
            addresses: addresses.map_or(Ok(Addresses::Random), |text| parse_addresses(&text))?,
            size: size.map_or(Ok(Sizes::Fixed(64)), |text| parsed(Sizes::parse(&text)))?,
            hit: hit.map_or(Ok(Share::NONE), |text| parsed(Share::parse("hit", &text)))?,
            vlan: vlan.map_or(Ok(Vec::new()), |text| parse_vlan(&text))?,
            ipv6: ipv6.map_or(Ok(Share::NONE), |text| parsed(Share::parse("ipv6", &text)))?,
            seed: settings.take_number("seed", 0..=u64::MAX)?,
            frames: settings.take_number("frames", 1..=u64::MAX)?,
        })
    }
}

fn parsed<T>(value: Result<T, RecipeError>) -> Result<T, SpecError> {
    value.map_err(|error| SpecError::new(error.to_string()))
}

fn parse_addresses(text: &str) -> Result<Addresses, SpecError> {
    match text.replace('_', "").parse() {
        _ if text == "random" => Ok(Addresses::Random),
        Ok(flows) if flows > 0 => Ok(Addresses::Flows(flows)),
        _ => {
            let wanted = "random, or a number of flows from 1 to 4294967295";
            Err(SpecError::value("addresses", text, wanted))
        }
    }
}

fn parse_vlan(text: &str) -> Result<Vec<u16>, SpecError> {
    let ids: Option<Vec<u16>> = text
        .split('.')
        .map(|id| id.parse().ok().filter(|id| *id <= VLAN_ID_MAX))
        .collect();
    ids.filter(|ids| ids.len() <= 2).ok_or_else(|| {
        let wanted = "an ID from 0 to 4094, or two as OUTER.INNER";
        SpecError::value("vlan", text, wanted)
    })
}

impl fmt::Display for GenSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.addresses {
            Addresses::Random => f.write_str("gen:addresses=random")?,
            Addresses::Flows(flows) => write!(f, "gen:addresses={flows}")?,
        }
        write!(f, ",size={},hit={}", self.size, self.hit)?;
        if let [outer, inner @ ..] = &self.vlan[..] {
            write!(f, ",vlan={outer}")?;
            inner.iter().try_for_each(|id| write!(f, ".{id}"))?;
        }
        write!(f, ",ipv6={}", self.ipv6)?;
        if let Some(seed) = self.seed {
            write!(f, ",seed={seed}")?;
        }
        if let Some(frames) = self.frames {
            write!(f, ",frames={frames}")?;
        }
        Ok(())
    }
}
