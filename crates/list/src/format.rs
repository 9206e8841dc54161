//! Tells by the first line that is no comment how a list is written.

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
    /// What `ipset save` prints.
    Ipset,
    /// What `nft list set` prints.
    NftText,
    /// What `nft -j list set` prints.
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
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let mut word = || words.next().unwrap_or_default();
        match (word(), word(), word()) {
            (b"create", _, kind) if kind.contains(&b':') => Self::Ipset,
            (b"add" | b"create", b"element" | b"set" | b"table", _) => Self::NftText,
            (b"add", _, entry) if !entry.is_empty() => Self::Ipset,
            // A table of pf.conf, which plain lines name as what it is.
            (b"table", [b'<', ..], _) => Self::Plain,
            (b"table", _, _) | (b"set", _, [b'{', ..]) | (b"flush", b"ruleset", _) => Self::NftText,
            _ => Self::Plain,
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
        } else {
            Self::JsonLines
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain lines",
            Self::Csv => "CSV",
            Self::JsonLines => "JSON lines",
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
        check("add\n", Format::Plain);
        check("create.example.com\n", Format::Plain);
    }
}
