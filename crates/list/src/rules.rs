//! Rules for packets, as text like that of `nft`: an ordered list, of which the first rule that
//! matches decides.
//!
//! [`read`] makes [`Rules`] of text, `Display` makes canonical text of them again, and
//! [`Rules::entries`] makes what [`table::classify`] takes: names resolved and jumps followed.
//! What can be matched stands in one table, [`MATCHES`]. A file with an error is refused whole.

mod entries;
mod fault;
mod import;
mod matches;
mod packet;
mod parse;
mod print;
mod reject;
#[cfg(test)]
mod tests;
mod token;
mod value;

pub use entries::Scope;
pub use fault::{RuleFault, RulesError};
pub use import::{Imported, import};
pub use matches::{MATCHES, MatchKind, ValueKind, reference};
pub use packet::{TestPacket, test_packet};
pub use parse::{matches as described, read};

/// A file of rules.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What becomes of packets that no rule decides on.
    pub policy: Ending,
    /// The list that packets begin in.
    pub main: Vec<Rule>,
    /// Lists that rules jump to.
    pub chains: Vec<Chain>,
}

/// A list that rules jump to.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Its name, unique in its file.
    pub name: String,
    /// What is tried, in order; behind the last, the list that jumped here goes on.
    pub rules: Vec<Rule>,
}

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The line that it begins on, the first being 1.
    pub line: u32,
    /// Which rule of the file it is, the first being 0.
    pub number: u32,
    /// All of them must hold.
    pub matches: Vec<Match>,
    /// What is done then.
    pub action: Action,
    /// Where the action stands.
    pub action_column: u32,
}

/// What a rule does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Decides.
    End(Ending),
    /// Drops, and tells the sender.
    Reject(RejectWith),
    /// Counts, as every rule does, and decides nothing.
    Count,
    /// Tries the rules of another list.
    Jump(String),
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It passes.
    Accept,
    /// It is dropped.
    Drop,
}

/// What the sender of a packet is told that is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectWith {
    /// A reset, of TCP; else as `PortUnreachable`.
    TcpReset,
    /// Nobody listens at the port.
    PortUnreachable,
    /// An administrator forbids it.
    Prohibited,
    /// The host does not answer.
    HostUnreachable,
    /// There is no route.
    NoRoute,
}

/// A condition as it was written.
#[derive(Clone, Debug)]
pub struct Match {
    /// What is looked at.
    pub kind: &'static MatchKind,
    /// Written `!=`: the field must be there and have none of the values.
    pub negated: bool,
    /// What it is compared with.
    pub operand: Operand,
    /// Where it stands.
    pub column: u32,
}

/// What a field is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// One of these.
    Values(Vec<Value>),
    /// The set of this name.
    Set(String),
}

/// One value, or several in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// From the first to the last.
    Range(u128, u128),
    /// A port by its name.
    Port(String),
    /// TCP flags: with a mask exactly these of the mask, else any of them.
    Flags(u8, Option<u8>),
}

impl Rules {
    /// All rules, in the order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = &Rule> {
        let chains = self.chains.iter().flat_map(|chain| &chain.rules);
        let mut all: Vec<&Rule> = self.main.iter().chain(chains).collect();
        all.sort_by_key(|rule| rule.number);
        all.into_iter()
    }
}
