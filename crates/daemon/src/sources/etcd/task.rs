//! The source at work: a snapshot, then changes from its revision on, over and over.
//!
//! A watch lasts [`LISTEN`] and is taken up again behind the last change that was applied, so that
//! a connection that breaks costs nothing but the time to make another. Before each, the cluster is
//! asked for its revision: a member that is cut off from the others would keep a watch open and be
//! silent.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use table::live;

use super::super::backoff::Backoff;
use super::super::bounded::Bounded;
use super::super::copied::{Copied, written_at};
use super::super::copies::Spooled;
use super::super::deliver::{Amended, CopyOf};
use super::super::error::SourceError;
use super::super::etcd_spec::EtcdSource;
use super::super::fetch::{is_timeout, of_body};
use super::super::signal::Why;
use super::super::source::{Kind, SourceSpec};
use super::super::task::{Desk, Task};
use super::client::{Client, SnapshotMax, too_many};
use super::message::{WatchLine, Watched};
use super::mirror::{Applied, Changes, Mirror};

/// How long a watch lasts.
const LISTEN: Duration = Duration::from_secs(5);

/// How long further changes are waited for when one has come: they go into one version.
const GATHER: Duration = Duration::from_millis(20);

/// How often the copy on disk is written anew while changes come all the time.
const COPY_EVERY: Duration = Duration::from_secs(5);

/// How often it is looked meanwhile whether somebody wants something.
const LOOK: Duration = Duration::from_millis(50);

/// Answers that were read and not applied.
const HEARD_MAX: usize = 64;

/// Longest line of a watch: etcd puts the changes of up to 1,000 revisions into one.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// The waits after failures: with three members the next one is asked at once.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A list in etcd that feeds a set.
pub(crate) struct EtcdTask {
    copied: Copied,
    source: EtcdSource,
    client: Client,
    backoff: Backoff,
    /// What etcd holds, where changes can be followed.
    mirror: Option<Mirror>,
    /// When the last snapshot was taken.
    taken: Option<Instant>,
    /// The mirror is not what the set has: a guard refused it, or loading failed.
    is_behind: bool,
    /// Keys that were told of as bad.
    bad_told: u64,
    /// The copy on disk lacks changes that are in force.
    is_copy_behind: bool,
    /// When the copy was last written.
    copied_at: Instant,
}

impl EtcdTask {
    pub(crate) fn new(spec: SourceSpec, source: EtcdSource, folder: &Path) -> Self {
        let name = source.name();
        let identity = name.clone();
        Self {
            copied: Copied::new(spec, name, identity.as_bytes(), folder),
            client: Client::new(source.at.clone()),
            source,
            backoff: Backoff::new(FIRST_WAIT, WAIT_MAX),
            mirror: None,
            taken: None,
            is_behind: false,
            bad_told: 0,
            is_copy_behind: false,
            copied_at: Instant::now(),
        }
    }

    fn max(&self) -> SnapshotMax {
        let limits = &self.copied.spec.limits;
        SnapshotMax {
            keys: limits.entries_max,
            bytes: limits.bytes_max,
        }
    }

    /// Takes a snapshot and loads it.
    fn begin(&mut self, desk: &Desk, why: Why) -> Result<(), SourceError> {
        desk.tried();
        let (header, found) = self.client.snapshot(&self.source.held, self.max())?;
        self.mirror = Some(Mirror::of(self.source.held.clone(), header, found));
        self.taken = Some(Instant::now());
        self.load(desk, why)
    }

    /// Loads what the mirror holds.
    fn load(&mut self, desk: &Desk, why: Why) -> Result<(), SourceError> {
        self.is_behind = true;
        if let Some(mirror) = &mut self.mirror {
            mirror.take_changes();
        }
        let (spooled, bad) = self.spool(desk)?;
        let copy = self.copied.describe();
        self.copied.take(desk, spooled, copy, why)?;
        desk.note(|state| state.skipped += bad);
        self.is_behind = false;
        self.copied_now();
        Ok(())
    }

