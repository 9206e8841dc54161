//! A list on a web server: asked for when it changed, kept on disk for when the net is down.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use flate2::read::GzDecoder;

use super::backoff::Backoff;
use super::copies::{Copies, Description, Spooled, seconds};
use super::error::SourceError;
use super::fetch::{Answer, Ask, Fetch, Whole, of_body};
use super::signal::Why;
use super::source::{ListUrl, SourceSpec};
use super::task::{Desk, Provenance, Task};

/// The wait after the first failure.
const FIRST_WAIT: Duration = Duration::from_secs(15);

const GZIP: &[u8] = b"\x1f\x8b";

/// A list on a web server that feeds a set.
pub(crate) struct UrlTask {
    spec: SourceSpec,
    url: ListUrl,
    ca_file: Option<PathBuf>,
    copies: Copies,
    backoff: Backoff,
    /// The copy whose list is in use.
    in_use: Option<Description>,
    started: bool,
}

impl UrlTask {
    pub(crate) fn new(
        spec: SourceSpec,
        url: ListUrl,
        ca_file: Option<PathBuf>,
        folder: &Path,
    ) -> Self {
        Self {
            copies: Copies::new(folder, &spec.set),
            backoff: Backoff::new(FIRST_WAIT.min(spec.refresh), spec.refresh),
            spec,
            url,
            ca_file,
            in_use: None,
            started: false,
        }
    }

    /// Tells this address from others, secrets in its query included, without writing them down.
    fn source_crc32(&self) -> u32 {
        crc32fast::hash(self.url.uri().to_string().as_bytes())
    }

    /// Before the net is asked: what was good when it was last there.
    fn start(&mut self, desk: &Desk) {
        let last = match self.copies.last(self.source_crc32()) {
            Ok(Some(last)) => last,
            Ok(None) => return,
            Err(error) => {
                desk.failed(&error);
                return;
            }
        };
        let (path, copy) = last;
        match self.load(desk, &path, &copy, (true, false)) {
            Ok(()) => self.in_use = Some(copy),
            Err(error) => {
                desk.failed(&error);
            }
        }
    }

    fn load(
        &self,
        desk: &Desk,
        path: &Path,
        copy: &Description,
        (from_copy, force): (bool, bool),
    ) -> Result<(), SourceError> {
        let open = || {
            File::open(path)
                .map_err(|error| SourceError::io(path.display().to_string(), "be read", error))
        };
        let from = Provenance {
            name: self.url.shown().to_owned(),
            at: copy.at(),
            from_copy,
            etag: copy.etag.clone(),
            file: path.to_owned(),
        };
        desk.load(&self.spec, open, &from, force)
    }

    /// Asks the server, and loads what it gives when that is new.
    fn refresh(&mut self, desk: &Desk, why: Why) -> Result<(), SourceError> {
        desk.tried();
        let asked = matches!(why, Why::Asked { .. });
        let known = self.in_use.as_ref().filter(|_| !asked);
        let ask = Ask {
            etag: known.and_then(|copy| copy.etag.as_deref()),
            last_modified: known.and_then(|copy| copy.last_modified.as_deref()),
            accept: "text/plain, */*;q=0.9",
            api_key: None,
        };
        let time_max = self.spec.limits.fetch_time_max;
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
            source_crc32: self.source_crc32(),
            etag: whole.etag.clone(),
            last_modified: whole.last_modified.clone(),
            fetched_at: seconds(SystemTime::now()),
            bytes: 0,
            crc32: 0,
        };
        let spooled = self.spool(desk, *whole, end)?;
        self.take(desk, spooled, copy, why)
    }

    fn take(
        &mut self,
        desk: &Desk,
        spooled: Spooled,
        copy: Description,
        why: Why,
    ) -> Result<(), SourceError> {
        let copy = Description {
            bytes: spooled.bytes,
            crc32: spooled.crc32,
            ..copy
        };
        let same = |old: &Description| (old.bytes, old.crc32) == (copy.bytes, copy.crc32);
        if self.in_use.as_ref().is_some_and(same) && !matches!(why, Why::Asked { .. }) {
            desk.unchanged();
        } else {
            let force = matches!(why, Why::Asked { force: true, .. });
            self.load(desk, &spooled.path, &copy, (false, force))?;
        }
        // Loaded, whether or not it can be kept for the next start.
        self.in_use = Some(copy.clone());
        desk.note(|state| {
            state.from_copy = false;
            state.etag.clone_from(&copy.etag);
        });
        self.copies.keep(spooled, &copy)
    }

    fn spool(&self, desk: &Desk, whole: Whole, end: Instant) -> Result<Spooled, SourceError> {
        let (bytes_max, name) = (self.spec.limits.bytes_max, self.url.shown());
        let (length, framed, gzip) = (whole.length, whole.framed, whole.gzip);
        let mut body = whole.reader(bytes_max);
        let limit = || self.within(desk, end);
        let failed = |error| self.body_failed(error, gzip, end);
        let spooled = if gzip {
            let unpacked = GzDecoder::new(&mut body);
            self.copies
                .spool(name, unpacked, bytes_max, limit, failed)?
        } else {
            self.copies
                .spool(name, &mut body, bytes_max, limit, failed)?
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
            limit: self.spec.limits.fetch_time_max,
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
        if !self.started {
            self.started = true;
            self.start(desk);
        }
        let error = match self.refresh(desk, why) {
            Ok(()) => return self.backoff.regular(self.spec.refresh),
            Err(SourceError::Stopped) => return Duration::ZERO,
            Err(error) => error,
        };
        let count = desk.failed(&error);
        self.backoff.after_failures(count, error.retry_after())
    }
}
