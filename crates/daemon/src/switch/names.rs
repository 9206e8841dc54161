//! What users call the ports of a switch.

use frame::PortId;
use plane::Ports;

/// A port as it was written: with a name, as in `A=xdp:eth1`, or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPort {
    /// The name, if it was given one.
    pub name: Option<String>,
    /// What to open.
    pub spec: String,
}

impl NamedPort {
    /// Reads `NAME=SPEC` or `SPEC`. A name has letters, digits, `-`, `_` and `.`; what stands
    /// before a `=` and has a colon is part of a spec.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let is_name = |name: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            !name.is_empty() && name.chars().all(allowed)
        };
        match text.split_once('=') {
            Some((name, spec)) if is_name(name) && spec.contains(':') => Self {
                name: Some(name.to_owned()),
                spec: spec.to_owned(),
            },
            _ => Self {
                name: None,
                spec: text.to_owned(),
            },
        }
    }

    /// What reports and messages call it.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.spec)
    }

    /// The words that mean it: its name, or else its spec, its number from 1, the driver with the
    /// name behind it, and that name alone.
    fn words(&self, index: usize) -> Vec<String> {
        if let Some(name) = &self.name {
            return vec![name.clone()];
        }
        let short = self.spec.split(',').next().unwrap_or_default();
        let alone = short.split_once(':').map_or("", |(_, name)| name);
        let mut words = vec![
            self.spec.clone(),
            (index + 1).to_string(),
            short.to_owned(),
            alone.to_owned(),
        ];
        words.retain(|word| !word.is_empty());
        words
    }
}

/// The ports of a switch by all that they are called.
#[derive(Clone, Debug)]
pub struct PortNames {
    ports: Vec<NamedPort>,
    words: Vec<Vec<String>>,
}

/// A member of a VLAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) port: PortId,
    pub(super) tagged: bool,
}

