//! Connections by number.

use super::connection::Connection;

/// Names a connection of one [`super::Tcp`]. A number is used again, with another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId {
    pub(super) index: u32,
    generation: u32,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    connection: Option<Box<Connection>>,
}

/// Connections, found by their numbers.
#[derive(Debug, Default)]
pub(super) struct Slab {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Slab {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, connection: Connection) -> ConnectionId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                connection: None,
            });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.connection = Some(Box::new(connection));
        ConnectionId {
            index,
            generation: slot.generation,
        }
    }

    pub(super) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(id.index as usize)?;
        match slot.generation == id.generation {
            true => slot.connection.as_deref_mut(),
            false => None,
        }
    }

    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<Box<Connection>> {
        self.get_mut(id)?;
        let slot = &mut self.slots[id.index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.index);
        slot.connection.take()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        let slots = (0u32..).zip(&self.slots);
        slots.filter_map(|(index, slot)| {
            let id = ConnectionId {
                index,
                generation: slot.generation,
            };
            Some((id, slot.connection.as_deref()?))
        })
    }
}
