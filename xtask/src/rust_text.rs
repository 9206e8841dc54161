//! Just enough of Rust's lexical structure to tell code from comments and strings.

use std::ops::RangeInclusive;

/// What a function looks like from outside: its name and the lines it spans.
#[derive(Debug, PartialEq, Eq)]
pub struct FunctionSpan {
    /// The name after `fn`.
    pub name: String,
    /// The line of `fn`, counted from 1.
    pub line: usize,
    /// Lines from `fn` to the closing brace, both included.
    pub line_count: usize,
}

/// `text` with comments, strings and character literals turned to spaces; line breaks stay.
#[must_use]
pub fn code_only(text: &str) -> String {
    blanked(text, |_| true)
}

/// `text` with comments turned to spaces; line breaks stay.
#[must_use]
pub fn without_comments(text: &str) -> String {
    blanked(text, |skipped| skipped.starts_with(b"/"))
}

/// `text` with those comments and literals turned to spaces that `blanks` picks.
fn blanked(text: &str, blanks: impl Fn(&[u8]) -> bool) -> String {
    let bytes = text.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = skip_end(bytes, at).max(at + 1);
        let (skipped, is_code) = (&bytes[at..end], skip_end(bytes, at) == at);
        if is_code || !blanks(skipped) {
            code.extend(skipped);
        } else {
            let blank = |&byte: &u8| if byte == b'\n' { byte } else { b' ' };
            code.extend(skipped.iter().map(blank));
        }
        at = end;
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// The lines, counted from 1, of items under `#[cfg(test)]`; `code` has comments and strings
/// blanked.
#[must_use]
pub fn test_lines(code: &str) -> Vec<RangeInclusive<usize>> {
    let bytes = code.as_bytes();
    let line_of = |at: usize| 1 + bytes[..at].iter().filter(|&&b| b == b'\n').count();
    let items = code.match_indices("#[cfg(test)]").map(|(at, attribute)| {
        let after = at + attribute.len();
        let end = item_end(bytes, after);
        line_of(at)..=line_of(end)
    });
    items.collect()
}

/// Where the item that begins at `from` ends: at the brace that closes it, or at its semicolon.
fn item_end(bytes: &[u8], from: usize) -> usize {
    if let Some(open) = body_open(bytes, from) {
        return body_close(bytes, open);
    }
    let semicolon = bytes[from..].iter().position(|&b| b == b';');
    semicolon.map_or(bytes.len(), |at| from + at)
}

/// The end of the comment or literal that starts at `at`; `at` itself when none does.
fn skip_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let after_name = at > 0 && is_name_byte(bytes[at - 1]);
    match rest {
        [b'/', b'/', ..] => at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => at + block_comment_length(rest),
        [b'"', ..] => at + string_length(rest),
        [b'\'', ..] => at + character_length(rest),
        [b'r' | b'b' | b'c', ..] if !after_name => at + prefixed_length(rest),
        _ => at,
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Block comments nest.
fn block_comment_length(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// A string from its opening quote on, escapes understood.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// A character literal; 0 for a lifetime.
fn character_length(rest: &[u8]) -> usize {
    match rest {
        [_, b'\\', _, tail @ ..] => {
            3 + tail
                .iter()
                .position(|&b| b == b'\'')
                .map_or(0, |close| close + 1)
        }
        // One character of up to four bytes, then the closing quote.
        _ => (2..=5)
            .find(|&close| rest.get(close) == Some(&b'\'') && one_character(&rest[1..close]))
            .map_or(0, |close| close + 1),
    }
}

fn one_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().count() == 1)
}

/// `b"..."`, `c"..."`, `b'.'`, `r"..."`, `r#"..."#`, `br"..."`: 0 for a plain name.
fn prefixed_length(rest: &[u8]) -> usize {
    let letters = rest
        .iter()
        .take(2)
        .take_while(|b| matches!(b, b'r' | b'b' | b'c'))
        .count();
    let raw = rest[..letters].contains(&b'r');
    let tail = &rest[letters..];
    match tail {
        [b'"', ..] if !raw => letters + string_length(tail),
        [b'\'', ..] if rest[0] == b'b' && letters == 1 => letters + character_length(tail),
        [b'"' | b'#', ..] if raw => raw_string_length(tail).map_or(0, |length| letters + length),
        _ => 0,
    }
}

/// A raw string from its first `#` or quote on; `None` for a raw name such as `r#type`.
fn raw_string_length(tail: &[u8]) -> Option<usize> {
    let hashes = tail.iter().take_while(|&&b| b == b'#').count();
    if tail.get(hashes) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &tail[..hashes]].concat();
    let body = &tail[hashes + 1..];
    let end = body.windows(close.len()).position(|window| window == close);
    Some(end.map_or(tail.len(), |end| hashes + 1 + end + close.len()))
}

