//! Lists that were loaded by hand into sets without a source: their text is kept beside the
//! journal, which says which text it is and what was deleted of it since.
//!
//! The text is on the disk before the journal speaks of it, under a name that its checksum is part
//! of: whenever the process ends, the journal names a text that is whole.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use list::ReadOptions;
use table::Entries;
use table::live::Entry;

use super::StartError;
use crate::config::Config;
use crate::journal::{KeptList, KeptSet, KeptSets};
use crate::rpc::{ErrorKind, RpcError};
use crate::sets::{Handle, LoadedFrom, Origin, Request, SetName};
use crate::sources::{Copies, HAND_FOLDER, Limits, SourceError, Spooled};

/// Where texts are kept; none without a folder for what survives.
pub(super) struct HandLists {
    folder: Option<PathBuf>,
    /// One text at a time is on its way there.
    busy: Mutex<()>,
}

/// A text that came by the control socket and is on the disk.
pub(super) struct Arrived<'a> {
    copies: Copies,
    pub(super) text: Spooled,
    _alone: MutexGuard<'a, ()>,
}

impl HandLists {
    pub(super) fn of(config: &Config) -> Self {
        Self {
            folder: folder(config),
            busy: Mutex::new(()),
        }
    }

    /// Writes what comes to the disk; none where nothing is kept.
    pub(super) fn spool(
        &self,
        set: &str,
        name: &str,
        input: &mut dyn Read,
    ) -> Result<Option<Arrived<'_>>, RpcError> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        let alone = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let copies = Copies::new(folder, set);
        let text = spool(&copies, name, input);
        let text = text.and_then(|text| copies.seal(&text).map(|()| text));
        Ok(Some(Arrived {
            text: text.map_err(|error| RpcError::new(ErrorKind::Refused, error))?,
            copies,
            _alone: alone,
        }))
    }
}

impl Arrived<'_> {
    pub(super) fn open(&self) -> Result<File, RpcError> {
        let file = File::open(&self.text.path);
        file.map_err(|error| RpcError::new(ErrorKind::Internal, error))
    }

    /// It is in force and the journal says so: texts before it are of no more use.
    pub(super) fn keep(self) {
        self.copies.settle(self.text);
    }
}

fn folder(config: &Config) -> Option<PathBuf> {
    Some(config.state.dir.as_ref()?.join(HAND_FOLDER))
}

fn spool(copies: &Copies, name: &str, input: impl Read) -> Result<Spooled, SourceError> {
    let bytes_max = Limits::default().text_bytes_max;
    let failed = |error| SourceError::io(name, "be read", error);
    copies.spool(name, input, bytes_max, || Ok(()), failed)
}

/// What the journal has of lists of sets that have no source.
pub(super) fn lists_of(kept: &KeptSets, config: &Config) -> Vec<(SetName, KeptSet)> {
    let is_by_hand = |name: &SetName| {
        let mut sets = config.sets.iter();
        sets.any(|set| set.name == name.as_str() && set.source.is_none())
    };
    let sets = kept.sets.iter();
    let sets = sets.filter(|(name, kept)| kept.list.is_some() && is_by_hand(name));
    let only_list = |kept: &KeptSet| KeptSet {
        list: kept.list.clone(),
        deleted: kept.deleted.clone(),
        ..KeptSet::default()
    };
    sets.map(|(name, kept)| (name.clone(), only_list(kept)))
        .collect()
}

/// Loads the lists again that were loaded by hand. One that is damaged refuses the start, unless
/// it is told to take what there is.
pub(super) fn restore(
    handle: &Handle,
    config: &Config,
    lists: Vec<(SetName, KeptSet)>,
    recover: bool,
) -> Result<(), StartError> {
    let Some(folder) = folder(config) else {
        return Ok(());
    };
    for (set, kept) in lists {
        let Some(list) = kept.list else { continue };
        match load(handle, &folder, &set, &list, &kept.deleted) {
            Ok(()) => {}
            Err(why) if recover => {
                tracing::warn!(%set, "the list loaded by hand is left out: {why}");
            }
            Err(why) => {
                return Err(StartError::Other(format!(
                    "the list that was loaded by hand into set '{set}', {}, cannot be had back: \
                     {why}; start with --recover to begin without it, and load it again",
                    list.name
                )));
            }
        }
    }
    Ok(())
}

