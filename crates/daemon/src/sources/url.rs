//! A list on a web server: asked for when it changed, kept on disk for when the net is down.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;

use super::backoff::Backoff;
use super::copied::Copied;
use super::copies::{Description, Spooled};
use super::error::SourceError;
use super::fetch::{Answer, Ask, Fetch, Whole, of_body};
use super::list_url::ListUrl;
use super::signal::Why;
use super::source::SourceSpec;
use super::task::{Desk, Task};

/// The wait after the first failure.
const FIRST_WAIT: Duration = Duration::from_secs(15);

const GZIP: &[u8] = b"\x1f\x8b";

/// A list on a web server that feeds a set.
pub(crate) struct UrlTask {
    copied: Copied,
    url: ListUrl,
    ca_file: Option<PathBuf>,
    backoff: Backoff,
}

impl UrlTask {
    pub(crate) fn new(
        spec: SourceSpec,
        url: ListUrl,
        ca_file: Option<PathBuf>,
        folder: &Path,
    ) -> Self {
        // Secrets in its query are part of what tells it from others, and are not written down.
        let source = url.uri().to_string();
        let name = url.shown().to_owned();
        Self {
            backoff: Backoff::new(FIRST_WAIT.min(spec.refresh), spec.refresh),
            copied: Copied::new(spec, name, source.as_bytes(), folder),
            url,
            ca_file,
        }
    }

    /// Asks the server, and loads what it gives when that is new.
    fn refresh(&mut self, desk: &Desk, why: Why) -> Result<(), SourceError> {
        desk.tried();
        let asked = matches!(why, Why::Asked { .. });
        let known = self.copied.in_use.as_ref().filter(|_| !asked);
        let ask = Ask {
            etag: known.and_then(|copy| copy.etag.as_deref()),
            last_modified: known.and_then(|copy| copy.last_modified.as_deref()),
            accept: "text/plain, */*;q=0.9",
            api_key: None,
        };
        let time_max = self.copied.spec.limits.fetch_time_max;
        let end = Instant::now() + time_max;
        let fetch = Fetch::new(&self.url, self.ca_file.as_deref(), time_max)?;
        let whole = match fetch.get(&self.url, ask, end)? {
            Answer::NotModified => {
                desk.unchanged();
                desk.note(|state| state.from_copy = false);
                return Ok(());
            }
            Answer::Whole(whole) => whole,
        };
        let copy = Description {
            etag: whole.etag.clone(),
            last_modified: whole.last_modified.clone(),
            ..self.copied.describe()
        };
        let spooled = self.spool(desk, *whole, end)?;
        self.copied.take(desk, spooled, copy, why)
    }

    fn spool(&self, desk: &Desk, whole: Whole, end: Instant) -> Result<Spooled, SourceError> {
        let (bytes_max, name) = (self.copied.spec.limits.bytes_max, self.url.shown());
        let (length, framed, gzip) = (whole.length, whole.framed, whole.gzip);
        let mut body = whole.reader(bytes_max);
        let limit = || self.within(desk, end);
        let failed = |error| self.body_failed(error, gzip, end);
        let copies = &self.copied.copies;
        let spooled = if gzip {
            let unpacked = GzDecoder::new(&mut body);
            copies.spool(name, unpacked, bytes_max, limit, failed)?
        } else {
            copies.spool(name, &mut body, bytes_max, limit, failed)?
        };
        let cut = |sign| {
            let name = name.to_owned();
            SourceError::CutOff { name, sign }
        };
        if length.is_some_and(|length| length != body.read) && !gzip {
            return Err(cut("fewer bytes came than were announced"));
        }
        if !framed && !gzip && !ends_well(&spooled) {
            return Err(cut(
                "the server announced no length, and the last line has no end",
            ));
        }
        Ok(spooled)
    }

    fn within(&self, desk: &Desk, end: Instant) -> Result<(), SourceError> {
        if desk.signal.is_stopped() {
            return Err(SourceError::Stopped);
        }
        if Instant::now() >= end {
            return Err(self.too_slow());
        }
        Ok(())
    }

    fn too_slow(&self) -> SourceError {
        SourceError::TooSlow {
            name: self.url.shown().to_owned(),
            limit: self.copied.spec.limits.fetch_time_max,
        }
    }

    fn body_failed(&self, error: std::io::Error, gzip: bool, end: Instant) -> SourceError {
        if Instant::now() >= end {
            return self.too_slow();
        }
        let name = self.url.shown();
        if gzip && error.kind() == std::io::ErrorKind::InvalidInput {
            return SourceError::io(name, "be unpacked", error);
        }
        of_body(name, error)
    }
}

/// True for a text whose last line has an end, and for gzip, which tells its own end.
fn ends_well(spooled: &Spooled) -> bool {
    if matches!(spooled.last, None | Some(b'\n')) {
        return true;
    }
    let mut magic = [0; 2];
    let start = File::open(&spooled.path).and_then(|mut file| file.read_exact(&mut magic));
    start.is_ok() && magic == *GZIP
}

impl Task for UrlTask {
    fn turn(&mut self, why: Why, desk: &Desk) -> Duration {
        self.copied.start(desk);
        let error = match self.refresh(desk, why) {
            Ok(()) => return self.backoff.regular(self.copied.spec.refresh),
            Err(SourceError::Stopped) => return Duration::ZERO,
            Err(error) => error,
        };
        let count = desk.failed(&error);
        self.backoff.after_failures(count, error.retry_after())
    }
}
