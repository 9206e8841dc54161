//! One request to a web server: encrypted by default, redirects followed by our rules, all of it
//! within a time.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use ureq::http::{HeaderMap, Response, StatusCode, header};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use super::bounded::Bounded;
use super::error::SourceError;
use super::list_url::{ListUrl, SpecError};
use crate::config::{ClientFiles, TlsFiles};

/// Redirects that are followed.
const REDIRECTS_MAX: usize = 5;

/// Bytes of the head of an answer.
const HEAD_BYTES_MAX: usize = 32 << 10;

/// Certificates of an own authority: one is 2 KB.
const CA_BYTES_MAX: u64 = 4 << 20;

/// The longest ETag or date that is remembered.
const VALIDATOR_BYTES_MAX: usize = 256;

/// What we say we are. CrowdSec's local API takes it apart at its one slash.
const USER_AGENT: &str = concat!("linerate/v", env!("CARGO_PKG_VERSION"));

/// Asks one server.
#[derive(Debug)]
pub(crate) struct Fetch {
    agent: Agent,
}

/// A request with a body of JSON.
#[derive(Clone, Copy)]
pub(crate) struct Post<'a> {
    pub(crate) body: &'a [u8],
    /// Sent as `Authorization`.
    pub(crate) token: Option<&'a str>,
    /// For the whole of it, the answer too.
    pub(crate) time: Duration,
}

/// An answer to it, whatever its status.
pub(crate) struct Posted {
    pub(crate) status: u16,
    body: Body,
}

impl Posted {
    /// The body as it comes, at most so many bytes.
    pub(crate) fn reader(self, bytes_max: u64) -> Bounded<Box<dyn Read + Send>> {
        let body = self.body.into_with_config().limit(u64::MAX).reader();
        Bounded::new(Box::new(body), bytes_max)
    }
}

/// What a request says beside the address.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ask<'a> {
    pub(crate) etag: Option<&'a str>,
    pub(crate) last_modified: Option<&'a str>,
    pub(crate) accept: &'static str,
    /// Sent as `X-Api-Key`, never to where a redirect leads.
    pub(crate) api_key: Option<&'a str>,
}

/// What a server said.
pub(crate) enum Answer {
    /// What we have is still current.
    NotModified,
    /// Here it is.
    Whole(Box<Whole>),
}

/// An answer with a body.
pub(crate) struct Whole {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// Bytes that the server says there are.
    pub(crate) length: Option<u64>,
    /// True when the end of the body is told by something else than the end of the connection.
    pub(crate) framed: bool,
    /// True when the body is packed for its way only.
    pub(crate) gzip: bool,
    body: Body,
}

impl Fetch {
    /// Makes ready to ask the server of `url`.
    ///
    /// # Errors
    /// The certificates in `ca_file` cannot be read.
    pub(crate) fn new(
        url: &ListUrl,
        ca_file: Option<&Path>,
        time_max: Duration,
    ) -> Result<Self, SourceError> {
        let tls = TlsFiles {
            ca_file: ca_file.map(Path::to_owned),
            client: None,
        };
        Self::with(url, &tls, time_max)
    }

