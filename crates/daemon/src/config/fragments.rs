//! `[fragments]`: how many fragments a bridge that remembers flows lets wait.

use std::time::Duration;

use frame::Nanos;
use table::fragments::FragmentLimits;

use super::error::{ConfigError, Wrong};
use super::resolved::Writer;
use super::section::Section;

/// Packets known at once, at most: some gigabytes.
pub const DATAGRAMS_MAX: u32 = 1 << 24;
/// Frames that wait, at most.
pub const HELD_MAX: u32 = 1 << 20;
/// Pieces of 8 bytes in the longest packet.
pub const PIECES_MAX: u16 = 8192;
/// RFC 8200 section 4.5: nobody waits longer.
pub const FRAGMENT_TIMEOUT_MAX: Duration = Duration::from_secs(60);
/// The least share of a source.
pub const SOURCE_PART_MAX: u32 = 1 << 20;

/// `[fragments]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentsSection {
    /// What each worker may let wait; none where nothing may.
    pub limits: Option<FragmentLimits>,
}

impl FragmentsSection {
    /// What holds where the section is left out.
    #[must_use]
    pub fn new() -> Self {
        Self {
            limits: Some(FragmentLimits::default()),
        }
    }

    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let follow = section.flag("follow")?;
        let datagrams = section.number("datagrams", 1..=DATAGRAMS_MAX.into())?;
        let pieces = section.number("pieces", 1..=PIECES_MAX.into())?;
        let held = section.number("held", 1..=HELD_MAX.into())?;
        let times = Duration::from_millis(1)..=FRAGMENT_TIMEOUT_MAX;
        let timeout = section.duration("timeout", times)?;
        let source_part = section.number("source_part", 1..=SOURCE_PART_MAX.into())?;
        if follow == Some(false) {
            let bounded = datagrams.is_some() || pieces.is_some() || held.is_some();
            if bounded || timeout.is_some() || source_part.is_some() {
                let what = "[fragments] has bounds, and follow = false lets nothing wait";
                let wrong = Wrong::new(what, "leave one of both out");
                return Err(section.error_at("follow", wrong));
            }
            section.finish()?;
            return Ok(Self { limits: None });
        }
        section.finish()?;
        let default = FragmentLimits::default();
        let nanos = |time: Duration| Nanos(time.as_nanos() as u64);
        Ok(Self {
            limits: Some(FragmentLimits {
                datagrams: datagrams.unwrap_or(default.datagrams),
                pieces: pieces.unwrap_or(default.pieces),
                held: held.unwrap_or(default.held),
                timeout: timeout.map_or(default.timeout, nanos),
                source_part: source_part.unwrap_or(default.source_part),
            }),
        })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("fragments");
        let Some(limits) = &self.limits else {
            return out.raw("follow", false);
        };
        out.raw("follow", true);
        out.raw("datagrams", limits.datagrams);
        out.raw("pieces", limits.pieces);
        out.raw("held", limits.held);
        out.duration("timeout", Duration::from_nanos(limits.timeout.0));
        out.raw("source_part", limits.source_part);
    }
}

impl Default for FragmentsSection {
    fn default() -> Self {
        Self::new()
    }
}