impl PortNames {
    /// Of ports in the order of their numbers. Ports without a name may have the same spec: their
    /// numbers tell them apart.
    ///
    /// # Errors
    ///
    /// Two ports were given the same name.
    pub fn new(ports: Vec<NamedPort>) -> Result<Self, String> {
        let mut names: Vec<&str> = ports
            .iter()
            .filter_map(|port| port.name.as_deref())
            .collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!(
                "two ports are called '{}': give each a name of its own",
                twice[0]
            ));
        }
        let words = ports.iter().enumerate();
        let words = words.map(|(index, port)| port.words(index)).collect();
        Ok(Self { ports, words })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ports.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// What a port is called.
    #[must_use]
    pub fn shown(&self, port: PortId) -> String {
        let named = self.ports.get(usize::from(port.0));
        named.map_or_else(|| format!("port {port}"), |port| port.shown().to_owned())
    }

    /// What is opened for a port, as it was written.
    #[must_use]
    pub fn spec(&self, port: PortId) -> &str {
        let named = self.ports.get(usize::from(port.0));
        named.map_or("", |port| port.spec.as_str())
    }

    /// The ports that a word means.
    fn meant(&self, word: &str) -> impl Iterator<Item = PortId> {
        let means = move |words: &&Vec<String>| words.iter().any(|own| own == word);
        let numbered = (0..=u8::MAX).map(PortId).zip(&self.words);
        numbered
            .filter(move |(_, words)| means(words))
            .map(|(port, _)| port)
    }

    /// The one port that a word means.
    pub fn port(&self, word: &str) -> Result<PortId, String> {
        let mut meant = self.meant(word);
        match (meant.next(), meant.next()) {
            (Some(port), None) => Ok(port),
            (Some(first), Some(second)) => Err(format!(
                "'{word}' may be {} or {}: write which",
                self.shown(first),
                self.shown(second)
            )),
            (None, _) => Err(format!(
                "no port is called '{word}': the ports are {}",
                self.all()
            )),
        }
    }

    fn all(&self) -> String {
        let names: Vec<&str> = self.ports.iter().map(NamedPort::shown).collect();
        names.join(", ")
    }

    /// The readings of a word as a member: a port's name, or one with a `t` behind it, tagged.
    fn readings(&self, word: &str) -> Vec<Member> {
        let untagged = self.meant(word).map(|port| Member {
            port,
            tagged: false,
        });
        let stem = word.strip_suffix('t');
        let tagged = stem.into_iter().flat_map(|stem| self.meant(stem));
        let tagged = tagged.map(|port| Member { port, tagged: true });
        untagged.chain(tagged).collect()
    }

    /// Members between commas, which a spec may have inside: the one way to read all of them.
    pub(super) fn members(&self, text: &str) -> Result<Vec<Member>, String> {
        let pieces: Vec<&str> = text.split(',').collect();
        // From the end: the ways to read what stands from each piece on, two at most.
        let mut ways: Vec<Vec<Vec<Member>>> = vec![Vec::new(); pieces.len() + 1];
        ways[pieces.len()].push(Vec::new());
        for from in (0..pieces.len()).rev() {
            let mut found: Vec<Vec<Member>> = Vec::new();
            for to in from + 1..=pieces.len() {
                for member in self.readings(&pieces[from..to].join(",")) {
                    let rest = ways[to].iter();
                    found.extend(rest.map(|rest| [&[member], &rest[..]].concat()));
                }
            }
            found.truncate(2);
            ways[from] = found;
        }
        match &ways[0][..] {
            [one] => Ok(one.clone()),
            [first, second, ..] => Err(format!(
                "'{text}' may be read as {} or as {}: give the ports names, as in a=xdp:eth1",
                self.written(first),
                self.written(second)
            )),
            [] => {
                let unknown = |piece: &&&str| self.readings(piece).is_empty();
                let piece = pieces.iter().find(unknown).unwrap_or(&text);
                Err(format!(
                    "no port is called '{piece}': the ports are {}",
                    self.all()
                ))
            }
        }
    }

    fn written(&self, members: &[Member]) -> String {
        let one = |member: &Member| match member.tagged {
            true => format!("{} tagged", self.shown(member.port)),
            false => self.shown(member.port),
        };
        members.iter().map(one).collect::<Vec<_>>().join(" and ")
    }

    /// Ports between commas, none with a tag.
    pub(super) fn ports(&self, text: &str) -> Result<Ports, String> {
        let members = self.members(text)?;
        match members.iter().find(|member| member.tagged) {
            Some(member) => Err(format!(
                "{} has a 't' behind it, which only members of VLANs have: leave it out",
                self.shown(member.port)
            )),
            None => Ok(members
                .iter()
                .fold(Ports::NONE, |ports, member| ports.with(member.port))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> PortNames {
        let ports = texts.iter().map(|text| NamedPort::parse(text)).collect();
        PortNames::new(ports).expect("ports of different names")
    }

    #[test]
    fn a_port_may_have_a_name() {
        for (text, name, spec) in [
            ("A=null:", Some("A"), "null:"),
            ("in-1=pcap:in=a.pcap", Some("in-1"), "pcap:in=a.pcap"),
            ("pcap:in=a.pcap,out=b:c", None, "pcap:in=a.pcap,out=b:c"),
            ("xdp:eth0", None, "xdp:eth0"),
            ("eth0", None, "eth0"),
            ("=null:", None, "=null:"),
            ("a b=null:", None, "a b=null:"),
            ("A=null", None, "A=null"),
        ] {
            let port = NamedPort::parse(text);
            assert_eq!((port.name.as_deref(), &*port.spec), (name, spec), "{text}");
        }
        let twice = ["A=null:", "A=xdp:e"].map(NamedPort::parse);
        assert!(PortNames::new(twice.to_vec()).is_err_and(|why| why.contains("two ports")));
        let alike = names(&["null:", "null:"]);
        assert_eq!(alike.port("2"), Ok(PortId(1)));
        assert!(alike.port("null:").is_err_and(|why| why.contains("may be")));
    }

    #[test]
    fn members_are_read_in_one_way_or_refused() {
        let ports = names(&[
            "A=null:",
            "out=null:",
            "pcap:in=a.pcap,out=b.pcap",
            "xdp:eth0",
        ]);
        let written = |text: &str| ports.members(text).map(|members| ports.written(&members));
        for (text, read) in [
            ("A,out", "A and out"),
            ("At,outt", "A tagged and out tagged"),
            ("eth0t,A", "xdp:eth0 tagged and A"),
            ("xdp:eth0,4", "xdp:eth0 and xdp:eth0"),
            ("3t", "pcap:in=a.pcap,out=b.pcap tagged"),
            (
                "A,pcap:in=a.pcap,out=b.pcapt,out",
                "A and pcap:in=a.pcap,out=b.pcap tagged and out",
            ),
        ] {
            assert_eq!(written(text).as_deref(), Ok(read), "{text}");
        }
        for (text, why) in [
            ("A,B", "no port is called 'B'"),
            ("A,", "no port is called ''"),
            ("", "no port is called ''"),
            ("Att", "no port is called 'Att'"),
            ("1", "no port is called '1'"),
        ] {
            assert!(
                written(text).is_err_and(|said| said.contains(why)),
                "{text}"
            );
        }
    }

    #[test]
    fn two_readings_are_refused() {
        let ports = names(&["A=null:", "At=null:", "xdp:e", "packet:e", "B=null:"]);
        for text in ["At", "B,At", "e"] {
            let said = ports.members(text).expect_err("two readings");
            assert!(said.contains("may be read as"), "{text}: {said}");
        }
        assert!(
            ports
                .port("e")
                .is_err_and(|why| why.contains("xdp:e or packet:e"))
        );
        assert!(
            ports
                .ports("Bt")
                .is_err_and(|why| why.contains("leave it out"))
        );
        assert_eq!(ports.ports("A,B").map(Ports::len), Ok(2));
    }
}
