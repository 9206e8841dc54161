//! `[[set]]`: the sets, where their entries come from, and what a change of them must not do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use list::Columns;
use list::JsonPath;
use plane::{Action, Headers, Sides};
use toml::de::DeValue;

use super::columns;
use super::error::{ConfigError, Wrong};
use super::etcd::EtcdConfig;
use super::ports::{PortConfig, choice, known_port, word};
use super::resolved::Writer;
use super::section::Section;

/// `[[set]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SetConfig {
    /// 1 to 64 of letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// Where its file part comes from; none for a set that is changed by hand alone.
    pub source: Option<Source>,
    /// What a hit does.
    pub action: Action,
    /// Which addresses of a frame it looks at.
    pub sides: Sides,
    /// Which headers of packets inside packets it looks at.
    pub headers: Headers,
    /// The names of the ports at which frames that it looks at come in; empty for all.
    pub ports: Vec<String>,
    /// What it does elsewhere than `action` says, later ones before earlier ones.
    pub exceptions: Vec<ActionAt>,
    /// How often the source is read again; for a file, which is watched, a second look.
    pub refresh: Duration,
    /// Whether a start without its list is refused: a file is here or it is not, and what comes by
    /// the net or is made may come later, unless it is said otherwise.
    pub required: bool,
    /// How old a required list may be before the daemon is not healthy; three times `refresh`
    /// unless it is given.
    pub max_age: Duration,
    /// Which refreshes are refused.
    pub guards: Guards,
    /// The columns that hold the entries, where the list has columns.
    pub columns: Option<Columns>,
    /// Where the addresses of JSON are; found where there is one array of them.
    pub json_paths: Vec<JsonPath>,
    /// Whether bad lines are left out instead of refusing the list.
    pub skip_bad_lines: bool,
}

/// `[[set.on]]`: another action for one port or one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionAt {
    /// The port at which frames come in; none for any.
    pub port: Option<String>,
    /// The addresses it is about.
    pub sides: Sides,
    /// What a hit does there.
    pub action: Action,
}

/// Where a list comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, which is watched.
    File(PathBuf),
    /// An address on the web, fetched by conditional requests.
    Url {
        /// `https://...`, or `http://` on this machine.
        url: String,
        /// Certificates to trust instead of the system's.
        ca_file: Option<PathBuf>,
    },
    /// A program whose standard output is the list; no shell is between.
    Command {
        /// The program and its arguments.
        argv: Vec<String>,
        /// How long it may take; none for `list_time` of `[limits]`.
        timeout: Option<Duration>,
    },
    /// A list in etcd, which is watched.
    Etcd(Box<EtcdConfig>),
}

/// What a refresh must not do unless it is forced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guards {
    /// Entries that may come and go, as a share of those there were.
    pub max_change: f64,
    /// A list that has fewer entries before and after is not held against `max_change`.
    pub max_change_floor: u64,
    /// Whether a list may be empty.
    pub allow_empty: bool,
    /// Whether a list may cover private address space or addresses of this machine that it did
    /// not cover before.
    pub allow_private: bool,
}

const ACTIONS: [(&str, Action); 3] = [
    ("count", Action::Count),
    ("block", Action::Block),
    ("allow", Action::Allow),
];

/// What other programs call the same.
const ALIASES: [(&str, &str); 5] = [
    ("drop", "block"),
    ("deny", "block"),
    ("accept", "allow"),
    ("permit", "allow"),
    ("pass", "allow"),
];
const SIDES: [(&str, Sides); 4] = [
    ("both", Sides::BOTH),
    ("source", Sides::SRC),
    ("destination", Sides::DST),
    // Rules of packets alone ask for it.
    ("none", Sides::NONE),
];

/// A change of more than half is a fault of the source more often than news.
const MAX_CHANGE: f64 = crate::sets::SetConfig::MAX_CHANGE;
const MAX_CHANGE_FLOOR: u64 = crate::sets::SetConfig::MAX_CHANGE_FLOOR;
/// No list is larger.
const FLOOR_MAX: i64 = u32::MAX as i64;
const REFRESH: Duration = Duration::from_secs(3600);
const REFRESH_MIN: Duration = Duration::from_secs(1);
const REFRESH_MAX: Duration = Duration::from_secs(30 * 86_400);
const MAX_AGE_MAX: Duration = Duration::from_secs(365 * 86_400);
/// A list that two reads in a row have failed to confirm is current; at the third it is not.
const REFRESHES_PER_AGE: u32 = 3;
const NAME_BYTES_MAX: usize = 64;

fn json_paths(section: &Section<'_>) -> Result<Vec<JsonPath>, ConfigError> {
    let Some(text) = section.text("json_path")? else {
        return Ok(Vec::new());
    };
    if section.number::<usize>("column", 1..=4096)?.is_some() {
        let remedy = "remove column, which is for CSV, or json_path, which is for JSON";
        let wrong = Wrong::new("json_path and column are both there", remedy);
        return Err(section.error_at("json_path", wrong));
    }
    JsonPath::parse_all(&text).map_err(|_| {
        let what = format!("{text:?} is no path into JSON");
        let remedy = "write keys with dots between and [] for the elements of an array, as in \
                      prefixes[].ip_prefix";
        section.error_at("json_path", Wrong::new(what, remedy))
    })
}

