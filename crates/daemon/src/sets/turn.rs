//! One turn of the keeper: what is asked, put together so that one version serves all of it.

use super::claims::Giver;
use super::clock;
use super::handle::{Again, Answer, Ask, Begun, Finishing, Listed, Message, Summary, Told};
use super::keeper::Running;
use super::name::SetName;
use super::refusal::Refusal;
use super::reply::{Added, Deleted, LoadedList, Reply};
use super::request::{LoadedFrom, NewEntry, Origin, Request};
use super::save::Saved;
use super::state::{Edit, Group, Tally, table_refusal};
use crate::journal::{KeptList, Op};
use std::time::UNIX_EPOCH;
use std::vec::IntoIter;
use table::live::{Entry, Finished};

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
    answers: Vec<(Answer, Result<Told, Refusal>)>,
    stop: Option<Answer>,
}

/// Who asked for a group.
enum Asked {
    /// A request that is whole.
    Whole(Answer),
    /// A slice of a bulk, which comes back to the queue.
    Slice(Bulk),
}

/// A request of many entries, made in slices.
pub(super) struct Bulk {
    answer: Answer,
    set: usize,
    giver: Giver,
    left: Left,
    sum: Tally,
    reply: BulkReply,
}

enum Left {
    Add(IntoIter<NewEntry>),
    Delete(IntoIter<Entry>),
}

enum BulkReply {
    Edited,
    /// A flush, which has answered all but its dynamic part.
    Loaded(Told),
}

impl Turn {
    pub(super) fn is_full(&self) -> bool {
        self.entries >= TURN_ENTRIES || self.stop.is_some()
    }

    /// Answers all. True when the keeper is to end.
    pub(super) fn answer(self, done: &Result<(), Refusal>) -> bool {
        for (answer, told) in self.answers {
            let told = match (done, told) {
                // Who was refused learns why; whose change was made learns what it lacks.
                (Err(refusal), Ok(told)) if told.is_change() => Err(refusal.clone()),
                (_, told) => told,
            };
            // Whoever asked may be gone.
            let _ = answer.send(told);
        }
        if let Some(stop) = &self.stop {
            let _ = stop.send(Ok(Told::Noted));
        }
        self.stop.is_some()
    }

    fn tell(&mut self, answer: Answer, told: Result<Told, Refusal>) {
        self.answers.push((answer, told));
    }
}

impl Told {
    /// True for answers to changes.
    fn is_change(&self) -> bool {
        match self {
            Self::Reply(reply) => !matches!(reply, Reply::Sets(_) | Reply::Set(_) | Reply::Test(_)),
            Self::Finished(..) => true,
            _ => false,
        }
    }
}

impl Running {
    /// Takes one message into the turn.
    pub(super) fn take(&mut self, message: Message, turn: &mut Turn) {
        let Message { ask, answer } = message;
        match ask {
            Ask::Request(request) => match *request {
                Request::Add {
                    set,
                    entries,
                    origin,
                } => self.edit(&set, Edit::Add(entries), origin, answer, turn),
                Request::Delete {
                    set,
                    entries,
                    origin,
                } => self.edit(&set, Edit::Delete(entries), origin, answer, turn),
                request => {
                    self.settle(turn);
                    let told = self.request(request).map(Told::Reply);
                    turn.tell(answer, told);
                }
            },
            Ask::Stop => turn.stop = Some(answer),
            ask => {
                self.settle(turn);
                self.other(ask, answer, turn);
            }
        }
    }

    fn edit(&mut self, set: &SetName, edit: Edit, origin: Origin, answer: Answer, turn: &mut Turn) {
        let giver = Giver::of(origin).ok_or(Refusal::NotSingle { origin });
        let placed = giver.and_then(|giver| Ok((giver, self.sets.place(set)?)));
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
            answer,
            set,
            giver,
            left,
            sum: Tally::default(),
            reply: BulkReply::Edited,
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
        for ((group, asked), tally) in groups.iter().zip(asked).zip(tallies) {
            match asked {
                Asked::Whole(answer) => {
                    turn.tell(answer, tally.map(|tally| Told::Reply(group.reply(tally))));
                }
                Asked::Slice(bulk) => self.sliced(bulk, group, tally, turn),
            }
        }
    }

    fn sliced(
        &mut self,
        mut bulk: Bulk,
        group: &Group,
        tally: Result<Tally, Refusal>,
        turn: &mut Turn,
    ) {
        match tally {
            Err(refusal) => return turn.tell(bulk.answer, Err(refusal)),
            Ok(tally) => bulk.sum.add(tally),
        }
        let left = match &bulk.left {
            Left::Add(left) => left.len(),
            Left::Delete(left) => left.len(),
        };
        if left > 0 {
            return self.bulks.push_back(bulk);
        }
        let told = match bulk.reply {
            BulkReply::Edited => Told::Reply(group.reply(bulk.sum)),
            BulkReply::Loaded(told) => told,
        };
        turn.tell(bulk.answer, Ok(told));
    }

