//! The keeper's thread: all that waits, as one version, and then the answers.

use super::clock::{Clock, Now};
use super::config::KeeperConfig;
use super::handle::Handle;
use super::message::Message;
use super::publish::Publish;
use super::refusal::Refusal;
use super::state::Sets;
use super::turn::{Bulk, Turn};
use crate::journal::{Journal, KeptSets, Operations, Restart};
use frame::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The longest sleep: what is due later is looked at again then.
const REST_MAX: Duration = Duration::from_secs(3600);

/// The longest sleep while the disk lacks changes: it may have room again.
const OWING_REST: Duration = Duration::from_secs(1);

/// The one thread that changes sets.
#[derive(Debug)]
pub struct Keeper {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Makes the sets, puts back what was kept, publishes, and begins to answer. What was kept
    /// of sets that are not in `config` stays in it.
    ///
    /// # Errors
    /// [`Refusal`]: the sets make no policy, tables cannot be made, or no thread.
    pub fn start(
        config: KeeperConfig,
        restart: Restart,
        publish: Box<dyn Publish>,
    ) -> Result<(Handle, Self), Refusal> {
        let clock = Clock::start();
        let mut sets = Sets::new(&config)?;
        let Restart { journal, kept } = restart;
        let mut operations = Operations::default();
        sets.restore_actions(&kept, &config.ports, &mut operations);
        let left = sets.restore_all(kept, clock.now())?;
        let (confirm_within, dynamic_max) = (config.confirm_within, config.dynamic_max);
        let (handle, messages) = Handle::new(config);
        let mut running = Running {
            sets,
            clock,
            publish,
            confirm_within,
            dynamic_max,
            journal,
            left: Arc::new(left),
            operations,
            bulks: VecDeque::new(),
            published: None,
            compact_pages_at: None,
            rebuilding: false,
            handle: handle.clone(),
        };
        running.publish()?;
        if let Err(refusal) = running.keep() {
            tracing::warn!("of live actions that have ended: {refusal}");
        }
        let named = thread::Builder::new().name("keeper".to_owned());
        let thread = named.spawn(move || running.run(&messages));
        let thread = thread.map_err(|error| Refusal::Table {
            reason: error.to_string(),
        })?;
        let keeper = Self {
            handle: handle.clone(),
            thread: Some(thread),
        };
        Ok((handle, keeper))
    }

    /// Ends the keeper once it has answered all that came before. Later requests are answered by
    /// [`Refusal::Stopped`].
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            // It may have ended: then there is nothing to ask.
            let _ = self.handle.tell(Message::Stop);
            let _ = thread.join();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}

/// What the thread has.
pub(super) struct Running {
    pub(super) sets: Sets,
    pub(super) clock: Clock,
    publish: Box<dyn Publish>,
    confirm_within: Duration,
    dynamic_max: usize,
    pub(super) journal: Option<Journal>,
    /// What the journal has of sets that the configuration does not.
    pub(super) left: Arc<KeptSets>,
    /// To be appended to the journal before anything of this turn is answered.
    pub(super) operations: Operations,
    /// Requests of many entries that are not done.
    pub(super) bulks: VecDeque<Bulk>,
    /// The version of the tables that workers have, unless the policy is another one since.
    published: Option<u64>,
    /// When pages are to go home.
    pub(super) compact_pages_at: Option<Nanos>,
    rebuilding: bool,
    pub(super) handle: Handle,
}

