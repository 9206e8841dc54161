//! Which recipes cannot be made.

use super::{Flows, Protocol, Recipe};
use crate::{RecipeError, Share};

/// Greatest VLAN identifier; 4095 is reserved (IEEE 802.1Q table 9-2).
pub(super) const VLAN_ID_MAX: u16 = 4094;
const MAC_MAX: u64 = (1 << 48) - 1;

impl Recipe {
    /// Whether frames can be made like this.
    ///
    /// # Errors
    /// A sentence: sizes that no Ethernet frame has or that are smaller than signature and headers
    /// take; values out of range; empty lists; hits without samples.
    pub fn validate(&self) -> Result<(), RecipeError> {
        self.check_sizes()?;
        self.check_values()?;
        self.check_flows()?;
        self.check_samples()
    }

    fn check_sizes(&self) -> Result<(), RecipeError> {
        let sizes = &self.sizes;
        if !sizes.is_legal() {
            return Err(RecipeError::new(format!(
                "size={sizes} is no Ethernet size; give 64 to 9216"
            )));
        }
        let needed = self.smallest_bytes();
        if self.stamp.is_none() || sizes.frame_bytes_min() + crate::FCS_BYTES >= needed {
            return Ok(());
        }
        let family = if self.ipv6 == Share::NONE {
            "IPv4"
        } else {
            "IPv6"
        };
        let protocol = match self.protocol {
            Protocol::Udp => "UDP",
            Protocol::Tcp { .. } => "TCP",
            Protocol::IcmpEcho => "ICMP",
        };
        Err(RecipeError::new(format!(
            "size={sizes} is too small for {protocol} in {family} (VLAN tags: {}) and a \
             signature; give at least {needed}, or leave frames unsigned",
            self.vlan.len()
        )))
    }

    fn check_values(&self) -> Result<(), RecipeError> {
        let legal = [
            (
                "src",
                self.src_v4.is_within(u32::MAX) && self.src_v6.is_within(u128::MAX),
            ),
            (
                "dst",
                self.dst_v4.is_within(u32::MAX) && self.dst_v6.is_within(u128::MAX),
            ),
            ("sport", self.src_port.is_within(u16::MAX)),
            ("dport", self.dst_port.is_within(u16::MAX)),
            ("smac", self.src_mac.is_within(MAC_MAX)),
            ("dmac", self.dst_mac.is_within(MAC_MAX)),
            (
                "vlan",
                self.vlan.iter().all(|ids| ids.is_within(VLAN_ID_MAX)),
            ),
        ];
        if let Some((key, _)) = legal.iter().find(|(_, legal)| !legal) {
            return Err(RecipeError::new(format!(
                "{key}= has no value, one out of range, or a range that runs backwards; give one \
                 value, FIRST-LAST, random, or a list that is not empty"
            )));
        }
        if self.vlan.len() > 2 {
            let tags = self.vlan.len();
            return Err(RecipeError::new(format!(
                "vlan= has {tags} tags; give at most two"
            )));
        }
        Ok(())
    }

    fn check_flows(&self) -> Result<(), RecipeError> {
        match self.flows {
            Flows::Fixed(0) | Flows::Renewed { count: 0, .. } => Err(RecipeError::new(
                "flows=0 leaves no frame to send; give at least one, or leave flows= out",
            )),
            _ => Ok(()),
        }
    }

    /// Whether frames of IPv4, and of IPv6, ask for samples of which there are none.
    #[must_use]
    pub fn lacks_samples(&self) -> (bool, bool) {
        let hits = self.hit != Share::NONE;
        (
            hits && self.ipv6 < Share::ALL && self.samples_v4.is_empty(),
            hits && self.ipv6 > Share::NONE && self.samples_v6.is_empty(),
        )
    }

    /// Refuses hits that can never be. A family without samples beside one that has some makes no
    /// hits, which [`Self::lacks_samples`] tells.
    fn check_samples(&self) -> Result<(), RecipeError> {
        let (lacks_v4, lacks_v6) = self.lacks_samples();
        let makes_v4 = self.ipv6 < Share::ALL && !lacks_v4;
        let makes_v6 = self.ipv6 > Share::NONE && !lacks_v6;
        if makes_v4 || makes_v6 {
            return Ok(());
        }
        let hit = self.hit;
        Err(RecipeError::new(format!(
            "hit={hit} asks for addresses out of a set, and no set holds any of the family it \
             makes; name a set with such addresses, or leave hit= out"
        )))
    }
}
