//! What can be wrong with neighbours whose Ethernet address is set.

use super::super::config::{RouterConfig, StaticNeighbours};
use super::super::prefix::is_on_each_link;
use super::{Errors, RouterConfigError, named, names_no_station};

impl RouterConfig {
    pub(super) fn check_neighbours(&self, errors: &mut Errors) {
        for given in &self.neighbours {
            if let Err(error) = self.check_neighbour(given) {
                errors.push(error);
            }
        }
        self.check_overlaps(errors);
    }

    fn check_neighbour(&self, given: &StaticNeighbours) -> Result<(), RouterConfigError> {
        let StaticNeighbours {
            interface: id,
            first,
            last,
            mac,
        } = *given;
        let Some(interface) = self.interface(id) else {
            return Err(RouterConfigError::NeighbourInterface { first, id });
        };
        let vrf = interface.vrf;
        if first.is_ipv4() != last.is_ipv4() {
            return Err(RouterConfigError::NeighbourFamily { first, last });
        }
        if first > last {
            return Err(RouterConfigError::NeighbourOrder { first, last });
        }
        if mac.is_multicast() || mac.0 == [0; 6] {
            return Err(RouterConfigError::NeighbourMac { first, mac });
        }
        let is_on_link =
            is_on_each_link(&first) && is_on_each_link(&last) && self.has_family(id, &first);
        let mut prefixes = self.prefixes_of(id);
        if !is_on_link && !prefixes.any(|own| own.holds(first) && own.holds(last)) {
            return Err(RouterConfigError::NeighbourElsewhere {
                first,
                last,
                interface: self.name(id),
                prefixes: named(self.prefixes_of(id)),
            });
        }
        if names_no_station(first) || (first == last && self.is_own(vrf, first, Some(id))) {
            return Err(RouterConfigError::NeighbourAddress { address: first });
        }
        Ok(())
    }

    /// Two ranges of one interface must not name the same address.
    fn check_overlaps(&self, errors: &mut Errors) {
        let mut sorted: Vec<&StaticNeighbours> = self.neighbours.iter().collect();
        sorted.sort_unstable_by_key(|own| (own.interface, own.first));
        for pair in sorted.windows(2) {
            let [one, other] = pair else { continue };
            if one.interface == other.interface && other.first <= one.last {
                let interface = self.name(one.interface);
                let address = other.first;
                errors.push(RouterConfigError::NeighbourTwice { address, interface });
            }
        }
    }
}