    /// Writes the list beside the copy of it, and says how many keys it leaves out.
    fn spool(&mut self, desk: &Desk) -> Result<(Spooled, u64), SourceError> {
        let Some(list) = self.mirror.as_ref().and_then(Mirror::text) else {
            return Err(SourceError::Etcd(format!(
                "there is no key {} in etcd: 'linerate set push' writes one",
                self.source.held.text()
            )));
        };
        if list.bad != self.bad_told
            && let Some(first) = &list.first_bad
        {
            let (set, bad) = (&*self.copied.spec.set, list.bad);
            tracing::warn!(set, bad, "keys left out that are no entries, as {first}");
        }
        self.bad_told = list.bad;
        let failed = |error| SourceError::io(self.source.name(), "be copied", error);
        let stopped = || match desk.signal.is_stopped() {
            true => Err(SourceError::Stopped),
            false => Ok(()),
        };
        let spooled = self.copied.copies.spool(
            &self.source.name(),
            list.text.as_bytes(),
            self.copied.spec.limits.bytes_max,
            stopped,
            failed,
        )?;
        Ok((spooled, list.bad))
    }

    fn copied_now(&mut self) {
        self.is_copy_behind = false;
        self.copied_at = Instant::now();
    }

    /// Puts in force what events have changed: in place where that may be, else by a load.
    fn catch_up(&mut self, desk: &Desk) -> Result<(), SourceError> {
        let changes = match (&mut self.mirror, self.is_behind) {
            (Some(mirror), false) => mirror.take_changes(),
            _ => None,
        };
        let Some(Changes { added, removed }) = changes else {
            return self.load(desk, Why::Touched);
        };
        self.is_behind = true;
        let amended = self.amended((added, removed), None);
        if !desk.amend(&self.copied.spec, amended)? {
            return self.load(desk, Why::Touched);
        }
        self.is_behind = false;
        self.is_copy_behind = true;
        // The list in force is that of no copy.
        self.copied.in_use = None;
        let Some(mirror) = &self.mirror else {
            return Ok(());
        };
        let (keys, bad) = (mirror.len() as u64, mirror.bad());
        desk.note(|state| {
            state.entries = keys - bad;
            state.skipped = bad;
        });
        Ok(())
    }

    fn amended(
        &self,
        (added, removed): (Vec<live::Entry>, Vec<live::Entry>),
        copy: Option<CopyOf>,
    ) -> Amended {
        Amended {
            name: self.source.name(),
            kind: Kind::Etcd,
            added,
            removed,
            copy,
        }
    }

    /// Writes the copy anew, where it lacks changes: at once after a change that comes alone, and
    /// every few seconds while many come.
    fn copy(&mut self, desk: &Desk, is_last: bool) -> Result<(), SourceError> {
        let is_due = is_last || self.copied_at.elapsed() >= COPY_EVERY;
        if !self.is_copy_behind || self.is_behind || self.mirror.is_none() || !is_due {
            return Ok(());
        }
        let (spooled, _) = self.spool(desk)?;
        let copy = self.copied.describe();
        let read = CopyOf {
            file: spooled.path.clone(),
            at: written_at(&spooled.path, &copy),
            bytes: spooled.bytes,
        };
        let amended = self.amended((Vec::new(), Vec::new()), Some(read));
        desk.amend(&self.copied.spec, amended)?;
        self.copied.keep(spooled, copy)?;
        self.copied_now();
        Ok(())
    }

    /// Follows changes for a while.
    fn follow(&mut self, desk: &Desk) -> Result<(), SourceError> {
        desk.tried();
        let head = self.client.head(&self.source.held)?;
        let mirror = self.mirror.as_ref();
        if mirror.is_some_and(|mirror| mirror.can_follow(&head)) {
            return self.listen(desk);
        }
        tracing::warn!(
            set = &*self.copied.spec.set,
            "etcd is another than before: read anew"
        );
        self.mirror = None;
        Ok(())
    }

