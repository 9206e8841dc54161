//! `bypass`: the side of it that one interface's program has. What was left by a run before is
//! taken over, and what this run makes is given names that outlive it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::maps::{Counted, Maps};
use super::pinned::{Folder, Found, Refusal};
use crate::sys::xdp_bpf::{AttachMode, Link};
use crate::sys::xdp_maps::Map;
use crate::{PortError, PortErrorKind};

/// The bypass of one interface.
#[derive(Debug)]
pub(super) struct Standby {
    base: PathBuf,
    state: Mutex<State>,
    /// What the program of the run before counted.
    before: Option<Map>,
    adopts: bool,
    /// What was changed on the interface by runs before.
    pub(super) changed: u32,
}

#[derive(Debug)]
struct State {
    folder: Folder,
    found: Option<Found>,
}

impl Standby {
    /// Of an interface, in this folder of a BPF file system.
    pub(super) fn claim(name: &str, base: &str, index: u32) -> Result<Self, PortError> {
        let base = Path::new(base);
        let folder = Folder::claim(base, index).map_err(|why| refusal(name, base, &why))?;
        let mut found = folder.found();
        let before = found.as_mut().and_then(|found| found.counts.take());
        Ok(Self {
            base: base.to_owned(),
            before,
            adopts: found.is_some(),
            changed: found.as_ref().map_or(0, |found| found.changed),
            state: Mutex::new(State { folder, found }),
        })
    }

    /// The number of the program that the run before left.
    pub(super) fn program(&self) -> Option<u32> {
        self.lock().found.as_ref().map(|found| found.program)
    }

    /// Whether a program was there when this run began.
    pub(super) fn adopts(&self) -> bool {
        self.adopts
    }

    /// What the run before left on this interface, once. One with another number is new, and its
    /// folder another.
    pub(super) fn take(&self, name: &str, index: u32) -> Result<Option<Found>, PortError> {
        let mut state = self.lock();
        if state.folder.index() != index {
            let folder = Folder::claim(&self.base, index);
            state.folder.forget();
            state.folder = folder.map_err(|why| refusal(name, &self.base, &why))?;
            state.found = state.folder.found();
        }
        Ok(state.found.take())
    }

    /// Has the program outlive this process.
    pub(super) fn keep(&self, link: &Link, mode: AttachMode, maps: &Maps) -> io::Result<()> {
        self.lock().folder.keep(link, mode, maps)
    }

    /// Frames that the program of the run before passed.
    pub(super) fn passed_before(&self) -> u64 {
        let passed = |counts: &Map| counts.sum(Counted::Bypassed as u32).unwrap_or(0);
        self.before.as_ref().map_or(0, passed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why there can be no bypass.
pub(super) fn refusal(name: &str, base: &Path, why: &Refusal) -> PortError {
    let place = base.display();
    let sentence = match why {
        Refusal::Taken => format!("{name}: another bridge runs on it; end that one first"),
        Refusal::Elsewhere => format!(
            "{name}: {place} is not in a BPF file system, which a bypass needs: mount one, \
             `mount -t bpf bpf /sys/fs/bpf`; where `ip netns exec` hides that one, mount \
             another outside, `mount --mkdir -t bpf bpf /run/bpf`, and name a folder in it, as \
             in /run/bpf/linerate"
        ),
        Refusal::Kernel(error) => format!(
            "{name}: nothing can be kept in {place}: {error}{}",
            super::program::hint(error)
        ),
    };
    PortError::new(PortErrorKind::Open, sentence)
}
