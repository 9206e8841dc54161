//! From the configuration to sources.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::crowdsec::CrowdSecSpec;
use super::etcd::{EtcdAt, EtcdSource};
use super::list_url::{ListUrl, SpecError};
use super::source::{Freshness, Limits, Source, SourceSpec, TextRules};
use super::ticker::Sources;
use plane::Action;

use crate::config::{self, Config, CrowdsecConfig, EtcdConfig, LimitsConfig, SetConfig};

/// Of copies of what sources gave, under the folder of what survives a restart.
const FOLDER: &str = "sources";

/// Of lists that were loaded by hand.
pub(crate) const HAND_FOLDER: &str = "loaded";

/// All folders of copies that are there.
pub(crate) const FOLDERS: [&str; 2] = [FOLDER, HAND_FOLDER];

impl Sources {
    /// The folder that copies of fetched lists are kept in. Without a folder for what survives,
    /// one for this process alone: lists pass through it on their way.
    #[must_use]
    pub fn folder(config: &Config) -> PathBuf {
        let state = config.state.dir.clone();
        state.unwrap_or_else(|| passing().clone()).join(FOLDER)
    }

    /// Takes the folder of this process alone away, if there is one.
    pub fn forget_passing() {
        // There is none where everything is kept, or nothing was fetched.
        let _ = std::fs::remove_dir_all(passing());
    }

    /// What the configuration says that entries come from.
    ///
    /// # Errors
    /// An address that lists are not fetched from.
    pub fn planned(config: &Config) -> Result<(Vec<SourceSpec>, Vec<CrowdSecSpec>), SpecError> {
        let limits = limits(&config.limits);
        let lists = config.sets.iter();
        let lists = lists.filter_map(|set| list(set, limits).transpose());
        let apis = config.crowdsec.iter().map(api);
        Ok((
            lists.collect::<Result<_, _>>()?,
            apis.collect::<Result<_, _>>()?,
        ))
    }
}

/// Where lists pass through that are not kept. Nobody can have made it before, with links in it to
/// files of ours: half of its name is drawn.
fn passing() -> &'static PathBuf {
    static PASSING: OnceLock<PathBuf> = OnceLock::new();
    PASSING.get_or_init(|| {
        // The keys of a new hasher are random.
        let drawn = RandomState::new().build_hasher().finish();
        let pid = std::process::id();
        std::env::temp_dir().join(format!("linerate-{pid}-{drawn:016x}"))
    })
}

/// Whether what is written to this folder is gone after the process.
pub(crate) fn is_passing(folder: &std::path::Path) -> bool {
    folder.starts_with(passing())
}

/// The bounds of the configuration: of the text and, packed, of what comes.
fn limits(config: &LimitsConfig) -> Limits {
    Limits {
        bytes_max: config.list_bytes_max,
        text_bytes_max: config.list_bytes_max,
        entries_max: config.set_entries_max,
        fetch_time_max: config.list_time_max,
        ..Limits::default()
    }
}

/// None for a set that is changed by hand alone.
fn list(set: &SetConfig, limits: Limits) -> Result<Option<SourceSpec>, SpecError> {
    let source = match &set.source {
        None => return Ok(None),
        Some(config::Source::File(path)) => Source::File { path: path.clone() },
        Some(config::Source::Url { url, ca_file }) => Source::Url {
            url: ListUrl::new(url, false)?,
            ca_file: ca_file.clone(),
        },
        Some(config::Source::Command { argv, timeout }) => Source::Command {
            argv: argv.clone(),
            timeout: timeout.unwrap_or(limits.fetch_time_max),
        },
        Some(config::Source::Etcd(etcd)) => Source::Etcd(Box::new(etcd_source(etcd)?)),
    };
    Ok(Some(SourceSpec {
        set: Arc::from(set.name.as_str()),
        source,
        refresh: set.refresh,
        text: TextRules {
            skip_bad_lines: set.skip_bad_lines,
            columns: set.columns.clone(),
            json_paths: set.json_paths.clone(),
            force: false,
            purpose: purpose(set.action),
        },
        limits,
        freshness: Freshness {
            required: set.required,
            max_age: set.max_age,
        },
    }))
}

/// A list in etcd.
fn etcd_source(etcd: &EtcdConfig) -> Result<EtcdSource, SpecError> {
    let members = etcd.members.iter();
    let members = members.map(|member| ListUrl::new(member, false));
    Ok(EtcdSource {
        at: EtcdAt {
            endpoints: members.collect::<Result<_, _>>()?,
            login: etcd.login.clone(),
            tls: etcd.tls.clone(),
        },
        held: etcd.held.clone(),
    })
}

/// What the entries of a set with this action are for.
#[must_use]
pub fn purpose(action: Action) -> list::Purpose {
    match action {
        Action::Allow => list::Purpose::Allow,
        Action::Block | Action::Count => list::Purpose::Block,
    }
}

/// Local APIs on other machines are asked by `http:` too, if the configuration says so: CrowdSec
/// sets them up like that.
fn api(config: &CrowdsecConfig) -> Result<CrowdSecSpec, SpecError> {
    let url = ListUrl::new(&config.url, true)?;
    if !url.is_https() && !url.is_loopback() {
        let shown = url.shown();
        tracing::warn!("{shown} is not encrypted: whoever is on the way reads the API key");
    }
    let mut spec = CrowdSecSpec::new(&config.set, url, config.key.clone());
    spec.refresh = config.interval;
    spec.resync = config.resync;
    spec.types.clone_from(&config.types);
    spec.origins.clone_from(&config.origins);
    spec.scopes.clone_from(&config.scopes);
    spec.ca_file.clone_from(&config.ca_file);
    Ok(spec)
}
