//! Paths with parts that change from request to request.

use std::io::Write;

use traffic::Random;

use crate::LoadError;

/// One part.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A number that no other request of the pool has.
    Number,
    /// A random number, both ends included.
    Random(u64, u64),
}

/// A text with `{n}`, which counts requests, and `{random:1-1000}`; `{{` is a brace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

impl Template {
    /// A text as it is.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self(vec![Piece::Text(text.to_owned())])
    }

    /// Reads one.
    ///
    /// # Errors
    /// A sentence for a brace that begins nothing known.
    pub fn parse(text: &str) -> Result<Self, LoadError> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            plain += before;
            if let Some(behind) = behind.strip_prefix('{') {
                plain.push('{');
                rest = behind;
                continue;
            }
            let end = behind.split_once('}');
            let (piece, behind) = end
                .and_then(|(word, behind)| Some((piece(word)?, behind)))
                .ok_or_else(|| {
                    LoadError::new(format!("{text}: write {{n}}, {{random:1-1000}} or {{{{"))
                })?;
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(piece);
            rest = behind;
        }
        plain += rest;
        pieces.push(Piece::Text(plain));
        Ok(Self(pieces))
    }

    /// Appends the text for one request.
    pub(super) fn write(&self, number: u64, random: &mut Random, out: &mut Vec<u8>) {
        for piece in &self.0 {
            // Writing to a vector never fails.
            let _ = match piece {
                Piece::Text(text) => out.write_all(text.as_bytes()),
                Piece::Number => write!(out, "{number}"),
                Piece::Random(low, high) => write!(out, "{}", low + random.below(high - low + 1)),
            };
        }
    }
}

fn piece(word: &str) -> Option<Piece> {
    if word == "n" {
        return Some(Piece::Number);
    }
    let (low, high) = word.strip_prefix("random:")?.split_once('-')?;
    let (low, high): (u64, u64) = (low.parse().ok()?, high.parse().ok()?);
    let narrow = low <= high && high - low < 1 << 32;
    narrow.then_some(Piece::Random(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates() {
        let mut random = Random::new(1, 1);
        for (text, written) in [
            ("/a", "/a"),
            ("/a/{n}?x={n}", "/a/17?x=17"),
            ("/{{n}/{random:5-5}", "/{n}/5"),
            ("{n}", "17"),
        ] {
            let mut out = Vec::new();
            Template::parse(text)
                .expect(text)
                .write(17, &mut random, &mut out);
            assert_eq!(String::from_utf8(out).expect(text), written);
        }
        for text in [
            "{",
            "{x}",
            "{n",
            "{random:}",
            "{random:5}",
            "{random:6-5}",
            "{random:0-4294967296}",
        ] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
    }
}