/// Where the word stands in `code`, as (line, byte offset); a word has no letter, digit or `_`
/// beside it.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    let bytes = code.as_bytes();
    let (mut line, mut counted) = (1, 0);
    code.match_indices(word).filter_map(move |(at, _)| {
        line += bytes[counted..at].iter().filter(|&&b| b == b'\n').count();
        counted = at;
        let before = at.checked_sub(1).map(|index| bytes[index]);
        let after = bytes.get(at + word.len()).copied();
        let alone = ![before, after].into_iter().flatten().any(is_name_byte);
        alone.then_some((line, at))
    })
}

/// Every function with a body in `code` (comments and strings already blanked).
#[must_use]
pub fn functions(code: &str) -> Vec<FunctionSpan> {
    let bytes = code.as_bytes();
    let span = |(line, at): (usize, usize)| {
        let name: String = code[at + 2..]
            .trim_start()
            .chars()
            .take_while(|&c| c.is_alphanumeric() || c == '_')
            .collect();
        if name.is_empty() {
            return None; // a function pointer type, or a macro's `fn $name`
        }
        let open = body_open(bytes, at)?;
        let close = body_close(bytes, open);
        let line_count = 1 + bytes[at..close].iter().filter(|&&b| b == b'\n').count();
        Some(FunctionSpan {
            name,
            line,
            line_count,
        })
    };
    words(code, "fn").filter_map(span).collect()
}

/// The brace that opens the body; `None` for a declaration.
fn body_open(bytes: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (offset, byte) in bytes[from..].iter().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(from + offset),
            b';' if depth == 0 => return None,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    None
}

fn body_close(bytes: &[u8], open: usize) -> usize {
    let mut depth = 0_i32;
    for (offset, byte) in bytes[open..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + offset;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked() {
        for (text, kept) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("x \" y")"#, "f(        )"),
            (r##"r#"a " b"# z"##, "           z"),
            ("r#type x", "r#type x"),
            ("'a' 'b: '\\n' &'static str", "    'b:      &'static str"),
            ("b'{' b\"}\" bar", "          bar"),
            ("'\u{e9}'{", "    {"),
        ] {
            assert_eq!(code_only(text), kept, "{text}");
        }
    }

    #[test]
    fn words_stand_alone() {
        let found: Vec<_> = words("unsafe_code\nunsafe {}", "unsafe").collect();
        assert_eq!(found, [(2, 12)]);
    }

    #[test]
    fn functions_are_measured() {
        let code = "fn a() {\n  { }\n}\ntrait T { fn b(); }\ntype P = fn(u8);\n\
                    fn c<A, const N: usize>(x: [u8; { 3 }]) -> u8\nwhere\n{\n}\n";
        let found: Vec<_> = functions(code)
            .into_iter()
            .map(|f| (f.name, f.line, f.line_count))
            .collect();
        assert_eq!(found, [("a".to_owned(), 1, 3), ("c".to_owned(), 6, 4)]);
    }
}
