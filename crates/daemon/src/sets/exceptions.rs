//! Actions that were changed live for one side or one port: beside what the configuration says, and
//! after it, so that they hold.

use super::request::At;
use super::state::{SetState, action_code, action_of};
use crate::journal::{KeptSet, On, Op, Operations};
use frame::PortId;
use plane::{Action, Exception, Ports, SetRule, Sides};

/// One such action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LiveOn {
    at: At,
    action: Action,
}

impl LiveOn {
    fn exception(&self) -> Exception {
        Exception {
            sides: self.at.sides,
            ports: match &self.at.port {
                Some((id, _)) => Ports::NONE.with(*id),
                None => Ports::ALL,
            },
            action: self.action,
        }
    }

    /// Whether the new one says all that this one says.
    fn is_covered_by(&self, new: &At) -> bool {
        let sides = self.at.sides;
        let is_within = (new.sides.src || !sides.src) && (new.sides.dst || !sides.dst);
        is_within && (new.port.is_none() || new.port == self.at.port)
    }

    fn kept(&self) -> On {
        let Sides { src, dst } = self.at.sides;
        On {
            sides: u8::from(src) | u8::from(dst) << 1,
            port: self.at.port.as_ref().map(|(_, name)| name.clone()),
            action: action_code(self.action),
        }
    }

    /// None where no port has that name any more.
    fn of(kept: &On, ports: &[String]) -> Option<Self> {
        let port = match &kept.port {
            None => None,
            Some(name) => {
                let place = ports.iter().position(|port| **port == **name)?;
                Some((PortId(u8::try_from(place).ok()?), name.clone()))
            }
        };
        let sides = Sides {
            src: kept.sides & 1 != 0,
            dst: kept.sides & 2 != 0,
        };
        let at = At { sides, port };
        let action = action_of(kept.action)?;
        Some(Self { at, action })
    }
}

/// What a rule of the configuration is known by: another one ends what was changed live beside it.
fn known_by(rule: &SetRule) -> u32 {
    crc32fast::hash(format!("{rule:?}").as_bytes())
}

impl SetState {
    /// Adds one; those that it covers go.
    pub(super) fn set_on(&mut self, at: At, action: Action) -> Op {
        self.on.retain(|old| !old.is_covered_by(&at));
        self.on.push(LiveOn { at, action });
        self.apply_on();
        self.on_op()
    }

    /// Ends all; what the journal is to be told, if there were any.
    pub(super) fn end_on(&mut self) -> Option<Op> {
        if self.on.is_empty() {
            return None;
        }
        self.on.clear();
        self.apply_on();
        Some(self.on_op())
    }

    /// Makes the rule say so.
    pub(super) fn apply_on(&mut self) {
        self.rule
            .exceptions
            .clone_from(&self.config.rule.exceptions);
        self.rule
            .exceptions
            .extend(self.on.iter().map(LiveOn::exception));
    }

    pub(super) fn has_on(&self) -> bool {
        !self.on.is_empty()
    }

    pub(super) fn on_op(&self) -> Op {
        Op::On {
            rule: known_by(&self.config.rule),
            on: self.on.iter().map(LiveOn::kept).collect(),
        }
    }

    /// Puts back what was changed live, where the configuration says what it said then. Elsewhere
    /// it has ended for good: without a word in the journal it would come back with the old
    /// configuration.
    pub(super) fn restore_actions(
        &mut self,
        kept: &KeptSet,
        ports: &[String],
        journal: &mut Operations,
    ) {
        let action = self.config.rule.action;
        let now = action_code(action);
        if let Some((configured, live)) = kept.action {
            match action_of(live) {
                Some(live) if configured == now => self.rule.action = live,
                live => {
                    journal.push(
                        &self.name,
                        &Op::Action {
                            configured: now,
                            live: now,
                        },
                    );
                    let live = live.map_or("of another kind", Action::name);
                    tracing::info!(
                        set = %self.name,
                        "the live action {live} has ended: the configuration has {action} now"
                    );
                }
            }
        }
        match &kept.on {
            Some((rule, on)) if *rule == known_by(&self.config.rule) => {
                self.on = on.iter().filter_map(|on| LiveOn::of(on, ports)).collect();
                self.apply_on();
            }
            Some(_) => {
                journal.push(&self.name, &self.on_op());
                tracing::info!(
                    set = %self.name,
                    "live actions for sides and ports have ended: the configuration is another"
                );
            }
            None => {}
        }
    }
}
