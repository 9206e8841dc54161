//! Lines of what programs and publishers write that is no list: rules, tables, statistics.

use crate::iptables;
use crate::record::Field;
use crate::rest::first_word;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Of `iptables-save`.
    Iptables,
    /// A table of pf.conf.
    PfTable,
    /// A rule of ClassBench, `@SOURCE DESTINATION PORTS PORTS PROTOCOL`.
    ClassBench,
    /// A record of the statistics of a regional Internet registry.
    Registry,
    /// A rule of nft with addresses of its own.
    NftRule,
    /// Of what `ipset list` prints above the entries.
    IpsetList,
    /// A rule by which another program lets through or keeps out.
    Rule,
    /// An item of YAML.
    Yaml,
    /// Names of columns.
    Headings,
}

/// How the lines above the entries begin that `ipset list` prints.
const IPSET_HEADS: [&[u8]; 8] = [
    b"Name: ",
    b"Type: ",
    b"Revision: ",
    b"Header: ",
    b"Size in memory: ",
    b"References: ",
    b"Number of entries: ",
    b"Members:",
];

/// First words of rules of web servers, routers and firewalls.
const RULES: [&[u8]; 12] = [
    b"deny",
    b"Deny",
    b"Require",
    b"permit",
    b"access-list",
    b"iptables",
    b"ip6tables",
    b"ufw",
    b"ALL:",
    b"sshd:",
    b"/ip",
    b"/ipv6",
];

/// Names that columns of addresses have, with `_`, `-` and blanks left out.
const HEADINGS: [&[u8]; 14] = [
    b"ip",
    b"ips",
    b"ipv4",
    b"ipv6",
    b"address",
    b"addresses",
    b"ipaddress",
    b"network",
    b"cidr",
    b"prefix",
    b"subnet",
    b"srcip",
    b"dstip",
    b"startip",
];

/// The registries, as their statistics name them.
const REGISTRIES: [&[u8]; 7] = [
    b"afrinic", b"apnic", b"arin", b"iana", b"lacnic", b"nro", b"ripencc",
];

impl Foreign {
    /// What a line is, by its first field and the rest.
    pub(crate) fn of(field: &[u8], line: &[u8]) -> Option<Self> {
        if line.starts_with(b"table")
            && first_word(line[5..].trim_ascii_start()).0.starts_with(b"<")
        {
            return Some(Self::PfTable);
        }
        if iptables::is_line(field, line) {
            return Some(Self::Iptables);
        }
        let rest = line[field.len().min(line.len())..].trim_ascii();
        if IPSET_HEADS.iter().any(|head| line.starts_with(head)) {
            return Some(Self::IpsetList);
        }
        if field == b"-" {
            return Some(Self::Yaml);
        }
        if RULES.contains(&field) && !rest.is_empty() {
            return Some(Self::Rule);
        }
        if is_heading(field) {
            return Some(Self::Headings);
        }
        if is_classbench(line) {
            return Some(Self::ClassBench);
        }
        let fields: Vec<&[u8]> = line.splitn(4, |&byte| byte == b'|').collect();
        is_registry(&fields).then_some(Self::Registry)
    }

    /// Of a line in columns: a record whose number counts addresses.
    pub(crate) fn of_columns(fields: &[Field<'_>]) -> Option<Self> {
        let start: Vec<&[u8]> = fields.iter().take(4).map(AsRef::as_ref).collect();
        let counts = matches!(start[..], [_, _, b"ipv4", _]);
        (counts && is_registry(&start)).then_some(Self::Registry)
    }

    /// What is wrong with the line, without its subject.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::Iptables => {
                "is of iptables-save, which holds rules and no list; take the addresses out (grep \
                 -oP -- '-s \\K\\S+'), or load what 'ipset save' or 'nft list set' prints"
            }
            Self::PfTable => {
                "is a table of pf.conf, which is not read; 'pfctl -t NAME -T show' prints one \
                 that is"
            }
            Self::ClassBench => {
                "is a rule of ClassBench, whose addresses mean something together with its ports \
                 and protocol alone; a list holds addresses"
            }
            Self::Registry => {
                "is of the statistics of an address registry, which give IPv4 as a first address \
                 and a count; write networks or ranges"
            }
            Self::NftRule => {
                "is an address in a rule of nft, and a list is made of sets alone; put it into a \
                 set"
            }
            Self::IpsetList => "is of 'ipset list'; load what 'ipset save' prints",
            Self::Rule => {
                "is a rule of another program; a list holds addresses alone, so take them out of \
                 the rules"
            }
            Self::Yaml => {
                "is of YAML, which is not read; take the addresses out (sed -n 's/^ *- *//p')"
            }
            Self::Headings => "names columns; remove it, or begin it with #",
        }
    }

    /// What a list is of which all lines are such, and what to do.
    pub(crate) fn whole(self) -> &'static str {
        match self {
            Self::Iptables => {
                "it is of iptables-save, rules and no list: take the addresses out (grep -oP -- \
                 '-s \\K\\S+')"
            }
            Self::PfTable => "load what 'pfctl -t NAME -T show' prints",
            Self::ClassBench => {
                "it is a filter set of ClassBench, rules and no list: take the sources out \
                 (sed -nE 's/^@([^[:space:]]+).*/\\1/p'), or the destinations"
            }
            Self::Registry => {
                "it is the statistics of an address registry: make ranges of it (awk -F'|' \
                 '$4~/^[0-9.]+$/&&$3==\"ipv4\"{split($4,a,\".\");\
                 n=((a[1]*256+a[2])*256+a[3])*256+a[4]+$5-1;\
                 printf \"%s-%d.%d.%d.%d\\n\",$4,n/16777216,n/65536%256,n/256%256,n%256}\
                 $4~/:/{print $4\"/\"$5}')"
            }
            Self::NftRule => {
                "it has addresses in rules and none in a set: put them into a set (nft add set \
                 ...) and load what 'nft list set' prints"
            }
            Self::IpsetList => "load what 'ipset save' prints",
            Self::Rule => {
                "it holds rules of another program and no list: take the addresses out of them"
            }
            Self::Yaml => {
                "it is YAML, which is not read: take the addresses out (sed -n 's/^ *- *//p')"
            }
            Self::Headings => "it has names of columns and nothing below: give a whole list",
        }
    }
}

