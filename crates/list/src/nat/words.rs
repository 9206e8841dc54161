//! A statement, cut into words.

/// A word, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    /// Without the quotes of a name.
    pub(super) text: &'a str,
    pub(super) is_quoted: bool,
    /// Its line and its column, both from 1.
    pub(super) place: (u64, u64),
}

/// The words of a line, up to a comment; `{`, `}`, `,` and `;` are words of their own.
pub(super) fn words_of(line: &str, number: u64) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = line;
    let mut column = 1;
    loop {
        let begin = rest.len() - rest.trim_start().len();
        column += rest[..begin].chars().count() as u64;
        rest = &rest[begin..];
        let (len, is_quoted) = match rest.chars().next() {
            None | Some('#') => return words,
            Some('{' | '}' | ',' | ';') => (1, false),
            Some('"') => (quoted_len(rest), true),
            Some(_) => (plain_len(rest), false),
        };
        let (word, behind) = rest.split_at(len);
        words.push(Word {
            text: match is_quoted {
                true => word.trim_matches('"'),
                false => word,
            },
            is_quoted,
            place: (number, column),
        });
        column += word.chars().count() as u64;
        rest = behind;
    }
}

fn plain_len(text: &str) -> usize {
    let ends = |c: char| c.is_whitespace() || "{},;#\"".contains(c);
    text.find(ends).unwrap_or(text.len())
}

/// Up to the second quote, or to the end.
fn quoted_len(text: &str) -> usize {
    let behind = text.get(1..).unwrap_or_default();
    behind.find('"').map_or(text.len(), |at| at + 2)
}
