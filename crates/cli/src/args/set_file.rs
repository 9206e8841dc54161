//! A list as named on the command line: `FILE`, `NAME=FILE` or `-`.

use std::convert::Infallible;
use std::path::Path;
use std::str::FromStr;

/// Where a set comes from and, if the user said so, what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetFile {
    /// As given before the `=`.
    pub(crate) name: Option<String>,
    /// A path, or `-` for standard input.
    pub(crate) file: String,
}

impl SetFile {
    pub(crate) fn is_stdin(&self) -> bool {
        self.file == "-"
    }

    /// What to do where there is no such file.
    pub(crate) fn path_remedy(&self) -> String {
        match &self.name {
            Some(name) => format!(
                "'{name}=' was taken for the name of the set: write ./{name}={} if it belongs to \
                 the path",
                self.file
            ),
            None => "check the path".to_owned(),
        }
    }

    /// The name given, or the file's stem: `lists/ipsum.txt.gz` is `ipsum`.
    pub(crate) fn name_or_stem(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        if self.is_stdin() {
            return "stdin".to_owned();
        }
        let plain = self.file.strip_suffix(".gz").unwrap_or(&self.file);
        let stem = Path::new(plain).file_stem().unwrap_or(plain.as_ref());
        stem.to_string_lossy().into_owned()
    }
}

impl FromStr for SetFile {
    type Err = Infallible;

    /// What stands before the first `=` is a name if it looks like one; `./a=b` is a file.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let named = text.split_once('=').filter(|(name, _)| is_name(name));
        Ok(match named {
            Some((name, file)) => Self {
                name: Some(name.to_owned()),
                file: file.to_owned(),
            },
            None => Self {
                name: None,
                file: text.to_owned(),
            },
        })
    }
}

fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && !text.starts_with('.') && text.chars().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> SetFile {
        match text.parse() {
            Ok(set) => set,
            Err(never) => match never {},
        }
    }

    #[test]
    fn names() {
        for (text, name) in [
            ("ipsum.txt", "ipsum"),
            ("/a/b/level1.netset.gz", "level1"),
            ("bad=/a/b.txt", "bad"),
            ("./a=b.txt", "a=b"),
            ("-", "stdin"),
            ("x=-", "x"),
            ("noext", "noext"),
        ] {
            assert_eq!(set(text).name_or_stem(), name, "{text}");
        }
        assert!(set("x=-").is_stdin());
        assert_eq!(set("a=b=c").file, "b=c");
    }
}
