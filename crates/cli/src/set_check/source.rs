//! A list that can be read more than once: to load it, and to look for each address.

use std::fs;
use std::io::Read;

use crate::error::Error;
use crate::load;
use crate::report::number::bytes;

/// The most that is kept of an input that can be read only once.
const KEPT_BYTES_MAX: u64 = 1 << 30;

/// A file, or what came over a pipe.
pub(super) struct ListSource {
    file: String,
    kept: Option<Vec<u8>>,
}

impl ListSource {
    /// Opens nothing yet, unless the list must be read `again` and comes over a pipe.
    pub(super) fn new(file: &str, again: bool) -> Result<Self, Error> {
        let regular = file != "-" && fs::metadata(file).is_ok_and(|found| !is_once(&found));
        let kept = if again && !regular {
            Some(keep(file)?)
        } else {
            None
        };
        Ok(Self {
            file: file.to_owned(),
            kept,
        })
    }

    /// The name in messages.
    pub(super) fn shown(&self) -> &str {
        load::shown(&self.file)
    }

    /// From the beginning.
    pub(super) fn open(&self) -> Result<Box<dyn Read + '_>, Error> {
        match &self.kept {
            Some(kept) => Ok(Box::new(kept.as_slice())),
            None => load::open(&self.file).map(|opened| opened as Box<dyn Read + '_>),
        }
    }
}

/// Pipes and terminals give their bytes once.
fn is_once(found: &fs::Metadata) -> bool {
    !found.is_file() && !found.is_dir()
}

fn keep(file: &str) -> Result<Vec<u8>, Error> {
    let mut kept = Vec::new();
    let mut input = load::open(file)?.take(KEPT_BYTES_MAX + 1);
    input
        .read_to_end(&mut kept)
        .map_err(|error| Error::refused(format!("{file}: {error}")))?;
    if kept.len() as u64 > KEPT_BYTES_MAX {
        return Err(Error::refused(format!(
            "{file}: more than {} came over a pipe, which --test would have to keep: write it to a \
             file and name that",
            bytes(KEPT_BYTES_MAX)
        )));
    }
    Ok(kept)
}
