//! VRFs by their names: which interfaces are of which.

use frame::PortId;
use plane::router::{InterfaceTags, RouterInterface, VrfId};

/// Tables of the kernel with a meaning of their own.
const RESERVED: [&str; 6] = ["main", "local", "default", "253", "254", "255"];

/// The VRFs that were named so far.
#[derive(Debug, Default)]
pub(super) struct Vrfs {
    /// From number 1 on.
    pub(super) names: Vec<String>,
}

impl Vrfs {
    /// Puts an interface into the VRF of this name.
    pub(super) fn join(&mut self, one: &mut RouterInterface, name: &str) -> Result<(), String> {
        let vrf = self.named(name)?;
        if one.vrf != VrfId::default() && one.vrf != vrf {
            return Err(format!(
                "the interface {} is of the VRF {}, and of {name} too: leave one",
                one.name,
                self.names[one.vrf.index() - 1]
            ));
        }
        one.vrf = vrf;
        Ok(())
    }

    /// Puts all interfaces at these places into the VRF. A port without a VLAN stands for all
    /// interfaces of the port.
    pub(super) fn join_all(
        &mut self,
        interfaces: &mut [RouterInterface],
        name: &str,
        places: &[(PortId, InterfaceTags)],
    ) -> Result<(), String> {
        for &(port, tags) in places {
            let is_meant = |one: &&mut RouterInterface| {
                one.port == port && (tags == InterfaceTags::None || one.tags == tags)
            };
            let mut is_there = false;
            for one in interfaces.iter_mut().filter(is_meant) {
                is_there = true;
                self.join(one, name)?;
            }
            if !is_there {
                return Err(format!(
                    "the VRF {name} has a port or VLAN without an interface: give it one, or leave \
                     it out"
                ));
            }
        }
        Ok(())
    }

    fn named(&mut self, name: &str) -> Result<VrfId, String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!(
                "'{name}' is no name of a VRF: it has letters, digits, '-' and '_'"
            ));
        }
        if RESERVED.contains(&name) {
            return Err(format!(
                "'{name}' is a table that the kernel has by itself: give the VRF another name"
            ));
        }
        let index = match self.names.iter().position(|own| own == name) {
            Some(index) => index,
            None => {
                self.names.push(name.to_owned());
                self.names.len() - 1
            }
        };
        let number = u16::try_from(index + 1);
        number
            .map(VrfId)
            .map_err(|_| "there are more VRFs than can be numbered: use fewer".to_owned())
    }
}