fn load(
    handle: &Handle,
    folder: &Path,
    set: &SetName,
    list: &KeptList,
    deleted: &HashSet<Entry>,
) -> Result<(), String> {
    let copies = Copies::new(folder, set.as_str());
    let copy = copies.checked(list.crc32, list.bytes);
    let mut path = copy.map_err(|error| error.to_string())?;
    let file = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let options = ReadOptions {
        // It passed the guards, or was forced, when it came.
        force: true,
        purpose: list::Purpose::Read,
        columns: list.columns.clone(),
        json_paths: list.json_paths.clone(),
        ..ReadOptions::default()
    };
    let read = list::read(&list.name, file, &options, &mut |_| {});
    let mut entries = read.map_err(|error| error.to_string())?.entries;
    let mut list = list.clone();
    let mut fewer = None;
    if !deleted.is_empty() {
        take_out(&mut entries, deleted);
        let text = rewritten(&copies, &list, &entries).map_err(|error| error.to_string())?;
        (list.crc32, list.bytes) = (text.crc32, text.bytes);
        // An entry a line.
        (list.columns, list.json_paths) = (None, Vec::new());
        path.clone_from(&text.path);
        fewer = Some(text);
    }
    let request = Request::Load {
        set: set.clone(),
        entries,
        source: from(&list, path),
        origin: Origin::Hand,
        force: true,
    };
    handle.ask(request).map_err(|refusal| refusal.to_string())?;
    if let Some(text) = fewer {
        copies.settle(text);
    }
    Ok(())
}

/// Where a list was read, as it was told when it came.
fn from(list: &KeptList, path: PathBuf) -> LoadedFrom {
    LoadedFrom {
        name: list.name.to_string(),
        file: Some(path),
        columns: list.columns.clone(),
        json_paths: list.json_paths.clone(),
        at: UNIX_EPOCH
            .checked_add(Duration::from_millis(list.at_ms))
            .unwrap_or_else(SystemTime::now),
        bytes: list.bytes,
        kept: Some(list.crc32),
    }
}

fn take_out(entries: &mut Entries, deleted: &HashSet<Entry>) {
    let stays = |entry: Entry| !deleted.contains(&entry);
    let Entries { v4, v6 } = entries;
    v4.addresses.retain(|&one| stays(Entry::address_v4(one)));
    v4.networks.retain(|&one| stays(one.into()));
    v4.ranges.retain(|&one| stays(Entry::V4(one)));
    v6.addresses.retain(|&one| stays(Entry::address_v6(one)));
    v6.networks.retain(|&one| stays(one.into()));
    v6.ranges.retain(|&one| stays(Entry::V6(one)));
}

/// A text of what is left, so that deletions need not be remembered for ever.
fn rewritten(copies: &Copies, list: &KeptList, entries: &Entries) -> Result<Spooled, SourceError> {
    let text = lines(entries).map_err(|error| SourceError::io(&*list.name, "be written", error))?;
    let text = spool(copies, &list.name, text.as_slice())?;
    copies.seal(&text)?;
    Ok(text)
}

fn lines(entries: &Entries) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let Entries { v4, v6 } = entries;
    let addresses = v4.addresses.iter().map(|&one| Entry::address_v4(one));
    let networks = v4.networks.iter().map(|&one| Entry::from(one));
    let ranges = v4.ranges.iter().map(|&one| Entry::V4(one));
    let of_v4 = addresses.chain(networks).chain(ranges);
    let addresses = v6.addresses.iter().map(|&one| Entry::address_v6(one));
    let networks = v6.networks.iter().map(|&one| Entry::from(one));
    let ranges = v6.ranges.iter().map(|&one| Entry::V6(one));
    let mut all = of_v4.chain(addresses).chain(networks).chain(ranges);
    all.try_for_each(|entry| writeln!(text, "{entry}"))?;
    Ok(text)
}
