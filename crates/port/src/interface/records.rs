//! Where processes write down what they found before they change an interface, so that it can be
//! put back although nobody lived to do it.
//!
//! A record is a file that its process holds locked. The kernel lets the lock go when the process
//! ends, however it ends, and in whatever process namespace it was: no number of a process that
//! somebody else has by now is trusted.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::found::{Found, Place};
use crate::sys::ioctl::ControlSocket;

/// Of records of a user whom a service manager made no other folder for. The kernel forgets what is
/// in `/run` with everything else.
const FOLDER: &str = "/run/linerate";
/// Where the folders are: root alone makes any there.
const RUN: &str = "/run";
/// What their names begin with; a user's number follows.
const OF_USER: &str = "linerate-";

/// Where a process of this user writes down what it changes on interfaces. Each user has a folder
/// of its own, for nobody but root believes a record that somebody else could have written; root
/// makes it for them.
#[must_use]
pub fn records_folder(uid: u32) -> PathBuf {
    Path::new(RUN).join(format!("{OF_USER}{uid}"))
}

/// What the paths of the records begin with that processes of this user keep of interfaces in this
/// thread's network namespace; `None` without `/proc`. Who makes a namespace that ends with it can
/// take them away then: nothing is left to put back.
#[must_use]
pub fn records_prefix() -> Option<PathBuf> {
    let here = Place::here()?;
    Some(Records::here().prefix(here.namespace))
}

fn own_uid() -> u32 {
    fs::metadata("/proc/self").map_or(0, |process| process.uid())
}
/// Longer than any record.
const BYTES_MAX: u64 = 256 << 10;
/// Bits of a file's mode that let others write to it.
const OTHERS_WRITE: u32 = 0o022;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A folder of records.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    folder: PathBuf,
    /// Whose records are believed beside root's and this user's own.
    also: Option<u32>,
}

/// A record of this process: it is taken away when this is dropped.
#[derive(Debug)]
pub(crate) struct Kept {
    path: PathBuf,
    _locked: File,
}

/// A record whose process is gone; nobody else has it as long as this lives.
#[derive(Debug)]
pub(crate) struct Orphan {
    pub(crate) path: PathBuf,
    pub(crate) index: u32,
    /// What it says, or why that is not believed.
    pub(crate) found: Result<Found, String>,
    _locked: Option<File>,
}

impl Orphan {
    /// Takes the record away.
    pub(crate) fn forget(self) {
        // Gone already, or nobody may: the next one sees it again.
        let _ = fs::remove_file(&self.path);
    }
}

impl Kept {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets the record stay: what it names is not as it was. It is a dead process's as soon as this
    /// one ends.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }

    /// One that is a file of a test.
    #[cfg(test)]
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            _locked: File::open(path).unwrap(),
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // The folder stays: others may be about to write there.
        let _ = fs::remove_file(&self.path);
    }
}

impl Records {
    /// Those of this machine and user. Where root made no folder for the user, a service manager
    /// made the program's own.
    pub(crate) fn here() -> Self {
        let uid = own_uid();
        let own = records_folder(uid);
        let folder = match uid == 0 || own.is_dir() {
            true => own,
            false => PathBuf::from(FOLDER),
        };
        Self { folder, also: None }
    }

    /// Where they are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// All that this user believes. Root believes a user in the folder that it made for that user.
    pub(crate) fn believed() -> Vec<Self> {
        Self::believed_in(Path::new(RUN), own_uid())
    }

    fn believed_in(run: &Path, own: u32) -> Vec<Self> {
        let entries = fs::read_dir(run).into_iter().flatten().flatten();
        let folder = |entry: fs::DirEntry| {
            let (name, folder) = (entry.file_name(), entry.path());
            let name = name.to_str()?;
            let of_user = name.strip_prefix(OF_USER);
            let named = of_user.map(str::parse::<u32>);
            let owner = match named {
                Some(uid) => uid.ok()?,
                None if name == "linerate" => fs::symlink_metadata(&folder).ok()?.uid(),
                None => return None,
            };
            let also = (own == 0).then_some(owner);
            let is_concern = own == 0 || owner == 0 || owner == own;
            is_concern.then_some(Self { folder, also })
        };
        let mut all: Vec<Self> = entries.filter_map(folder).collect();
        all.sort_by(|a, b| a.folder.cmp(&b.folder));
        all
    }

