//! One object of nft's JSON: a set or elements, and what is done with it.

use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::nft_statement::{is_other_object, kind_of_type};
use crate::nft_value::Value;
use crate::sets::{Kind, Removed, Sets};
use crate::trial::Trial;

/// What is done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// It stands alone, as it is listed.
    List,
    Add,
    Delete,
    Destroy,
    Flush,
}

impl Verb {
    /// Of the key around an object.
    pub(crate) fn of(key: &str) -> Option<Self> {
        Some(match key {
            "add" | "create" | "insert" | "replace" => Self::Add,
            "delete" => Self::Delete,
            "destroy" => Self::Destroy,
            "flush" => Self::Flush,
            _ => return None,
        })
    }

    /// True when an object of this kind means something for sets.
    pub(crate) fn reads(self, key: &str) -> bool {
        match self {
            Self::List | Self::Add => matches!(key, "set" | "element" | "map"),
            Self::Delete | Self::Destroy => matches!(key, "set" | "element" | "table"),
            Self::Flush => matches!(key, "set" | "ruleset"),
        }
    }

    /// True when it means nothing for sets.
    pub(crate) fn passes(self, key: &str) -> bool {
        let is_other = matches!(key, "table" | "rule" | "map")
            || is_other_object(key.as_bytes())
            || matches!(key, "ct helper" | "ct timeout" | "ct expectation");
        match self {
            Self::List => is_other || key == "metainfo",
            Self::Add | Self::Delete | Self::Destroy => is_other,
            Self::Flush => matches!(key, "table" | "chain" | "map"),
        }
    }
}

/// What is known so far.
pub(crate) struct Object<S> {
    key: String,
    family: Option<String>,
    table: Option<String>,
    name: Option<String>,
    kind: Kind,
    /// Where it begins.
    line: u64,
    added: Trial<S>,
    /// What is to be removed, and the lines.
    removed: Vec<(String, u64)>,
}

impl<S: Sink> Object<S> {
    pub(crate) fn new(key: &str, line: u64, intake: &Intake<'_, S>) -> Self {
        Self {
            key: key.to_owned(),
            family: None,
            table: None,
            name: None,
            kind: Kind::UNKNOWN,
            line,
            added: Trial::new(intake),
            removed: Vec::new(),
        }
    }

    /// Takes what a key says; `None` where its value is no text.
    pub(crate) fn learn(&mut self, key: &str, text: Option<&str>, intake: &mut Intake<'_, S>) {
        let value = text.map(str::to_owned);
        match key {
            "family" => self.family = value,
            "table" => self.table = value,
            "name" => self.name = value,
            "timeout" => intake.warn_of_timeout(),
            // Of a type of several fields the elements say it themselves.
            _ => match text {
                Some(text) => self.kind = kind_of_type(&[text.as_bytes()]),
                None => self.kind = Kind::UNKNOWN,
            },
        }
    }

    /// Takes one element.
    pub(crate) fn take(&mut self, value: &Value, verb: Verb, intake: &mut Intake<'_, S>) {
        if self.key == "map" {
            return;
        }
        let text = value.to_string();
        if let Some(fault) = self.kind.fault {
            return intake.bad(fault, text.as_bytes());
        }
        if matches!(verb, Verb::Delete | Verb::Destroy) {
            return self.removed.push((text, intake.line));
        }
        self.added.exchange(intake);
        value.deliver(intake);
        self.added.exchange(intake);
    }

    /// The set it is about, as the text form names it.
    fn set_name(&self) -> Vec<u8> {
        let of = |part: &Option<String>, other: &str| part.clone().unwrap_or(other.to_owned());
        let (table, name) = (of(&self.table, ""), of(&self.name, ""));
        format!("{} {table} {name}", of(&self.family, "ip")).into_bytes()
    }

    /// The beginning of the names of all sets it is about.
    fn start(&self) -> Vec<u8> {
        match (&self.family, self.table.as_ref().or(self.name.as_ref())) {
            (None, None) => Vec::new(),
            (Some(family), None) => format!("{family} ").into_bytes(),
            (None, Some(table)) => format!("ip {table} ").into_bytes(),
            (Some(family), Some(table)) => format!("{family} {table} ").into_bytes(),
        }
    }

    /// Does what the document says.
    pub(crate) fn finish(self, verb: Verb, sets: &mut Sets<S>, intake: &mut Intake<'_, S>) {
        let name = self.set_name();
        self.added.report(intake);
        match (verb, self.key.as_str()) {
            (Verb::List | Verb::Add, "map") => {
                let name = self.name.unwrap_or_default();
                intake.bad(Fault::NftMap, name.as_bytes());
                self.added.discard(intake);
            }
            (Verb::List | Verb::Add, _) => {
                let line = std::mem::replace(&mut intake.line, self.line);
                if self.key == "set" {
                    sets.create(&name, self.kind, intake);
                }
                intake.line = line;
                match sets.kind(&name).fault {
                    Some(fault) if self.added.entry_count() > 0 => {
                        intake.bad(fault, &name);
                        self.added.discard(intake);
                    }
                    _ => sets.fill(&name, intake, |intake| {
                        intake.append(self.added.into_held());
                    }),
                }
            }
            (Verb::Delete | Verb::Destroy, "element") => {
                for (field, line) in self.removed {
                    let whole = std::mem::replace(&mut intake.line, line);
                    let element = Removed {
                        field: field.as_bytes(),
                        may_miss: verb == Verb::Destroy,
                    };
                    sets.remove(&name, element, intake);
                    intake.line = whole;
                }
            }
            (Verb::Delete | Verb::Destroy, "set") => sets.destroy(|of| of == name, intake),
            (Verb::Flush, "set") => sets.flush(|of| of == name, intake),
            _ => {
                let start = self.start();
                sets.destroy(|of| of.starts_with(&start), intake);
            }
        }
    }
}
