//! Text cut into words and signs, each with its place.

use super::RuleFault;
use crate::excerpt;

/// A word or a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word(String),
    Quoted(String),
    /// One of `{`, `}`, `,`.
    Sign(char),
    /// The end of a line, or `;`.
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Token {
    /// The token as messages name it.
    pub(super) fn shown(&self) -> String {
        match &self.kind {
            Kind::Word(word) | Kind::Quoted(word) => excerpt::of(word.as_bytes()),
            Kind::Sign(sign) => sign.to_string(),
            Kind::End => "the end of the line".to_owned(),
        }
    }

    pub(super) fn fault(&self, sentence: impl Into<String>) -> RuleFault {
        RuleFault {
            line: self.line,
            column: self.column,
            sentence: sentence.into(),
        }
    }
}

/// The tokens of a text; the last is an end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, RuleFault> {
    let mut tokens = Vec::new();
    for (line, text) in (1..).zip(text.split('\n')) {
        let mut rest = text.trim_end_matches('\r');
        let continued = rest.ends_with('\\') && !rest.contains('#');
        if continued {
            rest = &rest[..rest.len() - 1];
        }
        let mut column = 1;
        while let Some(first) = rest.chars().next() {
            if first == '#' {
                break;
            }
            let (kind, bytes) = cut(rest, first).map_err(|sentence| RuleFault {
                line,
                column,
                sentence,
            })?;
            tokens.extend(kind.map(|kind| Token { kind, line, column }));
            column += rest[..bytes].chars().count() as u32;
            rest = &rest[bytes..];
        }
        if !continued {
            let kind = Kind::End;
            tokens.push(Token { kind, line, column });
        }
    }
    Ok(tokens)
}

/// The first token of a text, none for a blank, and its bytes.
fn cut(text: &str, first: char) -> Result<(Option<Kind>, usize), String> {
    match first {
        ';' => Ok((Some(Kind::End), 1)),
        '{' | '}' | ',' => Ok((Some(Kind::Sign(first)), 1)),
        '"' => {
            let end = text[1..].find('"');
            let end = end.ok_or("this quote does not end on its line: close it with \"")?;
            Ok((Some(Kind::Quoted(text[1..=end].to_owned())), end + 2))
        }
        blank if blank.is_whitespace() => Ok((None, blank.len_utf8())),
        _ => {
            let ends =
                |c: char| c.is_whitespace() || matches!(c, '{' | '}' | ',' | ';' | '"' | '#');
            let bytes = text.find(ends).unwrap_or(text.len());
            Ok((Some(Kind::Word(text[..bytes].to_owned())), bytes))
        }
    }
}