    fn listen(&mut self, desk: &Desk) -> Result<(), SourceError> {
        let Some(mirror) = &self.mirror else {
            return Ok(());
        };
        let next = mirror.next_revision();
        let stream = self.client.watch(&self.source.held, next, LISTEN)?;
        if !self.is_behind {
            desk.unchanged();
        } else if let Err(error) = self.load(desk, Why::Due) {
            // Later changes may mend what a guard refuses now.
            desk.failed(&error);
        }
        let name = self.source.name();
        let heard = hear(name, stream)?;
        let end = Instant::now() + LISTEN;
        while self.mirror.is_some() && Instant::now() < end && !desk.signal.is_rung() {
            match heard.recv_timeout(LOOK) {
                Ok(first) => self.take(desk, first, &heard)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.copy(desk, false)?;
        }
        Ok(())
    }

    /// Applies what was heard, and what comes soon after, and puts it in force.
    fn take(
        &mut self,
        desk: &Desk,
        first: Heard,
        heard: &Receiver<Heard>,
    ) -> Result<(), SourceError> {
        let end = Instant::now() + GATHER;
        let (mut next, mut is_changed, mut ending) = (Some(first), false, Ok(()));
        while let Some(one) = next {
            match one {
                Ok(told) => is_changed |= self.apply(told)?,
                Err(error) => ending = Err(error),
            }
            let left = end.saturating_duration_since(Instant::now());
            next = match left.is_zero() {
                true => None,
                false => heard.recv_timeout(left).ok(),
            };
        }
        if is_changed && let Err(error) = self.catch_up(desk) {
            desk.failed(&error);
        }
        ending
    }

    /// Whether something changed.
    fn apply(&mut self, told: Watched) -> Result<bool, SourceError> {
        let Some(mirror) = &mut self.mirror else {
            return Ok(false);
        };
        let (compacted, reason) = (told.compact_revision.0, told.cancel_reason.clone());
        let applied = mirror.apply(told);
        let keys = mirror.len() as u64;
        if applied == Applied::Lost {
            let set = &*self.copied.spec.set;
            tracing::info!(
                set,
                compacted,
                reason,
                "the watch ended: all keys are read anew"
            );
            self.mirror = None;
        }
        let max = self.max();
        if keys > max.keys {
            self.mirror = None;
            return Err(too_many(&self.source.held, max));
        }
        Ok(applied == Applied::Changed)
    }

    /// A snapshot again, now and then: it mends whatever went wrong unseen.
    fn is_to_begin(&self, why: Why) -> bool {
        let every = self.copied.spec.refresh;
        let is_old = self.taken.is_none_or(|taken| taken.elapsed() >= every);
        matches!(why, Why::Asked { .. }) || self.mirror.is_none() || is_old
    }
}

/// An answer of the watch, or how it ended.
type Heard = Result<Watched, SourceError>;

/// Reads a watch on a thread of its own, so that changes that come together are seen together. The
/// thread ends with the stream, or when nobody listens any more.
fn hear(
    name: String,
    stream: Bounded<Box<dyn Read + Send>>,
) -> Result<Receiver<Heard>, SourceError> {
    let (sender, receiver) = sync_channel(HEARD_MAX);
    let no_thread = |error| SourceError::io("a watch of etcd", "have a thread", error);
    thread::Builder::new()
        .name("etcd-watch".to_owned())
        .spawn(move || read_lines(&name, BufReader::new(stream), &sender))
        .map_err(no_thread)?;
    Ok(receiver)
}

fn read_lines(name: &str, mut stream: impl BufRead, sender: &SyncSender<Heard>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = stream
            .by_ref()
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line);
        let heard = match read {
            Ok(0) => return,
            Ok(_) if line.last() == Some(&b'\n') => parsed(name, &line),
            // Cut off: it comes again, whole, from the next watch.
            Ok(_) if (line.len() as u64) < LINE_BYTES_MAX => return,
            Ok(_) => Ok(Watched {
                // Too much to be read in one piece: a snapshot is read in several.
                canceled: true,
                ..Watched::default()
            }),
            Err(error) if is_timeout(&error) => return,
            Err(error) => Err(of_body(name, error)),
        };
        let is_last = heard.as_ref().is_ok_and(|told| told.canceled) || heard.is_err();
        if sender.send(heard).is_err() || is_last {
            return;
        }
    }
}

fn parsed(name: &str, line: &[u8]) -> Heard {
    let garbled = |what: &str| {
        SourceError::Etcd(format!(
            "{name}: a watch of etcd brought what is none: {what}"
        ))
    };
    let line: WatchLine =
        serde_json::from_slice(line).map_err(|error| garbled(&error.to_string()))?;
    match (line.result, line.error) {
        (Some(told), None) => Ok(told),
        (_, Some(error)) => {
            let said = error.message.chars().filter(|c| !c.is_control());
            Err(garbled(&said.take(200).collect::<String>()))
        }
        (None, None) => Err(garbled("neither a result nor an error")),
    }
}

impl Task for EtcdTask {
    fn turn(&mut self, why: Why, desk: &Desk) -> Duration {
        self.copied.start(desk);
        let done = match self.is_to_begin(why) {
            true => self.begin(desk, why),
            false => self.follow(desk),
        };
        // However the watch ended: etcd may be gone for long.
        let copied = self.copy(desk, true);
        match done.and(copied) {
            Ok(()) | Err(SourceError::Stopped) => Duration::ZERO,
            Err(error) => {
                let is_refusal = error.is_refusal();
                let count = desk.failed(&error);
                if is_refusal {
                    // Followed all the same: later changes may mend it.
                    return FIRST_WAIT;
                }
                self.backoff.after_failures(count, None)
            }
        }
    }
}
