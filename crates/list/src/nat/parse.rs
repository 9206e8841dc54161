//! Statements, read of words.

use std::io::Read;
use std::net::Ipv4Addr;

use super::fault::{NatFault, NatTextError};
use super::words::{Word, words_of};
use super::{
    AddressRange, NatAction, NatProtocolWord, NatRule, NatSetting, NatSide, NatText, NatTimeout,
    PortRange,
};

/// Bytes of a file, rules, and elements between braces at most.
const BYTES_MAX: u64 = 1 << 20;
const RULES_MAX: usize = 4096;
const ELEMENTS_MAX: usize = 256;
/// Faults that are named at most.
const FAULTS_MAX: usize = 20;
/// The longest timeout: a year.
const SECONDS_MAX: u32 = 365 * 86_400;
const NAME_MAX: usize = 64;

type Parsed<T> = Result<T, NatFault>;

/// Reads a file. `name` stands in messages.
///
/// # Errors
/// It cannot be read, or statements are wrong: then none counts.
pub fn read(name: &str, input: impl Read) -> Result<NatText, NatTextError> {
    let mut bytes = Vec::new();
    let read = input.take(BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| NatTextError::Read(name.to_owned(), error))?;
    let wrong = |what| Err(NatTextError::Text(name.to_owned(), what));
    if bytes.len() as u64 > BYTES_MAX {
        return wrong("is longer than 1 MiB: it is no file of NAT rules");
    }
    match str::from_utf8(&bytes) {
        Ok(text) => read_text(name, text),
        Err(_) => wrong("is no text: give a file of NAT rules"),
    }
}

/// Reads a text. `name` stands in messages.
///
/// # Errors
/// Statements are wrong: then none counts.
pub fn read_text(name: &str, text: &str) -> Result<NatText, NatTextError> {
    let mut read = NatText::default();
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words = words_of(line, number);
        for words in words.split(|word| word.text == ";" && !word.is_quoted) {
            let end = (number, line.chars().count() as u64 + 1);
            let mut statement = Statement { words, end };
            if let Err(fault) = statement.read_into(&mut read) {
                faults.push(fault);
            }
        }
        if faults.len() >= FAULTS_MAX {
            break;
        }
    }
    match faults.is_empty() {
        true => Ok(read),
        false => Err(NatTextError::Words {
            file: name.to_owned(),
            faults,
        }),
    }
}

/// The words of a statement that are not read yet.
struct Statement<'a> {
    words: &'a [Word<'a>],
    /// Where the line ends.
    end: (u64, u64),
}

impl<'a> Statement<'a> {
    fn read_into(&mut self, text: &mut NatText) -> Parsed<()> {
        let Some(first) = self.words.first().copied() else {
            return Ok(());
        };
        match first.text {
            "oif" | "oifname" => self.add_rule(text, NatSide::Out),
            "iif" | "iifname" => self.add_rule(text, NatSide::In),
            "timeout" | "flows" | "flows-per-address" | "hairpin" => self.add_setting(text),
            "table" | "chain" | "type" | "}" => Err(self.fault(
                "is of a whole nft ruleset: write the rules alone, one a line, without table and \
                 chain",
            )),
            _ => Err(self.fault(
                "begins no statement: write 'oif NAME ... masquerade', 'oif NAME ... snat to \
                 ADDRESS', 'iif NAME ... dnat to ADDRESS:PORT' or a setting ('timeout', 'flows', \
                 'flows-per-address', 'hairpin')",
            )),
        }
    }

    fn add_setting(&mut self, text: &mut NatText) -> Parsed<()> {
        let first = self.words;
        let setting = self.setting()?;
        self.ends()?;
        if text.settings.iter().any(|known| known.is_of(&setting)) {
            self.words = first;
            return Err(self.fault("is set a second time: leave one"));
        }
        text.settings.push(setting);
        Ok(())
    }

