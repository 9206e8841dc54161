//! What a source is, as the configuration describes it.

use list::JsonPath;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::etcd_spec::EtcdSource;
use super::list_url::{ListUrl, SpecError};

/// One source of one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpec {
    /// The set, by its name: letters, digits, dots, dashes and underscores.
    pub set: Arc<str>,
    /// Where its entries come from.
    pub source: Source,
    /// Time between two reads. Of a file, which is watched, the time after which it is looked at
    /// even when no event came.
    pub refresh: Duration,
    /// How the text is read.
    pub text: TextRules,
    /// The bounds.
    pub limits: Limits,
    /// How old its entries may be.
    pub freshness: Freshness,
}

/// How old what a source gave may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// Whether the daemon is not healthy without a current list.
    pub required: bool,
    /// The age up to which a list is current.
    pub max_age: Duration,
}

impl Default for Freshness {
    fn default() -> Self {
        Self {
            required: false,
            max_age: Duration::from_secs(3 * 3600),
        }
    }
}

/// Where entries come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, watched.
    File {
        /// Its path, absolute.
        path: PathBuf,
    },
    /// A list on a web server.
    Url {
        /// Its address.
        url: ListUrl,
        /// Certificates to trust in place of the platform's, PEM.
        ca_file: Option<PathBuf>,
    },
    /// A command whose standard output is the list.
    Command {
        /// The program, by its absolute path, and its arguments; no shell reads them.
        argv: Vec<String>,
        /// How long it may take.
        timeout: Duration,
    },
    /// A list in etcd.
    Etcd(Box<EtcdSource>),
}

/// How the text of a list is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextRules {
    /// Leaves bad lines out and counts them, in place of refusing the list.
    pub skip_bad_lines: bool,
    /// The columns that hold the entries.
    pub columns: Option<list::Columns>,
    /// Where the addresses of JSON are.
    pub json_paths: Vec<JsonPath>,
    /// Takes `0.0.0.0/0` and `::/0` at their word.
    pub force: bool,
    /// What the set does with the entries.
    pub purpose: list::Purpose,
}

/// The bounds of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the list as it comes, packed or not.
    pub bytes_max: u64,
    /// Bytes of its text, unpacked.
    pub text_bytes_max: u64,
    /// Entries.
    pub entries_max: u64,
    /// How long fetching it may take, from the look-up of the name to the last byte.
    pub fetch_time_max: Duration,
    /// How long a file must have been left alone before it is read, unless it was renamed into
    /// place.
    pub settle: Duration,
}

impl Limits {
    /// Sources that parse and deliver at a time. A load of 6M entries takes some 300 MB and seconds
    /// of a CPU; two let a small list pass a large one.
    pub const LOADS_MAX: usize = 2;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // 6M IPv6 networks as text are 250 MB.
            bytes_max: 512 << 20,
            text_bytes_max: 2 << 30,
            entries_max: 32 << 20,
            fetch_time_max: Duration::from_secs(120),
            settle: Duration::from_secs(1),
        }
    }
}

/// The kind of a source, for labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A file.
    File,
    /// A list on a web server.
    Url,
    /// A command.
    Command,
    /// A list in etcd.
    Etcd,
    /// The local API of CrowdSec.
    CrowdSec,
}

impl Kind {
    /// One word, as labels of metrics and reports have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Url => "url",
            Self::Command => "command",
            Self::Etcd => "etcd",
            Self::CrowdSec => "crowdsec",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Source {
    /// Reads what the configuration writes as one word: an absolute path, or a URL.
    ///
    /// # Errors
    /// It is neither, or a URL that [`ListUrl::new`] refuses.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        if text.contains("://") {
            let url = ListUrl::new(text, false)?;
            return Ok(Self::Url { url, ca_file: None });
        }
        let path = PathBuf::from(text);
        if !path.is_absolute() {
            return Err(SpecError(format!(
                "source {text:?} is no absolute path and no URL: write the whole path, as in \
                 \"/etc/linerate/{text}\", or an address that begins with https://"
            )));
        }
        Ok(Self::File { path })
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::File { .. } => Kind::File,
            Self::Url { .. } => Kind::Url,
            Self::Command { .. } => Kind::Command,
            Self::Etcd(_) => Kind::Etcd,
        }
    }

    /// How it is named in reports, in the log and before line numbers. Queries of URLs are left
    /// out: they hold licence keys.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::File { path } => path.display().to_string(),
            Self::Url { url, .. } => url.shown().to_owned(),
            Self::Command { argv, .. } => argv.first().cloned().unwrap_or_default(),
            Self::Etcd(etcd) => etcd.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_sources() {
        assert_eq!(Source::parse("/etc/a.txt").unwrap().kind(), Kind::File);
        let source = Source::parse("https://example.com/a?key=SECRET").unwrap();
        assert_eq!(source.kind(), Kind::Url);
        assert_eq!(source.name(), "https://example.com/a?...");
        assert!(!format!("{source:?}").contains("SECRET"));
        for wrong in [
            "a.txt",
            "",
            "ftp://example.com/a",
            "https://",
            "https:///a",
            "file:///a",
        ] {
            assert!(Source::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
