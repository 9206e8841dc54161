//! Rules as canonical text.

use std::fmt;

use super::value::text;
use super::{Action, Ending, Match, Operand, Rule, Rules};

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "policy {}", self.policy)?;
        self.main
            .iter()
            .try_for_each(|rule| writeln!(f, "{rule}"))?;
        self.chains.iter().try_for_each(|chain| {
            writeln!(f, "\nchain {} {{", chain.name)?;
            let mut rules = chain.rules.iter();
            rules.try_for_each(|rule| writeln!(f, "    {rule}"))?;
            writeln!(f, "}}")
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut matches = self.matches.iter();
        matches.try_for_each(|found| write!(f, "{found} "))?;
        match &self.action {
            Action::End(ending) => write!(f, "{ending}"),
            Action::Reject(with) => write!(f, "{with}"),
            Action::Count => f.write_str("counter"),
            Action::Jump(chain) => write!(f, "jump {chain}"),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accept => "accept",
            Self::Drop => "drop",
        })
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.negated { " !=" } else { "" };
        write!(f, "{}{not} ", self.kind.words)?;
        match &self.operand {
            Operand::Set(name) => write!(f, "@{name}"),
            Operand::Values(values) => {
                let words: Vec<String> = values.iter().map(|one| text(self.kind, one)).collect();
                match &words[..] {
                    [one] => f.write_str(one),
                    many => write!(f, "{{ {} }}", many.join(", ")),
                }
            }
        }
    }
}
