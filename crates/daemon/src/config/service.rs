//! `[control]`, `[metrics]`, `[state]`, `[crowdsec]`, `[log]` and `[user]`: the program around the
//! dataplane.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::error::{ConfigError, Wrong};
use super::ports::{choice, word};
use super::resolved::Writer;
use super::section::Section;
use super::sets::is_set_name;

/// Where the control socket is, here and in the CLI, unless it is said otherwise.
pub const DEFAULT_SOCKET: &str = "/run/linerate/control.sock";

/// `[control]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlConfig {
    /// The Unix socket that the CLI speaks to, of mode 0660.
    pub socket: PathBuf,
    /// The group that may speak to it beside root and the user the daemon runs as.
    pub group: Option<String>,
}

/// `[metrics]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsConfig {
    /// Where Prometheus reads.
    pub address: SocketAddr,
}

/// `[state]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateConfig {
    /// The folder of what must survive a restart: entries added by hand or by CrowdSec, and the
    /// last good copies of lists. None where nothing is to survive.
    pub dir: Option<PathBuf>,
}

/// Where a secret comes from; never from the configuration itself or from argv.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFrom {
    /// The first line of a file.
    File(PathBuf),
    /// A variable of the environment.
    Environment(String),
}

/// `[crowdsec]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrowdsecConfig {
    /// The local API, as in `http://127.0.0.1:8080/`.
    pub url: String,
    /// The bouncer's key.
    pub key: KeyFrom,
    /// The set that its decisions go to.
    pub set: String,
    /// How often it is asked for what changed.
    pub interval: Duration,
    /// How often all decisions are fetched and compared again.
    pub resync: Duration,
    /// Types of decisions that are taken.
    pub types: Vec<String>,
    /// Origins that are asked for; all where there is none.
    pub origins: Vec<String>,
    /// Scopes that are taken, of `ip` and `range`.
    pub scopes: Vec<String>,
    /// Certificates to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// What stops something from working.
    Error,
    /// And what an operator should look at.
    Warn,
    /// And what changed.
    Info,
    /// And why.
    Debug,
}

/// How lines of the log look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people on a terminal, to the journal where it listens, JSON elsewhere.
    Auto,
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
    /// To systemd's journal, with fields.
    Journald,
}

/// `[log]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// How much.
    pub level: LogLevel,
    /// How.
    pub format: LogFormat,
}

/// `[user]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserConfig {
    /// Whom the daemon becomes once it has opened what needs root.
    pub name: String,
}

const LEVELS: [(&str, LogLevel); 4] = [
    ("error", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
];
const FORMATS: [(&str, LogFormat); 4] = [
    ("auto", LogFormat::Auto),
    ("human", LogFormat::Human),
    ("json", LogFormat::Json),
    ("journald", LogFormat::Journald),
];

const SCOPES: [(&str, &str); 2] = [("ip", "ip"), ("range", "range")];

/// A word of CrowdSec's: it goes into the address that is asked, origins parted by commas.
fn decision_word(word: &str, in_address: bool) -> Result<String, Wrong> {
    let sound = |byte: u8| byte.is_ascii_graphic() && !(in_address && byte == b',');
    if (1..=64).contains(&word.len()) && word.bytes().all(sound) {
        return Ok(word.to_owned());
    }
    let what = format!("{word:?} is no word of CrowdSec's decisions");
    Err(Wrong::new(
        what,
        "write them as 'cscli decisions list' shows them",
    ))
}

impl Default for ControlConfig {
    fn default() -> Self {
        Self {
            socket: DEFAULT_SOCKET.into(),
            group: None,
        }
    }
}

impl Default for StateConfig {
    fn default() -> Self {
        Self {
            dir: Some("/var/lib/linerate".into()),
        }
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            level: LogLevel::Info,
            format: LogFormat::Auto,
        }
    }
}

impl ControlConfig {
    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let default = Self::default();
        let socket = section.path("socket")?.unwrap_or(default.socket);
        // The kernel keeps 108 bytes for a path, with its end.
        if socket.as_os_str().len() > 107 {
            let what = format!("socket {} is longer than 107 bytes", socket.display());
            let wrong = Wrong::new(what, "choose a shorter path, as in /run/linerate/a.sock");
            return Err(section.error_at("socket", wrong));
        }
        let group = section.text("group")?;
        section.finish()?;
        Ok(Self { socket, group })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("control");
        out.path("socket", &self.socket);
        if let Some(group) = &self.group {
            out.text("group", group);
        }
    }
}

