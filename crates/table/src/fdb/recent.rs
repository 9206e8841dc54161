//! What a port learned last: where it looks for an entry of its own to give up.

/// Places that are remembered.
const RECENT: usize = 64;

/// The places that a port's newest entries were put into, the oldest first out. An entry may
/// have left its place since: whoever takes one looks.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    slots: [u32; RECENT],
    /// Where the oldest is, and how many there are.
    head: usize,
    len: usize,
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            slots: [0; RECENT],
            head: 0,
            len: 0,
        }
    }
}

impl Recent {
    /// Remembers a place; the oldest is lost where there is no room.
    pub(super) fn push(&mut self, slot: usize) {
        if self.len == RECENT {
            self.pop();
        }
        self.slots[(self.head + self.len) % RECENT] = slot as u32; // fewer than 2^32 places
        self.len += 1;
    }

    /// The oldest.
    pub(super) fn pop(&mut self) -> Option<usize> {
        self.len = self.len.checked_sub(1)?;
        let slot = self.slots[self.head];
        self.head = (self.head + 1) % RECENT;
        Some(slot as usize)
    }
}
