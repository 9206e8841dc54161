//! The last good copy of what was fetched, on disk: written aside, synced, and put in force by one
//! rename.
//!
//! Of a set `bad` the folder holds `bad.json`, which says what the copy is and names its file,
//! `bad.HHHHHHHH.list`, by the checksum of its bytes. `bad.json` is renamed into place last, so
//! that it never names bytes that are not there, whenever the power fails.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::bounded::{Bounded, is_too_large};
use super::error::SourceError;

/// A description is some hundred bytes.
const DESCRIPTION_BYTES_MAX: u64 = 64 << 10;

/// Copies of one set.
#[derive(Debug)]
pub(crate) struct Copies {
    folder: PathBuf,
    set: String,
}

/// What a copy is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    /// A checksum of the whole address: a copy of another address is none of this one.
    pub(crate) source_crc32: u32,
    /// The server's name for the version; of a file its size, times and numbers.
    pub(crate) etag: Option<String>,
    /// When the server says it changed, as it said it.
    pub(crate) last_modified: Option<String>,
    /// When it was fetched, seconds since 1970.
    pub(crate) fetched_at: u64,
    pub(crate) bytes: u64,
    pub(crate) crc32: u32,
}

/// Bytes that were fetched and not yet accepted; deleted unless they are kept.
#[derive(Debug)]
pub(crate) struct Spooled {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) crc32: u32,
    /// The last byte, to tell a text without end.
    pub(crate) last: Option<u8>,
    /// True when the file was there before: it is not deleted.
    kept: bool,
}

impl Drop for Spooled {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Description {
    /// When it was fetched.
    pub(crate) fn at(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.fetched_at.min(1 << 40))
    }
}

