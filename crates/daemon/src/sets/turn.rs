//! One turn of the keeper: what is asked, put together so that one version serves all of it.

use super::claims::Giver;
use super::clock;
use super::config::NewSettings;
use super::keeper::Running;
use super::message::{
    Again, Answer, Begun, Finished, Finishing, Listed, Message, NewAction, SetEdit, Summary,
};
use super::name::SetName;
use super::refusal::Refusal;
use super::reply::LoadedList;
use super::request::{LoadedFrom, NewEntry};
use super::save::Saved;
use super::state::{Edit, Group, Tally, table_refusal};
use crate::journal::{KeptList, Op};
use plane::RuleTable;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use std::vec::IntoIter;
use table::live::{self, Entry};

/// Entries that one turn takes: some milliseconds of work, for which a single entry that comes
/// meanwhile waits.
const TURN_ENTRIES: usize = 2048;

/// What one turn has gathered.
#[derive(Default)]
pub(super) struct Turn {
    /// All of one kind and giver.
    groups: Vec<Group>,
    /// One a group.
    asked: Vec<Asked>,
    entries: usize,
    /// Answers that wait until workers have the version and the journal is written.
    answers: Vec<Deferred>,
    stop: Option<Answer<()>>,
}

/// An answer that waits for what it promises: whether that was done is its argument.
type Deferred = Box<dyn FnOnce(&Result<(), Refusal>)>;

/// Who asked for a group.
enum Asked {
    /// A request that is whole.
    Whole(Answer<Tally>),
    /// A slice of a bulk, which comes back to the queue.
    Slice(Bulk),
}

/// A request of many entries, made in slices.
pub(super) struct Bulk {
    set: usize,
    giver: Giver,
    left: Left,
    sum: Tally,
    answer: BulkAnswer,
}

enum Left {
    Add(IntoIter<NewEntry>),
    Delete(IntoIter<Entry>),
}

enum BulkAnswer {
    Edited(Answer<Tally>),
    /// A flush, which has an answer to all but its dynamic part.
    Flushed(Answer<Finished>, Finished),
}

impl BulkAnswer {
    fn refuse(self, turn: &mut Turn, refusal: Refusal) {
        match self {
            Self::Edited(answer) => turn.tell(answer, Err(refusal)),
            Self::Flushed(answer, _) => turn.tell(answer, Err(refusal)),
        }
    }

    fn done(self, turn: &mut Turn, sum: Tally) {
        match self {
            Self::Edited(answer) => turn.tell_change(answer, Ok(sum)),
            Self::Flushed(answer, finished) => turn.tell_change(answer, Ok(finished)),
        }
    }
}

impl Turn {
    pub(super) fn is_full(&self) -> bool {
        self.entries >= TURN_ENTRIES || self.stop.is_some()
    }

    /// Answers all. True when the keeper is to end.
    pub(super) fn answer(self, done: &Result<(), Refusal>) -> bool {
        for answer in self.answers {
            answer(done);
        }
        match self.stop {
            Some(stop) => {
                stop.send(Ok(()));
                true
            }
            None => false,
        }
    }

    /// Answers when the turn is over.
    fn tell<T: 'static>(&mut self, answer: Answer<T>, told: Result<T, Refusal>) {
        self.answers.push(Box::new(move |_| answer.send(told)));
    }

    /// Answers what changes sets. Who was refused learns why; whose change was made learns what it
    /// lacks.
    fn tell_change<T: 'static>(&mut self, answer: Answer<T>, told: Result<T, Refusal>) {
        self.answers
            .push(Box::new(move |done: &Result<(), Refusal>| {
                answer.send(told.and_then(|told| done.clone().map(|()| told)));
            }));
    }
}

