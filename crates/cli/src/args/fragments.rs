//! Options of a bridge that follows packets in fragments.

use clap::Args;
use daemon::config::{DATAGRAMS_MAX, FRAGMENT_TIMEOUT_MAX, HELD_MAX, PIECES_MAX, SOURCE_PART_MAX};
use frame::Nanos;
use table::fragments::FragmentLimits;

use super::count;

/// What a bridge does with fragments.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Flows")]
pub(crate) struct FragmentArgs {
    /// Let fragments wait for the first one of their packet within these bounds, or 'off'.
    ///
    /// As in held=2048,timeout=500: datagrams=N packets at once (16384), pieces=N fragments of one
    /// (128), held=N frames that wait (512), timeout=MS milliseconds after the first that comes
    /// (2000), source-part=N for one N-th of datagrams and frames that one source may have (4).
    /// Only a bridge with --stateful needs ports and so holds any; with 'off' it drops those that
    /// come before the first.
    #[arg(
        long,
        value_name = "RULE",
        default_value = "held=512",
        requires = "stateful",
        hide_short_help = true
    )]
    pub(crate) fragments: FragmentRule,
}

/// Bounds, or none where nothing is to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FragmentRule(pub(crate) Option<FragmentLimits>);

impl std::str::FromStr for FragmentRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        let mut limits = FragmentLimits::default();
        for part in text.split(',') {
            set(&mut limits, part)?;
        }
        Ok(Self(Some(limits)))
    }
}

/// Applies one KEY=N.
fn set(limits: &mut FragmentLimits, part: &str) -> Result<(), String> {
    let unknown = || {
        format!(
            "'{part}' is none of off, datagrams=N, pieces=N, held=N, timeout=MS, source-part=N: \
             write for instance held=2048,timeout=500"
        )
    };
    let (key, value) = part.split_once('=').ok_or_else(unknown)?;
    let number = count::parse(value).map_err(|why| format!("{key}: {why}"))?;
    let within = |max: u64| {
        let fits = (1..=max).contains(&number);
        fits.then_some(number)
            .ok_or_else(|| format!("{key}={number}: choose 1 to {max}"))
    };
    match key {
        "datagrams" => limits.datagrams = within(DATAGRAMS_MAX.into())? as u32,
        "pieces" => limits.pieces = within(PIECES_MAX.into())? as u16,
        "held" => limits.held = within(HELD_MAX.into())? as u32,
        "timeout" => {
            limits.timeout = Nanos(within(FRAGMENT_TIMEOUT_MAX.as_millis() as u64)? * 1_000_000);
        }
        "source-part" => limits.source_part = within(SOURCE_PART_MAX.into())? as u32,
        _ => return Err(unknown()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_by_name() {
        let rule: FragmentRule = "held=2k,timeout=500".parse().expect("sound");
        let limits = rule.0.expect("bounds");
        assert_eq!((limits.held, limits.timeout), (2000, Nanos(500_000_000)));
        assert_eq!(limits.pieces, FragmentLimits::default().pieces);
        assert_eq!("off".parse(), Ok(FragmentRule(None)));
        let default: FragmentRule = "held=512".parse().expect("the default");
        assert_eq!(default.0, Some(FragmentLimits::default()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for text in [
            "",
            "on",
            "held",
            "held=0",
            "pieces=8193",
            "timeout=60001",
            "held=x",
        ] {
            assert!(text.parse::<FragmentRule>().is_err(), "{text}");
        }
    }
}
