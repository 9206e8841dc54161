//! The bypasses of this network namespace, for who wants to see them or take them away.

use std::io;
use std::path::Path;

use super::bypass::refusal;
use super::maps::Counted;
use super::pinned::{self, Folder, Found};
use super::ready::{changed_offloads, is_promiscuity_changed};
use crate::interface::{Interface, Offloads};
use crate::sys::xdp_bpf::AttachMode;
use crate::{PortError, PortErrorKind};

/// A bypass of one interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The interface's name.
    pub interface: String,
    /// Where frames go that no worker takes; `None` where that interface is gone.
    pub peer: Option<String>,
    /// Whether a bridge runs on it. Where none does, everything passes unfiltered.
    pub bridged: bool,
    /// Frames that passed unfiltered since the bridge that runs, or ran last, began.
    pub unfiltered: u64,
    /// Frames that were dropped because the other interface was gone.
    pub stranded: u64,
    /// Whether the program runs in the driver.
    pub native: bool,
    /// The program's number, as `bpftool prog show id` takes it.
    pub program: u32,
    /// Whether promiscuous mode was set on the interface.
    pub promiscuous: bool,
    /// Offloads that were switched off.
    pub offloads: Vec<String>,
}

/// Those that have their names in a folder of a BPF file system, by the interface's number; none
/// where there is no such folder.
///
/// # Errors
/// The folder cannot be read, or is not in a BPF file system.
pub fn standing(folder: &Path) -> Result<Vec<Standing>, PortError> {
    let refused = |why| refusal("a bypass", folder, &why);
    let all = pinned::all(folder).map_err(refused)?;
    let standing = |(index, found, bridged): (u32, Found, bool)| {
        Standing::of(name_of(index)?, &found, bridged)
    };
    Ok(all.into_iter().filter_map(standing).collect())
}

/// Takes the bypass of an interface away, and with it what was changed on the interface for it.
/// Returns what it was.
///
/// # Errors
/// There is none; a bridge runs on it.
pub fn take_away(folder: &Path, interface: &str) -> Result<Standing, PortError> {
    let refused = |sentence: String| PortError::new(PortErrorKind::Open, sentence);
    let failed = |error: io::Error| {
        refused(format!(
            "the bypass of {interface} cannot be taken away: {error}"
        ))
    };
    let asked = Interface::existing(interface)?;
    let interface = asked.name();
    let index = asked.index().map_err(failed)?;
    let none = || {
        let place = folder.display();
        refused(format!(
            "there is no bypass of {interface} in {place}; `linerate bypass show` lists those that \
             are there, `--folder` names another place"
        ))
    };
    let place = Folder::existing(folder, index).map_err(|why| refusal(interface, folder, &why))?;
    let place = place.ok_or_else(none)?;
    let Some(found) = place.found() else {
        place.remove();
        return Err(none());
    };
    let standing = Standing::of(interface.to_owned(), &found, false).ok_or_else(none)?;
    found.link.detach().map_err(failed)?;
    place.remove();
    if standing.promiscuous {
        asked.set_promiscuous(false).map_err(failed)?;
    }
    Offloads::switch_on(&asked, &changed_offloads(found.changed));
    Ok(standing)
}

impl Standing {
    fn of(interface: String, found: &Found, bridged: bool) -> Option<Self> {
        let count = |what| found.counts.as_ref()?.sum(what as u32).ok();
        let peer = found.peer.as_ref().and_then(|peer| peer.get(0).ok());
        let peer = peer.and_then(|value| Some(u32::from_ne_bytes(*value.first_chunk()?)));
        Some(Self {
            interface,
            peer: peer.and_then(name_of),
            bridged,
            unfiltered: count(Counted::Bypassed)?,
            stranded: count(Counted::Stranded)?,
            native: found.mode == AttachMode::Native,
            program: found.program,
            promiscuous: is_promiscuity_changed(found.changed),
            offloads: changed_offloads(found.changed)
                .into_iter()
                .map(str::to_owned)
                .collect(),
        })
    }
}

fn name_of(index: u32) -> Option<String> {
    Some(Interface::at(index)?.name().to_owned())
}
