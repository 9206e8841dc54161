//! What the control side asks of the switch of a worker.

use std::sync::Arc;

use table::fdb::FdbEntry;

use super::{Looping, Switch, SwitchTable, VLANS, VlanFrames};

/// Lines of the database that one page has: some microseconds of a worker's time.
pub const SWITCH_PAGE_LINES: usize = 256;
/// Entries of a page at most.
const PAGE_ENTRIES: usize = SWITCH_PAGE_LINES * table::fdb::LINE_ENTRIES;

/// One request, with room for its answer.
#[derive(Debug)]
pub enum SwitchRequest {
    /// Stations, a page at a time.
    Stations {
        /// Where to go on: 0 at first. Back: where the next page begins; `None` at the end.
        from: Option<usize>,
        /// Back: what is there.
        entries: Vec<FdbEntry>,
    },
    /// Frames by VLAN, from 0 to 4095.
    Vlans(Vec<VlanFrames>),
    /// Back: the station that moved most since the last such request, where that was a loop.
    Loop(Option<Looping>),
    /// Settings to go by from now on. Back: those before.
    Replace(Arc<SwitchTable>),
}

impl SwitchRequest {
    /// Asks for the page that begins there.
    #[must_use]
    pub fn stations(from: usize) -> Self {
        Self::Stations {
            from: Some(from),
            entries: Vec::with_capacity(PAGE_ENTRIES),
        }
    }

    /// Asks for frames by VLAN.
    #[must_use]
    pub fn vlans() -> Self {
        Self::Vlans(vec![VlanFrames::default(); VLANS])
    }
}

impl Switch {
    /// Carries a request out.
    pub fn carry_out(&mut self, request: &mut SwitchRequest) {
        match request {
            SwitchRequest::Stations { from, entries } => {
                let start = from.unwrap_or(usize::MAX);
                *from = self.fdb.page(start, SWITCH_PAGE_LINES, |entry| {
                    // A worker does not allocate.
                    if entries.len() < entries.capacity() {
                        entries.push(entry);
                    }
                });
            }
            SwitchRequest::Vlans(frames) => {
                for (shown, own) in frames.iter_mut().zip(self.vlan_frames.iter()) {
                    *shown = *own;
                }
            }
            SwitchRequest::Loop(looping) => *looping = self.moves.take_worst(),
            SwitchRequest::Replace(table) => *table = self.replace(Arc::clone(table)),
        }
    }
}
