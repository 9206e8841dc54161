//! What a source's thread does in a turn, and what it is given for it.

use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use list::Loaded;

use super::deliver::{Amended, Deliver, Delivery};
use super::error::SourceError;
use super::signal::{Signal, Why};
use super::source::SourceSpec;
use super::state::SourceState;
use super::text;
use super::turns::Turns;

/// One source at work. A turn never panics and never takes longer than the limits of its source.
pub(crate) trait Task: Send {
    /// Does what is due and says how long to sleep.
    fn turn(&mut self, why: Why, desk: &Desk) -> Duration;

    /// True while it still has to do what it was asked for: a file is not at rest yet.
    fn is_pending(&self) -> bool {
        false
    }
}

/// What a task works with.
pub(crate) struct Desk {
    /// To whom it delivers.
    pub(crate) keeper: Arc<dyn Deliver>,
    /// How it fares, for others to read.
    pub(crate) state: Arc<Mutex<SourceState>>,
    /// Shared with all sources.
    pub(crate) turns: Arc<Turns>,
    /// How it is woken.
    pub(crate) signal: Arc<Signal>,
}

/// What is known of the text that was read, beside the text.
#[derive(Clone, Debug)]
pub(crate) struct Provenance {
    /// The name that stands before line numbers.
    pub(crate) name: String,
    /// When the text was current.
    pub(crate) at: SystemTime,
    /// True when it is the last good copy.
    pub(crate) from_copy: bool,
    /// What the server calls it.
    pub(crate) etag: Option<String>,
    /// A file that holds these very bytes.
    pub(crate) file: PathBuf,
}

impl Desk {
    /// Changes what others read of this source.
    pub(crate) fn note<T>(&self, change: impl FnOnce(&mut SourceState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A try begins.
    pub(crate) fn tried(&self) {
        self.note(SourceState::tried);
    }

    /// The source was read and holds nothing new.
    pub(crate) fn unchanged(&self) {
        self.note(|state| {
            state.unchanged += 1;
            state.succeeded();
        });
    }

    /// Keeps a failure and logs it, once for as long as it stays the same. Gives back how many
    /// there were in a row.
    pub(crate) fn failed(&self, error: &SourceError) -> u32 {
        let text = error.to_string();
        let (set, again, count) = self.note(|state| {
            let again = state
                .last_error
                .as_ref()
                .is_some_and(|last| last.text == text);
            state.failed(text.clone(), error.is_refusal());
            (Arc::clone(&state.set), again, state.failed_in_a_row)
        });
        if !again {
            tracing::warn!(set = &*set, refused = error.is_refusal(), "{text}");
        }
        count
    }

    /// Opens a list, parses and delivers it, at its turn among the sources.
    pub(crate) fn load<R: Read>(
        &self,
        spec: &SourceSpec,
        open: impl FnOnce() -> Result<R, SourceError>,
        from: &Provenance,
        force: bool,
    ) -> Result<(), SourceError> {
        let _turn = self.turns.take();
        if self.signal.is_stopped() {
            return Err(SourceError::Stopped);
        }
        let refused = |refused| SourceError::Refused {
            set: spec.set.to_string(),
            refused,
        };
        let begun = self.keeper.begin(&spec.set);
        let begun = begun.map_err(refused)?;
        let read = open().and_then(|list| text::read(&from.name, list, spec, force));
        let mut loaded = match read {
            Ok(loaded) => loaded,
            Err(error) => {
                begun.give_up(&error.to_string());
                return Err(error);
            }
        };
        let delivery = Delivery {
            set: Arc::clone(&spec.set),
            entries: std::mem::take(&mut loaded.entries),
            name: from.name.clone(),
            kind: spec.source.kind(),
            at: from.at,
            bytes: loaded.bytes_read,
            file: Some(from.file.clone()),
            columns: spec.text.columns.clone(),
            json_paths: spec.text.json_paths.clone(),
            force,
        };
        begun.load(delivery).map_err(refused)?;
        self.loaded(spec, &loaded, from);
        Ok(())
    }

    /// Changes a list in place that was loaded; false where it is to be loaded whole.
    pub(crate) fn amend(&self, spec: &SourceSpec, amended: Amended) -> Result<bool, SourceError> {
        let is_change = amended.added.len() + amended.removed.len() != 0;
        let taken = self.keeper.amend(&spec.set, amended);
        let taken = taken.map_err(|refused| SourceError::Refused {
            set: spec.set.to_string(),
            refused,
        })?;
        if taken && is_change {
            self.note(|state| {
                state.loads += 1;
                state.list_at = Some(SystemTime::now());
                state.succeeded();
            });
        }
        Ok(taken)
    }

    fn loaded(&self, spec: &SourceSpec, loaded: &Loaded, from: &Provenance) {
        let (bytes, count, skipped) = (loaded.bytes_read, loaded.entry_count, loaded.bad_count);
        self.note(|state| {
            state.loads += 1;
            state.entries = count;
            state.bytes = bytes;
            state.skipped = skipped;
            state.list_at = Some(from.at);
            state.etag.clone_from(&from.etag);
            state.from_copy = from.from_copy;
            if !from.from_copy {
                state.succeeded();
            }
        });
        if let Some(first) = loaded.bad.first() {
            tracing::warn!(
                set = &*spec.set,
                skipped,
                "{first}; bad lines were left out"
            );
        }
        if let Some(doubt) = &loaded.doubt {
            tracing::warn!(set = &*spec.set, "{} {doubt}", from.name);
        }
        tracing::info!(
            set = &*spec.set,
            entries = count,
            bytes,
            "loaded {}",
            from.name
        );
    }
}
