//! What is known of one neighbour.

use frame::Nanos;
use wire::MacAddress;

use super::NEVER;

/// The states of RFC 4861 section 7.3.2, and two more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is asked for, and never answered.
    Incomplete,
    /// It answered lately.
    Reachable,
    /// It answered a while ago, and nobody sent it anything since.
    Stale,
    /// It gets packets again; it is asked soon whether it is still there.
    Delay,
    /// It is asked whether it is still there.
    Probe,
    /// It did not answer; it is not asked again for a while.
    Failed,
    /// The kernel has its Ethernet address, and sees to it that it is right.
    Followed,
}

impl State {
    /// The name in tables and JSON, as `ip neighbour` has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Incomplete => "incomplete",
            Self::Reachable => "reachable",
            Self::Stale => "stale",
            Self::Delay => "delay",
            Self::Probe => "probe",
            Self::Failed => "failed",
            Self::Followed => "followed",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) state: State,
    /// Of no meaning where it never answered.
    pub(super) mac: MacAddress,
    /// Requests since the state began.
    pub(super) asked: u8,
    /// When the state began.
    pub(super) since: Nanos,
    /// When the state ends.
    pub(super) due: Nanos,
    /// The earliest of the timers that were set for it, [`NEVER`] for none. Another one that
    /// fires counts for nothing.
    pub(super) armed: Nanos,
}

impl Entry {
    pub(super) fn known(mac: MacAddress, state: State, now: Nanos) -> Self {
        Self {
            state,
            mac,
            asked: 0,
            since: now,
            due: now,
            armed: NEVER,
        }
    }

    pub(super) fn incomplete(now: Nanos) -> Self {
        Self::known(MacAddress::default(), State::Incomplete, now)
    }

    /// Whether it has an Ethernet address.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.state, State::Incomplete | State::Failed)
    }

    /// Whether it has this one.
    pub(super) fn has(&self, mac: MacAddress) -> bool {
        self.is_known() && self.mac == mac
    }

    pub(super) fn enter(&mut self, state: State, now: Nanos) {
        self.state = state;
        self.asked = 0;
        self.since = now;
    }

    /// Ethernet address and state after an answer (RFC 4861 section 7.2.5); `None` where it
    /// changes nothing.
    pub(super) fn after_answer(
        &self,
        told: Option<MacAddress>,
        solicited: bool,
        overrides: bool,
    ) -> Option<(MacAddress, State)> {
        let known = self.is_known().then_some(self.mac);
        let mac = told.or(known)?;
        let is_new = known != Some(mac);
        match known {
            Some(known) if is_new && !overrides => {
                let is_doubtful = self.state == State::Reachable;
                is_doubtful.then_some((known, State::Stale))
            }
            _ if solicited => Some((mac, State::Reachable)),
            _ => is_new.then_some((mac, State::Stale)),
        }
    }
}
