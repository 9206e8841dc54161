//! What is in a database, in pieces.

use frame::PortId;

use super::Fdb;
use super::entry::{Mac, PLACES};

/// Entries of one cache line at most.
pub const LINE_ENTRIES: usize = PLACES;

/// One station, as listings show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FdbEntry {
    /// Its VLAN.
    pub vlan: u16,
    /// Its address.
    pub mac: Mac,
    /// The port that it is behind.
    pub port: PortId,
    /// Milliseconds since it was seen; `None` of static ones.
    pub idle_ms: Option<u32>,
}

impl Fdb {
    /// Gives `each` the entries of at most `lines` cache lines, from the line `from` on, and
    /// returns the line to go on with; `None` at the end. An entry that moves meanwhile may come
    /// twice or not at all.
    pub fn page(&self, from: usize, lines: usize, mut each: impl FnMut(FdbEntry)) -> Option<usize> {
        let end = from.saturating_add(lines).min(self.lines.len());
        for slot in from.min(end) * PLACES..end * PLACES {
            let entry = self.entry(slot);
            if entry.is_used() && !self.is_over(entry) {
                // The clock of another worker may be ahead.
                let idle = self.now.wrapping_sub(entry.time).cast_signed().max(0);
                each(FdbEntry {
                    vlan: entry.vlan(),
                    mac: entry.mac(),
                    port: entry.port(),
                    idle_ms: (!entry.is_static()).then_some(idle.unsigned_abs()),
                });
            }
        }
        (end < self.lines.len()).then_some(end)
    }
}
