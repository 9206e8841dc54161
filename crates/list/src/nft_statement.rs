//! What the words of a statement of nft mean for sets.

use crate::fault::Fault;
use crate::sets::Kind;

/// A statement, as far as sets are concerned. Sets are named `FAMILY TABLE NAME`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// `table inet f`
    Table(Vec<u8>),
    /// `set inet f x`
    Set(Vec<u8>),
    /// `add element inet f x`; the variable behind it.
    Add(Vec<u8>, Option<Vec<u8>>),
    /// `delete element inet f x`
    Remove(Removing),
    /// `flush set`
    FlushSet(Vec<u8>),
    /// `delete set`
    DeleteSet(Vec<u8>),
    /// `delete table`, `flush ruleset`: all sets whose names begin so.
    DeleteAll(Vec<u8>),
    /// `define x = ...`; the words behind the sign, and whether it may be defined already.
    Define {
        name: Vec<u8>,
        value: Vec<Vec<u8>>,
        again: bool,
    },
    Undefine(Vec<u8>),
    /// A rule, which may hold braces and goes on behind them.
    Rule,
    /// Nothing that changes a set.
    Other,
    Wrong(Fault),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Removing {
    pub(crate) name: Vec<u8>,
    pub(crate) may_miss: bool,
    /// The variable that names the elements.
    pub(crate) variable: Option<Vec<u8>>,
}

impl Statement {
    /// Of the words of a statement outside of all braces.
    pub(crate) fn of(words: &[&[u8]]) -> Self {
        let Some((&verb, rest)) = words.split_first() else {
            return Self::Other;
        };
        let statement = match (verb, rest) {
            (b"add" | b"create", [object, rest @ ..]) => Self::add(object, rest),
            (b"delete" | b"destroy", [object, rest @ ..]) => {
                Self::delete(object, rest, verb == b"destroy")
            }
            (b"flush", [object, rest @ ..]) => Self::flush(object, rest),
            (b"define" | b"redefine", [name, b"=", value @ ..]) => Some(Self::Define {
                name: name.to_vec(),
                value: value.iter().map(|word| word.to_vec()).collect(),
                again: verb == b"redefine",
            }),
            (b"undefine", [name]) => Some(Self::Undefine(name.to_vec())),
            (b"include", _) => Some(Self::Wrong(Fault::NftInclude)),
            (b"insert" | b"replace", [b"rule", ..]) => Some(Self::Rule),
            (b"rename", [b"chain", ..]) => Some(Self::Other),
            // A set without its table, as it is cut out of a longer text.
            (b"set", [name]) if is_name(name) => Some(Self::Set(name.to_vec())),
            // The verb may be left out.
            (object, rest) => Self::add(object, rest),
        };
        statement.unwrap_or(Self::Wrong(Fault::NftStatement))
    }

    fn add(object: &[u8], rest: &[&[u8]]) -> Option<Self> {
        Some(match object {
            b"table" => Self::Table(table_name(rest)?),
            b"set" => Self::Set(set_name(rest)?),
            b"element" => {
                let (rest, variable) = split_variable(rest);
                Self::Add(set_name(rest)?, variable)
            }
            b"map" => Self::Wrong(Fault::NftMap),
            b"rule" if rest.len() > 2 => Self::Rule,
            _ if is_other_object(object) => Self::Other,
            _ => return None,
        })
    }

    fn delete(object: &[u8], rest: &[&[u8]], may_miss: bool) -> Option<Self> {
        Some(match object {
            b"table" => Self::DeleteAll([&table_name(rest)?, b" ".as_slice()].concat()),
            b"set" => Self::DeleteSet(set_name(rest)?),
            b"element" => {
                let (rest, variable) = split_variable(rest);
                Self::Remove(Removing {
                    name: set_name(rest)?,
                    may_miss,
                    variable,
                })
            }
            b"rule" | b"map" => Self::Other,
            _ if is_other_object(object) => Self::Other,
            _ => return None,
        })
    }

    fn flush(object: &[u8], rest: &[&[u8]]) -> Option<Self> {
        Some(match (object, rest) {
            (b"ruleset", []) => Self::DeleteAll(Vec::new()),
            (b"ruleset", [family]) if is_family(family) => {
                Self::DeleteAll([family, b" ".as_slice()].concat())
            }
            (b"set", rest) => Self::FlushSet(set_name(rest)?),
            // Of a table its rules are flushed, and its sets stay.
            (b"table" | b"chain" | b"map", _) => Self::Other,
            _ => return None,
        })
    }
}

/// What else a table may hold.
pub(crate) fn is_other_object(word: &[u8]) -> bool {
    matches!(
        word,
        b"chain"
            | b"flowtable"
            | b"counter"
            | b"quota"
            | b"limit"
            | b"ct"
            | b"secmark"
            | b"synproxy"
    )
}

fn is_family(word: &[u8]) -> bool {
    matches!(
        word,
        b"ip" | b"ip6" | b"inet" | b"arp" | b"bridge" | b"netdev"
    )
}

fn is_name(word: &[u8]) -> bool {
    !matches!(word, b"handle") && !word.contains(&b'$')
}

