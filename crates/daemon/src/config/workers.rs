//! `[workers]`, `[memory]` and `[limits]`: what the machine gives.

use std::time::Duration;

use engine::{DEFAULT_RING_LIMIT, DispatchPolicy, DispatchSettings, IdleMode, RING_LIMIT_MAX};
use frame::{BURST_MAX, CpuId};

use super::error::{ConfigError, Wrong};
use super::ports::{choice, word};
use super::resolved::Writer;
use super::section::{Section, split_sentence};
use super::words::parse_cpus;

/// `[workers]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkersConfig {
    /// How many; one unless `cpus` says otherwise.
    pub count: Option<usize>,
    /// Their CPUs; those of different cores first and CPU 0 last, unless they are given.
    pub cpus: Option<Vec<CpuId>>,
    /// What they do while nothing comes.
    pub idle: IdleMode,
    /// How frames get to the worker that decides on them.
    pub dispatch: DispatchSettings,
    /// Interrupts of the ports' queues go beside their workers.
    pub pin_irqs: bool,
    /// Frames moved at a time, at most.
    pub burst: Option<usize>,
}

/// `[memory]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryConfig {
    /// Distance of two frames, bytes.
    pub stride_bytes: Option<u32>,
    /// Frames in each worker's pool.
    pub pool_frames: Option<u32>,
}

/// `[limits]`: bounds on what others may make this program hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Bytes of one list, before and after gzip.
    pub list_bytes_max: u64,
    /// Entries of one set.
    pub set_entries_max: u64,
    /// How long a list may take to arrive.
    pub list_time_max: Duration,
    /// Control connections at a time.
    pub connections_max: usize,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            list_bytes_max: 1 << 30,
            set_entries_max: 64_000_000,
            list_time_max: Duration::from_secs(120),
            connections_max: 64,
        }
    }
}

const IDLE: [(&str, IdleMode); 2] = [("doze", IdleMode::Doze), ("spin", IdleMode::Spin)];

const DISPATCH: [(&str, Option<DispatchPolicy>); 4] = [
    ("auto", None),
    ("direct", Some(DispatchPolicy::Direct)),
    ("hybrid", Some(DispatchPolicy::Hybrid)),
    ("deferred", Some(DispatchPolicy::Deferred)),
];

impl WorkersConfig {
    pub(crate) const DEFAULT: Self = Self {
        count: None,
        cpus: None,
        idle: IdleMode::Doze,
        dispatch: DispatchSettings {
            policy: None,
            ring_limit: DEFAULT_RING_LIMIT,
            balance: true,
        },
        pin_irqs: false,
        burst: None,
    };

    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let cpus = |text: &str| parse_cpus(text).map_err(|sentence| split_sentence(&sentence));
        let read = Self {
            count: section.number("count", 1..=1024)?,
            cpus: section.parsed("cpus", "cpus = \"1,2-3\"", cpus)?,
            idle: section
                .parsed("idle", "idle = \"doze\" or \"spin\"", |word| {
                    choice(word, &IDLE)
                })?
                .unwrap_or_default(),
            dispatch: read_dispatch(&section)?,
            pin_irqs: section.flag("pin_irqs")?.unwrap_or(false),
            burst: section.number("burst", 1..=BURST_MAX as i64)?,
        };
        if let (Some(count), Some(cpus)) = (read.count, &read.cpus)
            && count != cpus.len()
        {
            let what = format!(
                "count = {count} and cpus with {} of them disagree",
                cpus.len()
            );
            let remedy = "each worker has one CPU, so leave out count";
            return Err(section.error_at("count", Wrong::new(what, remedy)));
        }
        section.finish()?;
        Ok(read)
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("workers");
        if let Some(cpus) = &self.cpus {
            let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
            out.text("cpus", &cpus.join(","));
        }
        if let Some(count) = self.count {
            out.raw("count", count);
        }
        out.text("idle", word(self.idle, &IDLE));
        out.text("dispatch", word(self.dispatch.policy, &DISPATCH));
        out.raw("dispatch_limit", self.dispatch.ring_limit);
        out.raw("balance", self.dispatch.balance);
        out.raw("pin_irqs", self.pin_irqs);
        if let Some(burst) = self.burst {
            out.raw("burst", burst);
        }
    }
}

fn read_dispatch(section: &Section<'_>) -> Result<DispatchSettings, ConfigError> {
    let example = "dispatch = \"auto\", \"direct\", \"hybrid\" or \"deferred\"";
    let policy = section.parsed("dispatch", example, |word| choice(word, &DISPATCH))?;
    let limit = section.number("dispatch_limit", 1..=RING_LIMIT_MAX as i64)?;
    Ok(DispatchSettings {
        policy: policy.flatten(),
        ring_limit: limit.unwrap_or(DEFAULT_RING_LIMIT),
        balance: section.flag("balance")?.unwrap_or(true),
    })
}

impl MemoryConfig {
    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let most = i64::from(frame::STRIDE_BYTES_MAX);
        let stride_bytes: Option<u32> = section.number("stride", 256..=most)?;
        if stride_bytes.is_some_and(|bytes| !bytes.is_multiple_of(64)) {
            let wrong = Wrong::new("stride is no multiple of 64", "write 2112, or 2048");
            return Err(section.error_at("stride", wrong));
        }
        let pool_frames = section.number("pool", 1..=(1 << 24))?;
        section.finish()?;
        Ok(Self {
            stride_bytes,
            pool_frames,
        })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("memory");
        if let Some(bytes) = self.stride_bytes {
            out.raw("stride", bytes);
        }
        if let Some(frames) = self.pool_frames {
            out.raw("pool", frames);
        }
    }
}

impl LimitsConfig {
    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let default = Self::default();
        let times = Duration::from_millis(100)..=Duration::from_secs(3600);
        let read = Self {
            list_bytes_max: section
                .bytes("list_bytes")?
                .unwrap_or(default.list_bytes_max),
            set_entries_max: section
                .number("set_entries", 1..=(1 << 32))?
                .unwrap_or(default.set_entries_max),
            list_time_max: section
                .duration("list_time", times)?
                .unwrap_or(default.list_time_max),
            connections_max: section
                .number("connections", 1..=1024)?
                .unwrap_or(default.connections_max),
        };
        section.finish()?;
        Ok(read)
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("limits");
        out.raw("list_bytes", self.list_bytes_max);
        out.raw("set_entries", self.set_entries_max);
        out.duration("list_time", self.list_time_max);
        out.raw("connections", self.connections_max);
    }
}
