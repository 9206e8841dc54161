//! The interfaces of a pcapng section.

use wire::capture::CaptureFault;
use wire::capture::pcapng::InterfaceDescription;

/// Most interfaces kept of a section: a capture of every interface of a large machine has
/// thousands; each takes 32 bytes.
const INTERFACES_MAX: usize = 65_536;

/// What the descriptions of the current section said, in order.
#[derive(Debug, Default)]
pub(super) struct Interfaces {
    descriptions: Vec<InterfaceDescription>,
}

impl Interfaces {
    /// A new section begins: its interfaces are its own.
    pub(super) fn begin_section(&mut self) {
        self.descriptions.clear();
    }

    pub(super) fn add(&mut self, description: InterfaceDescription) -> Result<(), CaptureFault> {
        if self.descriptions.len() >= INTERFACES_MAX {
            return Err(CaptureFault::TooManyInterfaces);
        }
        self.descriptions.push(description);
        Ok(())
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> Result<&InterfaceDescription, CaptureFault> {
        self.descriptions
            .get(index as usize)
            .ok_or(CaptureFault::UnknownInterface)
    }

    /// The first interface, once one was described.
    pub(super) fn first(&self) -> Option<&InterfaceDescription> {
        self.descriptions.first()
    }
}
