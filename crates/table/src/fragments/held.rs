//! What waits for the first pieces of datagrams: lists in places that all share.

use super::record::NONE;

/// The list of one datagram, oldest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    first: u32,
    last: u32,
}

impl Waiting {
    pub(super) const NONE: Self = Self {
        first: NONE,
        last: NONE,
    };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

#[derive(Debug)]
struct Place<T> {
    item: Option<T>,
    next: u32,
    /// The record it belongs to.
    owner: u32,
}

/// The places.
#[derive(Debug)]
pub(super) struct Held<T> {
    places: Box<[Place<T>]>,
    /// The first free one.
    free: u32,
    len: usize,
}

impl<T> Held<T> {
    pub(super) fn new(count: u32) -> Self {
        let place = |at: u32| Place {
            item: None,
            next: if at + 1 == count { NONE } else { at + 1 },
            owner: NONE,
        };
        Self {
            places: (0..count).map(place).collect(),
            free: 0,
            len: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.places)
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.free == NONE
    }

    /// Adds to the end of a list; gives the thing back where there is no place.
    pub(super) fn push(&mut self, list: &mut Waiting, owner: u32, item: T) -> Result<(), T> {
        let at = self.free;
        let Some(place) = self.places.get_mut(at as usize) else {
            return Err(item);
        };
        self.free = place.next;
        *place = Place {
            item: Some(item),
            next: NONE,
            owner,
        };
        if let Some(last) = self.places.get_mut(list.last as usize) {
            last.next = at;
        } else {
            list.first = at;
        }
        list.last = at;
        self.len += 1;
        Ok(())
    }

    /// Empties a list, oldest first; how many there were.
    #[inline]
    pub(super) fn take(&mut self, list: &mut Waiting, give: &mut impl FnMut(T)) -> usize {
        let mut at = std::mem::replace(list, Waiting::NONE).first;
        let mut count = 0;
        while let Some(place) = self.places.get_mut(at as usize) {
            if let Some(item) = place.item.take() {
                give(item);
                count += 1;
            }
            let next = std::mem::replace(&mut place.next, self.free);
            self.free = at;
            at = next;
        }
        self.len -= count;
        count
    }

    /// The record of a place at random; `None` where the place is free.
    pub(super) fn owner(&self, draw: u32) -> Option<u32> {
        let at = (u64::from(draw) * self.places.len() as u64) >> 32;
        let place = &self.places[at as usize];
        place.item.is_some().then_some(place.owner)
    }
}
