//! Which folders must be watched to see another file at the end of a path.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Links that are followed, as many as the kernel follows.
const LINKS_MAX: usize = 40;

/// The way from a path to its file: what must be watched to see another file at its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// The folders of all links on it, of the file, and of what is missing.
    pub(super) folders: Vec<PathBuf>,
    /// The file's name, and those of links to it.
    pub(super) names: Vec<OsString>,
}

impl Way {
    pub(super) fn of(path: &Path) -> Self {
        let mut way = Self::default();
        let mut at = PathBuf::from(".");
        let mut left = parts(path);
        let mut links = 0;
        while let Some(part) = left.pop() {
            if !way.step(&mut at, part, &mut left, &mut links) {
                break;
            }
        }
        way
    }

    /// Goes from folder `at` by `part`. False when the way ends there.
    fn step(
        &mut self,
        at: &mut PathBuf,
        part: OsString,
        left: &mut Vec<OsString>,
        links: &mut usize,
    ) -> bool {
        // As paths are read: `/` begins anew, and `..` leads out of where a link led.
        let next = at.join(&part);
        let target = std::fs::read_link(&next);
        let last = left.is_empty();
        if last || target.is_ok() || !next.exists() {
            self.folders.push(at.clone());
        }
        if last {
            self.names.push(part);
        }
        let Ok(target) = target else {
            *at = next;
            return at.exists();
        };
        *links += 1;
        left.extend(parts(&target));
        *links <= LINKS_MAX
    }
}

/// The components of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev();
    parts.map(|part| part.as_os_str().to_owned()).collect()
}
