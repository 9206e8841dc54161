//! How an interface chooses a frame's queue: read, changed, and put back.

use std::fmt::{self, Write};
use std::io;

use super::offloads::{Changes, not_written, record};
use super::records::{Kept, Records};
use super::{FlowKind, Interface, Restored, Rss};
use crate::sys::ethtool;
use crate::{PortError, PortErrorKind};

/// The kinds of frames that a NIC tells apart, as `ethtool -n` names them.
const KINDS: [(&str, FlowKind); 4] = [
    ("tcp4", FlowKind::Tcp4),
    ("udp4", FlowKind::Udp4),
    ("tcp6", FlowKind::Tcp6),
    ("udp6", FlowKind::Udp6),
];
/// Letters of fields that may be hashed.
const FIELDS: &str = "mvtsdfn";
/// Entries that a record of what was found has room for; NICs have 128 to some thousand.
const TABLE_MAX: usize = 1 << 14;
/// Longer keys than any NIC has.
const KEY_BYTES_MAX: usize = 1 << 10;

/// Table, key and function of the receive hash, and what of each kind of frame goes into it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HashSettings {
    /// Table, key and function.
    pub rss: Rss,
    /// The letters of ethtool by kind; kinds that the driver does not tell of are not there.
    pub hashed: Vec<(FlowKind, String)>,
}

/// Who has such settings: an interface, or what stands in for one in tests.
pub trait RssAccess {
    /// What is set now.
    ///
    /// # Errors
    /// The kernel's own: `EOPNOTSUPP` where the driver has none or does not say.
    fn settings(&self) -> io::Result<HashSettings>;

    /// Sets table, key and function; an empty table or key stays as it is.
    ///
    /// # Errors
    /// The kernel's own: `EPERM` without `CAP_NET_ADMIN`, `EOPNOTSUPP`, `EINVAL` for a queue that
    /// is not there.
    fn set_rss(&self, rss: &Rss) -> io::Result<()>;

    /// Sets what of one kind of frame is hashed.
    ///
    /// # Errors
    /// As [`set_rss`](Self::set_rss).
    fn set_hashed(&self, kind: FlowKind, letters: &str) -> io::Result<()>;
}

impl RssAccess for Interface {
    fn settings(&self) -> io::Result<HashSettings> {
        let rss = ethtool::rss(&self.control, &self.kernel_name())?;
        let hashed = KINDS.iter().filter_map(|&(_, kind)| {
            let letters = ethtool::hashed(&self.control, &self.kernel_name(), kind);
            Some((kind, letters.ok()?))
        });
        let hashed = hashed.collect();
        Ok(HashSettings { rss, hashed })
    }

    fn set_rss(&self, rss: &Rss) -> io::Result<()> {
        ethtool::set_rss(&self.control, &self.kernel_name(), rss)
    }

    fn set_hashed(&self, kind: FlowKind, letters: &str) -> io::Result<()> {
        ethtool::set_hashed(&self.control, &self.kernel_name(), kind, letters)
    }
}

impl HashSettings {
    /// What of this kind of frame is hashed, in the letters of ethtool.
    #[must_use]
    pub fn of_kind(&self, kind: FlowKind) -> Option<&str> {
        let found = self.hashed.iter().find(|(known, _)| *known == kind);
        found.map(|(_, letters)| letters.as_str())
    }

    /// Kinds by the names that ethtool has for them, and what of each is hashed.
    pub fn by_name(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let named = |(name, kind): &(&'static str, FlowKind)| Some((*name, self.of_kind(*kind)?));
        KINDS.iter().filter_map(named)
    }

    /// The names of all kinds.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|(name, _)| *name)
    }

