//! What a source is, as the configuration describes it.

use list::JsonPath;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ureq::http::Uri;

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
            Self::CrowdSec => "crowdsec",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a description of a source is none: a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError(pub(crate) String);

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SpecError {}

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
        }
    }
}

/// An address of a web server that lists may be fetched from.
#[derive(Clone, PartialEq, Eq)]
pub struct ListUrl {
    uri: Uri,
    shown: String,
    http_allowed: bool,
}

impl ListUrl {
    /// Reads a URL. `http:` is taken of this machine itself, and of others only if `allow_http`:
    /// whoever sits between could empty the list, or fill it.
    ///
    /// # Errors
    /// It is no URL, of another scheme, without host, or holds a user or password.
    pub fn new(text: &str, allow_http: bool) -> Result<Self, SpecError> {
        let (address, query) = text.split_once(['?', '#']).unwrap_or((text, ""));
        let shown = match query {
            "" => address.to_owned(),
            _ => format!("{address}?..."),
        };
        let uri: Uri = text
            .split('#')
            .next()
            .unwrap_or(text)
            .parse()
            .map_err(|error| SpecError(format!("{address} is no URL: {error}")))?;
        if uri
            .authority()
            .is_some_and(|whole| whole.as_str().contains('@'))
        {
            return Err(SpecError(
                "a URL of a list holds a user or a password, which would end up in logs: leave \
                 them out, and fetch such a list by a command"
                    .to_owned(),
            ));
        }
        let url = Self {
            uri,
            shown,
            http_allowed: allow_http,
        };
        url.check()?;
        Ok(url)
    }

    fn check(&self) -> Result<(), SpecError> {
        let host = self.uri.host().unwrap_or_default();
        let shown = &self.shown;
        if host.is_empty() {
            return Err(SpecError(format!("{shown} names no server")));
        }
        match self.uri.scheme_str() {
            Some("https") => Ok(()),
            Some("http") if self.http_allowed || self.is_loopback() => Ok(()),
            Some("http") => Err(SpecError(format!(
                "{shown} is not encrypted, so that anybody on the way could change the list: \
                 write https://"
            ))),
            _ => Err(SpecError(format!(
                "{shown} is of a scheme that lists are not fetched by: write https://"
            ))),
        }
    }

    /// True when the server is this machine by address or by the name `localhost`.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let host = self.uri.host().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let address = bare.parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    /// True when it is encrypted.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }

    /// The whole address, secrets in its query included.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The address without query, for people.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Another address of the same server.
    pub(crate) fn beside(&self, text: &str) -> Result<Self, SpecError> {
        Self::new(text, self.http_allowed)
    }

    /// Where a redirect of this leads: an absolute URL, or a path on the same server.
    ///
    /// # Errors
    /// It leads from `https:` to `http:`, or to what [`Self::new`] refuses.
    pub(crate) fn redirected(&self, location: &str) -> Result<Self, SpecError> {
        let target = if location.contains("://") {
            location.to_owned()
        } else {
            self.resolve(location)
        };
        let next = Self::new(&target, self.http_allowed)?;
        if self.is_https() && !next.is_https() {
            return Err(SpecError(format!(
                "{} is not encrypted: ask whoever runs the server",
                next.shown()
            )));
        }
        Ok(next)
    }

    /// A relative reference (RFC 3986 section 4.2), without folding dot segments, which servers do.
    fn resolve(&self, reference: &str) -> String {
        let scheme = self.uri.scheme_str().unwrap_or("https");
        let host = self.uri.authority().map_or("", |whole| whole.as_str());
        let path = self.uri.path();
        if let Some(rest) = reference.strip_prefix("//") {
            return format!("{scheme}://{rest}");
        }
        if reference.starts_with('/') {
            return format!("{scheme}://{host}{reference}");
        }
        if reference.starts_with('?') {
            return format!("{scheme}://{host}{path}{reference}");
        }
        let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
        format!("{scheme}://{host}{folder}{reference}")
    }
}

impl fmt::Debug for ListUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ListUrl({})", self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> ListUrl {
        ListUrl::new(text, false).unwrap()
    }

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

    #[test]
    fn http_is_for_this_machine() {
        for near in [
            "http://127.0.0.1:80/a",
            "http://[::1]/a",
            "http://localhost/a",
        ] {
            assert!(url(near).is_loopback(), "{near}");
        }
        for far in [
            "http://example.com/a",
            "http://10.0.0.1/",
            "http://localhost.example/",
        ] {
            assert!(ListUrl::new(far, false).is_err(), "{far}");
            assert!(ListUrl::new(far, true).is_ok(), "{far}");
        }
        let error = ListUrl::new("https://me:SECRET@example.com/", true).unwrap_err();
        assert!(!error.to_string().contains("SECRET"), "{error}");
    }

    #[test]
    fn redirects_stay_encrypted() {
        let from = url("https://a.example/lists/today.txt?x=1");
        let to = |location: &str| from.redirected(location).unwrap().uri().to_string();
        assert_eq!(to("https://b.example/c"), "https://b.example/c");
        assert_eq!(to("//b.example/c"), "https://b.example/c");
        assert_eq!(to("/c"), "https://a.example/c");
        assert_eq!(to("c.txt"), "https://a.example/lists/c.txt");
        assert_eq!(to("?y=2"), "https://a.example/lists/today.txt?y=2");
        assert!(from.redirected("http://127.0.0.1/c").is_err());
        assert!(from.redirected("file:///etc/passwd").is_err());
        assert!(from.redirected("https://u:p@b.example/").is_err());
    }
}
