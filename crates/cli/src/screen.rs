//! The live line: rewritten in place on a terminal, plain lines elsewhere, nothing when quiet.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::output::{Output, Stream};
use crate::report::table::clip;

/// How often progress is shown; what is over sooner shows none.
const PASSING_EVERY: Duration = Duration::from_millis(250);

/// How standard error takes live lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// One line, written over again and again.
    InPlace,
    /// A new line each time.
    Lines,
    Silent,
}

/// A live line on standard error.
#[derive(Debug)]
pub(crate) struct Screen {
    style: Style,
    output: Output,
    shown: bool,
    next: Instant,
    interval: Duration,
}

impl Screen {
    /// A line for progress: on a terminal four times a second, elsewhere never.
    pub(crate) fn new(output: Output) -> Self {
        Self::live(output, PASSING_EVERY, None)
    }

    /// A line that is due every `interval` on a terminal and every `plain_interval` elsewhere;
    /// `None` there means never.
    pub(crate) fn live(
        output: Output,
        interval: Duration,
        plain_interval: Option<Duration>,
    ) -> Self {
        let terminal = io::stderr().is_terminal();
        let (style, interval) = match plain_interval {
            _ if !output.manners.shows_progress() => (Style::Silent, interval),
            _ if terminal => (Style::InPlace, interval),
            Some(plain) => (Style::Lines, plain),
            None => (Style::Silent, interval),
        };
        Self {
            style,
            output,
            shown: false,
            next: Instant::now() + interval,
            interval,
        }
    }

    /// Whether it is time for another line.
    pub(crate) fn is_due(&self) -> bool {
        self.style != Style::Silent && Instant::now() >= self.next
    }

    /// Shows a line. Parts that do not fit into the terminal are left out, the last first.
    pub(crate) fn show(&mut self, parts: &[String]) {
        let now = Instant::now();
        self.next = (self.next + self.interval).max(now);
        // A terminal that went away does not end a run.
        let _ = match self.style {
            Style::Silent => Ok(()),
            Style::Lines => writeln!(io::stderr(), "{}", parts.join("  ")),
            Style::InPlace => self.write_over(parts),
        };
    }

    /// Shows a first line at once on a terminal; elsewhere what is over soon shows none.
    pub(crate) fn begin(&mut self, line: &str) {
        if self.style == Style::InPlace {
            self.show(&[line.to_owned()]);
        }
    }

    /// Says something that must be seen, on a line of its own.
    pub(crate) fn warn(&mut self, sentence: &str) {
        self.clear();
        self.output.warn(sentence);
    }

    /// Says something that is worth a line where lines stay; on a terminal the next live line does.
    pub(crate) fn tell(&mut self, parts: &[String]) {
        if self.style == Style::Lines {
            // Who does not read it misses nothing else.
            let _ = writeln!(io::stderr(), "  {}", parts.join("; "));
        }
    }

    /// Takes the line away, so that what follows begins at the left.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    fn write_over(&mut self, parts: &[String]) -> io::Result<()> {
        // The last column stays free: terminals differ in when they wrap.
        let width = self.output.width(Stream::Stderr).saturating_sub(1);
        let mut line = fit(parts, width);
        if let Some(rest) = line.strip_prefix("  ") {
            line = format!("  {}", self.output.paint(Stream::Stderr).bold(rest));
        }
        self.shown = true;
        let mut stream = io::stderr().lock();
        write!(stream, "\r{line}\x1b[K")?;
        stream.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.clear();
    }
}

fn fit(parts: &[String], width: usize) -> String {
    for shown in (1..=parts.len()).rev() {
        let line = parts[..shown].join("  ");
        if line.chars().count() <= width {
            return line;
        }
    }
    clip(&parts.concat(), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_do_not_fit_are_left_out() {
        let parts = ["  1 s", "18.4 Mpps", "54 ns a frame"].map(str::to_owned);
        assert_eq!(fit(&parts, 80), "  1 s  18.4 Mpps  54 ns a frame");
        assert_eq!(fit(&parts, 20), "  1 s  18.4 Mpps");
        assert_eq!(fit(&parts, 4), "  1…");
        assert_eq!(fit(&[], 4), "");
    }
}
