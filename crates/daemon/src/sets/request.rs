//! What the keeper may be asked.

use super::config::SetConfig;
use super::name::SetName;
use frame::PortId;
use list::JsonPath;
use plane::{Action, RuleTable, Sides};
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use table::Entries;
use table::live::Entry;

/// Who gave an entry, or the file part of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A person, or a program that speaks for one, over the control socket.
    Hand,
    /// A file that is watched.
    File,
    /// A list fetched by `https:`.
    Url,
    /// The output of a command.
    Command,
    /// A list in etcd.
    Etcd,
    /// Decisions of CrowdSec.
    CrowdSec,
}

impl Origin {
    /// One word: `hand`, `file`, `url`, `command`, `etcd`, `crowdsec`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hand => "hand",
            Self::File => "file",
            Self::Url => "url",
            Self::Command => "command",
            Self::Etcd => "etcd",
            Self::CrowdSec => "crowdsec",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An entry to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// What goes in.
    pub entry: Entry,
    /// It goes by itself after this time; none for never.
    pub timeout: Option<Duration>,
    /// For people; at most [`table::live::COMMENT_BYTES_MAX`] bytes.
    pub comment: Option<Box<str>>,
}

impl From<Entry> for NewEntry {
    /// For good and without a comment.
    fn from(entry: Entry) -> Self {
        Self {
            entry,
            timeout: None,
            comment: None,
        }
    }
}

/// Where a file part was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedFrom {
    /// As people know it: a path, a URL, a command line. It stands in messages as `NAME:LINE`.
    pub name: String,
    /// A file that holds the very bytes that were read, if there is one: a local list itself or
    /// the copy that was kept of a URL. It is read again when somebody asks for a line.
    pub file: Option<PathBuf>,
    /// The columns that were read, where the list has columns.
    pub columns: Option<list::Columns>,
    /// Where in JSON it was read.
    pub json_paths: Vec<JsonPath>,
    /// When it was read.
    pub at: SystemTime,
    /// Bytes read, compressed as they came.
    pub bytes: u64,
    /// The checksum that its text is kept by beside the journal, where it is.
    pub kept: Option<u32>,
}

impl LoadedFrom {
    /// What has a name and is kept nowhere.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            file: None,
            columns: None,
            json_paths: Vec::new(),
            at: SystemTime::now(),
            bytes: 0,
            kept: None,
        }
    }
}

/// What a source changes of its file part in place. No entry is in both lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Amendment {
    /// The source, as the load named it whose file part this changes.
    pub name: String,
    /// What it has now and had not.
    pub added: Vec<Entry>,
    /// What it has no longer.
    pub removed: Vec<Entry>,
    /// Where its text is kept now, where that is another place.
    pub copy: Option<LoadedFrom>,
}

/// A side and a port that an action is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// The addresses it is about.
    pub sides: Sides,
    /// The port by which frames come in, and its name, by which it is kept; none for all.
    pub port: Option<(PortId, Box<str>)>,
}

/// What may be asked of the keeper. Each is answered exactly once, by a
/// [`Reply`](super::Reply) or a [`Refusal`](super::Refusal), named here in brackets.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "made once, by value; the keeper gets a box"
)]
pub enum Request {
    /// All sets (`Sets`).
    List,
    /// One set (`Set`).
    Show {
        /// Which.
        set: SetName,
    },
    /// Why an address is in which sets (`Test`).
    Test {
        /// Which.
        address: IpAddr,
    },
    /// Into the dynamic part (`Added`). With more than some thousand entries the request is made
    /// in slices, each visible at once; others have their turn between them.
    Add {
        /// The set.
        set: SetName,
        /// Any number.
        entries: Vec<NewEntry>,
        /// Who gives them: [`Origin::Hand`] or [`Origin::CrowdSec`].
        origin: Origin,
    },
    /// By hand: out of both parts. By a feed: what it gave (`Deleted`).
    Delete {
        /// The set.
        set: SetName,
        /// Any number.
        entries: Vec<Entry>,
        /// Who takes them out: [`Origin::Hand`] or [`Origin::CrowdSec`].
        origin: Origin,
    },
    /// Takes all of both parts out (`Flushed`).
    Flush {
        /// The set.
        set: SetName,
    },
    /// Takes out of the dynamic part all that `origin` gave and `keep` does not have, adds what is
    /// missing: what a feed does when it begins anew (`Added`).
    Replace {
        /// The set.
        set: SetName,
        /// All that the feed knows.
        entries: Vec<NewEntry>,
        /// The feed.
        origin: Origin,
    },
    /// Replaces the file part, unless the guards refuse it (`Loaded`).
    ///
    /// Whoever reads a file should call [`Handle::begin_load`](super::Handle::begin_load) before
    /// it is opened: then what somebody removes meanwhile stays removed.
    Load {
        /// The set.
        set: SetName,
        /// What was read.
        entries: Entries,
        /// Where.
        source: LoadedFrom,
        /// By what kind of source.
        origin: Origin,
        /// Loads whatever the guards say.
        force: bool,
    },
    /// Changes the file part in place, where that is this source's and no guard could refuse it
    /// (`Amended`).
    Amend {
        /// The set.
        set: SetName,
        /// The change.
        amendment: Amendment,
        /// By what kind of source.
        origin: Origin,
    },
    /// Changes what a hit does, from the next burst on (`ActionSet`). Survives a restart unless
    /// the configuration has another action by then.
    SetAction {
        /// The set.
        set: SetName,
        /// The action.
        action: Action,
        /// Where, beside what the configuration says; none: what the set does where nothing else
        /// is said, and an end to what was said live for sides and ports.
        at: Option<At>,
    },
    /// The set as it is now, to be written out in lines that a load reads (`Saved`).
    Save {
        /// The set.
        set: SetName,
    },
    /// New settings for all sets, which must be the same sets in the same order (`Reloaded`).
    Reload {
        /// All of them.
        sets: Vec<SetConfig>,
        /// The rules of packets that are to hold with them, or none.
        packet_rules: Option<Arc<RuleTable>>,
    },
    /// Other rules of packets, made for these sets (`RulesSet`).
    SetRules {
        /// Those that are to hold, or none.
        packet_rules: Option<Arc<RuleTable>>,
    },
}
