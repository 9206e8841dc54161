//! What follows the driver: a name, and settings `key=value`, separated by commas.

use std::borrow::Cow;

use super::SpecError;
use super::interface_name::check_interface;
use super::nearest::nearest_word;

/// Settings that stand for `=on` when written alone, with their driver.
const FLAGS: [(&str, &str); 5] = [
    ("xdp", "keep-local"),
    ("xdp", "bypass"),
    ("xdp", "shortcut"),
    ("xdp", "rx-hash"),
    ("packet", "qdisc"),
];

const ON: &str = "on";

/// The parts of a spec behind its driver, taken out one by one.
pub(crate) struct Settings {
    driver: &'static str,
    /// The first part, where it is no setting.
    pub(crate) name: Option<String>,
    settings: Vec<(String, String)>,
}

impl Settings {
    /// Splits at commas. A comma that belongs to a value is written `\,`, a backslash `\\`.
    pub(super) fn split(driver: &'static str, text: &str) -> Result<Self, SpecError> {
        let mut settings = Self {
            driver,
            name: None,
            settings: Vec::new(),
        };
        if text.is_empty() {
            return Ok(settings);
        }
        for (index, part) in parts(text).into_iter().enumerate() {
            match part.split_once('=') {
                Some((key, value)) => settings.add(key, value)?,
                None if index == 0 => settings.name = Some(part),
                None if FLAGS.contains(&(driver, &part)) => settings.add(&part, ON)?,
                None if part.is_empty() => {
                    return Err(SpecError::new("there is a comma too many; remove it"));
                }
                None => {
                    let comma = match driver {
                        "pcap" => "; a comma within a name is written `\\,`",
                        _ => "",
                    };
                    let sentence = format!("`{part}` has no value; write {part}=VALUE{comma}");
                    return Err(SpecError::new(sentence));
                }
            }
        }
        Ok(settings)
    }

    fn add(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        if self.settings.iter().any(|(given, _)| given == key) {
            return Err(SpecError::new(format!("{key}= is given twice; keep one")));
        }
        if value.is_empty() {
            return Err(SpecError::new(format!(
                "{key}= has no value; write one behind it"
            )));
        }
        self.settings.push((key.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Refuses settings the driver does not know, before any is taken.
    pub(crate) fn expect(&self, known: &[&str]) -> Result<(), SpecError> {
        let Some((key, _)) = self
            .settings
            .iter()
            .find(|(key, _)| !known.contains(&&key[..]))
        else {
            return Ok(());
        };
        let driver = self.driver;
        Err(SpecError::new(match (nearest_word(key, known), known) {
            (Some(near), _) => format!("{driver} has no setting `{key}`; did you mean {near}=?"),
            (None, []) => format!("{driver} has no setting `{key}`; it takes none"),
            (None, known) => {
                format!(
                    "{driver} has no setting `{key}`; it takes {}",
                    known.join(", ")
                )
            }
        }))
    }

    /// Refuses a name for drivers that have none.
    pub(crate) fn expect_no_name(&self, remedy: &str) -> Result<(), SpecError> {
        match &self.name {
            Some(name) => Err(SpecError::new(format!("`{name}` is no setting; {remedy}"))),
            None => Ok(()),
        }
    }

    /// The name, where it is that of an interface; `example` shows how one is written.
    pub(crate) fn take_interface(&mut self, example: &str) -> Result<String, SpecError> {
        let name = self.name.take().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| {
            SpecError::new(format!(
                "it names no interface; write {example}, for instance"
            ))
        })?;
        check_interface(&name)?;
        Ok(name)
    }

    /// The value of a setting, if it was given.
    pub(crate) fn take(&mut self, key: &str) -> Option<String> {
        let index = self.settings.iter().position(|(given, _)| given == key)?;
        Some(self.settings.swap_remove(index).1)
    }

    /// `on` or `off`, if it was given.
    pub(crate) fn take_switch(&mut self, key: &str) -> Result<Option<bool>, SpecError> {
        match self.take(key).as_deref() {
            None => Ok(None),
            Some(ON) => Ok(Some(true)),
            Some("off") => Ok(Some(false)),
            Some(value) => Err(SpecError::value(key, value, "on or off")),
        }
    }

    /// A whole number within bounds, if it was given.
    pub(crate) fn take_number(
        &mut self,
        key: &str,
        bounds: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, SpecError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        match value.replace('_', "").parse() {
            Ok(number) if bounds.contains(&number) => Ok(Some(number)),
            _ => {
                let (first, last) = (bounds.start(), bounds.end());
                let wanted = format!("a whole number from {first} to {last}");
                Err(SpecError::value(key, &value, &wanted))
            }
        }
    }
}

fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letter == '\\' && matches!(letters.peek(), Some(',' | '\\'));
        let letter = if escaped {
            letters.next().unwrap_or(letter)
        } else {
            letter
        };
        match parts.last_mut() {
            Some(part) if escaped || letter != ',' => part.push(letter),
            _ => parts.push(String::new()),
        }
    }
    parts
}

/// A value as it must be written in a spec to be read as itself.
pub(crate) fn escape(value: &str) -> Cow<'_, str> {
    if value.contains([',', '\\']) {
        value.replace('\\', "\\\\").replace(',', "\\,").into()
    } else {
        value.into()
    }
}