/// Whether a set may be called so: 1 to 64 of letters, digits, `.`, `_` and `-`.
#[must_use]
pub fn is_set_name(name: &str) -> bool {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(sound)
}

impl SetConfig {
    pub(crate) fn read(section: Section<'_>, ports: &[PortConfig]) -> Result<Self, ConfigError> {
        let name = section.required("name")?;
        if !is_set_name(&name) {
            let what = format!("{name:?} is no name of a set");
            let remedy = "write 1 to 64 letters, digits, dots, dashes and underscores";
            return Err(section.error_at("name", Wrong::new(what, remedy)));
        }
        let second = Duration::from_secs(1);
        let source = Source::read(&section)?;
        let refresh = section.duration("refresh", REFRESH_MIN.max(second)..=REFRESH_MAX)?;
        let refresh = refresh.unwrap_or(REFRESH);
        let max_age = section.duration("max_age", REFRESH_MIN..=MAX_AGE_MAX)?;
        let set = Self {
            required: required(&section, source.as_ref())?,
            source,
            action: action(&section)?.ok_or_else(|| section.missing("action"))?,
            sides: sides(&section)?.unwrap_or(Sides::BOTH),
            headers: headers(&section)?.unwrap_or(Headers::BOTH),
            ports: ingress(&section, ports)?,
            exceptions: section
                .tables("on", "[[set.on]]")?
                .into_iter()
                .map(|on| ActionAt::read(on, ports))
                .collect::<Result<_, _>>()?,
            refresh,
            max_age: max_age.unwrap_or(REFRESHES_PER_AGE * refresh),
            guards: Guards::read(&section)?,
            columns: columns::read(&section)?,
            json_paths: json_paths(&section)?,
            skip_bad_lines: section.flag("skip_bad_lines")?.unwrap_or(false),
            name,
        };
        section.finish()?;
        Ok(set)
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.array("set");
        out.text("name", &self.name);
        if let Some(source) = &self.source {
            source.write(out);
        }
        out.text("action", self.action.name());
        out.text("sides", word(self.sides, &SIDES));
        out.text("match", self.headers.name());
        out.texts("ports", self.ports.iter().map(String::as_str));
        out.duration("refresh", self.refresh);
        if self.source.is_some() {
            out.raw("required", self.required);
            out.duration("max_age", self.max_age);
        }
        self.guards.write(out);
        if let Some(columns) = &self.columns {
            columns::write(columns, out);
        }
        if !self.json_paths.is_empty() {
            let paths: Vec<String> = self.json_paths.iter().map(ToString::to_string).collect();
            out.text("json_path", &paths.join(", "));
        }
        out.raw("skip_bad_lines", self.skip_bad_lines);
        for exception in &self.exceptions {
            exception.write(out);
        }
    }
}

fn required(section: &Section<'_>, source: Option<&Source>) -> Result<bool, ConfigError> {
    let said = section.flag("required")?;
    if said.is_some() && source.is_none() {
        let wrong = Wrong::new("required is given without a source", "remove it");
        return Err(section.error_at("required", wrong));
    }
    Ok(said.unwrap_or(matches!(source, Some(Source::File(_)))))
}

fn action(section: &Section<'_>) -> Result<Option<Action>, ConfigError> {
    let wanted = "action = \"count\", \"block\" or \"allow\"";
    section.parsed("action", wanted, |word| {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == word);
        choice(alias.map_or(word, |&(_, meant)| meant), &ACTIONS)
    })
}

fn sides(section: &Section<'_>) -> Result<Option<Sides>, ConfigError> {
    let wanted = "sides = \"both\", \"source\", \"destination\" or \"none\"";
    section.parsed("sides", wanted, |word| choice(word, &SIDES))
}

fn headers(section: &Section<'_>) -> Result<Option<Headers>, ConfigError> {
    let wanted = "match = \"both\", \"outer\" or \"inner\"";
    section.parsed("match", wanted, |word| choice(word, &Headers::WORDS))
}

fn ingress(section: &Section<'_>, ports: &[PortConfig]) -> Result<Vec<String>, ConfigError> {
    let names = section.texts("ports", |name| known_port(name, ports))?;
    Ok(names.unwrap_or_default())
}

impl ActionAt {
    fn read(section: Section<'_>, ports: &[PortConfig]) -> Result<Self, ConfigError> {
        let port = section.parsed("port", "port = \"...\"", |name| known_port(name, ports))?;
        let read = Self {
            port,
            sides: sides(&section)?.unwrap_or(Sides::BOTH),
            action: action(&section)?.ok_or_else(|| section.missing("action"))?,
        };
        section.finish()?;
        Ok(read)
    }

