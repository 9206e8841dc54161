//! One table of the file, read key by key; keys that nobody asked for are errors.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Faults, Wrong};
use super::words;

/// Characters of what is said to be wrong.
const WHAT_CHARS_MAX: usize = 300;

/// The text of a configuration, and what its lines and relative paths are held against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'t> {
    pub(crate) file: &'t Path,
    pub(crate) text: &'t str,
}

impl Text<'_> {
    /// The error that something is `wrong` at this byte of the text.
    pub(crate) fn error(&self, at: usize, wrong: Wrong) -> ConfigError {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        ConfigError {
            file: self.file.display().to_string(),
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            what: cut(wrong.what),
            remedy: wrong.remedy,
            others: Vec::new(),
        }
    }
}

/// One table.
#[derive(Debug)]
pub(crate) struct Section<'t> {
    source: Text<'t>,
    /// As in `[[set]]`.
    name: &'static str,
    table: &'t DeTable<'t>,
    span: Range<usize>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'t> Section<'t> {
    pub(crate) fn new(
        source: Text<'t>,
        name: &'static str,
        table: &'t DeTable<'t>,
        span: Range<usize>,
    ) -> Self {
        Self {
            source,
            name,
            table,
            span,
            asked: RefCell::default(),
        }
    }

    /// That something is wrong with the table as a whole.
    pub(crate) fn error(&self, wrong: Wrong) -> ConfigError {
        self.source.error(self.span.start, wrong)
    }

    /// That something is wrong with the value of a key, or with the table that lacks it.
    pub(crate) fn error_at(&self, key: &str, wrong: Wrong) -> ConfigError {
        let at = self
            .table
            .get(key)
            .map_or(self.span.start, |v| v.span().start);
        self.source.error(at, wrong)
    }

    /// That something is wrong with the member at `index` of the list of a key.
    pub(crate) fn error_in(&self, key: &str, index: usize, wrong: Wrong) -> ConfigError {
        let list = self.table.get(key).map(Spanned::get_ref);
        let member = match list {
            Some(DeValue::Array(members)) => members.get(index),
            _ => None,
        };
        match member {
            Some(member) => self.source.error(member.span().start, wrong),
            None => self.error_at(key, wrong),
        }
    }

    /// The first of these keys that stands in the table.
    pub(crate) fn has_one_of(
        &self,
        keys: impl IntoIterator<Item = &'static str>,
    ) -> Option<&'static str> {
        keys.into_iter().find(|key| self.table.get(*key).is_some())
    }

    fn find(&self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.asked.borrow_mut().push(key);
        self.table.get(key)
    }

    fn mistyped(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) -> ConfigError {
        let kind = value.get_ref().type_str();
        let what = format!("{key} in {} is of type {kind}", self.name);
        let wrong = Wrong::new(what, format!("write {wanted}"));
        self.source.error(value.span().start, wrong)
    }

    /// A text, and what is made of it.
    pub(crate) fn parsed<T>(
        &self,
        key: &'static str,
        wanted: &str,
        parse: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.find(key) else {
            return Ok(None);
        };
        let DeValue::String(text) = value.get_ref() else {
            return Err(self.mistyped(key, value, wanted));
        };
        let named = |wrong: Wrong| Wrong {
            what: format!("{key} in {}: {}", self.name, wrong.what),
            ..wrong
        };
        let parsed =
            parse(text).map_err(|wrong| self.source.error(value.span().start, named(wrong)))?;
        Ok(Some(parsed))
    }

    pub(crate) fn text(&self, key: &'static str) -> Result<Option<String>, ConfigError> {
        self.parsed(key, &format!("{key} = \"...\""), |text| Ok(text.to_owned()))
    }

    pub(crate) fn required(&self, key: &'static str) -> Result<String, ConfigError> {
        self.text(key)?.ok_or_else(|| self.missing(key))
    }

    /// That a key is missing, or, where one is there that is nearly it, that this is unknown.
    pub(crate) fn missing(&self, key: &'static str) -> ConfigError {
        let asked = self.asked.borrow();
        let given = self.table.keys();
        let mut slips = given.filter(|given| {
            let word = given.get_ref().as_ref();
            !asked.contains(&word) && port::nearest_word(word, &[key]).is_some()
        });
        if let Some(slip) = slips.next() {
            let what = format!("{} knows no key '{}'", self.name, slip.get_ref());
            let wrong = Wrong::new(what, format!("did you mean '{key}'?"));
            return self.source.error(slip.span().start, wrong);
        }
        let what = format!("{} has no {key}", self.name);
        self.error(Wrong::new(what, format!("add {key} = \"...\" to it")))
    }

    /// A path; a relative one is meant from the folder of the configuration.
    pub(crate) fn path(&self, key: &'static str) -> Result<Option<PathBuf>, ConfigError> {
        let wanted = format!("{key} = \"/a/path\"");
        self.parsed(key, &wanted, |text| self.resolved(text))
    }

    /// What a path in the configuration means.
    pub(crate) fn resolved(&self, text: &str) -> Result<PathBuf, Wrong> {
        if text.is_empty() || text.contains('\0') {
            return Err(Wrong::new(format!("{text:?} is no path"), "write /a/path"));
        }
        let folder = self.source.file.parent();
        Ok(folder.map_or_else(|| text.into(), |folder| folder.join(text)))
    }

    pub(crate) fn flag(&self, key: &'static str) -> Result<Option<bool>, ConfigError> {
        let Some(value) = self.find(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            _ => Err(self.mistyped(key, value, &format!("{key} = true or {key} = false"))),
        }
    }

    /// A whole number within bounds.
    pub(crate) fn number<T: TryFrom<i64>>(
        &self,
        key: &'static str,
        bounds: RangeInclusive<i64>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.find(key) else {
            return Ok(None);
        };
        let (least, most) = (bounds.start(), bounds.end());
        let wanted = format!("{key} = a whole number from {least} to {most}");
        let Some(number) = integer(value.get_ref()) else {
            return Err(self.mistyped(key, value, &wanted));
        };
        let held = Some(number).filter(|number| bounds.contains(number));
        match held.and_then(|number| T::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => {
                let what = format!("{key} in {} is {number}", self.name);
                let wrong = Wrong::new(what, format!("write {wanted}"));
                Err(self.source.error(value.span().start, wrong))
            }
        }
    }

    /// A number of bytes, at least one, or a text such as `64MiB`.
    pub(crate) fn bytes(&self, key: &'static str) -> Result<Option<u64>, ConfigError> {
        if self
            .table
            .get(key)
            .is_some_and(|v| integer(v.get_ref()).is_some())
        {
            return self.number(key, 1..=i64::MAX);
        }
        self.parsed(key, &format!("{key} = \"64MiB\""), words::parse_bytes)
    }

    /// A time, as in `"1h"`; a number is seconds.
    pub(crate) fn duration(
        &self,
        key: &'static str,
        bounds: RangeInclusive<Duration>,
    ) -> Result<Option<Duration>, ConfigError> {
        let whole = self.table.get(key).and_then(|v| integer(v.get_ref()));
        let read = match whole {
            Some(_) => self
                .number::<u64>(key, 0..=315_360_000)?
                .map(Duration::from_secs),
            None => self.parsed(key, &format!("{key} = \"1h\""), |text| {
                words::parse_duration(text).map_err(|sentence| split_sentence(&sentence))
            })?,
        };
        match read {
            Some(time) if !bounds.contains(&time) => {
                let what = format!("{key} in {} is {}", self.name, words::show_duration(time));
                let [least, most] =
                    [bounds.start(), bounds.end()].map(|time| words::show_duration(*time));
                let wrong = Wrong::new(what, format!("write {least} to {most}"));
                Err(self.error_at(key, wrong))
            }
            read => Ok(read),
        }
    }

    /// A number, whole or not.
    pub(crate) fn real(
        &self,
        key: &'static str,
        bounds: RangeInclusive<f64>,
    ) -> Result<Option<f64>, ConfigError> {
        let Some(value) = self.find(key) else {
            return Ok(None);
        };
        let number = match value.get_ref() {
            DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
            other => integer(other).map(|whole| whole as f64),
        };
        // Negative zero would be shown in another way than it was read.
        let held = number.filter(|n| bounds.contains(n)).map(|n| n + 0.0);
        let wanted = format!(
            "{key} = a number from {} to {}",
            bounds.start(),
            bounds.end()
        );
        held.map(Some).ok_or_else(|| match number {
            None => self.mistyped(key, value, &wanted),
            Some(number) => {
                let what = format!("{key} in {} is {number}", self.name);
                let wrong = Wrong::new(what, format!("write {wanted}"));
                self.source.error(value.span().start, wrong)
            }
        })
    }

    /// A list of texts, and what is made of each.
    pub(crate) fn texts<T>(
        &self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, Wrong>,
    ) -> Result<Option<Vec<T>>, ConfigError> {
        let Some(value) = self.find(key) else {
            return Ok(None);
        };
        let wanted = format!("{key} = [\"...\", \"...\"]");
        let DeValue::Array(array) = value.get_ref() else {
            return Err(self.mistyped(key, value, &wanted));
        };
        let text = |member: &Spanned<DeValue<'_>>| match member.get_ref() {
            DeValue::String(text) => {
                parse(text).map_err(|wrong| self.source.error(member.span().start, wrong))
            }
            _ => Err(self.mistyped(key, member, &wanted)),
        };
        array.iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// What stands under a key where its kind decides.
    pub(crate) fn any(&self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.find(key)
    }

    /// A table under this key, as `name` calls it.
    pub(crate) fn table(
        &self,
        key: &'static str,
        name: &'static str,
    ) -> Result<Option<Section<'t>>, ConfigError> {
        let Some(value) = self.find(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(Section::new(self.source, name, table, value.span()))),
            _ => Err(self.mistyped(key, value, name)),
        }
    }

    /// All tables of an array, as in `[[set]]`.
    pub(crate) fn tables(
        &self,
        key: &'static str,
        name: &'static str,
    ) -> Result<Vec<Section<'t>>, ConfigError> {
        let Some(value) = self.find(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Array(array) = value.get_ref() else {
            return Err(self.mistyped(key, value, name));
        };
        let section = |member: &'t Spanned<DeValue<'t>>| match member.get_ref() {
            DeValue::Table(table) => Ok(Section::new(self.source, name, table, member.span())),
            _ => Err(self.mistyped(key, member, name)),
        };
        array.iter().map(section).collect()
    }

    /// All keys have been asked for; those that were not are refused.
    pub(crate) fn finish(self) -> Result<(), ConfigError> {
        self.all_asked()
    }

    /// As [`Section::finish`], where faults of its keys are still to be located.
    pub(crate) fn all_asked(&self) -> Result<(), ConfigError> {
        self.only(&self.asked.borrow())
    }

    /// Keys that are none of these are refused.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), ConfigError> {
        let mut faults = Faults::default();
        for key in self.table.keys() {
            let word = key.get_ref().as_ref();
            if known.contains(&word) {
                continue;
            }
            let what = format!("{} knows no key '{word}'", self.name);
            let remedy = match port::nearest_word(word, known) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("it knows {}", known.join(", ")),
            };
            let wrong = Wrong::new(what, remedy);
            faults.take::<()>(Err(self.source.error(key.span().start, wrong)));
        }
        faults.result()
    }
}

/// What is quoted of a file may be as long as the file.
fn cut(mut what: String) -> String {
    if let Some((end, _)) = what.char_indices().nth(WHAT_CHARS_MAX) {
        what.truncate(end);
        what.push_str("...");
    }
    what
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    match value {
        DeValue::Integer(whole) => i64::from_str_radix(whole.as_str(), whole.radix()).ok(),
        _ => None,
    }
}

/// A sentence `what: remedy`, parted.
pub(crate) fn split_sentence(sentence: &str) -> Wrong {
    match sentence.rsplit_once(": ") {
        Some((what, remedy)) => Wrong::new(what, remedy),
        None => Wrong::new(sentence, "correct it"),
    }
}
