//! The files a run reads and writes, so that none is overwritten while it is read.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{PortError, PortErrorKind};

/// Which way frames go through a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

#[derive(Debug)]
struct OpenFile {
    /// Device and inode: the file itself, whatever it is called.
    identity: (u64, u64),
    direction: Direction,
    name: String,
}

/// The files open in one run; clones are the same register. Outputs are emptied only once all
/// ports are open, when the first queue is asked for, so that the check comes before the harm.
#[derive(Debug, Clone, Default)]
pub struct OpenFiles(Arc<Mutex<Vec<OpenFile>>>);

impl OpenFiles {
    /// Enters a file that something other than a port reads, a list for instance: no output of
    /// this run will overwrite it.
    ///
    /// # Errors
    /// An output was entered under another name for the same file.
    pub fn protect(&self, name: &str, metadata: &Metadata) -> Result<(), PortError> {
        self.enter(name, metadata, Direction::Read)
    }

    /// Enters a file, unless it would be written and read, or written twice. Pipes and devices
    /// (`/dev/null`) hold nothing that could be lost and are not entered.
    pub(super) fn enter(
        &self,
        name: &str,
        metadata: &Metadata,
        direction: Direction,
    ) -> Result<(), PortError> {
        if !metadata.is_file() {
            return Ok(());
        }
        let identity = (metadata.dev(), metadata.ino());
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let clash = files.iter().find(|file| {
            file.identity == identity
                && (file.direction == Direction::Write || direction == Direction::Write)
        });
        if let Some(other) = clash {
            return Err(clash_error(name, direction, other));
        }
        files.push(OpenFile {
            identity,
            direction,
            name: name.to_owned(),
        });
        Ok(())
    }
}

fn clash_error(name: &str, direction: Direction, other: &OpenFile) -> PortError {
    let also = if name == other.name {
        String::new()
    } else {
        format!(" ({} is the same file)", other.name)
    };
    let sentence = if direction == other.direction {
        format!("{name} would be written by two ports{also}; give each a file of its own")
    } else {
        format!("{name} would overwrite what this run reads{also}; write to another file")
    };
    PortError::new(PortErrorKind::SameFile, sentence)
}