/// Seconds since 1970.
pub(crate) fn seconds(at: SystemTime) -> u64 {
    at.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

impl Copies {
    pub(crate) fn new(folder: &Path, set: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            set: set.to_owned(),
        }
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.set))
    }

    fn list_path(&self, crc32: u32) -> PathBuf {
        self.path(&format!("{crc32:08x}.list"))
    }

    /// Writes what `input` gives to a file of its own. `limit` tells a stop or a time limit.
    pub(crate) fn spool(
        &self,
        name: &str,
        input: impl Read,
        bytes_max: u64,
        mut limit: impl FnMut() -> Result<(), SourceError>,
        failed: impl FnOnce(io::Error) -> SourceError,
    ) -> Result<Spooled, SourceError> {
        let part = self.path("part");
        let cannot = |error| SourceError::io(part.display().to_string(), "be written", error);
        let mut folder = fs::DirBuilder::new();
        let made = folder.recursive(true).mode(0o700).create(&self.folder);
        made.map_err(cannot)?;
        let mut file = aside(&part).map_err(cannot)?;
        let mut spooled = Spooled {
            path: part.clone(),
            bytes: 0,
            crc32: 0,
            last: None,
            kept: false,
        };
        let (mut input, mut room) = (Bounded::new(input, bytes_max), vec![0; 64 << 10]);
        let mut sum = crc32fast::Hasher::new();
        loop {
            limit()?;
            let count = match input.read(&mut room) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_too_large(&error) => {
                    return Err(SourceError::TooLarge {
                        name: name.to_owned(),
                        bytes_max,
                        unpacked: false,
                    });
                }
                Err(error) => return Err(failed(error)),
            };
            sum.update(&room[..count]);
            spooled.last = room[..count].last().copied();
            file.write_all(&room[..count]).map_err(cannot)?;
        }
        spooled.bytes = input.read;
        spooled.crc32 = sum.finalize();
        self.name_by_sum(&mut spooled).map_err(cannot)?;
        Ok(spooled)
    }

    /// Gives the bytes the name they would be kept by. The same bytes may be there already.
    fn name_by_sum(&self, spooled: &mut Spooled) -> io::Result<()> {
        let path = self.list_path(spooled.crc32);
        let named = self.described().ok().flatten();
        // Of lists loaded by hand the journal says which is in use.
        let in_use = named.is_some_and(|copy| copy.crc32 == spooled.crc32) || path.exists();
        fs::rename(&spooled.path, &path)?;
        spooled.path = path;
        // An equal file that is described stays: what was renamed over it has the same bytes.
        spooled.kept = in_use;
        Ok(())
    }

    /// Makes sure that what was spooled is there after a power cut, by its name.
    pub(crate) fn seal(&self, spooled: &Spooled) -> Result<(), SourceError> {
        let synced = File::open(&spooled.path).and_then(|file| file.sync_all());
        let synced = synced.and_then(|()| File::open(&self.folder)?.sync_all());
        let path = &spooled.path;
        synced.map_err(|error| SourceError::io(path.display().to_string(), "be written", error))
    }

    /// What was spooled is in force: it stays, and those before it go.
    pub(crate) fn settle(&self, mut spooled: Spooled) {
        spooled.kept = true;
        self.forget_others(&spooled.path);
    }

    /// Puts what was spooled in force as the last good copy.
    pub(crate) fn keep(&self, spooled: Spooled, copy: &Description) -> Result<(), SourceError> {
        let described = self.path("json");
        let cannot = |error| SourceError::io(described.display().to_string(), "be written", error);
        self.try_keep(spooled, copy).map_err(cannot)
    }

    fn try_keep(&self, mut spooled: Spooled, copy: &Description) -> io::Result<()> {
        File::open(&spooled.path)?.sync_all()?;
        let part = self.path("json.part");
        let mut file = aside(&part)?;
        file.write_all(&serde_json::to_vec(copy)?)?;
        file.sync_all()?;
        fs::rename(&part, self.path("json"))?;
        File::open(&self.folder)?.sync_all()?;
        spooled.kept = true;
        self.forget_others(&spooled.path);
        Ok(())
    }

    /// Deletes lists of this set but one. What cannot be deleted is deleted next time.
    fn forget_others(&self, kept: &Path) {
        let Ok(folder) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in folder.flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            let ours = name.to_str().is_some_and(|name| self.is_list(name));
            if ours && path != kept {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// `SET.HHHHHHHH.list`: sets whose names begin alike have each their own.
    fn is_list(&self, name: &str) -> bool {
        list_of(name) == Some(&self.set)
    }

    /// Whether there is a copy, of whatever source.
    pub(crate) fn are_any(&self) -> bool {
        self.path("json").exists()
    }

    /// What the copy says it is, if there is one.
    fn described(&self) -> io::Result<Option<Description>> {
        let file = match File::open(self.path("json")) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = Vec::new();
        Bounded::new(file, DESCRIPTION_BYTES_MAX).read_to_end(&mut text)?;
        Ok(Some(serde_json::from_slice(&text)?))
    }

    /// The last good copy of this address, its bytes checked.
    ///
    /// # Errors
    /// There is one, and it cannot be read or is damaged.
    pub(crate) fn last(
        &self,
        source_crc32: u32,
    ) -> Result<Option<(PathBuf, Description)>, SourceError> {
        let path = self.path("json");
        let cannot = |error| SourceError::io(path.display().to_string(), "be used", error);
        let Some(copy) = self.described().map_err(cannot)? else {
            return Ok(None);
        };
        if copy.source_crc32 != source_crc32 {
            return Ok(None);
        }
        let path = self.checked(copy.crc32, copy.bytes)?;
        Ok(Some((path, copy)))
    }

    /// The text of this checksum, its bytes checked.
    ///
    /// # Errors
    /// It cannot be read or is damaged.
    pub(crate) fn checked(&self, crc32: u32, bytes: u64) -> Result<PathBuf, SourceError> {
        let path = self.list_path(crc32);
        let cannot = |error| SourceError::io(path.display().to_string(), "be used", error);
        if sum(&path).map_err(cannot)? != (bytes, crc32) {
            let told = "its bytes are not those that were written";
            return Err(cannot(io::Error::other(told)));
        }
        Ok(path)
    }
}

/// The set whose list a file of this name is.
fn list_of(name: &str) -> Option<&str> {
    let (set, sum) = name.strip_suffix(".list")?.rsplit_once('.')?;
    let is_sum = sum.len() == 8 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sum.then_some(set)
}

/// True for the name of a file that a folder of copies may hold.
pub(crate) fn is_copy(name: &str) -> bool {
    let endings = [".json", ".json.part", ".part"];
    let set = endings.iter().find_map(|ending| name.strip_suffix(ending));
    set.or(list_of(name))
        .is_some_and(crate::config::is_set_name)
}

/// A new file beside, for nobody else to read: lists may be licensed.
fn aside(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

fn sum(path: &Path) -> io::Result<(u64, u32)> {
    let (mut file, mut sum) = (File::open(path)?, crc32fast::Hasher::new());
    let (mut room, mut bytes) = (vec![0; 64 << 10], 0);
    loop {
        match file.read(&mut room)? {
            0 => return Ok((bytes, sum.finalize())),
            count => {
                sum.update(&room[..count]);
                bytes += count as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool(copies: &Copies, text: &str) -> Spooled {
        let failed = |error| SourceError::io("x", "be read", error);
        copies
            .spool("x", text.as_bytes(), 1000, || Ok(()), failed)
            .unwrap()
    }

    fn description(spooled: &Spooled) -> Description {
        Description {
            source_crc32: 7,
            etag: Some("\"e\"".to_owned()),
            last_modified: None,
            fetched_at: 1_800_000_000,
            bytes: spooled.bytes,
            crc32: spooled.crc32,
        }
    }

    fn keep(copies: &Copies, text: &str) -> Description {
        let spooled = spool(copies, text);
        let copy = description(&spooled);
        copies.keep(spooled, &copy).unwrap();
        copy
    }

    fn files(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_kept_comes_back_and_the_one_before_goes() {
        let folder = tempfile::tempdir().unwrap();
        let copies = Copies::new(folder.path(), "a");
        let longer = Copies::new(folder.path(), "a.b");
        assert_eq!(copies.last(7).unwrap(), None);
        keep(&longer, "longer\n");
        keep(&copies, "one\n");
        let copy = keep(&copies, "two\n");
        let (path, last) = copies.last(7).unwrap().unwrap();
        assert_eq!(
            (fs::read_to_string(path).unwrap().as_str(), last),
            ("two\n", copy)
        );
        assert!(
            longer.last(7).unwrap().is_some(),
            "another set's copy is left alone"
        );
        assert_eq!(files(folder.path()).len(), 4);
        assert_eq!(copies.last(8).unwrap(), None, "of another address");
    }

    #[test]
    fn what_is_not_kept_leaves_the_last_copy_alone() {
        let folder = tempfile::tempdir().unwrap();
        let copies = Copies::new(folder.path(), "a");
        let copy = keep(&copies, "one\n");
        drop(spool(&copies, "two\n"));
        drop(spool(&copies, "one\n"));
        assert_eq!(copies.last(7).unwrap().unwrap().1, copy);
        assert_eq!(files(folder.path()).len(), 2);
    }

    #[test]
    fn damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let copies = Copies::new(folder.path(), "a");
        let copy = keep(&copies, "192.0.2.1\n");
        let list = copies.list_path(copy.crc32);
        for damage in ["192.0.2.2\n", "192.0.2.1", ""] {
            fs::write(&list, damage).unwrap();
            let error = copies.last(7).unwrap_err().to_string();
            assert!(error.contains("not those that were written"), "{error}");
        }
        fs::remove_file(list).unwrap();
        assert!(copies.last(7).is_err());
        for damage in ["", "{", "[]", "{\"bytes\":-1}"] {
            fs::write(copies.path("json"), damage).unwrap();
            assert!(copies.last(7).is_err(), "{damage:?}");
        }
    }

    #[test]
    fn too_much_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let copies = Copies::new(folder.path(), "a");
        let failed = |error| SourceError::io("x", "be read", error);
        let zeros = io::repeat(0);
        let error = copies
            .spool("x", zeros, 100_000, || Ok(()), failed)
            .unwrap_err();
        assert!(matches!(error, SourceError::TooLarge { .. }), "{error}");
        assert!(files(folder.path()).is_empty());
    }
}
