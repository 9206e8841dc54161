//! What of a bypass outlives the process: a folder in a BPF file system for each interface, with
//! the link that keeps the program on it and the maps that the next run reads.
//!
//! Who runs a bridge holds a lock on the folder; the kernel lets go of it with the process.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::maps::{Maps, changed_of};
use crate::sys::xdp_bpf::{AttachMode, Link};
use crate::sys::xdp_maps::{Map, MapKind};
use crate::sys::xdp_pins::{is_bpf_file_system, pin};

/// Names of a link, which say what the kernel does not: where the program runs.
const LINKS: [(&str, AttachMode); 2] = [
    ("link-native", AttachMode::Native),
    ("link-generic", AttachMode::Generic),
];
const SETTINGS: &str = "settings";
const COUNTS: &str = "counts";
const PEER: &str = "peer";
/// What is being named, until it takes the place of another.
const NEXT: &str = "next";

/// Who only looks holds the lock for a moment.
const LOCK_TRIES: u32 = 10;
const LOCK_NAP: Duration = Duration::from_millis(5);

/// Why a folder cannot be had.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Somebody runs a bridge on the interface.
    Taken,
    /// The path is not in a BPF file system.
    Elsewhere,
    /// The kernel's own.
    Kernel(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Kernel(error)
    }
}

/// The folder of one interface, locked.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    index: u32,
    _lock: File,
}

/// What was found there, attached to the interface as it is now.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) link: Link,
    pub(super) mode: AttachMode,
    /// The number of its program.
    pub(super) program: u32,
    pub(super) counts: Option<Map>,
    pub(super) peer: Option<Map>,
    /// What was changed on the interface, as `xdp/ready.rs` has it.
    pub(super) changed: u32,
}

impl Folder {
    /// The one of an interface of this network namespace, made where it is not there.
    pub(super) fn claim(base: &Path, index: u32) -> Result<Self, Refusal> {
        check(base)?;
        let path = path_of(base, index)?;
        fs::create_dir_all(&path)?;
        Self::lock(path, index)
    }

    /// The one of an interface, if it is there.
    pub(super) fn existing(base: &Path, index: u32) -> Result<Option<Self>, Refusal> {
        let path = path_of(base, index)?;
        match path.exists() {
            true => Self::lock(path, index).map(Some),
            false => Ok(None),
        }
    }

    fn lock(path: PathBuf, index: u32) -> Result<Self, Refusal> {
        let lock = File::open(&path)?;
        for _ in 0..LOCK_TRIES {
            match lock.try_lock() {
                Ok(()) => {
                    let _lock = lock;
                    return Ok(Self { path, index, _lock });
                }
                Err(TryLockError::WouldBlock) => sleep(LOCK_NAP),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
        Err(Refusal::Taken)
    }

    /// The number of its interface.
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// What stands there. A link whose interface is gone stands for nothing, and is forgotten.
    pub(super) fn found(&self) -> Option<Found> {
        let found = Found::read(&self.path, self.index);
        if found.is_none() {
            self.forget();
        }
        found
    }

    /// Gives the link and its maps their names, in place of others'.
    pub(super) fn keep(&self, link: &Link, mode: AttachMode, maps: &Maps) -> io::Result<()> {
        self.name(SETTINGS, maps.settings.as_fd())?;
        self.name(COUNTS, maps.counts.as_fd())?;
        self.name(PEER, maps.peer.as_fd())?;
        for (name, its_mode) in LINKS {
            // A link that was found has its name.
            if its_mode == mode && !self.path.join(name).exists() {
                self.name(name, link.as_fd())?;
            }
        }
        Ok(())
    }

    fn name(&self, name: &str, object: std::os::fd::BorrowedFd<'_>) -> io::Result<()> {
        let next = self.path.join(NEXT);
        let _of_a_run_that_was_killed = fs::remove_file(&next);
        pin(object, &next)?;
        fs::rename(&next, self.path.join(name))
    }

    /// Takes all names away; the kernel detaches what nobody holds.
    pub(super) fn forget(&self) {
        let links = LINKS.map(|(name, _)| name);
        for name in links.into_iter().chain([SETTINGS, COUNTS, PEER, NEXT]) {
            let _most_are_not_there = fs::remove_file(self.path.join(name));
        }
    }

    /// The same, and the folder.
    pub(super) fn remove(self) {
        self.forget();
        let _somebody_put_something_there = fs::remove_dir(&self.path);
    }
}

impl Found {
    fn read(path: &Path, index: u32) -> Option<Self> {
        let (link, mode) = LINKS
            .into_iter()
            .find_map(|(name, mode)| Some((Link::pinned(&path.join(name)).ok()?, mode)))?;
        let held = link.held().ok()?;
        let settings = Map::pinned(&path.join(SETTINGS), MapKind::Array).ok();
        let changed = settings.and_then(|settings| changed_of(&settings).ok());
        (held.interface == index).then(|| Self {
            link,
            mode,
            program: held.program,
            counts: Map::pinned(&path.join(COUNTS), MapKind::PerCpuArray).ok(),
            peer: Map::pinned(&path.join(PEER), MapKind::Interfaces).ok(),
            changed: changed.unwrap_or(0),
        })
    }
}

/// Whether the path is in a BPF file system, or would be if it were there.
fn check(base: &Path) -> Result<(), Refusal> {
    let there = base.ancestors().find(|path| path.exists());
    match there.is_some_and(|path| is_bpf_file_system(path).unwrap_or(false)) {
        true => Ok(()),
        false => Err(Refusal::Elsewhere),
    }
}

/// What stands in the folders of this network namespace, and whether a bridge runs there.
pub(super) fn all(base: &Path) -> Result<Vec<(u32, Found, bool)>, Refusal> {
    check(base)?;
    if !base.exists() {
        return Ok(Vec::new());
    }
    let prefix = format!("{}-", namespace()?);
    let mut all = Vec::new();
    for entry in fs::read_dir(base)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let index = name.and_then(|name| name.strip_prefix(&prefix)?.parse().ok());
        let Some((index, found)) =
            index.and_then(|index| Some((index, Found::read(&path, index)?)))
        else {
            continue;
        };
        let folder = File::open(&path)?;
        all.push((index, found, folder.try_lock_shared().is_err()));
    }
    all.sort_unstable_by_key(|&(index, ..)| index);
    Ok(all)
}

/// Numbers, since names of interfaces may have dots and those of the file system may not.
fn path_of(base: &Path, index: u32) -> io::Result<PathBuf> {
    Ok(base.join(format!("{}-{index}", namespace()?)))
}

/// The number of this network namespace.
fn namespace() -> io::Result<u64> {
    fs::metadata("/proc/self/ns/net").map(|namespace| namespace.ino())
}