impl MetricsConfig {
    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let parse = |text: &str| {
            let wrong = || Wrong::new(format!("{text:?} is no address"), "write 127.0.0.1:9177");
            text.parse().map_err(|_| wrong())
        };
        let address = section.parsed("address", "address = \"127.0.0.1:9177\"", parse)?;
        let address = address.ok_or_else(|| section.missing("address"))?;
        section.finish()?;
        Ok(Self { address })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("metrics");
        out.text("address", &self.address.to_string());
    }
}

impl StateConfig {
    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let keep = section.flag("keep")?.unwrap_or(true);
        let dir = section.path("dir")?;
        section.finish()?;
        Ok(Self {
            dir: if keep {
                dir.or(Self::default().dir)
            } else {
                None
            },
        })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("state");
        out.raw("keep", self.dir.is_some());
        if let Some(dir) = &self.dir {
            out.path("dir", dir);
        }
    }
}

impl CrowdsecConfig {
    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let url = section.required("url")?;
        let sound = url.starts_with("http://") || url.starts_with("https://");
        if !sound || !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            // Not repeated: it may hold a password.
            let what = "url in [crowdsec] is no address of its local API";
            let wrong = Wrong::new(what, "write http://127.0.0.1:8080/");
            return Err(section.error_at("url", wrong));
        }
        let key = match (section.path("key_file")?, section.text("key_env")?) {
            (Some(file), None) => KeyFrom::File(file),
            (None, Some(name)) => KeyFrom::Environment(name),
            _ => {
                let what = "[crowdsec] needs either key_file or key_env";
                let wrong = Wrong::new(what, "put the bouncer's key into a file and name it");
                return Err(section.error(wrong));
            }
        };
        let set = section.required("set")?;
        if !is_set_name(&set) {
            let what = format!("{set:?} is no name of a set");
            return Err(section.error_at("set", Wrong::new(what, "name one of the [[set]]s")));
        }
        let times = Duration::from_secs(1)..=Duration::from_secs(3600);
        let interval = section.duration("interval", times)?;
        let times = Duration::from_secs(60)..=Duration::from_secs(30 * 86_400);
        let resync = section.duration("resync", times)?;
        let types = section.texts("types", |word| decision_word(word, false))?;
        if types.as_ref().is_some_and(Vec::is_empty) {
            let wrong = Wrong::new("types is empty, so nothing is taken", "write [\"ban\"]");
            return Err(section.error_at("types", wrong));
        }
        let origins = section.texts("origins", |word| decision_word(word, true))?;
        let scopes = section.texts("scopes", |word| choice(word, &SCOPES).map(str::to_owned))?;
        if scopes.as_ref().is_some_and(Vec::is_empty) {
            let remedy = "write [\"ip\", \"range\"]";
            let wrong = Wrong::new("scopes is empty, so nothing is taken", remedy);
            return Err(section.error_at("scopes", wrong));
        }
        let ca_file = section.path("ca_file")?;
        section.finish()?;
        Ok(Self {
            url,
            key,
            set,
            interval: interval.unwrap_or(Duration::from_secs(10)),
            resync: resync.unwrap_or(Duration::from_secs(12 * 3600)),
            types: types.unwrap_or_else(|| vec!["ban".to_owned()]),
            origins: origins.unwrap_or_default(),
            scopes: scopes.unwrap_or_else(|| SCOPES.map(|(word, _)| word.to_owned()).into()),
            ca_file,
        })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("crowdsec");
        out.url("url", &self.url);
        match &self.key {
            KeyFrom::File(path) => out.path("key_file", path),
            KeyFrom::Environment(name) => out.text("key_env", name),
        }
        out.text("set", &self.set);
        out.duration("interval", self.interval);
        out.duration("resync", self.resync);
        out.texts("types", self.types.iter().map(String::as_str));
        out.texts("origins", self.origins.iter().map(String::as_str));
        out.texts("scopes", self.scopes.iter().map(String::as_str));
        if let Some(path) = &self.ca_file {
            out.path("ca_file", path);
        }
    }
}

impl LogConfig {
    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let default = Self::default();
        let level = section.parsed("level", "level = \"info\"", |word| choice(word, &LEVELS))?;
        let format =
            section.parsed("format", "format = \"auto\"", |word| choice(word, &FORMATS))?;
        section.finish()?;
        Ok(Self {
            level: level.unwrap_or(default.level),
            format: format.unwrap_or(default.format),
        })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("log");
        out.text("level", word(self.level, &LEVELS));
        out.text("format", word(self.format, &FORMATS));
    }
}

impl UserConfig {
    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let name = section.required("name")?;
        if name.is_empty() || name.contains(['\0', ':', '\n']) {
            let wrong = Wrong::new(format!("{name:?} is no user"), "write name = \"linerate\"");
            return Err(section.error_at("name", wrong));
        }
        section.finish()?;
        Ok(Self { name })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("user");
        out.text("name", &self.name);
    }
}