impl Running {
    fn run(&mut self, messages: &Receiver<Message>) {
        loop {
            let mut turn = Turn::default();
            let is_asked = match self.wait(messages) {
                Ok(message) => {
                    self.take(message, &mut turn);
                    true
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            while !turn.is_full() {
                let Ok(message) = messages.try_recv() else {
                    break;
                };
                self.take(message, &mut turn);
            }
            self.go_on(&mut turn);
            self.settle(&mut turn);
            let expired = self.expire();
            let published = expired.and_then(|()| self.publish());
            let kept = self.keep();
            let stopped = turn.answer(&published.and(kept));
            if stopped {
                return;
            }
            if !is_asked {
                self.compact_pages();
            }
            self.tidy_up();
        }
    }

    fn wait(&self, messages: &Receiver<Message>) -> Result<Message, RecvTimeoutError> {
        if !self.bulks.is_empty() {
            let disconnected = |error| match error {
                std::sync::mpsc::TryRecvError::Empty => RecvTimeoutError::Timeout,
                std::sync::mpsc::TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            };
            return messages.try_recv().map_err(disconnected);
        }
        let rest_max = match &self.journal {
            Some(journal) if journal.is_owing() => OWING_REST,
            _ => REST_MAX,
        };
        let due = self.sets.live.next_expiry().into_iter();
        let rest = match due.chain(self.compact_pages_at).min() {
            Some(due) => Duration::from_nanos(due.since(self.now().mono)).min(rest_max),
            None => rest_max,
        };
        messages.recv_timeout(rest)
    }

    pub(super) fn now(&self) -> Now {
        self.clock.now()
    }

    fn expire(&mut self) -> Result<(), Refusal> {
        let now = self.now();
        if self
            .sets
            .live
            .next_expiry()
            .is_some_and(|due| due <= now.mono)
        {
            self.sets.expire(now)?;
        }
        Ok(())
    }

    /// Whether so many single entries more can be kept. Some of them may be there already.
    pub(super) fn room_for(&self, more: usize) -> Result<(), Refusal> {
        let places = 0..self.sets.sets.len();
        let there = places.map(|place| self.sets.live.counts(place).dynamic);
        let all = there.sum::<usize>() + self.left.entry_count() + more;
        let entries_max = self.dynamic_max;
        if all > entries_max {
            return Err(Refusal::TooMany { entries_max });
        }
        Ok(())
    }

    /// The policy is another one.
    pub(super) fn policy_changed(&mut self) {
        self.published = None;
    }

    /// Hands what changed to the workers and waits until all have it.
    fn publish(&mut self) -> Result<(), Refusal> {
        let Some(version) = self.hand_over()? else {
            return Ok(());
        };
        let is_seen = self.publish.wait_seen(version, self.confirm_within);
        self.compact_pages_later();
        if is_seen {
            return Ok(());
        }
        let refusal = Refusal::NotConfirmed {
            waited_ms: self.confirm_within.as_millis(),
        };
        tracing::warn!("{refusal}");
        Err(refusal)
    }

    /// Hands what changed to the workers; the number of the version, where they lack it.
    pub(super) fn hand_over(&mut self) -> Result<Option<u64>, Refusal> {
        let number = self.sets.live.version().number;
        if self.published == Some(number) {
            return Ok(None);
        }
        let version = self.publish.publish(self.sets.ruleset()?);
        self.published = Some(number);
        Ok(Some(version))
    }

    /// Writes the journal.
    fn keep(&mut self) -> Result<(), Refusal> {
        let Some(journal) = &mut self.journal else {
            self.operations.clear();
            return Ok(());
        };
        if self.operations.is_empty() {
            return Ok(());
        }
        let appended = journal.append(&self.operations);
        self.operations.clear();
        appended.map_err(|reason| Refusal::NotKept { reason })
    }

    /// Begins what is due and takes long, elsewhere.
    fn tidy_up(&mut self) {
        if !self.rebuilding && self.sets.live.is_crowded() {
            let rebuild = self.sets.live.begin_rebuild();
            let handle = self.handle.clone();
            let named = thread::Builder::new().name("rebuild".to_owned());
            // Without a thread the tables stay as they are, and the next turn tries again.
            self.rebuilding = named
                .spawn(move || {
                    let rebuilt = handle.rebuild(rebuild);
                    if let Err(error) = rebuilt {
                        tracing::warn!(%error, "tables could not be built anew");
                    }
                })
                .is_ok();
        }
        if self.journal.as_ref().is_some_and(Journal::is_due) {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let keeping = self.sets.kept(&self.left, self.now());
        let Some(journal) = &mut self.journal else {
            return;
        };
        let compaction = match journal.begin_compaction() {
            Ok(compaction) => compaction,
            Err(error) => {
                tracing::warn!(%error, "the journal cannot be compacted");
                return;
            }
        };
        let handle = self.handle.clone();
        let named = thread::Builder::new().name("compact".to_owned());
        let spawned = named.spawn(move || {
            let written = compaction.write(&mut |tell| keeping.write(tell));
            if let Err(error) = &written {
                tracing::warn!(%error, "the journal was not compacted");
            }
            // A keeper that has ended needs no answer.
            let _ = handle.tell(|answer| Message::Compacted(written.ok(), answer));
        });
        if let Err(error) = spawned {
            journal.end_compaction(None);
            tracing::warn!(%error, "the journal cannot be compacted");
        }
    }

    pub(super) fn rebuilt(&mut self) {
        self.rebuilding = false;
    }
}
