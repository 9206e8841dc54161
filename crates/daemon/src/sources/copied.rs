//! A source whose text is copied to disk before it is read: what a server or a command gave.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::copies::{Copies, Description, Spooled};
use super::error::SourceError;
use super::signal::Why;
use super::source::SourceSpec;
use super::task::{Desk, Provenance};

/// When the last byte of a copy was written. Whoever looks an entry up in the copy later holds the
/// file's time against it, and the whole seconds of a description are always before that.
pub(crate) fn written_at(path: &Path, copy: &Description) -> SystemTime {
    let written = std::fs::metadata(path).and_then(|found| found.modified());
    written.map_or(copy.at(), |written| written.max(copy.at()))
}

/// The copies of a source, and which of them is in use.
pub(crate) struct Copied {
    pub(crate) spec: SourceSpec,
    /// For people.
    name: String,
    /// Tells the source from others that the same set may have had.
    source_crc32: u32,
    pub(crate) copies: Copies,
    /// The copy whose list is in use.
    pub(crate) in_use: Option<Description>,
    started: bool,
}

impl Copied {
    pub(crate) fn new(spec: SourceSpec, name: String, source: &[u8], folder: &Path) -> Self {
        Self {
            copies: Copies::new(folder, &spec.set),
            spec,
            name,
            source_crc32: crc32fast::hash(source),
            in_use: None,
            started: false,
        }
    }

    /// Whether what was good before was looked for.
    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// The last good copy of this source, its bytes checked.
    pub(crate) fn last(&self) -> Result<Option<(PathBuf, Description)>, SourceError> {
        self.copies.last(self.source_crc32)
    }

    /// Whether the last good copy is of this version; then nothing need be loaded before it.
    pub(crate) fn is_of(&mut self, etag: &str) -> bool {
        let last = self.last().ok().flatten();
        let is_it = last.is_some_and(|(_, copy)| copy.etag.as_deref() == Some(etag));
        self.started |= is_it;
        is_it
    }

    /// Before the source is asked for the first time: loads what was good when it last was.
    pub(crate) fn start(&mut self, desk: &Desk) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let loaded = self.last().and_then(|last| {
            let Some((path, copy)) = last else {
                return Ok(None);
            };
            // It passed the guards, or was forced, when it came.
            self.load(desk, &path, &copy, (true, true))?;
            Ok(Some(copy))
        });
        match loaded {
            Ok(copy) => self.in_use = copy,
            Err(error) => {
                desk.failed(&error);
            }
        }
    }

    /// What is noted of a text that begins to come now; its length and checksum are not known yet.
    pub(crate) fn describe(&self) -> Description {
        Description {
            source_crc32: self.source_crc32,
            etag: None,
            last_modified: None,
            fetched_at: super::copies::seconds(SystemTime::now()),
            bytes: 0,
            crc32: 0,
        }
    }

    /// Loads what came, unless it is what is in use, and keeps it for the next start.
    pub(crate) fn take(
        &mut self,
        desk: &Desk,
        spooled: Spooled,
        copy: Description,
        why: Why,
    ) -> Result<(), SourceError> {
        let copy = Description {
            bytes: spooled.bytes,
            crc32: spooled.crc32,
            ..copy
        };
        let same = |old: &Description| (old.bytes, old.crc32) == (copy.bytes, copy.crc32);
        if self.in_use.as_ref().is_some_and(same) && !matches!(why, Why::Asked { .. }) {
            desk.unchanged();
        } else {
            let force = matches!(why, Why::Asked { force: true, .. });
            self.load(desk, &spooled.path, &copy, (false, force))?;
        }
        // Loaded, whether or not it can be kept for the next start.
        self.in_use = Some(copy.clone());
        desk.note(|state| {
            state.from_copy = false;
            state.etag.clone_from(&copy.etag);
        });
        self.copies.keep(spooled, &copy)
    }

    /// Keeps what came for the next start: it is in force already.
    pub(crate) fn keep(&mut self, spooled: Spooled, copy: Description) -> Result<(), SourceError> {
        let copy = Description {
            bytes: spooled.bytes,
            crc32: spooled.crc32,
            ..copy
        };
        self.in_use = Some(copy.clone());
        self.copies.keep(spooled, &copy)
    }

    fn load(
        &self,
        desk: &Desk,
        path: &Path,
        copy: &Description,
        (from_copy, force): (bool, bool),
    ) -> Result<(), SourceError> {
        let open = || {
            File::open(path)
                .map_err(|error| SourceError::io(path.display().to_string(), "be read", error))
        };
        let from = Provenance {
            name: self.name.clone(),
            at: written_at(path, copy),
            from_copy,
            etag: copy.etag.clone(),
            file: path.to_owned(),
        };
        desk.load(&self.spec, open, &from, force)
    }
}
