//! A configuration as text, every default written out: it reads back to the same configuration.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::words::{quoted, show_duration};

/// Writes TOML, section by section. Writing to a String never fails.
#[derive(Debug, Default)]
pub(crate) struct Writer(String);

impl Writer {
    pub(crate) fn finish(self) -> String {
        self.0
    }

    pub(crate) fn section(&mut self, name: &str) {
        self.gap();
        let _ = writeln!(self.0, "[{name}]");
    }

    pub(crate) fn array(&mut self, name: &str) {
        self.gap();
        let _ = writeln!(self.0, "[[{name}]]");
    }

    fn gap(&mut self) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
    }

    pub(crate) fn raw(&mut self, key: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{key} = {value}");
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.raw(key, quoted(value));
    }

    pub(crate) fn path(&mut self, key: &str, value: &Path) {
        self.text(key, &value.display().to_string());
    }

    pub(crate) fn duration(&mut self, key: &str, value: Duration) {
        self.text(key, &show_duration(value));
    }

    pub(crate) fn texts<'a>(&mut self, key: &str, values: impl Iterator<Item = &'a str>) {
        let values: Vec<String> = values.map(quoted).collect();
        self.raw(key, format!("[{}]", values.join(", ")));
    }
}