    /// What of this is otherwise in settings that were read after it was set, a part of a sentence
    /// each.
    #[must_use]
    pub fn missing_in(&self, now: &Self) -> Vec<String> {
        let mut missing = Vec::new();
        let (wanted, found) = (&self.rss, &now.rss);
        if wanted.key != found.key {
            missing.push("the key".to_owned());
        }
        if (wanted.function, wanted.transform) != (found.function, found.transform) {
            missing.push("the hash function".to_owned());
        }
        let entries = wanted.indirection.iter().zip(&found.indirection);
        let others = entries.filter(|(wanted, found)| wanted != found).count();
        let others = others + wanted.indirection.len().abs_diff(found.indirection.len());
        if others != 0 {
            missing.push(format!("{others} entries of the table"));
        }
        for (name, letters) in self.by_name() {
            let kind = KINDS.iter().find(|(known, _)| *known == name);
            let found = kind.and_then(|(_, kind)| now.of_kind(*kind));
            if found != Some(letters) {
                let found = found.unwrap_or("nothing told");
                missing.push(format!("what is hashed of {name} ({found}, not {letters})"));
            }
        }
        missing
    }

    /// Sets whatever differs from what is there.
    pub(super) fn write_to(&self, interface: &dyn RssAccess) -> io::Result<()> {
        let now = interface.settings()?;
        if now.rss != self.rss {
            // Only what changes is written: a driver that has a fixed key takes a table.
            let mut rss = self.rss.clone();
            if now.rss.indirection == rss.indirection {
                rss.indirection.clear();
            }
            if now.rss.key == rss.key {
                rss.key.clear();
            }
            interface.set_rss(&rss)?;
        }
        for (kind, letters) in &self.hashed {
            if now.of_kind(*kind) != Some(letters) {
                interface.set_hashed(*kind, letters)?;
            }
        }
        Ok(())
    }

    /// Reads one line of a record, which anybody may have written.
    pub(super) fn take(&mut self, what: &str, value: &str) -> Result<(), String> {
        match what {
            "table" => self.rss.indirection = table(value)?,
            "key" => self.rss.key = key(value)?,
            "function" => (self.rss.function, self.rss.transform) = function(value)?,
            kind => {
                let kind = KINDS.iter().find(|(name, _)| *name == kind);
                let (_, kind) = kind.ok_or_else(|| format!("`{what}` is no kind of frame"))?;
                let letters = value.strip_prefix('-').unwrap_or(value);
                if !letters.chars().all(|letter| FIELDS.contains(letter)) {
                    return Err(format!("`{}` are no fields", value.escape_debug()));
                }
                self.hashed.push((*kind, letters.to_owned()));
            }
        }
        Ok(())
    }
}

fn table(text: &str) -> Result<Vec<u32>, String> {
    let queue = |text: &str| {
        let read = text.parse();
        read.map_err(|_| format!("`{}` is no number", text.escape_debug()))
    };
    text.split(',').take(TABLE_MAX).map(queue).collect()
}

fn key(text: &str) -> Result<Vec<u8>, String> {
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair)
            .ok()
            .filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    };
    let bytes = text.as_bytes().chunks(2).take(KEY_BYTES_MAX).map(byte);
    let bytes: Option<Vec<u8>> = bytes.collect();
    bytes.ok_or_else(|| "it is no key".to_owned())
}

fn function(text: &str) -> Result<(u8, u8), String> {
    let parts = text.split_once(' ');
    let parts = parts.and_then(|(one, two)| Some((one.parse().ok()?, two.parse().ok()?)));
    parts.ok_or_else(|| format!("`{}` is no hash function", text.escape_debug()))
}

/// As lines of a record.
impl fmt::Display for HashSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rss {
            indirection,
            key,
            function,
            transform,
        } = &self.rss;
        if !indirection.is_empty() {
            let queues: Vec<String> = indirection.iter().map(u32::to_string).collect();
            writeln!(f, "placement table {}", queues.join(","))?;
        }
        if !key.is_empty() {
            let mut text = String::new();
            key.iter().try_for_each(|byte| write!(text, "{byte:02x}"))?;
            writeln!(f, "placement key {text}")?;
        }
        writeln!(f, "placement function {function} {transform}")?;
        for (name, letters) in self.by_name() {
            // A value is never empty in a record.
            writeln!(f, "placement {name} -{letters}")?;
        }
        Ok(())
    }
}

/// Settings of an interface's receive hash that were changed. Dropping it puts them back; after
/// `kill -9` the record is there, by which the next start or `linerate restore` does it.
#[derive(Debug)]
pub struct RssChange<A: RssAccess = Interface> {
    interface: A,
    before: HashSettings,
    /// What was read back otherwise than it was set.
    not_taken: Vec<String>,
    /// It was put back, or that was tried.
    is_over: bool,
    record: Option<Kept>,
    notes: Vec<String>,
}

