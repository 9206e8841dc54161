//! Tells by the first line that is no comment how a list is written.

use crate::json_lines;
use serde::de::IgnoredAny;
use std::fmt;

/// How a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// An entry a line.
    Plain,
    /// Columns with commas between.
    Csv,
    /// A JSON object a line.
    JsonLines,
    /// A JSON document with addresses in arrays.
    Json,
    /// What `ipset save` prints and `ipset restore` reads.
    Ipset,
    /// What `nft list set` prints and `nft -f` reads.
    NftText,
    /// What `nft -j list set` prints and `nft -j -f` reads.
    NftJson,
}

impl Format {
    /// The format of a text that begins with `head`. A text of comments alone is plain lines.
    pub(crate) fn of(head: &[u8]) -> Self {
        let lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let mut first = lines.skip_while(|line| matches!(line, [] | [b'#' | b';', ..]));
        let Some(line) = first.next() else {
            return Self::Plain;
        };
        if line.starts_with(b"{") {
            return Self::of_json(head);
        }
        if begins_json_array(head) {
            return Self::Json;
        }
        if head.starts_with(b"#!") {
            let program = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let names = |name: &[u8]| program.windows(name.len()).any(|part| part == name);
            if names(b"nft") {
                return Self::NftText;
            }
            if names(b"ipset") {
                return Self::Ipset;
            }
        }
        Self::of_command(line)
    }

    /// The format of a text whose first line may be a command of a tool.
    fn of_command(line: &[u8]) -> Self {
        let words = line
            .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'{' | b';'))
            .filter(|word| !word.is_empty());
        let (flags, words): (Vec<_>, Vec<_>) =
            words.partition(|word| matches!(*word, b"-exist" | b"-!" | b"--exist"));
        match words[..] {
            // A table of pf.conf, which plain lines name as what it is.
            [b"table", [b'<', ..], ..] => Self::Plain,
            // Of pf.conf.
            [b"set", _, _, ..] if !line.contains(&b'{') => Self::Plain,
            [
                b"table" | b"set" | b"define" | b"redefine" | b"include",
                _,
                ..,
            ]
            | [b"element" | b"chain" | b"rule" | b"map", _, _, ..]
            | [b"flush", b"ruleset", ..]
            | [
                b"add" | b"create" | b"delete" | b"destroy" | b"flush" | b"insert" | b"replace",
                b"element" | b"set" | b"table" | b"chain" | b"rule" | b"map",
                _,
                ..,
            ] => Self::NftText,
            // Of iptables-save: plain lines name it.
            [b"-A", _, [b'-', ..] | b"!", ..] => Self::Plain,
            [b"create" | b"new" | b"-N" | b"--create", _, _, ..]
            | [b"add" | b"-A" | b"--add", _, _, ..]
            | [b"del" | b"-D" | b"--del", _, _, ..]
            | [b"swap" | b"-W" | b"rename" | b"-E", _, _]
            | [b"flush" | b"-F" | b"destroy" | b"-X", _]
            | [b"flush" | b"-F" | b"destroy" | b"-X" | b"COMMIT"] => Self::Ipset,
            _ if flags.is_empty() => Self::Plain,
            _ => Self::Ipset,
        }
    }

    /// The format of a text whose first significant byte is a brace.
    fn of_json(head: &[u8]) -> Self {
        let brace = head
            .iter()
            .position(|&byte| byte == b'{')
            .map_or(0, |at| at + 1);
        let is_nft = head[brace..]
            .trim_ascii_start()
            .starts_with(b"\"nftables\"");
        if is_nft {
            Self::NftJson
        } else if is_lines(head[brace.saturating_sub(1)..].trim_ascii_start()) {
            Self::JsonLines
        } else {
            Self::Json
        }
    }
}

/// True when `text`, which begins with a brace, is an object a line: one line that is an entry, or
/// a second line that begins an object where the first did not leave one open.
fn is_lines(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.next().unwrap_or_default();
    let second = lines.find(|line| !matches!(line, [] | [b'#' | b';', ..]));
    match (second, first.last()) {
        _ if json_lines::is_record(first) => true,
        (None, _) => false,
        (Some(_), Some(b',' | b':' | b'[' | b'{')) => false,
        (Some(second), _) => {
            second.starts_with(b"{")
                || serde_json::from_slice::<IgnoredAny>(first).is_ok() && !is_json_value(second)
        }
    }
}

/// True for a line that begins a value, or ends one that began before.
fn is_json_value(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'[' | b']' | b'}' | b'"'))
}

/// True when the text is an array of what JSON has, and not an address in brackets.
fn begins_json_array(head: &[u8]) -> bool {
    let mut bytes = head
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .skip_while(|line| matches!(line, [] | [b'#' | b';', ..]))
        .flatten()
        .filter(|byte| !byte.is_ascii_whitespace());
    bytes.next() == Some(&b'[') && matches!(bytes.next(), Some(b'"' | b'{' | b'[' | b']' | b'n'))
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain lines",
            Self::Csv => "CSV",
            Self::JsonLines => "JSON lines",
            Self::Json => "JSON document",
            Self::Ipset => "ipset save",
            Self::NftText => "nft text",
            Self::NftJson => "nft JSON",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[track_caller]
    fn check(head: &str, format: Format) {
        assert_eq!(Format::of(head.as_bytes()), format, "{head}");
    }

    #[test]
    fn by_the_first_line_that_is_no_comment() {
        check("", Format::Plain);
        check("# create x hash:ip\n", Format::Plain);
        check("\n; x\n# y\r\n  192.0.2.1", Format::Plain);
        check(
            "# x\n\ncreate x hash:net family inet\nadd x 10.0.0.0/8\n",
            Format::Ipset,
        );
        check("add x 10.0.0.0/8\n", Format::Ipset);
        check("table inet filter {\n\tset x {\n", Format::NftText);
        check(
            "#!/usr/sbin/nft -f\nflush ruleset\ntable ip x {",
            Format::NftText,
        );
        check("add element inet filter x { 192.0.2.1 }", Format::NftText);
        check("{\"nftables\": [", Format::NftJson);
        check("{\r\n  \"nftables\" : [", Format::NftJson);
        check("{\"cidr\":\"192.0.2.0/24\"}\n", Format::JsonLines);
        check("[2001:db8::1]\n", Format::Plain);
        check("table <bl> persist { 192.0.2.1 }", Format::Plain);
        check("set skip on lo0\n", Format::Plain);
        check("set x {\n\ttype ipv4_addr\n", Format::NftText);
        check("-A INPUT -s 192.0.2.1/32 -j DROP\n", Format::Plain);
        check("*filter\n", Format::Plain);
        check("add\n", Format::Plain);
        check("create.example.com\n", Format::Plain);
    }
}