impl Running {
    /// Takes one message into the turn.
    pub(super) fn take(&mut self, message: Message, turn: &mut Turn) {
        if !matches!(message, Message::Edit(..) | Message::Stop(_)) {
            self.settle(turn);
        }
        match message {
            Message::List(answer) => {
                let places = 0..self.sets.sets.len();
                let facts = places.map(|place| self.sets.facts(place)).collect();
                turn.tell(answer, Ok(facts));
            }
            Message::Show(set, answer) => {
                let place = self.sets.place(&set);
                turn.tell(answer, place.map(|place| self.sets.facts(place)));
            }
            Message::Test(address, answer) => {
                turn.tell(answer, Ok(self.sets.test(address, self.now())));
            }
            Message::Edit(edit, answer) => self.edit(*edit, answer, turn),
            Message::Amend(amending, answer) => turn.tell_change(answer, self.amend(*amending)),
            Message::SetAction(new, answer) => turn.tell_change(answer, self.set_action(*new)),
            Message::Reload(new, answer) => turn.tell_change(answer, self.reload(new)),
            Message::SetRules(rules, answer) => turn.tell_change(answer, self.set_rules(rules)),
            Message::Begin(set, answer) => turn.tell(answer, self.begin(&set)),
            Message::Refresh(mut sorted, answer) => {
                self.sets.live.refresh(&mut sorted);
                turn.tell(answer, Ok(sorted));
            }
            Message::Finish(finishing, answer) => self.finish(*finishing, answer, turn),
            Message::Refused(set, why, answer) => turn.tell(answer, self.refused(&set, why)),
            Message::Listing(set, answer) => turn.tell(answer, self.listing(&set)),
            Message::Past(answer) => turn.tell(answer, Ok(self.sets.past())),
            Message::Resume(past, answer) => turn.tell(answer, self.sets.resume(*past)),
            Message::Keeping(answer) => {
                let keeping = self.sets.kept(&self.left, self.now());
                turn.tell(answer, Ok(keeping));
            }
            Message::Compacted(ended, answer) => {
                if let Some(journal) = &mut self.journal {
                    journal.end_compaction(ended);
                }
                turn.tell(answer, Ok(()));
            }
            Message::Stop(answer) => turn.stop = Some(answer),
        }
    }

    fn set_action(&mut self, new: NewAction) -> Result<plane::Action, Refusal> {
        let NewAction { set, action, at } = new;
        let place = self.sets.place(&set)?;
        let before = self
            .sets
            .set_action(place, action, at, &mut self.operations)?;
        self.policy_changed();
        Ok(before)
    }

    fn reload(&mut self, new: NewSettings) -> Result<Vec<SetName>, Refusal> {
        let changed = self.sets.reload(new, &mut self.operations)?;
        self.policy_changed();
        Ok(changed)
    }

    fn set_rules(&mut self, rules: Option<Arc<RuleTable>>) -> Result<(), Refusal> {
        self.sets.set_rules(rules)?;
        self.policy_changed();
        Ok(())
    }

    fn edit(&mut self, asked: SetEdit, answer: Answer<Tally>, turn: &mut Turn) {
        let SetEdit { set, edit, origin } = asked;
        let giver = Giver::of(origin).ok_or(Refusal::NotSingle { origin });
        let placed = giver.and_then(|giver| Ok((giver, self.sets.place(&set)?)));
        let placed = placed.and_then(|placed| edit.check().map(|()| placed));
        let placed = match &edit {
            Edit::Add(entries) => {
                placed.and_then(|placed| self.room_for(entries.len()).map(|()| placed))
            }
            Edit::Delete(_) => placed,
        };
        let (giver, set) = match placed {
            Ok(placed) => placed,
            Err(refusal) => return turn.tell(answer, Err(refusal)),
        };
        if turn.entries + edit.len() <= TURN_ENTRIES {
            let group = Group { set, giver, edit };
            return self.join(group, Asked::Whole(answer), turn);
        }
        let left = match edit {
            Edit::Add(entries) => Left::Add(entries.into_iter()),
            Edit::Delete(entries) => Left::Delete(entries.into_iter()),
        };
        self.bulks.push_back(Bulk {
            set,
            giver,
            left,
            sum: Tally::default(),
            answer: BulkAnswer::Edited(answer),
        });
    }

