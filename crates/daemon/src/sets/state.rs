//! All sets as the keeper has them: changes are made here, without threads and without waiting.

use super::claims::{Claims, Giver, Letting, Tag};
use super::clock::Now;
use super::config::{Defaults, KeeperConfig, NewSettings, SetConfig};
use super::exceptions::LiveOn;
use super::name::SetName;
use super::refusal::Refusal;
use super::reply::LoadedList;
use super::request::{At, NewEntry};
use crate::journal::{KeptList, Op, Operations};
use plane::{Action, Policy, RuleTable, Ruleset, SetRule};
use std::sync::Arc;
use table::Entries;
use table::live::{COMMENT_BYTES_MAX, Change, ChangeError, Entry, LiveLists, Note, Outcome};

/// One set.
#[derive(Debug)]
pub(super) struct SetState {
    pub(super) name: SetName,
    pub(super) config: SetConfig,
    /// The rule in force: that of the configuration, or with another action.
    pub(super) rule: SetRule,
    /// Actions for a side or a port that were changed live.
    pub(super) on: Vec<LiveOn>,
    pub(super) loaded: Option<LoadedList>,
    pub(super) covered_v4: u64,
    /// When entries were last changed, milliseconds since 1970.
    pub(super) changed_ms: Option<u64>,
    /// What the list is known by that was loaded last, where it took force: it needs none again.
    pub(super) forced: Option<u64>,
    /// What the guards would refuse of the list if the set did more than count.
    pub(super) counted: Option<Box<str>>,
    /// The list that was loaded by hand and is kept.
    pub(super) list: Option<KeptList>,
    pub(super) refused: u64,
    pub(super) refusal: Option<String>,
}

/// All sets.
#[derive(Debug)]
pub(super) struct Sets {
    pub(super) live: LiveLists,
    pub(super) sets: Vec<SetState>,
    pub(super) claims: Claims,
    defaults: Defaults,
    packet_rules: Option<Arc<RuleTable>>,
    policy: Arc<Policy>,
}

/// Entries going in or out of one set by one hand.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    Add(Vec<NewEntry>),
    Delete(Vec<Entry>),
}

/// What an edit did, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) added: u64,
    pub(super) already_there: u64,
    /// Of those, entries that had a timeout and have none now.
    pub(super) made_permanent: u64,
    /// Of those, entries that have a timeout and had none.
    pub(super) made_timed: u64,
    pub(super) removed: u64,
    pub(super) was_not_there: u64,
    pub(super) still_there: u64,
}

impl Tally {
    fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Added => &mut self.added,
            Outcome::AlreadyThere => &mut self.already_there,
            Outcome::Removed => &mut self.removed,
            Outcome::StillThere => &mut self.still_there,
            Outcome::WasNotThere => &mut self.was_not_there,
        } += 1;
    }

    pub(super) fn add(&mut self, other: Self) {
        self.added += other.added;
        self.already_there += other.already_there;
        self.made_permanent += other.made_permanent;
        self.made_timed += other.made_timed;
        self.removed += other.removed;
        self.was_not_there += other.was_not_there;
        self.still_there += other.still_there;
    }
}

/// The same kind of change to one set, as one batch.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) set: usize,
    pub(super) giver: Giver,
    pub(super) edit: Edit,
}

impl Sets {
    /// Sets with nothing in them.
    pub(super) fn new(config: &KeeperConfig) -> Result<Self, Refusal> {
        let configs = config.sets.clone();
        let (defaults, packet_rules) = (config.defaults, config.packet_rules.clone());
        let rules = configs.iter().map(|config| config.rule.clone());
        let policy = policy(defaults, rules, packet_rules.clone())?;
        let named = configs.into_iter().map(|config| {
            let name = config.name().map_err(|error| Refusal::Policy {
                reason: error.to_string(),
            })?;
            Ok(SetState {
                name,
                rule: config.rule.clone(),
                on: Vec::new(),
                config,
                loaded: None,
                covered_v4: 0,
                changed_ms: None,
                forced: None,
                counted: None,
                list: None,
                refused: 0,
                refusal: None,
            })
        });
        let sets: Vec<SetState> = named.collect::<Result<_, Refusal>>()?;
        let live = LiveLists::new(vec![Entries::default(); sets.len()]);
        Ok(Self {
            live: live.map_err(|error| table_refusal(&error.into()))?,
            sets,
            claims: Claims::default(),
            defaults,
            packet_rules,
            policy,
        })
    }

