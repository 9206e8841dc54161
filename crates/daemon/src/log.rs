//! The log: lines for people on a terminal, fields for the journal, JSON elsewhere.
//!
//! Never a line per frame, never a secret. What is said again and again is counted and summed up
//! (`repeats`): a server that is away for a week is not a line a minute.

mod repeats;

use std::io::{self, IsTerminal};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU8, Ordering};

use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Filter, Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

use crate::config::{LogConfig, LogFormat, LogLevel};
use repeats::Repeats;

/// The most verbose level that is said, as [`LogLevel`] has them.
static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Info as u8);

/// Begins to log. Once a process.
///
/// # Errors
///
/// The journal is asked for and not there, or another log was begun: a sentence.
pub fn start(config: &LogConfig) -> Result<(), String> {
    set_level(config.level);
    let layer = match shown(config.format) {
        LogFormat::Journald => journald()?,
        LogFormat::Json => json(),
        LogFormat::Human | LogFormat::Auto => human(),
    };
    let repeats = Repeats::start()
        .map_err(|error| format!("the log has no thread ({error}): raise the limits"))?;
    let layer = layer.with_filter(Wanted(repeats));
    tracing::subscriber::set_global_default(Registry::default().with(layer))
        .map_err(|_| "a log was begun before: start one daemon in a process".to_owned())
}

/// Changes how much is said, from now on.
pub fn set_level(level: LogLevel) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// What `auto` means here.
fn shown(format: LogFormat) -> LogFormat {
    match format {
        LogFormat::Auto if journal_listens() => LogFormat::Journald,
        LogFormat::Auto if io::stderr().is_terminal() => LogFormat::Human,
        LogFormat::Auto => LogFormat::Json,
        format => format,
    }
}

/// Whether standard error is the journal's: systemd says which file that is by its numbers.
#[must_use]
pub fn journal_listens() -> bool {
    let stated = std::env::var("JOURNAL_STREAM").unwrap_or_default();
    let found = std::fs::metadata("/dev/stderr");
    found.is_ok_and(|file| stated == format!("{}:{}", file.dev(), file.ino()))
}

type AnyLayer = Box<dyn Layer<Registry> + Send + Sync>;

fn human() -> AnyLayer {
    let colored = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let layer = tracing_subscriber::fmt::layer();
    Box::new(
        layer
            .with_writer(io::stderr)
            .with_ansi(colored)
            .with_target(false),
    )
}

fn json() -> AnyLayer {
    let layer = tracing_subscriber::fmt::layer().json();
    Box::new(layer.with_writer(io::stderr).flatten_event(true))
}

fn journald() -> Result<AnyLayer, String> {
    let layer = tracing_journald::layer().map_err(|error| {
        format!("the journal does not listen ({error}): write format = \"json\"")
    })?;
    Ok(Box::new(
        layer.with_syslog_identifier("linerate".to_owned()),
    ))
}

/// Lets through what the level allows and was not said just now.
struct Wanted(Repeats);

impl<S: Subscriber> Filter<S> for Wanted {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        *metadata.level() <= level()
    }

    fn event_enabled(&self, event: &tracing::Event<'_>, _: &Context<'_, S>) -> bool {
        self.0.is_new(event)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // The level may change while the program runs.
        Some(LevelFilter::DEBUG)
    }

    fn callsite_enabled(&self, _: &'static Metadata<'static>) -> tracing::subscriber::Interest {
        // Asked each time, for the same reason.
        tracing::subscriber::Interest::sometimes()
    }
}

fn level() -> LevelFilter {
    match LEVEL.load(Ordering::Relaxed) {
        level if level == LogLevel::Error as u8 => LevelFilter::ERROR,
        level if level == LogLevel::Warn as u8 => LevelFilter::WARN,
        level if level == LogLevel::Info as u8 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    }
}
