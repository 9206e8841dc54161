//! What the configuration says of CrowdSec.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::config::KeyFrom;

use super::super::list_url::ListUrl;
use super::super::source::Limits;

/// One local API of CrowdSec, feeding one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrowdSecSpec {
    /// The set that decisions go into.
    pub set: Arc<str>,
    /// The address of the local API, `http://127.0.0.1:8080` as CrowdSec installs it.
    pub url: ListUrl,
    /// Where the API key is: never on a command line, where everybody on the machine can read it.
    pub key: KeyFrom,
    /// Certificates to trust in place of the platform's, PEM.
    pub ca_file: Option<PathBuf>,
    /// Time between two polls; CrowdSec's own components ask every 10 s.
    pub refresh: Duration,
    /// Time between two fetches of all decisions, which mend whatever deltas left wrong.
    pub resync: Duration,
    /// Types of decisions that put an address into the set; `ban` alone unless said otherwise.
    pub types: Vec<String>,
    /// Origins that are asked for, as in `crowdsec`, `cscli`, `CAPI`, `lists:NAME`; all when empty.
    pub origins: Vec<String>,
    /// Scopes that are asked for and taken, of `ip` and `range`.
    pub scopes: Vec<String>,
    /// The bounds; entries are decisions.
    pub limits: Limits,
}

impl CrowdSecSpec {
    /// As CrowdSec installs it, on this machine.
    ///
    /// # Examples
    /// ```
    /// use daemon::config::KeyFrom;
    /// use daemon::sources::{CrowdSecSpec, ListUrl};
    ///
    /// let url = ListUrl::new("http://127.0.0.1:8080", false)?;
    /// let key = KeyFrom::File("/etc/linerate/crowdsec.key".into());
    /// let spec = CrowdSecSpec::new("crowdsec", url, key);
    /// assert_eq!(spec.types, ["ban"]);
    /// # Ok::<(), daemon::sources::SpecError>(())
    /// ```
    #[must_use]
    pub fn new(set: &str, url: ListUrl, key: KeyFrom) -> Self {
        Self {
            set: set.into(),
            url,
            key,
            ca_file: None,
            refresh: Duration::from_secs(10),
            resync: Duration::from_secs(12 * 3600),
            types: vec!["ban".to_owned()],
            origins: Vec::new(),
            scopes: vec!["ip".to_owned(), "range".to_owned()],
            limits: Limits {
                bytes_max: 256 << 20,
                entries_max: 1 << 20,
                ..Limits::default()
            },
        }
    }
}