    /// The place of a set.
    pub(super) fn place(&self, name: &SetName) -> Result<usize, Refusal> {
        let place = self.sets.iter().position(|set| set.name == *name);
        place.ok_or_else(|| Refusal::NoSuchSet {
            set: name.clone(),
            sets: self.sets.iter().map(|set| set.name.clone()).collect(),
        })
    }

    /// What workers are to judge by.
    pub(super) fn ruleset(&self) -> Result<Ruleset, Refusal> {
        let lists = Arc::clone(&self.live.version().lists);
        Ruleset::new(lists, Arc::clone(&self.policy)).map_err(|error| Refusal::Policy {
            reason: error.to_string(),
        })
    }

    /// Makes the changes of groups that do not depend on one another's order: all of one kind and
    /// giver. None is made where one is refused.
    pub(super) fn apply(
        &mut self,
        groups: &[Group],
        now: Now,
        journal: &mut Operations,
    ) -> Result<Vec<Tally>, Refusal> {
        let mut changes = Vec::new();
        let mut spared = Vec::with_capacity(groups.len());
        for group in groups {
            let (before, mut tally) = (changes.len(), Tally::default());
            self.changes_of(group, now, &mut changes, &mut tally);
            spared.push((group.edit.len() - (changes.len() - before), tally));
        }
        let applied = self.live.apply(&changes, now.mono);
        let applied = applied.map_err(|error| table_refusal(&error))?;
        let mut outcomes = applied.outcomes.into_iter();
        let mut tallies = Vec::with_capacity(groups.len());
        for (group, (spared, mut tally)) in groups.iter().zip(spared) {
            tally.was_not_there += spared as u64;
            for outcome in outcomes.by_ref().take(group.edit.len() - spared) {
                tally.count(outcome);
            }
            if matches!(group.edit, Edit::Delete(_)) {
                // Where another claim stays the change was an addition.
                tally.still_there += std::mem::take(&mut tally.already_there);
            }
            tallies.push(tally);
            self.sets[group.set].changed_ms = Some(now.wall_ms);
            self.record(group, now, journal);
        }
        let live = &self.live;
        self.claims
            .prune(|list, entry| live.note(list, entry).is_some());
        Ok(tallies)
    }

    /// The changes that a group amounts to; counts the entries that go on for another time.
    fn changes_of(
        &mut self,
        group: &Group,
        now: Now,
        changes: &mut Vec<Change>,
        tally: &mut Tally,
    ) {
        let (list, giver) = (group.set, group.giver);
        match &group.edit {
            Edit::Add(entries) => {
                for new in entries {
                    let held = self.live.note(list, new.entry);
                    let was_timed = held.as_ref().map(|held| held.expires.is_some());
                    let note = note_of(new, giver, now);
                    let note = self.claims.give((list, new.entry), giver, note, held, now);
                    match (was_timed, note.expires.is_some()) {
                        (Some(true), false) => tally.made_permanent += 1,
                        (Some(false), true) => tally.made_timed += 1,
                        _ => {}
                    }
                    changes.push(add(list, new.entry, note));
                }
            }
            Edit::Delete(entries) if giver == Giver::Hand => {
                for &entry in entries {
                    self.claims.forget(list, entry);
                    changes.push(Change::remove(list, entry));
                }
            }
            Edit::Delete(entries) => {
                for &entry in entries {
                    let held = self.live.note(list, entry);
                    match self.claims.take_back((list, entry), giver, held, now) {
                        Letting::NotHis => {}
                        Letting::Gone => changes.push(Change::withdraw(list, entry)),
                        Letting::Stays(note) => changes.push(add(list, entry, note)),
                    }
                }
            }
        }
    }

