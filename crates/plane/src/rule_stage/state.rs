//! What the flow table knows of a packet, for rules.

use table::Address;
use table::flows::Sighting;
use wire::{Family, FlowKey, Follow, Parsed};

use crate::Stateful;
use crate::stateful::{ANSWERED, Known, sighting};

/// As [`table::classify::Field::FlowState`] numbers them.
const NEW: u8 = 0;
const ESTABLISHED: u8 = 1;
const RELATED: u8 = 2;

impl Stateful {
    /// The state of a packet's flow: new until both ends have sent. `None` of what begins no flow
    /// and is of none.
    pub(crate) fn state_of(&self, bytes: &[u8], parsed: &Parsed) -> Option<u8> {
        match &wire::follow(bytes, parsed) {
            Follow::Of(key) | Follow::First { of: key, .. } => {
                let answered = self.is_answered(key);
                Some(if answered == Some(true) {
                    ESTABLISHED
                } else {
                    NEW
                })
            }
            Follow::Answer(key) => self.is_answered(key).map(|_| ESTABLISHED),
            Follow::Later(key) => self.is_answered(key).map(|_| ESTABLISHED),
            Follow::Error(key) => self.is_answered(key).map(|_| RELATED),
            Follow::None => None,
        }
    }

    /// Whether the other end of a flow has sent; `None` when there is no such flow.
    fn is_answered(&self, key: &FlowKey) -> Option<bool> {
        match key.family {
            Family::V4 => self.v4.is_answered(&sighting(key, &self.hash), self),
            _ => self.v6.is_answered(&sighting(key, &self.hash), self),
        }
    }
}

impl<A: Address> Known<A> {
    fn is_answered(&self, sighting: &Sighting<A>, stateful: &Stateful) -> Option<bool> {
        let mut place = [None];
        self.table.locate(&[*sighting], &mut place);
        let flow = place[0].and_then(|place| self.table.flow(place))?;
        let known = !flow.is_over(stateful.now);
        known.then(|| flow.state & ANSWERED != 0 || sighting.from != flow.first())
    }
}
