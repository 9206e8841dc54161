//! Where the addresses of a JSON document are: `prefixes[].ip_prefix`.

use std::fmt;

/// The longest path, in steps: deeper than any document may be.
const STEPS_MAX: usize = 128;

/// A path: names of keys with dots between, `[]` for every element of an array, `*` for any key.
/// A name with other marks stands in double quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    steps: Vec<Step>,
}

/// One step down.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into the value of any key; in paths that are asked for alone.
    AnyKey,
    /// Into each element of an array.
    Items,
}

/// What is no path. Displays as a sentence without full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPathError {
    text: String,
}

impl fmt::Display for JsonPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\" is no path into JSON: write keys with dots between and [] for the elements of \
             an array, as in prefixes[].ip_prefix",
            crate::excerpt::of(self.text.as_bytes())
        )
    }
}

impl std::error::Error for JsonPathError {}

impl JsonPath {
    /// Reads one path or several with commas between.
    ///
    /// # Errors
    /// One of them is no path.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, JsonPathError> {
        let wrong = || JsonPathError {
            text: text.to_owned(),
        };
        let mut paths = Vec::new();
        let mut rest = text.trim();
        loop {
            let (path, behind) = Self::split(rest).ok_or_else(wrong)?;
            paths.push(path);
            match behind.trim_start().strip_prefix(',') {
                Some(next) => rest = next.trim_start(),
                None if behind.trim().is_empty() => return Ok(paths),
                None => return Err(wrong()),
            }
        }
    }

    /// The path that `text` begins with, and what is behind it.
    fn split(text: &str) -> Option<(Self, &str)> {
        let mut steps = Vec::new();
        let mut rest = text.strip_prefix('$').unwrap_or(text);
        while steps.len() <= STEPS_MAX {
            if let Some(behind) = rest.strip_prefix("[]").or(rest.strip_prefix("[*]")) {
                steps.push(Step::Items);
                rest = behind;
            } else if rest.starts_with('.') || (steps.is_empty() && !rest.is_empty()) {
                let (step, behind) = split_key(rest.strip_prefix('.').unwrap_or(rest))?;
                steps.push(step);
                rest = behind;
            } else if steps.is_empty() {
                return None;
            } else {
                return Some((Self { steps }, rest));
            }
        }
        None
    }

    /// True when this path, as it is asked for, is `path`.
    pub(crate) fn is(&self, path: &[Step]) -> bool {
        self.steps.len() == path.len() && self.begins_with(path)
    }

    /// True when this path, as it is asked for, leads through `path`.
    pub(crate) fn begins_with(&self, path: &[Step]) -> bool {
        let same = |(asked, step): (&Step, &Step)| match (asked, step) {
            (Step::AnyKey, Step::Key(_)) => true,
            _ => asked == step,
        };
        self.steps.len() >= path.len() && self.steps.iter().zip(path).all(same)
    }
}

/// The key that `text` begins with, and what is behind it.
fn split_key(text: &str) -> Option<(Step, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted.find('"')?;
        return Some((Step::Key(quoted[..end].to_owned()), &quoted[end + 1..]));
    }
    let ends = |char: char| char.is_whitespace() || matches!(char, '.' | '[' | ']' | ',' | '"');
    let (key, behind) = text.split_at(text.find(ends).unwrap_or(text.len()));
    match key {
        "" => None,
        "*" => Some((Step::AnyKey, behind)),
        _ => Some((Step::Key(key.to_owned()), behind)),
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text_of(&self.steps))
    }
}

/// A path as it is written.
pub(crate) fn text_of(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        if !text.is_empty() && *step != Step::Items {
            text.push('.');
        }
        match step {
            Step::Items => text.push_str("[]"),
            Step::AnyKey => text.push('*'),
            Step::Key(key) => text.push_str(&quoted(key)),
        }
    }
    text
}

fn quoted(key: &str) -> String {
    match split_key(key) {
        Some((Step::Key(whole), "")) if whole == key && !key.starts_with('$') => key.to_owned(),
        _ => format!("\"{key}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::JsonPath;

    #[test]
    fn paths_as_they_are_written_and_shown() {
        let table: [(&str, &[&str]); 12] = [
            ("prefixes[].ip_prefix", &["prefixes[].ip_prefix"]),
            (".prefixes[].ip_prefix", &["prefixes[].ip_prefix"]),
            ("$.prefixes[*].ip_prefix", &["prefixes[].ip_prefix"]),
            ("[]", &["[]"]),
            ("[][]", &["[][]"]),
            ("[].ip", &["[].ip"]),
            ("$[].ip", &["[].ip"]),
            ("*[]", &["*[]"]),
            ("a.*.ranges[]", &["a.*.ranges[]"]),
            ("a[] , b[].c", &["a[]", "b[].c"]),
            ("\"a.b\"[].\"c,d\"", &["\"a.b\"[].\"c,d\""]),
            ("ip-ranges[].v4", &["ip-ranges[].v4"]),
        ];
        for (text, expected) in table {
            let paths = JsonPath::parse_all(text).unwrap();
            let shown: Vec<String> = paths.iter().map(ToString::to_string).collect();
            assert_eq!(shown, expected, "{text}");
            let again: Vec<_> = shown
                .iter()
                .flat_map(|path| JsonPath::parse_all(path).unwrap())
                .collect();
            assert_eq!(again, paths, "{text}");
        }
    }

    #[test]
    fn what_is_no_path() {
        let deep = "a.".repeat(200) + "a";
        for text in [
            "",
            " ",
            ".",
            "$",
            "a.",
            "a..b",
            "a[0]",
            "a[",
            "a]",
            "a b",
            "a,",
            ",a",
            "\"a",
            "a\"b\"",
            deep.as_str(),
        ] {
            assert!(JsonPath::parse_all(text).is_err(), "{text}");
        }
    }
}