    fn setting(&mut self) -> Parsed<NatSetting> {
        match self.next().text {
            "flows" => Ok(NatSetting::Flows(self.number(u32::MAX)?)),
            "flows-per-address" => Ok(NatSetting::FlowsPerAddress(self.number(u32::MAX)?)),
            "hairpin" => match self.word().text {
                "on" => self.pass(NatSetting::Hairpin(true)),
                "off" => self.pass(NatSetting::Hairpin(false)),
                _ => Err(self.fault("should say whether hairpins are made: write 'on' or 'off'")),
            },
            _ => {
                let word = self.word().text;
                let mut words = NatTimeout::WORDS.iter();
                let Some((_, state)) = words.find(|(name, _)| *name == word) else {
                    return Err(self.fault(
                        "should name a state: tcp-new, tcp, tcp-closing, udp-new, udp or icmp",
                    ));
                };
                self.next();
                Ok(NatSetting::Timeout(*state, self.seconds()?))
            }
        }
    }

    fn add_rule(&mut self, text: &mut NatText, side: NatSide) -> Parsed<()> {
        if text.rules.len() >= RULES_MAX {
            return Err(self.fault("begins more rules than the 4,096 that there may be"));
        }
        let (line, _) = self.next().place;
        let (_, column) = self.word().place;
        let interface = self.name()?;
        let mut rule = NatRule {
            line,
            column,
            side,
            interface,
            sources: Vec::new(),
            destinations: Vec::new(),
            protocol: None,
            source_ports: Vec::new(),
            destination_ports: Vec::new(),
            action: NatAction::Accept,
        };
        while self.add_match(&mut rule)? {}
        rule.action = self.action(&rule)?;
        self.ends()?;
        text.rules.push(rule);
        Ok(())
    }