    /// Puts a group into the turn, behind those that must come before it.
    fn join(&mut self, group: Group, asked: Asked, turn: &mut Turn) {
        if turn
            .groups
            .last()
            .is_some_and(|last| !last.goes_with(&group))
        {
            self.settle(turn);
        }
        turn.entries += group.edit.len();
        turn.groups.push(group);
        turn.asked.push(asked);
    }

    /// Takes the next slice of the bulk that waits longest.
    pub(super) fn go_on(&mut self, turn: &mut Turn) {
        let Some(mut bulk) = self.bulks.pop_front() else {
            return;
        };
        // However busy others are, a bulk goes on.
        let room = TURN_ENTRIES
            .saturating_sub(turn.entries)
            .max(TURN_ENTRIES / 4);
        let edit = match &mut bulk.left {
            Left::Add(left) => Edit::Add(left.by_ref().take(room).collect()),
            Left::Delete(left) => Edit::Delete(left.by_ref().take(room).collect()),
        };
        let group = Group {
            set: bulk.set,
            giver: bulk.giver,
            edit,
        };
        self.join(group, Asked::Slice(bulk), turn);
    }

    /// Makes the changes that were gathered.
    pub(super) fn settle(&mut self, turn: &mut Turn) {
        let groups = std::mem::take(&mut turn.groups);
        let asked = std::mem::take(&mut turn.asked);
        if groups.is_empty() {
            return;
        }
        let now = self.now();
        let tallies = match self.sets.apply(&groups, now, &mut self.operations) {
            Ok(tallies) => tallies.into_iter().map(Ok).collect(),
            // One by one: who is not to blame is served.
            Err(_) => groups
                .iter()
                .map(|group| {
                    let one = std::slice::from_ref(group);
                    let applied = self.sets.apply(one, now, &mut self.operations);
                    applied.map(|tallies| tallies.into_iter().next().unwrap_or_default())
                })
                .collect::<Vec<_>>(),
        };
        for (asked, tally) in asked.into_iter().zip(tallies) {
            match asked {
                Asked::Whole(answer) => turn.tell_change(answer, tally),
                Asked::Slice(bulk) => self.sliced(bulk, tally, turn),
            }
        }
    }

    fn sliced(&mut self, mut bulk: Bulk, tally: Result<Tally, Refusal>, turn: &mut Turn) {
        match tally {
            Err(refusal) => return bulk.answer.refuse(turn, refusal),
            Ok(tally) => bulk.sum.add(tally),
        }
        let left = match &bulk.left {
            Left::Add(left) => left.len(),
            Left::Delete(left) => left.len(),
        };
        if left > 0 {
            return self.bulks.push_back(bulk);
        }
        bulk.answer.done(turn, bulk.sum);
    }

    fn begin(&mut self, set: &SetName) -> Result<Begun, Refusal> {
        let place = self.sets.place(set)?;
        let load = self.sets.live.begin_load(place);
        let load = load.map_err(|error| table_refusal(&error))?;
        let guards = self.sets.guards(place);
        Ok(Begun {
            set: place,
            load,
            guards,
        })
    }