    fn write(&self, out: &mut Writer) {
        out.array("set.on");
        if let Some(port) = &self.port {
            out.text("port", port);
        }
        out.text("sides", word(self.sides, &SIDES));
        out.text("action", self.action.name());
    }
}

impl Source {
    fn read(section: &Section<'_>) -> Result<Option<Self>, ConfigError> {
        let ca_file = section.path("ca_file")?;
        let source = match section.any("source").map(|value| value.get_ref()) {
            None => None,
            Some(DeValue::String(text)) => {
                let read = |text| Self::of_text(section, text, ca_file.clone());
                Some(read(text).map_err(|wrong| section.error_at("source", wrong))?)
            }
            Some(_) => {
                let table = section.table("source", "source")?;
                table.map(Self::of_table).transpose()?
            }
        };
        match source {
            Some(Self::Url { .. }) => {}
            _ if ca_file.is_some() => {
                let wrong = Wrong::new("ca_file is given without an https:// source", "remove it");
                return Err(section.error_at("ca_file", wrong));
            }
            _ => {}
        }
        Ok(source)
    }

    fn of_text(section: &Section<'_>, text: &str, ca_file: Option<PathBuf>) -> Result<Self, Wrong> {
        if !text.contains("://") {
            return section.resolved(text).map(Self::File);
        }
        sound_url(text)?;
        let url = text.to_owned();
        Ok(Self::Url { url, ca_file })
    }

    fn of_table(table: Section<'_>) -> Result<Self, ConfigError> {
        if table.has_one_of(["etcd"]).is_some() {
            return EtcdConfig::read(table).map(|etcd| Self::Etcd(Box::new(etcd)));
        }
        let argv = table.texts("command", |word| Ok(word.to_owned()))?;
        let argv = argv.ok_or_else(|| table.missing("command"))?;
        let wrong =
            |what: &str, remedy: &str| Err(table.error_at("command", Wrong::new(what, remedy)));
        match argv.first() {
            None => return wrong("command is empty", "name a program and its arguments"),
            Some(program) if !Path::new(program).is_absolute() => {
                return wrong(
                    &format!("command {program:?} is found by a search path that may change"),
                    "write it as /usr/bin/...",
                );
            }
            Some(_) if argv.iter().any(|word| word.contains('\0')) => {
                return wrong("a word of command holds a NUL", "remove it");
            }
            Some(_) => {}
        }
        let times = Duration::from_secs(1)..=Duration::from_secs(86_400);
        let timeout = table.duration("timeout", times)?;
        table.finish()?;
        Ok(Self::Command { argv, timeout })
    }

    fn write(&self, out: &mut Writer) {
        match self {
            Self::File(path) => out.path("source", path),
            Self::Url { url, ca_file } => {
                out.url("source", url);
                if let Some(path) = ca_file {
                    out.path("ca_file", path);
                }
            }
            Self::Command { argv, timeout } => {
                out.texts("source.command", argv.iter().map(String::as_str));
                if let Some(timeout) = timeout {
                    out.duration("source.timeout", *timeout);
                }
            }
            Self::Etcd(etcd) => etcd.write(out),
        }
    }
}

/// Whether lists may come from this address: encrypted, or from this machine.
pub(super) fn sound_url(text: &str) -> Result<(), Wrong> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", ""));
    let sound = text.bytes().all(|byte| byte.is_ascii_graphic()) && !rest.is_empty();
    match scheme {
        "https" if sound => Ok(()),
        "http" if sound && is_loopback(rest) => Ok(()),
        "http" if sound => Err(Wrong::new(
            "a list fetched by http:// can be forged on its way",
            "use https://, or http:// on 127.0.0.1 alone",
        )),
        _ => Err(Wrong::new(
            // What follows may be a licence key.
            format!(
                "{:?} cannot be fetched",
                text.split('?').next().unwrap_or(text)
            ),
            "write /a/path, https://..., { command = [\"...\"] } or { etcd = [...], prefix = \
             \"...\" }",
        )),
    }
}

/// Whether what follows `http://` names this machine by its loopback address.
fn is_loopback(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let address = host.parse::<std::net::IpAddr>();
    !authority.contains('@') && (host == "localhost" || address.is_ok_and(|ip| ip.is_loopback()))
}

impl Guards {
    fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            max_change: section
                .real("max_change", 0.0..=1000.0)?
                .unwrap_or(MAX_CHANGE),
            max_change_floor: section
                .number("max_change_floor", 0..=FLOOR_MAX)?
                .unwrap_or(MAX_CHANGE_FLOOR),
            allow_empty: section.flag("allow_empty")?.unwrap_or(false),
            allow_private: section.flag("allow_private")?.unwrap_or(false),
        })
    }

    fn write(&self, out: &mut Writer) {
        out.raw("max_change", format!("{:?}", self.max_change));
        out.raw("max_change_floor", self.max_change_floor);
        out.raw("allow_empty", self.allow_empty);
        out.raw("allow_private", self.allow_private);
    }
}