    /// Reads one match; false where none stands.
    fn add_match(&mut self, rule: &mut NatRule) -> Parsed<bool> {
        match self.word().text {
            "ip" => self.add_ip(rule)?,
            "meta" => {
                self.next();
                self.expect("l4proto")?;
                self.add_protocol(rule)?;
            }
            "tcp" | "udp" => {
                self.add_protocol(rule)?;
                self.add_ports(rule)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn add_ip(&mut self, rule: &mut NatRule) -> Parsed<()> {
        self.next();
        let word = self.word();
        let place = match word.text {
            "saddr" => &mut rule.sources,
            "daddr" => &mut rule.destinations,
            "protocol" => {
                self.next();
                return self.add_protocol(rule);
            }
            _ => return Err(self.fault("should be saddr, daddr or protocol behind 'ip'")),
        };
        if !place.is_empty() {
            return Err(self.fault("stands here a second time: write all addresses as { A, B }"));
        }
        self.next();
        *place = self.several(Self::addresses)?;
        Ok(())
    }

    fn add_protocol(&mut self, rule: &mut NatRule) -> Parsed<()> {
        let own = match self.word().text {
            "tcp" => NatProtocolWord::Tcp,
            "udp" => NatProtocolWord::Udp,
            "icmp" => NatProtocolWord::Icmp,
            _ => return Err(self.fault("should be a protocol: tcp, udp or icmp")),
        };
        if rule.protocol.is_some_and(|known| known != own) {
            return Err(self.fault("is a second protocol: write a rule for each"));
        }
        rule.protocol = Some(own);
        self.next();
        Ok(())
    }

    fn add_ports(&mut self, rule: &mut NatRule) -> Parsed<()> {
        let place = match self.word().text {
            "sport" => &mut rule.source_ports,
            "dport" => &mut rule.destination_ports,
            _ => return Err(self.fault("should be sport or dport behind a protocol")),
        };
        if !place.is_empty() {
            return Err(self.fault("stands here a second time: write all ports as { P, Q }"));
        }
        self.next();
        *place = self.several(Self::ports)?;
        Ok(())
    }

    fn action(&mut self, rule: &NatRule) -> Parsed<NatAction> {
        let is_out = rule.side == NatSide::Out;
        match self.word().text {
            "accept" => self.pass(NatAction::Accept),
            "masquerade" if is_out => {
                self.next();
                let ports = match self.takes("to") {
                    true => Some(self.colon_ports()?),
                    false => None,
                };
                self.source(None, ports)
            }
            "snat" if is_out => {
                self.next_to()?;
                let (addresses, ports) = self.pool()?;
                self.source(Some(addresses), ports)
            }
            "dnat" if !is_out => {
                self.next_to()?;
                self.target(rule.protocol)
            }
            "masquerade" | "snat" => Err(self.fault(
                "changes sources, which is done where packets leave: begin the rule with 'oif \
                 NAME'",
            )),
            "dnat" => Err(self.fault(
                "changes destinations, which is done where packets come in: begin the rule with \
                 'iif NAME'",
            )),
            _ => Err(self.fault(
                "is neither a match nor an action: there are ip saddr, ip daddr, ip protocol, tcp \
                 and udp with sport and dport, and masquerade, snat, dnat and accept",
            )),
        }
    }

    /// `snat to`, `snat ip to`, and so for dnat.
    fn next_to(&mut self) -> Parsed<()> {
        self.next();
        self.takes("ip");
        self.expect("to")
    }

    fn source(
        &mut self,
        addresses: Option<AddressRange>,
        ports: Option<PortRange>,
    ) -> Parsed<NatAction> {
        Ok(NatAction::Source {
            addresses,
            ports,
            endpoint_independent: self.takes("endpoint-independent"),
        })
    }

    /// `:1024-65535`.
    fn colon_ports(&mut self) -> Parsed<PortRange> {
        let ports = self.word().text.strip_prefix(':').and_then(port_range);
        match ports {
            Some(ports) => self.pass(ports),
            None => Err(self.fault("should be ports, as in 'masquerade to :1024-65535'")),
        }
    }

    /// `203.0.113.10-203.0.113.20:1024-65535`.
    fn pool(&mut self) -> Parsed<(AddressRange, Option<PortRange>)> {
        let read = |text: &str| {
            let (addresses, ports) = match text.split_once(':') {
                Some((addresses, ports)) => (addresses, Some(port_range(ports)?)),
                None => (text, None),
            };
            Some((address_range(addresses)?, ports))
        };
        match read(self.word().text) {
            Some(pool) => self.pass(pool),
            None => Err(self.fault(
                "should be outside addresses: write ADDRESS, FIRST-LAST or FIRST-LAST:PORT-PORT",
            )),
        }
    }

    /// `10.0.0.5:80`.
    /// A port is one of TCP or UDP. A rule without a protocol is tried on pings, too, whose
    /// identifiers would all become that port.
    fn target(&mut self, protocol: Option<NatProtocolWord>) -> Parsed<NatAction> {
        let has_ports = matches!(protocol, Some(NatProtocolWord::Tcp | NatProtocolWord::Udp));
        let read = |text: &str| {
            let (address, port) = match text.split_once(':') {
                Some((address, port)) => (address, Some(port_range(port)?)),
                None => (text, None),
            };
            let port = match port {
                Some((first, last)) if first != last => return None,
                port => port.map(|(port, _)| port),
            };
            let address = address.parse().ok()?;
            Some(NatAction::Destination { address, port })
        };
        match read(self.word().text) {
            Some(NatAction::Destination { port: Some(_), .. }) if !has_ports => Err(self.fault(
                "has a port, and the rule is not of TCP or UDP alone: write 'tcp dport N' or \
                 'udp dport N' before 'dnat'",
            )),
            Some(target) => self.pass(target),
            None => Err(self.fault("should be an inside host: write ADDRESS or ADDRESS:PORT")),
        }
    }

    fn addresses(&mut self) -> Parsed<AddressRange> {
        match address_range(self.word().text) {
            Some(range) => self.pass(range),
            None => Err(self.fault(
                "should be an IPv4 address: write ADDRESS, ADDRESS/LENGTH without bits behind the \
                 length, or FIRST-LAST",
            )),
        }
    }

    fn ports(&mut self) -> Parsed<PortRange> {
        match port_range(self.word().text) {
            Some(range) => self.pass(range),
            None => Err(self.fault("should be a port from 1 to 65535, or FIRST-LAST")),
        }
    }

    /// One element, or several between braces.
    fn several<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        if !self.takes("{") {
            return Ok(vec![one(self)?]);
        }
        let mut all = Vec::new();
        loop {
            if all.len() >= ELEMENTS_MAX {
                return Err(self.fault("is one more than the 256 between braces that may be"));
            }
            all.push(one(self)?);
            if self.takes("}") {
                return Ok(all);
            }
            self.expect(",")?;
            // nft takes a comma behind the last one, too.
            if self.takes("}") {
                return Ok(all);
            }
        }
    }

    fn name(&mut self) -> Parsed<String> {
        let word = self.word();
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let fits = !word.text.is_empty() && word.text.len() <= NAME_MAX;
        match fits && word.text.chars().all(is_name) {
            true => self.pass(word.text.to_owned()),
            false => Err(self.fault("should be the name of an interface of the router")),
        }
    }

    fn number(&mut self, max: u32) -> Parsed<u32> {
        match digits(self.word().text).filter(|&number| number >= 1 && number <= max) {
            Some(number) => self.pass(number),
            None => Err(self.fault("should be a number from 1 on")),
        }
    }

    /// `300`, `300s`, `5m`, `2h4m`.
    fn seconds(&mut self) -> Parsed<u32> {
        let seconds = seconds_of(self.word().text);
        match seconds.filter(|seconds| (1..=SECONDS_MAX).contains(seconds)) {
            Some(seconds) => self.pass(seconds),
            None => Err(self.fault("should be a time up to a year: write 300s, 5m or 2h4m")),
        }
    }

    /// The next word, which is empty at the end.
    fn word(&self) -> Word<'a> {
        let end = Word {
            text: "",
            is_quoted: false,
            place: self.end,
        };
        self.words.first().copied().unwrap_or(end)
    }

    fn next(&mut self) -> Word<'a> {
        let word = self.word();
        self.words = self.words.get(1..).unwrap_or_default();
        word
    }

