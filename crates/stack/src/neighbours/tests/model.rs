//! The machine once more, in the words of RFC 4861: a list that is searched from end to end.

use super::*;

pub(super) struct Model {
    settings: NeighbourSettings,
    list: Vec<Known>,
    /// What came up since [`Model::poll`].
    events: Vec<Event>,
}

struct Known {
    key: Key,
    state: State,
    mac: Option<MacAddress>,
    requests: u8,
    /// When the time of the state, or of its last request, is over.
    over: Nanos,
}

impl Model {
    pub(super) fn new(settings: NeighbourSettings) -> Self {
        Self {
            settings,
            list: Vec::new(),
            events: Vec::new(),
        }
    }

    fn find(&mut self, key: Key) -> Option<&mut Known> {
        self.list.iter_mut().find(|known| known.key == key)
    }

    pub(super) fn lookup(&mut self, key: Key, now: Nanos) -> Lookup {
        let delay = self.settings.delay;
        let Some(known) = self.find(key) else {
            return Lookup::Unknown;
        };
        if known.state == State::Stale {
            (known.state, known.over) = (State::Delay, now.after(delay));
        }
        match (known.state, known.mac) {
            (State::Failed, _) => Lookup::Failed,
            (_, Some(mac)) => Lookup::Known(mac),
            (_, None) => Lookup::Unknown,
        }
    }

    pub(super) fn want(&mut self, key: Key, now: Nanos) -> bool {
        if let Some(known) = self.find(key) {
            return known.state == State::Incomplete;
        }
        let waits = |known: &Known| known.state == State::Incomplete;
        if self.list.iter().filter(|known| waits(known)).count() == self.settings.max / 4 {
            // New ones are added at the end.
            let oldest = self.list.iter().position(waits).expect("there are some");
            let key = self.list.remove(oldest).key;
            self.events.push(Event::Displaced { key });
        }
        self.list.push(Known {
            key,
            state: State::Incomplete,
            mac: None,
            requests: 1,
            over: now.after(self.settings.ask_every),
        });
        self.events.push(Event::Ask { key, to: None });
        true
    }

    pub(super) fn hear(&mut self, heard: &Heard, now: Nanos) {
        let told = heard.mac;
        let is_fit = |mac: MacAddress| mac.0[0] & 1 == 0 && mac != MacAddress([0; 6]);
        if told.is_some_and(|mac| !is_fit(mac)) {
            return;
        }
        let before = self.find(heard.key).map(|known| (known.state, known.mac));
        let (state, mac) = match (before, heard.how, told) {
            // Section 7.2.3, and RFC 826.
            (None, How::Request { of_us: true }, Some(mac)) => {
                self.list.push(Known {
                    key: heard.key,
                    state: State::Stale,
                    mac: None,
                    requests: 0,
                    over: now,
                });
                (State::Stale, mac)
            }
            (Some((_, known)), How::Request { .. }, Some(mac)) if known != Some(mac) => {
                (State::Stale, mac)
            }
            // Section 7.2.5: none is created.
            (None, ..) | (_, How::Request { .. }, _) => return,
            (Some((_, None)), How::Answer { .. }, None) => return,
            (
                Some((_, None)),
                How::Answer {
                    solicited: true, ..
                },
                Some(mac),
            ) => (State::Reachable, mac),
            (Some((_, None)), How::Answer { .. }, Some(mac)) => (State::Stale, mac),
            (
                Some((state, Some(known))),
                How::Answer {
                    solicited,
                    overrides,
                },
                told,
            ) => {
                let other = told.filter(|mac| *mac != known);
                match (overrides, other, solicited) {
                    (false, Some(_), _) if state == State::Reachable => (State::Stale, known),
                    (false, Some(_), _) => return,
                    (_, _, true) => (State::Reachable, other.unwrap_or(known)),
                    (_, Some(mac), false) => (State::Stale, mac),
                    (_, None, false) => return,
                }
            }
        };
        self.enter(heard.key, state, mac, now);
    }

    fn enter(&mut self, key: Key, state: State, mac: MacAddress, now: Nanos) {
        let length = match state {
            State::Reachable => self.settings.reachable_for,
            _ => self.settings.forget_after,
        };
        let known = self.find(key).expect("it is there");
        let waited = matches!(known.state, State::Incomplete | State::Failed);
        (known.state, known.mac, known.requests) = (state, Some(mac), 0);
        known.over = now.after(length);
        if waited {
            self.events.push(Event::Resolved { key, mac });
        }
    }

    pub(super) fn poll(&mut self, now: Nanos) -> Vec<Event> {
        let (settings, mut events) = (self.settings, std::mem::take(&mut self.events));
        self.list.retain_mut(|known| {
            if known.over > now {
                return true;
            }
            let is_last = known.requests >= settings.asks;
            let (state, length) = match known.state {
                State::Reachable => (State::Stale, settings.forget_after),
                State::Stale | State::Failed => return false,
                State::Followed => unreachable!("the model follows no kernel"),
                State::Probe if is_last => return false,
                State::Incomplete if is_last => (State::Failed, settings.failed_for),
                State::Delay | State::Probe => (State::Probe, settings.ask_every),
                State::Incomplete => (State::Incomplete, settings.ask_every),
            };
            known.over = now.after(length);
            let key = known.key;
            match state {
                State::Failed => events.push(Event::Failed { key }),
                State::Probe | State::Incomplete => {
                    known.requests += 1;
                    events.push(Event::Ask { key, to: known.mac });
                }
                _ => {}
            }
            known.state = state;
            true
        });
        events
    }

    /// Keys and states, in order.
    pub(super) fn states(&self) -> Vec<(Key, State)> {
        let mut states: Vec<_> = self.list.iter().map(|one| (one.key, one.state)).collect();
        states.sort_unstable_by_key(|one| one.0);
        states
    }
}
