//! How many connections are in which state.

use super::State;

/// Connections by state; those in TIME_WAIT and those that are gone are not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts([u32; StateCounts::STATES.len()]);

impl StateCounts {
    /// The states that are counted, in the order in which a connection may have them.
    pub const STATES: [State; 8] = [
        State::SynSent,
        State::SynReceived,
        State::Established,
        State::FinWait1,
        State::FinWait2,
        State::CloseWait,
        State::Closing,
        State::LastAck,
    ];

    /// How many are in a state.
    #[must_use]
    pub fn of(&self, state: State) -> u32 {
        place(state).map_or(0, |at| self.0[at])
    }

    /// A connection begins in this state.
    pub(super) fn add(&mut self, state: State) {
        if let Some(at) = place(state) {
            self.0[at] += 1;
        }
    }

    /// A connection leaves one state for another, which may be the same.
    pub(super) fn pass(&mut self, before: State, after: State) {
        if before == after {
            return;
        }
        if let Some(at) = place(before) {
            self.0[at] -= 1;
        }
        self.add(after);
    }
}

fn place(state: State) -> Option<usize> {
    match state {
        State::SynSent => Some(0),
        State::SynReceived => Some(1),
        State::Established => Some(2),
        State::FinWait1 => Some(3),
        State::FinWait2 => Some(4),
        State::CloseWait => Some(5),
        State::Closing => Some(6),
        State::LastAck => Some(7),
        State::TimeWait | State::Closed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Cause;

    #[test]
    fn every_state_has_a_place_of_its_own() {
        for (at, state) in StateCounts::STATES.into_iter().enumerate() {
            assert_eq!(place(state), Some(at), "{state:?}");
        }
        let mut counts = StateCounts::default();
        counts.add(State::SynSent);
        for (before, after, of_after) in [
            (State::SynSent, State::Established, 1),
            (State::Established, State::Established, 1),
            (State::Established, State::FinWait1, 1),
            (State::FinWait1, State::TimeWait, 0),
            (State::TimeWait, State::Closed(Cause::Finished), 0),
        ] {
            counts.pass(before, after);
            assert_eq!(counts.of(after), of_after, "{before:?} {after:?}");
        }
        assert_eq!(counts, StateCounts::default());
    }
}