    fn finish(&mut self, finishing: Finishing, answer: Answer<Finished>, turn: &mut Turn) {
        let Finishing { summary, loaded } = finishing;
        let covered_v4 = loaded.facts().map_or(0, |facts| facts.covered_v4);
        let finished = self.sets.live.finish_load(loaded);
        let told = match (finished.map_err(|error| table_refusal(&error)), summary) {
            (Err(refusal), _) => Err(refusal),
            (Ok(live::Finished::Again(rebuild)), summary) => {
                let again = Box::new(Again { summary, rebuild });
                return turn.tell(answer, Ok(Finished::Again(again)));
            }
            (Ok(live::Finished::Superseded), Some(summary)) => {
                Ok(Finished::Done(Some(summary.reply(true)), None))
            }
            (Ok(live::Finished::Published { replaced, .. }), Some(summary)) => {
                self.loaded(&summary, covered_v4);
                let finished = Finished::Done(Some(summary.reply(false)), Some(replaced));
                return self.flush(&summary, (answer, finished), turn);
            }
            (Ok(live::Finished::Superseded), None) => {
                self.rebuilt();
                Ok(Finished::Done(None, None))
            }
            (Ok(live::Finished::Published { replaced, .. }), None) => {
                self.rebuilt();
                Ok(Finished::Done(None, Some(replaced)))
            }
        };
        turn.tell_change(answer, told);
    }

    /// Notes what was loaded.
    fn loaded(&mut self, summary: &Summary, covered_v4: u64) {
        let now = self.now();
        let set = &mut self.sets.sets[summary.set];
        if set.forced != summary.forced {
            set.forced = summary.forced;
            let fingerprint = summary.forced;
            self.operations.push(&set.name, &Op::Forced { fingerprint });
        }
        let list = kept(&summary.from);
        if list.is_some() || set.list.is_some() {
            set.list.clone_from(&list);
            self.operations.push(&set.name, &Op::List { list });
        }
        set.counted.clone_from(&summary.counted);
        set.changed_ms = Some(now.wall_ms);
        set.covered_v4 = covered_v4;
        set.refusal = None;
        set.loaded = (!summary.flush).then(|| LoadedList {
            from: summary.from.clone(),
            origin: summary.origin,
            since: clock::wall(now.wall_ms),
            entries: summary.difference.after.entries,
        });
    }

    /// Where the dynamic part is to go with the file part, its entries go as a bulk.
    fn flush(
        &mut self,
        summary: &Summary,
        (answer, finished): (Answer<Finished>, Finished),
        turn: &mut Turn,
    ) {
        let entries: Vec<Entry> = if summary.flush {
            let listing = self.sets.live.listing(summary.set);
            listing.dynamic().map(|(entry, _)| entry).collect()
        } else {
            Vec::new()
        };
        if entries.is_empty() {
            return turn.tell_change(answer, Ok(finished));
        }
        self.bulks.push_back(Bulk {
            set: summary.set,
            giver: Giver::Hand,
            left: Left::Delete(entries.into_iter()),
            sum: Tally::default(),
            answer: BulkAnswer::Flushed(answer, finished),
        });
    }

    fn refused(&mut self, set: &SetName, why: String) -> Result<(), Refusal> {
        let place = self.sets.place(set)?;
        let set = &mut self.sets.sets[place];
        // Who asked logs it, and knows on whose behalf.
        set.refused += 1;
        set.refusal = Some(why);
        Ok(())
    }

    fn listing(&mut self, set: &SetName) -> Result<Listed, Refusal> {
        let place = self.sets.place(set)?;
        let saved = Saved {
            name: set.to_string(),
            listing: self.sets.live.listing(place),
            now: self.now(),
        };
        let shared = self.sets.claims.shared(place);
        Ok(Listed { saved, shared })
    }
}

/// What the journal remembers of a list whose text is kept.
fn kept(from: &LoadedFrom) -> Option<KeptList> {
    let at = from.at.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(KeptList {
        name: from.name.as_str().into(),
        crc32: from.kept?,
        bytes: from.bytes,
        at_ms: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
        columns: from.columns.clone(),
        json_paths: from.json_paths.clone(),
    })
}

impl Group {
    /// True when the order of the two does not matter.
    fn goes_with(&self, other: &Self) -> bool {
        let is_add = |group: &Self| matches!(group.edit, Edit::Add(_));
        self.giver == other.giver && is_add(self) == is_add(other)
    }
}
