//! Colour, for structure only, and only where somebody looks.

use std::env;
use std::io::IsTerminal;

use crate::args::ColorWhen;

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// For one stream: `auto` means a terminal that knows colours and no `NO_COLOR`.
    pub(crate) fn for_stream(when: ColorWhen, stream: &impl IsTerminal) -> Self {
        let on = match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => stream.is_terminal() && wanted_by_environment(),
        };
        Self { on }
    }

    #[cfg(test)]
    pub(crate) fn off() -> Self {
        Self { on: false }
    }

    /// Whether anything is painted.
    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.wrap("33", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.wrap("31;1", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// <https://no-color.org>: any value but the empty one counts.
fn wanted_by_environment() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && env::var_os("TERM").is_none_or(|term| term != "dumb")
}
