//! What is known of a source: for `show sets`, for metrics and for the log.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::source::{Freshness, Kind};

/// How a source fares. All times are of the wall clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// The set it feeds.
    pub set: Arc<str>,
    /// The source as people know it: a path, a URL without query, a program.
    pub name: String,
    /// What kind of source it is.
    pub kind: Kind,
    /// Reads that were tried, unchanged ones included.
    pub tries: u64,
    /// Lists, batches of decisions, and changes in place, that the keeper took.
    pub loads: u64,
    /// Reads that found nothing new.
    pub unchanged: u64,
    /// Tries that failed before the keeper was asked.
    pub failures: u64,
    /// Deliveries that the keeper refused.
    pub refusals: u64,
    /// Failures and refusals since the last success.
    pub failed_in_a_row: u32,
    /// When the first of these was.
    pub failing_since: Option<SystemTime>,
    /// When it was last tried.
    pub last_try: Option<SystemTime>,
    /// When it was last known to be current: a load, or a read that found nothing new.
    pub last_success: Option<SystemTime>,
    /// When the list in use was current: of a file its modification, of a fetched one when it was
    /// fetched.
    pub list_at: Option<SystemTime>,
    /// When it is tried next.
    pub next_try: Option<SystemTime>,
    /// The failure of the last try, none after a success.
    pub last_error: Option<Failure>,
    /// Entries of the last load, duplicates included.
    pub entries: u64,
    /// Bytes of the last load, as it came.
    pub bytes: u64,
    /// Bad lines left out of the last load; decisions skipped for their scope or type.
    pub skipped: u64,
    /// The server's name for the version in use.
    pub etag: Option<String>,
    /// True while the list in use is the last good copy from disk.
    pub from_copy: bool,
    /// How old it may be.
    pub freshness: Freshness,
    /// Why no event tells of a change of a file, which is polled.
    pub unwatched: Option<String>,
    /// A copy is being put in force, and the file it is of was not tried yet.
    pub(crate) beginning: bool,
    /// The last asking of an operator that was done, by its number.
    pub(crate) answered: u64,
}

/// Why a try failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When.
    pub at: SystemTime,
    /// One sentence, beginning with FILE:LINE where a line is to blame.
    pub text: String,
    /// True when the keeper refused what was read well.
    pub refused: bool,
}

impl SourceState {
    /// A source that was not tried yet.
    #[must_use]
    pub fn new(set: Arc<str>, name: String, kind: Kind) -> Self {
        Self {
            set,
            name,
            kind,
            tries: 0,
            loads: 0,
            unchanged: 0,
            failures: 0,
            refusals: 0,
            failed_in_a_row: 0,
            failing_since: None,
            last_try: None,
            last_success: None,
            list_at: None,
            next_try: None,
            last_error: None,
            entries: 0,
            bytes: 0,
            skipped: 0,
            etag: None,
            from_copy: false,
            freshness: Freshness::default(),
            unwatched: None,
            beginning: false,
            answered: 0,
        }
    }

    /// How long ago the source was last known to be current. Of a copy that nobody has confirmed
    /// since the start, how long ago it was fetched.
    #[must_use]
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        let since = self.last_success.or(self.list_at)?;
        Some(now.duration_since(since).unwrap_or_default())
    }

    /// Whether there is a list, and none that is too old.
    #[must_use]
    pub fn is_current(&self, now: SystemTime) -> bool {
        let age = self.age(now);
        age.is_some_and(|age| age <= self.freshness.max_age)
    }

    /// True while nothing was ever read of it, not even a copy.
    #[must_use]
    pub fn is_never_read(&self) -> bool {
        self.loads == 0 && self.unchanged == 0
    }

    /// True when it was tried once, to whatever end.
    #[must_use]
    pub fn is_tried(&self) -> bool {
        let tries = self.loads + self.unchanged + self.failures + self.refusals;
        tries != 0 && !self.beginning
    }

    pub(super) fn tried(&mut self) {
        self.tries += 1;
        self.last_try = Some(SystemTime::now());
    }

    pub(super) fn succeeded(&mut self) {
        self.last_success = Some(SystemTime::now());
        self.last_error = None;
        self.failed_in_a_row = 0;
        self.failing_since = None;
    }

    pub(super) fn failed(&mut self, text: String, refused: bool) {
        let count = if refused {
            &mut self.refusals
        } else {
            &mut self.failures
        };
        *count += 1;
        self.failed_in_a_row = self.failed_in_a_row.saturating_add(1);
        let now = SystemTime::now();
        self.failing_since.get_or_insert(now);
        self.last_error = Some(Failure {
            at: now,
            text,
            refused,
        });
    }
}
