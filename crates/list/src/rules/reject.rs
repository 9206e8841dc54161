//! What a rule tells the sender of a packet that it rejects: read and printed.

use std::fmt;

use super::parse::Parser;
use super::{RejectWith, RuleFault};

/// Words of nft for what ICMP and ICMPv6 both know.
const ICMPX: [(&str, RejectWith); 4] = [
    ("port-unreachable", RejectWith::PortUnreachable),
    ("admin-prohibited", RejectWith::Prohibited),
    ("host-unreachable", RejectWith::HostUnreachable),
    ("no-route", RejectWith::NoRoute),
];

impl RejectWith {
    /// What a word of `icmpx` says.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        let found = ICMPX.iter().find(|(own, _)| *own == word);
        found.map(|(_, with)| *with)
    }
}

impl fmt::Display for RejectWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::TcpReset {
            return f.write_str("reject with tcp reset");
        }
        match ICMPX.iter().find(|(_, with)| with == self) {
            Some((word, with)) if *with != Self::PortUnreachable => {
                write!(f, "reject with icmpx {word}")
            }
            _ => f.write_str("reject"),
        }
    }
}

impl Parser<'_> {
    /// What stands behind `reject`.
    pub(super) fn reject(&mut self) -> Result<RejectWith, RuleFault> {
        if !self.takes_word("with") {
            return Ok(RejectWith::PortUnreachable);
        }
        let token = self.peek();
        if self.takes_word("tcp") && self.takes_word("reset") {
            return Ok(RejectWith::TcpReset);
        }
        if self.takes_word("icmpx") {
            self.takes_word("type");
            let word = self.word().unwrap_or_default();
            if let Some(with) = RejectWith::of_word(word) {
                self.next();
                return Ok(with);
            }
        }
        let words: Vec<&str> = ICMPX.iter().map(|(word, _)| *word).collect();
        Err(token.fault(format!(
            "what is sent stands here: write tcp reset, or icmpx and one of {}",
            words.join(", ")
        )))
    }
}