    fn pass<T>(&mut self, value: T) -> Parsed<T> {
        self.next();
        Ok(value)
    }

    fn takes(&mut self, wanted: &str) -> bool {
        let is_there = self.word().text == wanted;
        if is_there {
            self.next();
        }
        is_there
    }

    fn expect(&mut self, wanted: &str) -> Parsed<()> {
        match self.takes(wanted) {
            true => Ok(()),
            false => Err(self.fault(&format!("should be '{wanted}'"))),
        }
    }

    fn ends(&self) -> Parsed<()> {
        match self.words.is_empty() {
            true => Ok(()),
            false => Err(self.fault("stands behind the end of the statement: leave it out")),
        }
    }

    /// What is wrong with the next word.
    fn fault(&self, predicate: &str) -> NatFault {
        let word = self.word();
        NatFault::new(word.place, word.text, predicate)
    }
}

fn digits(text: &str) -> Option<u32> {
    // A sign is no digit here.
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

fn port_range(text: &str) -> Option<PortRange> {
    let port = |text| u16::try_from(digits(text)?).ok().filter(|&port| port != 0);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = (port(first)?, port(last)?);
    (range.0 <= range.1).then_some(range)
}

fn address_range(text: &str) -> Option<AddressRange> {
    if let Some((address, len)) = text.split_once('/') {
        let address: Ipv4Addr = address.parse().ok()?;
        let len = digits(len).filter(|&len| len <= 32)?;
        let hosts = u32::MAX.checked_shr(len).unwrap_or(0);
        let first = address.to_bits();
        return (first & hosts == 0).then(|| (address, Ipv4Addr::from_bits(first | hosts)));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range: AddressRange = (first.parse().ok()?, last.parse().ok()?);
    (range.0 <= range.1).then_some(range)
}

fn seconds_of(text: &str) -> Option<u32> {
    if let Some(bare) = digits(text) {
        return Some(bare);
    }
    let mut seconds = 0u32;
    let mut rest = text;
    for (unit, length) in [('d', 86_400), ('h', 3600), ('m', 60), ('s', 1)] {
        if let Some((number, behind)) = rest.split_once(unit) {
            seconds = seconds.checked_add(digits(number)?.checked_mul(length)?)?;
            rest = behind;
        }
    }
    rest.is_empty().then_some(seconds)
}