/// `@10.0.0.0/8`, and another network behind it.
fn is_classbench(line: &[u8]) -> bool {
    let Some(rule) = line.strip_prefix(b"@") else {
        return false;
    };
    let (source, rest) = first_word(rule);
    let is_network = |word: &[u8]| {
        let digit = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':' | b'/');
        word.contains(&b'/') && word.iter().all(digit)
    };
    is_network(source) && is_network(first_word(rest).0)
}

/// The name of a column of addresses.
fn is_heading(field: &[u8]) -> bool {
    let letters = field.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let name: Vec<u8> = letters.take(12).map(u8::to_ascii_lowercase).collect();
    let other = |byte: &u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-' | b'"');
    HEADINGS.contains(&&name[..]) && !field.iter().any(other)
}

/// A record, a summary or the head of such statistics.
fn is_registry(fields: &[&[u8]]) -> bool {
    let is_name = |field: &[u8]| REGISTRIES.contains(&field.trim_ascii());
    match fields {
        [registry, _, kind, _] if is_name(registry) => {
            matches!(kind.trim_ascii(), b"ipv4" | b"ipv6" | b"asn")
        }
        // The head: version and registry.
        [version, registry, _, _] => {
            is_name(registry)
                && version
                    .iter()
                    .all(|byte| byte.is_ascii_digit() || *byte == b'.')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lines_are() {
        for (line, expected) in [
            (
                "@10.0.0.0/8 10.1.0.0/16 0 : 65535 80 : 80 0x06/0xFF",
                Some(Foreign::ClassBench),
            ),
            (
                "@10.0.0.0/8\t10.1.0.0/16\t0 : 65535",
                Some(Foreign::ClassBench),
            ),
            (
                "@2001:db8::/32 2001:db8::1/128 0 : 1",
                Some(Foreign::ClassBench),
            ),
            ("@10.0.0.0/8", None),
            ("@admin 10.0.0.0/8", None),
            (
                "ripencc|NL|ipv4|193.0.0.0|2048|19930901|allocated",
                Some(Foreign::Registry),
            ),
            (
                "ripencc|NL|ipv6|2001:600::|32|19990826|allocated",
                Some(Foreign::Registry),
            ),
            (
                "arin|US|asn|1|1|20010920|assigned|x",
                Some(Foreign::Registry),
            ),
            ("ripencc|*|ipv4|*|2|summary", Some(Foreign::Registry)),
            (
                "2|ripencc|20230101|4|19830705|20230101|+0100",
                Some(Foreign::Registry),
            ),
            (
                "2.3|apnic|20230101|4|19830705|20230101|+1000",
                Some(Foreign::Registry),
            ),
            ("apnic|198.51.100.1|x|y", None),
            ("someone|NL|ipv4|193.0.0.0|2048", None),
            ("table <bl> persist { 192.0.2.1 }", Some(Foreign::PfTable)),
            ("-A INPUT -s 192.0.2.1/32 -j DROP", Some(Foreign::Iptables)),
            ("192.0.2.1", None),
            ("Name: bad", Some(Foreign::IpsetList)),
            ("Size in memory: 200", Some(Foreign::IpsetList)),
            ("Members:", Some(Foreign::IpsetList)),
            ("Named: bad", None),
            ("- 192.0.2.1", Some(Foreign::Yaml)),
            ("-192.0.2.1", None),
            ("deny 192.0.2.1;", Some(Foreign::Rule)),
            ("Deny from 192.0.2.1", Some(Foreign::Rule)),
            (
                "access-list 10 deny 192.0.2.0 0.0.0.255",
                Some(Foreign::Rule),
            ),
            ("ALL: 192.0.2.1", Some(Foreign::Rule)),
            ("deny", None),
            ("ip\tscore", Some(Foreign::Headings)),
            ("IP_Address", Some(Foreign::Headings)),
            ("\"Network\"", Some(Foreign::Headings)),
            ("ip.example", None),
            ("ip,score", None),
        ] {
            let field = first_word(line.as_bytes()).0;
            assert_eq!(Foreign::of(field, line.as_bytes()), expected, "{line}");
        }
    }
}
