//! Single lines: the head, the sparklines, the keys.

use std::time::Duration;

use ratatui::text::{Line, Span};

use super::history::{History, Moment};
use super::screen::Screen;
use super::theme::Theme;
use crate::report::number::brief;

/// Bars of one cell, from nothing to full.
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Cells beside a sparkline: its name on the left, now and greatest on the right.
const BESIDE: usize = 11 + 9 + 13;

pub(super) fn head(screen: &Screen, theme: Theme) -> Line<'static> {
    let (version, pid) = screen.daemon.clone().unwrap_or_default();
    let name = if version.is_empty() {
        "linerate".to_owned()
    } else {
        format!("linerate {version}, process {pid}")
    };
    let mut parts = vec![Span::styled(name, theme.heading())];
    if let Some(now) = screen.history().now() {
        parts.push(Span::raw(format!(", up {}", period(now.seconds))));
    }
    if screen.is_paused() {
        parts.push(Span::styled("  PAUSED", theme.warning()));
    }
    if screen.away.is_some() {
        parts.push(Span::styled("  AWAY", theme.bad()));
    }
    Line::from(parts)
}

/// `3 d 04:05:06`.
pub(super) fn period(seconds: f64) -> String {
    let seconds = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default();
    let seconds = seconds.as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let clock = format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    match days {
        0 => clock,
        days => format!("{days} d {clock}"),
    }
}

/// The last minutes of one figure in `width` cells.
pub(super) fn spark(
    name: &str,
    history: &History,
    of: fn(&Moment) -> f64,
    width: usize,
    theme: Theme,
) -> Line<'static> {
    let columns = width.saturating_sub(BESIDE);
    let values = history.line(columns, of);
    let greatest = values.iter().copied().fold(0.0, f64::max);
    let cells: String = values.iter().map(|&value| bar(value, greatest)).collect();
    let now = values.last().copied().unwrap_or(0.0);
    Line::from(vec![
        Span::raw(format!("{name:<11}")),
        Span::styled(format!("{cells:>columns$}"), theme.line()),
        Span::raw(format!(" {:>8}", brief(now))),
        Span::styled(format!(" max {:>8}", brief(greatest)), theme.faint()),
    ])
}

/// What is there shows, however little.
fn bar(value: f64, greatest: f64) -> char {
    if value <= 0.0 || greatest <= 0.0 {
        return BARS[0];
    }
    let height = (value / greatest * 8.0).round() as usize;
    BARS[height.clamp(1, 8)]
}

pub(super) fn keys(screen: &Screen, width: usize, theme: Theme) -> Line<'static> {
    let sort = screen.sort.name();
    let every = screen.interval.as_secs_f64();
    let columns = width.saturating_sub(BESIDE);
    let reach = History::seconds_a_column(columns);
    Line::styled(
        format!(
            "q quit  p pause  s sort: {sort}  arrows scroll  ? help   each {every} s, a bar \
             {reach} s"
        ),
        theme.faint(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods() {
        assert_eq!(period(0.9), "00:00:00");
        assert_eq!(period(3_661.0), "01:01:01");
        assert_eq!(period(90_000.0), "1 d 01:00:00");
        assert_eq!(period(-1.0), "00:00:00");
        assert_eq!(period(f64::NAN), "00:00:00");
    }

    #[test]
    fn bars_show_what_is_there() {
        assert_eq!(
            [bar(0.0, 9.0), bar(0.01, 9.0), bar(9.0, 9.0)],
            [' ', '▁', '█']
        );
        assert_eq!(bar(0.0, 0.0), ' ');
    }
}