    /// Requests that are neither many nor long.
    fn request(&mut self, request: Request) -> Result<Reply, Refusal> {
        match request {
            Request::List => {
                let places = 0..self.sets.sets.len();
                let facts = places.map(|place| self.sets.facts(place));
                Ok(Reply::Sets(facts.collect()))
            }
            Request::Show { set } => {
                let place = self.sets.place(&set)?;
                Ok(Reply::Set(Box::new(self.sets.facts(place))))
            }
            Request::Test { address } => Ok(Reply::Test(self.sets.test(address, self.now()))),
            Request::SetAction { set, action, at } => {
                let place = self.sets.place(&set)?;
                let before = self
                    .sets
                    .set_action(place, action, at, &mut self.operations)?;
                self.policy_changed();
                Ok(Reply::ActionSet { before })
            }
            Request::Reload { sets } => {
                let changed = self.sets.reload(sets, &mut self.operations)?;
                self.policy_changed();
                Ok(Reply::Reloaded(changed))
            }
            // The handle makes other things of these.
            Request::Add { .. }
            | Request::Delete { .. }
            | Request::Flush { .. }
            | Request::Replace { .. }
            | Request::Load { .. }
            | Request::Save { .. } => Err(Refusal::Stopped),
        }
    }

    fn other(&mut self, ask: Ask, answer: Answer, turn: &mut Turn) {
        let told = match ask {
            Ask::Begin(set) => self.begin(&set),
            Ask::Refresh(mut sorted) => {
                self.sets.live.refresh(&mut sorted);
                Ok(Told::Refreshed(sorted))
            }
            Ask::Finish(finishing) => return self.finish(*finishing, answer, turn),
            Ask::Refused(set, why) => self.refused(&set, why),
            Ask::Listing(set) => self.listing(&set),
            Ask::Past => Ok(Told::Past(self.sets.past())),
            Ask::Resume(past) => self.sets.resume(*past).map(|()| Told::Noted),
            Ask::Keeping => {
                let keeping = self.sets.kept(&self.left, self.now());
                Ok(Told::Keeping(Box::new(keeping)))
            }
            Ask::Compacted(ended) => {
                if let Some(journal) = &mut self.journal {
                    journal.end_compaction(ended);
                }
                Ok(Told::Noted)
            }
            Ask::Request(_) | Ask::Stop => Err(Refusal::Stopped),
        };
        turn.tell(answer, told);
    }

    fn begin(&mut self, set: &SetName) -> Result<Told, Refusal> {
        let place = self.sets.place(set)?;
        let load = self.sets.live.begin_load(place);
        let load = load.map_err(|error| table_refusal(&error))?;
        let guards = self.sets.guards(place);
        Ok(Told::Begun(Box::new(Begun {
            set: place,
            load,
            guards,
        })))
    }

    fn finish(&mut self, finishing: Finishing, answer: Answer, turn: &mut Turn) {
        let Finishing { summary, loaded } = finishing;
        let covered_v4 = loaded.facts().map_or(0, |facts| facts.covered_v4);
        let finished = self.sets.live.finish_load(loaded);
        match finished.map_err(|error| table_refusal(&error)) {
            Err(refusal) => turn.tell(answer, Err(refusal)),
            Ok(Finished::Again(rebuild)) => {
                let again = Again { summary, rebuild };
                turn.tell(answer, Ok(Told::Again(Box::new(again))));
            }
            Ok(Finished::Superseded) => {
                let reply = summary.map(|summary| summary.reply(true));
                let told = match reply {
                    Some(reply) => Told::Finished(reply, None),
                    None => self.rebuilt(),
                };
                turn.tell(answer, Ok(told));
            }
            Ok(Finished::Published { replaced, .. }) => {
                let Some(summary) = summary else {
                    self.rebuilt();
                    let reply = Reply::Reloaded(Vec::new());
                    return turn.tell(answer, Ok(Told::Finished(reply, Some(replaced))));
                };
                let told = Told::Finished(summary.reply(false), Some(replaced));
                self.loaded(&summary, covered_v4);
                self.flush(&summary, answer, told, turn);
            }
        }
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
    fn flush(&mut self, summary: &Summary, answer: Answer, told: Told, turn: &mut Turn) {
        let entries: Vec<Entry> = if summary.flush {
            let listing = self.sets.live.listing(summary.set);
            listing.dynamic().map(|(entry, _)| entry).collect()
        } else {
            Vec::new()
        };
        if entries.is_empty() {
            return turn.tell(answer, Ok(told));
        }
        self.bulks.push_back(Bulk {
            answer,
            set: summary.set,
            giver: Giver::Hand,
            left: Left::Delete(entries.into_iter()),
            sum: Tally::default(),
            reply: BulkReply::Loaded(told),
        });
    }

    fn refused(&mut self, set: &SetName, why: String) -> Result<Told, Refusal> {
        let place = self.sets.place(set)?;
        let set = &mut self.sets.sets[place];
        // Who asked logs it, and knows on whose behalf.
        set.refused += 1;
        set.refusal = Some(why);
        Ok(Told::Noted)
    }

    fn listing(&mut self, set: &SetName) -> Result<Told, Refusal> {
        let place = self.sets.place(set)?;
        let saved = Saved {
            name: set.to_string(),
            listing: self.sets.live.listing(place),
            now: self.now(),
        };
        let shared = self.sets.claims.shared(place);
        Ok(Told::Listing(Box::new(Listed { saved, shared })))
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

    fn reply(&self, tally: Tally) -> Reply {
        match self.edit {
            Edit::Add(_) => Reply::Added(Added {
                added: tally.added,
                already_there: tally.already_there,
                made_permanent: tally.made_permanent,
                made_timed: tally.made_timed,
                deleted: 0,
            }),
            Edit::Delete(_) => Reply::Deleted(Deleted {
                deleted: tally.removed,
                was_not_there: tally.was_not_there,
                still_there: tally.still_there,
            }),
        }
    }
}