    #[cfg(test)]
    pub(crate) fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            also: None,
        }
    }

    /// What the paths of records about a network namespace begin with.
    fn prefix(&self, namespace: u64) -> PathBuf {
        self.folder.join(format!("{namespace}-"))
    }

    /// Writes down what was found, before it is changed. The file gets its name when it is whole.
    pub(crate) fn keep(&self, found: &Found) -> io::Result<Kept> {
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true).mode(0o755).create(&self.folder)?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let (namespace, index) = (found.place.namespace, found.index);
        let process = std::process::id();
        let mut path = self.prefix(namespace).into_os_string();
        path.push(format!("{index}-{process}-{count}"));
        let path = PathBuf::from(path);
        let unnamed = self.folder.join(format!(".{process}-{count}"));
        let mut file = OpenOptions::new();
        file.write(true).create_new(true).mode(0o644);
        // Of a process that had this number before.
        let _ = fs::remove_file(&unnamed);
        let mut file = file.open(&unnamed)?;
        file.try_lock()?;
        file.write_all(found.to_string().as_bytes())?;
        fs::rename(&unnamed, &path)?;
        Ok(Kept {
            path,
            _locked: file,
        })
    }

    /// The records of dead processes about interfaces of one network namespace, or about one of
    /// them.
    pub(crate) fn orphans(&self, namespace: u64, index: Option<u32>) -> Vec<Orphan> {
        let named = self.named(namespace);
        let named = named.filter(|(_, about)| index.is_none_or(|index| index == *about));
        let mut orphans: Vec<Orphan> = named
            .filter_map(|(path, index)| self.orphan(path, index))
            .collect();
        orphans.sort_by(|a, b| a.path.cmp(&b.path));
        orphans
    }

    /// The paths of all records about interfaces of one network namespace, and their numbers.
    fn named(&self, namespace: u64) -> impl Iterator<Item = (PathBuf, u32)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(move |entry| {
            let name = entry.file_name();
            let (there, rest) = name.to_str()?.split_once('-')?;
            let about: u32 = rest.split_once('-')?.0.parse().ok()?;
            (there.parse() == Ok(namespace)).then(|| (entry.path(), about))
        })
    }

    /// What processes that live wrote down about interfaces of one network namespace; not what
    /// `own` is, nor what is not believed.
    pub(crate) fn living(&self, namespace: u64, own: Option<&Path>) -> Vec<Found> {
        let others = self.named(namespace);
        let others = others.filter(|(path, _)| Some(&**path) != own);
        let living = others.filter_map(|(path, index)| {
            let file = self.open(&path)?.ok()?;
            // Shared: two that look at once do not take each other for the record's process.
            let lives = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
            let found = lives.then(|| read(&file))?.ok()?;
            agreeing(found, index).ok()
        });
        living.collect()
    }

    /// Opens a record; why it is not believed, or `None` where it is gone.
    fn open(&self, path: &Path) -> Option<Result<File, String>> {
        if let Err(why) = self.trusted(&fs::symlink_metadata(&self.folder).ok()?) {
            return Some(Err(format!("its folder {why}")));
        }
        let mut options = OpenOptions::new();
        // Neither through a link nor waiting for the other end of a pipe.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = match options.read(true).custom_flags(flags).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => return Some(Err(error.to_string())),
        };
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > BYTES_MAX {
            return Some(Err("it is no file of a record's size".to_owned()));
        }
        let trusted = self.trusted(&metadata);
        Some(trusted.map(|()| file).map_err(|why| format!("it {why}")))
    }

    /// `None` where its process lives or it went away meanwhile.
    fn orphan(&self, path: PathBuf, index: u32) -> Option<Orphan> {
        let distrusted = |path, why: String| {
            Some(Orphan {
                path,
                index,
                found: Err(why),
                _locked: None,
            })
        };
        let file = match self.open(&path)? {
            Ok(file) => file,
            Err(why) => return distrusted(path, why),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return None,
            Err(TryLockError::Error(error)) => return distrusted(path, error.to_string()),
        }
        // Its owner ended well between the two.
        if file.metadata().ok()?.nlink() == 0 {
            return None;
        }
        let found = read(&file);
        Some(Orphan {
            path,
            index,
            found: found.and_then(|found| agreeing(found, index)),
            _locked: Some(file),
        })
    }
}

fn read(file: &File) -> Result<Found, String> {
    let mut text = String::new();
    let read = file.take(BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    Found::read(&text)
}

/// A record that was copied to another's name is about something else.
fn agreeing(found: Found, index: u32) -> Result<Found, String> {
    if found.index == index {
        Ok(found)
    } else {
        Err("its name and what it says are about different interfaces".to_owned())
    }
}

impl Records {
    /// Whether nobody but root, this user and whom the folder is for can have written it.
    fn trusted(&self, metadata: &fs::Metadata) -> Result<(), String> {
        let uid = metadata.uid();
        if uid != 0 && uid != own_uid() && Some(uid) != self.also {
            return Err(format!("belongs to user {uid}"));
        }
        if metadata.mode() & OTHERS_WRITE != 0 {
            return Err("can be written by others".to_owned());
        }
        Ok(())
    }
}

impl Place {
    /// Where this thread is; `None` without `/proc`.
    pub(crate) fn here() -> Option<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let cookie = ControlSocket::new().and_then(|socket| socket.namespace_cookie());
        // Kernels before 5.14 tell the number of its file, which a later namespace may have again:
        // then the address of the interface tells them apart.
        let file = || Some(fs::metadata("/proc/thread-self/ns/net").ok()?.ino());
        Some(Self {
            boot: boot.trim().to_owned(),
            namespace: cookie.ok().or_else(file)?,
        })
    }
}

#[cfg(test)]
mod tests;