    fn record(&self, group: &Group, now: Now, journal: &mut Operations) {
        let name = &self.sets[group.set].name;
        match &group.edit {
            Edit::Add(entries) => {
                for new in entries {
                    let expires_ms = new.timeout.map(|time| now.wall_of(now.after(time)));
                    journal.push(
                        name,
                        &Op::Add {
                            entry: new.entry,
                            giver: group.giver as u8,
                            since_ms: now.wall_ms,
                            expires_ms,
                            comment: new.comment.as_deref().map(Into::into),
                        },
                    );
                }
            }
            Edit::Delete(entries) => {
                for &entry in entries {
                    let giver = group.giver as u8;
                    journal.push(name, &Op::Delete { entry, giver });
                }
            }
        }
    }

    /// Puts back what was kept of entries: with the times they had.
    pub(super) fn restore(
        &mut self,
        set: usize,
        kept: &[(Giver, Entry, Note)],
        now: Now,
    ) -> Result<(), Refusal> {
        let mut changes = Vec::with_capacity(kept.len());
        for (giver, entry, note) in kept {
            let held = self.live.note(set, *entry);
            let note = self
                .claims
                .give((set, *entry), *giver, note.clone(), held, now);
            changes.push(add(set, *entry, note));
        }
        let applied = self.live.apply(&changes, now.mono);
        applied.map_err(|error| table_refusal(&error))?;
        Ok(())
    }

    /// Takes out what is over, some hundred at most; true when anything went.
    pub(super) fn expire(&mut self, now: Now) -> Result<bool, Refusal> {
        let expired = self.live.expire(now.mono);
        let expired = expired.map_err(|error| table_refusal(&error))?;
        Ok(expired.is_some())
    }

    /// Changes an action; what it was before.
    pub(super) fn set_action(
        &mut self,
        set: usize,
        action: Action,
        at: Option<At>,
        journal: &mut Operations,
    ) -> Result<Action, Refusal> {
        let state = &mut self.sets[set];
        if let Some(at) = at {
            let op = state.set_on(at, action);
            journal.push(&state.name, &op);
            state.warn_of_counted();
            self.policy = self.new_policy()?;
            return Ok(self.sets[set].rule.action);
        }
        if let Some(op) = state.end_on() {
            journal.push(&state.name, &op);
        }
        let before = std::mem::replace(&mut state.rule.action, action);
        let configured = state.config.rule.action;
        let op = Op::Action {
            configured: action_code(configured),
            live: action_code(action),
        };
        journal.push(&state.name, &op);
        state.warn_of_counted();
        self.policy = self.new_policy()?;
        Ok(before)
    }

    /// Takes new settings over, which must be those of the same sets; the sets that have other
    /// ones now.
    pub(super) fn reload(
        &mut self,
        new: NewSettings,
        journal: &mut Operations,
    ) -> Result<Vec<SetName>, Refusal> {
        let configs = new.sets;
        let same = configs.len() == self.sets.len()
            && configs
                .iter()
                .zip(&self.sets)
                .all(|(config, set)| config.rule.name == set.name.as_str());
        if !same {
            return Err(Refusal::NeedsRestart {
                what: "adding, removing, renaming or reordering sets".to_owned(),
            });
        }
        let mut changed = Vec::new();
        for (config, set) in configs.into_iter().zip(&mut self.sets) {
            if set.config == config {
                continue;
            }
            // An action that was changed live stays unless the configuration speaks of it anew.
            let live = (set.rule.action, set.config.rule.action);
            let is_same = set.config.rule == config.rule;
            set.rule = config.rule.clone();
            if live.1 == config.rule.action {
                set.rule.action = live.0;
            } else {
                let configured = action_code(config.rule.action);
                let live = configured;
                journal.push(&set.name, &Op::Action { configured, live });
            }
            set.config = config;
            match is_same {
                true => set.apply_on(),
                false => {
                    let ended = set.end_on();
                    ended.iter().for_each(|op| journal.push(&set.name, op));
                }
            }
            set.warn_of_counted();
            changed.push(set.name.clone());
        }
        self.set_rules(new.packet_rules)?;
        Ok(changed)
    }

