//! Which interfaces the ports of a run have: none twice, whatever the drivers.
//!
//! Two ports on one interface would send every frame back where it came from.

use std::sync::{Arc, Mutex, PoisonError};

use super::Interface;
use crate::{PortError, PortErrorKind};

/// The interfaces of a run by the kernel's numbers, since one can have several names; clones are
/// the same register.
#[derive(Debug, Clone, Default)]
pub struct Claims(Arc<Mutex<Vec<u32>>>);

impl Claims {
    /// Notes that a port has the interface of this name. One that is not there is refused by the
    /// port itself, or made by it.
    ///
    /// # Errors
    /// Another port of the run has it.
    pub(crate) fn claim(&self, driver: &str, name: &str) -> Result<(), PortError> {
        let Ok(index) = Interface::named(name)?.index() else {
            return Ok(());
        };
        let mut claimed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if claimed.contains(&index) {
            let sentence = format!("{driver}:{name} is there twice; give each port an interface");
            return Err(PortError::new(PortErrorKind::Setting, sentence));
        }
        claimed.push(index);
        Ok(())
    }
}
