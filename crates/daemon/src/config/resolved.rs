//! A configuration as text, every default written out: it reads back to the same configuration.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::words::{quoted, show_duration};

/// Writes TOML, section by section. Writing to a String never fails.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    text: String,
    /// What may be a secret is left out, and the text does not read back.
    is_shown: bool,
}

impl Writer {
    /// For people who may change sets, and need not know what the operator knows.
    pub(crate) fn shown() -> Self {
        Self {
            is_shown: true,
            ..Self::default()
        }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    pub(crate) fn section(&mut self, name: &str) {
        self.gap();
        let _ = writeln!(self.text, "[{name}]");
    }

    pub(crate) fn array(&mut self, name: &str) {
        self.gap();
        let _ = writeln!(self.text, "[[{name}]]");
    }

    fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    pub(crate) fn raw(&mut self, key: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.text, "{key} = {value}");
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.raw(key, quoted(value));
    }

    pub(crate) fn path(&mut self, key: &str, value: &Path) {
        self.text(key, &value.display().to_string());
    }

    /// An address of the net. Its query may hold a licence key.
    pub(crate) fn url(&mut self, key: &str, value: &str) {
        if self.is_shown {
            self.text(key, &without_secrets(value));
        } else {
            self.text(key, value);
        }
    }

    pub(crate) fn duration(&mut self, key: &str, value: Duration) {
        self.text(key, &show_duration(value));
    }

    pub(crate) fn texts<'a>(&mut self, key: &str, values: impl Iterator<Item = &'a str>) {
        let values: Vec<String> = values.map(quoted).collect();
        self.raw(key, format!("[{}]", values.join(", ")));
    }
}

/// An address with `***` in place of its query and of who asks.
fn without_secrets(url: &str) -> String {
    let (address, query) = match url.split_once('?') {
        Some((address, _)) => (address, "?***"),
        None => (url, ""),
    };
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match server.rsplit_once('@') {
        Some((_, server)) => format!("{scheme}://***@{server}{path}{query}"),
        None => format!("{address}{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn queries_and_passwords_are_not_shown() {
        for (url, shown) in [
            ("https://a.example/list.txt", "https://a.example/list.txt"),
            (
                "https://a.example/l?key=1&b=/c@d",
                "https://a.example/l?***",
            ),
            (
                "https://me:word@a.example/l?k",
                "https://***@a.example/l?***",
            ),
            ("https://a.example/who@where", "https://a.example/who@where"),
            ("http://127.0.0.1:8080?", "http://127.0.0.1:8080?***"),
            ("https://me@a.example", "https://***@a.example"),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }
}