    /// Has other rules of packets hold with these sets.
    pub(super) fn set_rules(&mut self, rules: Option<Arc<RuleTable>>) -> Result<(), Refusal> {
        self.packet_rules = rules;
        self.renew_policy()
    }

    /// Makes the policy say what the rules say.
    pub(super) fn renew_policy(&mut self) -> Result<(), Refusal> {
        self.policy = self.new_policy()?;
        Ok(())
    }

    fn new_policy(&self) -> Result<Arc<Policy>, Refusal> {
        let rules = self.sets.iter().map(|set| set.rule.clone());
        policy(self.defaults, rules, self.packet_rules.clone())
    }
}

impl Edit {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Add(entries) => entries.len(),
            Self::Delete(entries) => entries.len(),
        }
    }

    /// Looks for what would be refused.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let Self::Add(entries) = self else {
            return Ok(());
        };
        let bytes = |new: &NewEntry| new.comment.as_ref().map_or(0, |comment| comment.len());
        match entries.iter().find(|new| bytes(new) > COMMENT_BYTES_MAX) {
            None => Ok(()),
            Some(new) => Err(Refusal::CommentTooLong {
                entry: new.entry,
                bytes: bytes(new),
            }),
        }
    }
}

fn policy(
    defaults: Defaults,
    rules: impl Iterator<Item = SetRule>,
    packet_rules: Option<Arc<RuleTable>>,
) -> Result<Arc<Policy>, Refusal> {
    let mut policy = defaults
        .policy(rules.collect())
        .map_err(|error| Refusal::Policy {
            reason: error.to_string(),
        })?;
    policy.packet_rules = packet_rules;
    Ok(Arc::new(policy))
}

fn note_of(new: &NewEntry, giver: Giver, now: Now) -> Note {
    let since_ms = now.wall_ms;
    Note {
        expires: new.timeout.map(|timeout| now.after(timeout)),
        comment: new.comment.clone(),
        tag: Tag { giver, since_ms }.word(),
    }
}

fn add(list: usize, entry: Entry, note: Note) -> Change {
    Change {
        list,
        entry,
        action: table::live::Action::Add(note),
    }
}

pub(super) fn table_refusal(error: &ChangeError) -> Refusal {
    Refusal::Table {
        reason: error.to_string(),
    }
}

/// As the journal has it.
pub(super) fn action_code(action: Action) -> u8 {
    match action {
        Action::Block => 1,
        Action::Count => 2,
        Action::Allow => 3,
    }
}

pub(super) fn action_of(code: u8) -> Option<Action> {
    match code {
        1 => Some(Action::Block),
        2 => Some(Action::Count),
        3 => Some(Action::Allow),
        _ => None,
    }
}

impl SetState {
    /// What a snapshot of the journal says of it beside its entries.
    pub(super) fn ops(&self) -> Vec<Op> {
        let (configured, live) = (self.config.rule.action, self.rule.action);
        let action = (configured != live).then(|| Op::Action {
            configured: action_code(configured),
            live: action_code(live),
        });
        let fingerprint = self.forced;
        let forced = fingerprint.map(|_| Op::Forced { fingerprint });
        let kept = self.list.clone().map(|list| Op::List { list: Some(list) });
        let on = self.has_on().then(|| self.on_op());
        let ops = action.into_iter().chain(forced).chain(kept);
        ops.chain(on).collect()
    }
}
