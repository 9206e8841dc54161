//! Which interfaces the ports of a run have: none twice, whatever the drivers; and none that
//! another bridge has.
//!
//! Two ports on one interface would send every frame back where it came from. Two bridges undo each
//! other's filter: what one drops comes out of the other.

use std::sync::{Arc, Mutex, PoisonError};

use super::Interface;
use super::found::{Found, Place};
use super::offloads::{Changes, record};
use super::records::{Kept, Records};
use crate::{PortError, PortErrorKind};

/// The interfaces of a run by the kernel's numbers, since one can have several names; clones are
/// the same register.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    claimed: Arc<Mutex<Vec<u32>>>,
    bridges: bool,
}

/// That a port has an interface, for as long as this lives.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    /// What tells other processes, where it could be written.
    _record: Option<Kept>,
}

impl Claims {
    /// Of a run that filters: it shares its interfaces with no other such run.
    #[must_use]
    pub fn of_bridge() -> Self {
        Self {
            bridges: true,
            ..Self::default()
        }
    }

    /// Notes that a port has the interface of this name. One that is not there is refused by the
    /// port itself, or made by it.
    ///
    /// # Errors
    /// Another port of the run has it, or it is that of another bridge.
    pub(crate) fn claim(&self, driver: &str, name: &str) -> Result<Claim, PortError> {
        let interface = Interface::named(name)?;
        let Ok(index) = interface.index() else {
            return Ok(Claim::default());
        };
        let refused = |sentence| Err(PortError::new(PortErrorKind::Setting, sentence));
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        if claimed.contains(&index) {
            return refused(format!(
                "{driver}:{name} is there twice; give each port an interface"
            ));
        }
        claimed.push(index);
        if !self.bridges {
            return Ok(Claim::default());
        }
        let changes = Changes {
            bridged: true,
            ..Changes::default()
        };
        // Written before it is looked for others: of two that start at once none overlooks the
        // other. Who may not write there is overlooked.
        let record = record(&Records::here(), &interface, changes).ok();
        match other_bridge(&interface, index, record.as_ref()) {
            None => Ok(Claim { _record: record }),
            Some(other) => refused(format!(
                "{driver}:{name}: process {} has this interface as a port, and two on one \
                 interface undo each other's filter; end that one first, or name another interface",
                other.process
            )),
        }
    }
}

/// What the bridge of another process wrote down about an interface: one of its number, or of its
/// name, which is taken up when it is made anew.
fn other_bridge(interface: &Interface, index: u32, own: Option<&Kept>) -> Option<Found> {
    let here = Place::here()?;
    let all = Records::believed();
    let living = all
        .iter()
        .flat_map(|records| records.living(here.namespace, own.map(Kept::path)));
    let is_same = |found: &Found| found.index == index || found.name == interface.name();
    living
        .filter(|found| found.bridged && found.place == here)
        .find(is_same)
}
