//! How messages name what helps: for whoever types a command, and for whoever writes a
//! configuration.

use std::fmt::Display;

/// For whom a message is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wording {
    /// Whoever reads a list by a command: options.
    #[default]
    Options,
    /// Whoever loads a list into a running daemon by a command: options, of which force overrides
    /// guards and reads no line otherwise.
    Load,
    /// Whoever gives single entries: no option reads them otherwise.
    Entry,
    /// Whoever reads the log of a daemon: keys of `[[set]]`.
    Keys,
}

impl Wording {
    /// One column, named or numbered.
    pub(crate) fn column(self, column: impl Display) -> String {
        let column = column.to_string();
        let is_number = column.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Self::Keys if is_number || column == "N" => format!("column = {column}"),
            Self::Keys => format!("column = \"{column}\""),
            _ => format!("--column {column}"),
        }
    }

    /// Several columns.
    pub(crate) fn columns(self, columns: impl Display) -> String {
        match self {
            Self::Keys => format!("columns = \"{columns}\""),
            _ => format!("--columns {columns}"),
        }
    }

    /// A path into JSON.
    pub(crate) fn json_path(self, path: impl Display) -> String {
        match self {
            Self::Keys => format!("json_path = '{path}'"),
            _ => format!("--json-path {path}"),
        }
    }

    /// The option alone.
    pub(crate) fn json_path_option(self) -> &'static str {
        match self {
            Self::Keys => "json_path",
            _ => "--json-path",
        }
    }

    /// What leaves bad lines out, where something does.
    pub(crate) fn skip_bad_lines(self) -> Option<&'static str> {
        match self {
            Self::Options => Some("--skip-bad-lines"),
            Self::Load | Self::Entry => None,
            Self::Keys => Some("skip_bad_lines = true"),
        }
    }

    /// What takes at its word what may be a mistake.
    pub(crate) fn force(self) -> &'static str {
        match self {
            Self::Keys => "'linerate set load NAME --force'",
            _ => "--force",
        }
    }

    /// Whether force reads lines that may say more than they seem to.
    pub(crate) fn forces_lines(self) -> bool {
        self == Self::Options
    }
}
