//! Which rules of packets matched a frame: those whose counters moved.

use plane::{RuleCount, RuleTable};

use super::facts::{RuleFacts, RulesFacts};

/// What rules counted before a frame, to be compared with what they count behind it.
pub(super) struct Watched<'a> {
    table: &'a RuleTable,
    before: Vec<RuleCount>,
}

impl<'a> Watched<'a> {
    /// The counters now.
    pub(super) fn new(table: &'a RuleTable) -> Self {
        Self {
            table,
            before: table.counts().read(),
        }
    }

    /// The rules that matched since; none where no rule was tried.
    pub(super) fn moved(&self) -> Option<RulesFacts> {
        let after = self.table.counts().read();
        let pairs = self.before.iter().zip(&after).enumerate();
        let moved = pairs.filter(|(_, (before, after))| before.packets != after.packets);
        let rules = &self.table.names().rules;
        let mut facts = RulesFacts {
            decided: None,
            policy: None,
            passed: Vec::new(),
        };
        for (number, _) in moved {
            let Some(rule) = rules.get(number) else {
                facts.policy = Some(self.table.policy_word());
                continue;
            };
            let fact = RuleFacts {
                number: number + 1,
                line: rule.line,
                rule: rule.text.clone(),
            };
            match rule.decides {
                true => facts.decided = Some(fact),
                false => facts.passed.push(fact),
            }
        }
        (facts.decided.is_some() || facts.policy.is_some()).then_some(facts)
    }
}