impl RssChange {
    /// Writes down what is set, and sets what `wanted` makes of it. What a dead process left is put
    /// back first.
    ///
    /// # Errors
    /// A driver that gives no settings or takes none of these; no rights. Then all is as before.
    pub fn apply(
        interface: Interface,
        wanted: impl FnOnce(HashSettings) -> HashSettings,
    ) -> Result<Self, PortError> {
        let restored = interface.restore();
        let mut notes: Vec<String> = restored.iter().filter_map(Restored::sentence).collect();
        let name = interface.name().to_owned();
        let before = interface
            .settings()
            .map_err(|error| unread(&name, &error))?;
        if before.rss.indirection.len() > TABLE_MAX {
            let sentence = format!("{name}: its table is longer than can be written down");
            return Err(PortError::new(PortErrorKind::Setting, sentence));
        }
        let changes = Changes {
            placement: Some(before.clone()),
            ..Changes::default()
        };
        let record = match record(&Records::here(), &interface, changes) {
            Ok(record) => Some(record),
            Err(error) => {
                notes.push(not_written(&name, &error));
                None
            }
        };
        let mut change = Self::made(interface, before, wanted).map_err(|(now, error)| {
            let sentence = format!(
                "{name}: its driver does not take these settings: {error}; {}",
                if now {
                    "all is as before"
                } else {
                    "and it did not take back those before"
                }
            );
            PortError::new(PortErrorKind::Setting, sentence)
        })?;
        change.record = record;
        change.notes = notes;
        Ok(change)
    }
}

fn unread(name: &str, error: &io::Error) -> PortError {
    let sentence = match error.raw_os_error() {
        Some(libc::EOPNOTSUPP) => format!(
            "{name}: its driver has no receive hash that could be set; frames are spread over \
             workers in software: linerate bridge ... --cpus"
        ),
        _ => format!("{name}: its driver does not tell of its receive hash: {error}"),
    };
    PortError::new(PortErrorKind::Setting, sentence)
}

impl<A: RssAccess> RssChange<A> {
    /// Puts back what was set before.
    ///
    /// # Errors
    /// The driver does not take it back, or the interface is gone; the record of what it was stays
    /// for the next start and `linerate restore`.
    pub fn put_back(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        if self.is_over {
            return Ok(());
        }
        self.is_over = true;
        let done = self.before.write_to(&self.interface);
        match (&done, self.record.take()) {
            (Err(_), Some(record)) => record.leave(),
            (_, record) => drop(record),
        }
        done
    }

    /// The error says whether all is as before.
    fn made(
        interface: A,
        before: HashSettings,
        wanted: impl FnOnce(HashSettings) -> HashSettings,
    ) -> Result<Self, (bool, io::Error)> {
        let wanted = wanted(before.clone());
        if let Err(error) = wanted.write_to(&interface) {
            return Err((before.write_to(&interface).is_ok(), error));
        }
        let not_taken = match interface.settings() {
            Ok(now) => wanted.missing_in(&now),
            Err(error) => return Err((before.write_to(&interface).is_ok(), error)),
        };
        Ok(Self {
            interface,
            before,
            not_taken,
            is_over: false,
            record: None,
            notes: Vec::new(),
        })
    }

    /// What is set now.
    ///
    /// # Errors
    /// The kernel's own.
    pub fn now(&self) -> io::Result<HashSettings> {
        self.interface.settings()
    }

    /// What was set and read back otherwise: the driver took it without a word and did not do it.
    #[must_use]
    pub fn not_taken(&self) -> &[String] {
        &self.not_taken
    }

    /// What it is about.
    #[must_use]
    pub fn interface(&self) -> &A {
        &self.interface
    }

    /// What was set before, and will be again.
    #[must_use]
    pub fn before(&self) -> &HashSettings {
        &self.before
    }

    /// What the user should know, a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl<A: RssAccess> Drop for RssChange<A> {
    fn drop(&mut self) {
        // Nobody is there to be told; the record stays where it failed.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests;