    /// The same, with a certificate of our own where there is one.
    ///
    /// # Errors
    /// A file of certificates cannot be read.
    pub(crate) fn with(
        url: &ListUrl,
        files: &TlsFiles,
        time_max: Duration,
    ) -> Result<Self, SourceError> {
        // Said explicitly: rustls takes no default when several crates bring one each.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = match &files.ca_file {
            Some(file) => RootCerts::Specific(Arc::new(certificates(file)?)),
            None => RootCerts::PlatformVerifier,
        };
        let tls = TlsConfig::builder()
            .root_certs(roots)
            .client_cert(files.client.as_ref().map(client_cert).transpose()?)
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let mut config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(HEAD_BYTES_MAX)
            .user_agent(USER_AGENT)
            .timeout_global(Some(time_max))
            .timeout_connect(Some(time_max.min(Duration::from_secs(20))));
        if url.is_loopback() {
            config = config.proxy(None);
        }
        let agent = config.build().new_agent();
        Ok(Self { agent })
    }

    /// Asks, and asks again where the answer is a redirect.
    pub(crate) fn get(
        &self,
        url: &ListUrl,
        ask: Ask<'_>,
        end: Instant,
    ) -> Result<Answer, SourceError> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let response = self.once(&url, ask, end)?;
            if !is_redirect(response.status()) {
                return answer(&url, response, ask);
            }
            if ask.api_key.is_some() {
                // A key is for the server it was made for.
                return Err(refused(&url, &response));
            }
            let Some(location) = text(response.headers(), header::LOCATION.as_str()) else {
                return Err(refused(&url, &response));
            };
            url = url.redirected(location).map_err(|error| {
                let name = url.shown();
                SourceError::Address(SpecError(format!("{name} redirects elsewhere: {error}")))
            })?;
        }
        Err(SourceError::Connection {
            name: url.shown().to_owned(),
            text: format!("more than {REDIRECTS_MAX} redirects in a row"),
        })
    }

    fn once(
        &self,
        url: &ListUrl,
        ask: Ask<'_>,
        end: Instant,
    ) -> Result<Response<Body>, SourceError> {
        let left = end.saturating_duration_since(Instant::now());
        let accepted = (header::ACCEPT.as_str(), ask.accept);
        let mut request = self
            .agent
            .get(url.uri())
            .config()
            .timeout_global(Some(left.max(Duration::from_millis(1))))
            .build()
            .header(accepted.0, accepted.1)
            .header(header::ACCEPT_ENCODING, "gzip");
        if let Some(etag) = ask.etag {
            request = request.header(header::IF_NONE_MATCH, etag);
        } else if let Some(date) = ask.last_modified {
            request = request.header(header::IF_MODIFIED_SINCE, date);
        }
        if let Some(key) = ask.api_key {
            request = request.header("X-Api-Key", key);
        }
        request.call().map_err(|error| failed(url.shown(), error))
    }
}

impl Fetch {
    /// Sends JSON. No redirect is followed: it would carry a token elsewhere.
    pub(crate) fn post(&self, url: &ListUrl, post: Post<'_>) -> Result<Posted, SourceError> {
        let mut request = self
            .agent
            .post(url.uri())
            .config()
            .timeout_global(Some(post.time))
            .build()
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(token) = post.token {
            request = request.header(header::AUTHORIZATION, token);
        }
        let response = request.send(post.body);
        let response = response.map_err(|error| failed(url.shown(), error))?;
        Ok(Posted {
            status: response.status().as_u16(),
            body: response.into_body(),
        })
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn answer(url: &ListUrl, response: Response<Body>, ask: Ask<'_>) -> Result<Answer, SourceError> {
    // Where nothing was said to be there, nothing can be as it was: a cache on the way that says so
    // would leave a set without its list, and nobody told.
    let conditional = ask.etag.is_some() || ask.last_modified.is_some();
    match response.status() {
        StatusCode::NOT_MODIFIED if conditional => return Ok(Answer::NotModified),
        StatusCode::OK => {}
        _ => return Err(refused(url, &response)),
    }
    let headers = response.headers();
    let validator = |name| {
        let value = text(headers, name).filter(|value| value.len() <= VALIDATOR_BYTES_MAX);
        value.map(str::to_owned)
    };
    let chunked = text(headers, header::TRANSFER_ENCODING.as_str())
        .is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
    let length = text(headers, header::CONTENT_LENGTH.as_str());
    let length = length.and_then(|length| length.trim().parse().ok());
    let coding = text(headers, header::CONTENT_ENCODING.as_str()).unwrap_or("identity");
    let gzip = match coding.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => true,
        "identity" | "" => false,
        other => {
            return Err(SourceError::Connection {
                name: url.shown().to_owned(),
                text: format!("it was sent as {:?}, and only gzip is unpacked", cut(other)),
            });
        }
    };
    Ok(Answer::Whole(Box::new(Whole {
        etag: validator(header::ETAG.as_str()),
        last_modified: validator(header::LAST_MODIFIED.as_str()),
        length: if chunked { None } else { length },
        framed: chunked || length.is_some(),
        gzip,
        body: response.into_body(),
    })))
}

/// A header as text; what is no text is as good as absent.
fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn refused(url: &ListUrl, response: &Response<Body>) -> SourceError {
    let asked = text(response.headers(), header::RETRY_AFTER.as_str());
    SourceError::Answer {
        name: url.shown().to_owned(),
        answer: response.status().to_string(),
        status: response.status().as_u16(),
        retry_after: asked.and_then(|asked| retry_after(asked, SystemTime::now())),
    }
}

/// Seconds, or a date (RFC 9110 section 10.2.3).
fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    Some(at.duration_since(now).unwrap_or_default())
}

fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

impl Whole {
    /// The body as it comes, at most so many bytes.
    pub(crate) fn reader(self, bytes_max: u64) -> Bounded<impl Read> {
        let body = self.body.into_with_config().limit(u64::MAX).reader();
        Bounded::new(body, bytes_max)
    }
}

/// Why a request failed, or, by [`of_body`], the reading of its body.
fn failed(name: &str, error: ureq::Error) -> SourceError {
    let name = name.to_owned();
    match error {
        ureq::Error::Timeout(timeout) => SourceError::Connection {
            name,
            text: format!("the server did not answer in time ({timeout})"),
        },
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            let sign = "the connection ended early";
            SourceError::CutOff { name, sign }
        }
        // How many bytes had come by then differs from time to time, and the log tells each new
        // sentence.
        ureq::Error::LargeResponseHeader(..) => SourceError::Connection {
            name,
            text: format!("the head of the answer is longer than {HEAD_BYTES_MAX} bytes"),
        },
        error => {
            let text = error.to_string();
            SourceError::Connection { name, text }
        }
    }
}

/// Why the body of an answer could not be read.
pub(crate) fn of_body(name: &str, error: io::Error) -> SourceError {
    failed(name, ureq::Error::from(error))
}

/// Whether the body of an answer ended because its time was over.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    error.kind() == io::ErrorKind::TimedOut || matches!(inner, Some(ureq::Error::Timeout(_)))
}

fn client_cert(files: &ClientFiles) -> Result<ClientCert, SourceError> {
    let file = &files.key_file;
    let cannot = |error| SourceError::io(file.display().to_string(), "be read", error);
    let mut pem = Vec::new();
    let opened = std::fs::File::open(file).map_err(cannot)?;
    Bounded::new(opened, CA_BYTES_MAX)
        .read_to_end(&mut pem)
        .map_err(cannot)?;
    let key = PrivateKey::from_pem(&pem);
    let key = key.map_err(|_| cannot(io::Error::other("it holds no private key in PEM form")))?;
    Ok(ClientCert::new_with_certs(
        &certificates(&files.cert_file)?,
        key,
    ))
}

fn certificates(file: &Path) -> Result<Vec<Certificate<'static>>, SourceError> {
    let cannot = |error| SourceError::io(file.display().to_string(), "be read", error);
    let mut pem = Vec::new();
    let opened = std::fs::File::open(file).map_err(cannot)?;
    Bounded::new(opened, CA_BYTES_MAX)
        .read_to_end(&mut pem)
        .map_err(cannot)?;
    let found: Vec<Certificate<'static>> = parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if found.is_empty() {
        let told = "it holds no certificate in PEM form";
        return Err(cannot(io::Error::other(told)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_servers_ask_for() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let wait = |text: &str| retry_after(text, now).map(|wait| wait.as_secs());
        assert_eq!(wait("120"), Some(120));
        assert_eq!(wait("Sun, 06 Nov 1994 08:50:07 GMT"), Some(30));
        assert_eq!(wait("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
        for none in ["", "soon", "-1", "1.5", "Sun, 99 Nov 1994 08:00:00 GMT"] {
            assert_eq!(wait(none), None, "{none:?}");
        }
    }
}