/// `FAMILY TABLE` of the words that name a table; the family is ip where none is named.
pub(crate) fn table_name(words: &[&[u8]]) -> Option<Vec<u8>> {
    match words {
        [table] if is_name(table) => Some([b"ip", *table].join(&b' ')),
        [family, table] if is_family(family) && is_name(table) => {
            Some([*family, *table].join(&b' '))
        }
        _ => None,
    }
}

/// `FAMILY TABLE NAME` of the words that name a set.
pub(crate) fn set_name(words: &[&[u8]]) -> Option<Vec<u8>> {
    let (&name, table) = words.split_last()?;
    is_name(name).then_some(())?;
    Some([&table_name(table)?, name].join(&b' '))
}

fn split_variable<'w, 'a>(words: &'w [&'a [u8]]) -> (&'w [&'a [u8]], Option<Vec<u8>>) {
    match words {
        [rest @ .., last] => match last.strip_prefix(b"$") {
            Some(variable) => (rest, Some(variable.to_vec())),
            None => (words, None),
        },
        [] => (words, None),
    }
}

/// What the statement in a set says of it; an error when it is none that a set may hold.
pub(crate) fn property(words: &[&[u8]]) -> Result<Property, Fault> {
    Ok(match words {
        [b"type", kinds @ ..] => Property::Kind(kind_of_type(kinds)),
        [b"typeof", what @ ..] => Property::Kind(kind_of_typeof(what)),
        [b"elements", b"=", value] => match value.strip_prefix(b"$") {
            Some(variable) => Property::Elements(variable.to_vec()),
            None => return Err(Fault::NftStatement),
        },
        [b"timeout", ..] => Property::Timeout,
        [
            b"flags" | b"gc-interval" | b"size" | b"policy" | b"auto-merge" | b"comment",
            ..,
        ]
        | [
            b"counter" | b"quota" | b"limit" | b"last" | b"ct" | b"handle",
            ..,
        ]
        | [] => Property::Other,
        _ => return Err(Fault::NftStatement),
    })
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Property {
    Kind(Kind),
    /// Its elements are a variable.
    Elements(Vec<u8>),
    Timeout,
    Other,
}

/// Of a type of several fields nothing is wrong: its elements say it themselves.
pub(crate) fn kind_of_type(kinds: &[&[u8]]) -> Kind {
    let (fault, is_v6) = match kinds {
        [b"ipv4_addr"] => (None, Some(false)),
        [b"ipv6_addr"] => (None, Some(true)),
        [_, b".", ..] => (None, None),
        _ => (Some(Fault::NftType), None),
    };
    Kind {
        fault,
        is_v6,
        ..Kind::UNKNOWN
    }
}

fn kind_of_typeof(what: &[&[u8]]) -> Kind {
    let is_v6 = match what {
        [b"ip", b"saddr" | b"daddr"] => Some(false),
        [b"ip6", b"saddr" | b"daddr"] => Some(true),
        _ => None,
    };
    Kind {
        is_v6,
        ..Kind::UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Statement {
        let words: Vec<&[u8]> = text.split(' ').map(str::as_bytes).collect();
        Statement::of(&words)
    }

    #[test]
    fn what_statements_mean() {
        let name = b"inet f x".to_vec();
        let wrong = || Statement::Wrong(Fault::NftStatement);
        let table = [
            ("table inet f", Statement::Table(b"inet f".to_vec())),
            ("add table f", Statement::Table(b"ip f".to_vec())),
            ("create set inet f x", Statement::Set(name.clone())),
            ("set inet f x", Statement::Set(name.clone())),
            ("add set f x", Statement::Set(b"ip f x".to_vec())),
            ("add set x", wrong()),
            ("add set $t x", wrong()),
            ("add element inet f x", Statement::Add(name.clone(), None)),
            (
                "add element inet f x $v",
                Statement::Add(name.clone(), Some(b"v".to_vec())),
            ),
            ("add map inet f x", Statement::Wrong(Fault::NftMap)),
            ("add rule inet f c drop", Statement::Rule),
            ("add chain inet f c", Statement::Other),
            ("delete set inet f x", Statement::DeleteSet(name.clone())),
            ("delete set inet f handle 5", wrong()),
            ("delete set inet handle", wrong()),
            (
                "destroy table inet f",
                Statement::DeleteAll(b"inet f ".to_vec()),
            ),
            ("delete rule inet f c handle 3", Statement::Other),
            ("flush ruleset", Statement::DeleteAll(Vec::new())),
            ("flush ruleset ip6", Statement::DeleteAll(b"ip6 ".to_vec())),
            ("flush ruleset x", wrong()),
            ("flush set inet f x", Statement::FlushSet(name)),
            ("flush table inet f", Statement::Other),
            ("include file", Statement::Wrong(Fault::NftInclude)),
            ("set x", Statement::Set(b"x".to_vec())),
            ("rule x", wrong()),
            ("list ruleset", wrong()),
            ("reset set inet f x", wrong()),
            ("undefine x", Statement::Undefine(b"x".to_vec())),
            ("ip saddr 192.0.2.1 drop", wrong()),
        ];
        for (text, expected) in table {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}
