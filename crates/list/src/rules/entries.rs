//! Rules as the classifier takes them: names resolved, jumps followed.

use table::classify::{Condition, ENTRIES_MAX, Entry, Field, Then, TooLarge, Values};

use super::{Action, Ending, Match, Operand, Rule, RuleFault, Rules, Value};

/// Lists that jump to one another, at most.
const DEPTH_MAX: usize = 16;
/// Values of all entries, at most: a jump hands its own to each rule of its list.
const VALUES_MAX: usize = 4 << 20;

/// What names mean where the rules are to hold.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The names of each port, by its number.
    pub ports: Vec<Vec<String>>,
    /// The names of the sets, by their numbers.
    pub sets: Vec<String>,
    /// Flows are known.
    pub stateful: bool,
    /// What comes in by one of two ports leaves by the other.
    pub is_pair: bool,
}

impl Rules {
    /// The entries of the rules, in the order that they are tried.
    ///
    /// # Errors
    ///
    /// A name that nothing has, a condition that cannot be known there, or jumps without end.
    pub fn entries(&self, scope: &Scope) -> Result<Vec<Entry>, RuleFault> {
        let mut unrolled = Unrolled {
            rules: self,
            scope,
            entries: Vec::new(),
            values: 0,
        };
        // Lists that nothing jumps to are looked at as well.
        for rule in self.all() {
            unrolled.conditions(rule)?;
            unrolled.target(rule)?;
        }
        unrolled.list(&self.main, &[], 0)?;
        Ok(unrolled.entries)
    }
}

struct Unrolled<'a> {
    rules: &'a Rules,
    scope: &'a Scope,
    entries: Vec<Entry>,
    values: usize,
}

impl<'a> Unrolled<'a> {
    /// Adds the rules of a list, which is reached under conditions.
    fn list(&mut self, list: &[Rule], under: &[Condition], depth: usize) -> Result<(), RuleFault> {
        for rule in list {
            let mut conditions = under.to_vec();
            conditions.extend(self.conditions(rule)?);
            let then = match &rule.action {
                Action::End(Ending::Accept) => Then::Accept,
                Action::End(Ending::Drop) | Action::Reject(_) => Then::Drop,
                Action::Count | Action::Jump(_) => Then::Continue,
            };
            if self.entries.len() >= ENTRIES_MAX {
                let sentence = TooLarge::Entries(self.entries.len() + 1).to_string();
                return Err(at(rule, rule.action_column, sentence));
            }
            let count = conditions.iter().map(|condition| condition.values.len());
            self.values += count.sum::<usize>();
            if self.values > VALUES_MAX {
                let sentence = format!(
                    "the rules have more than {VALUES_MAX} values with jumps resolved: put \
                     addresses into sets"
                );
                return Err(at(rule, rule.action_column, sentence));
            }
            self.entries.push(Entry {
                conditions: conditions.clone(),
                rule: rule.number,
                then,
            });
            if let Some(target) = self.target(rule)? {
                if depth == DEPTH_MAX {
                    let sentence = format!(
                        "more than {DEPTH_MAX} lists jump to one another here, or in a circle: \
                         leave out a jump"
                    );
                    return Err(at(rule, rule.action_column, sentence));
                }
                self.list(target, &conditions, depth + 1)?;
            }
        }
        Ok(())
    }

    /// The list that a rule jumps to.
    fn target(&self, rule: &Rule) -> Result<Option<&'a [Rule]>, RuleFault> {
        let Action::Jump(name) = &rule.action else {
            return Ok(None);
        };
        let chain = self.rules.chains.iter().find(|chain| chain.name == *name);
        let sentence = || format!("there is no list '{name}': write chain {name} {{ ... }}");
        let chain = chain.ok_or_else(|| at(rule, rule.action_column, sentence()))?;
        Ok(Some(&chain.rules))
    }

    fn conditions(&self, rule: &Rule) -> Result<Vec<Condition>, RuleFault> {
        let mut conditions = Vec::new();
        for found in &rule.matches {
            let made = self.scope.conditions(found);
            conditions.extend(made.map_err(|sentence| at(rule, found.column, sentence))?);
        }
        Ok(conditions)
    }
}

fn at(rule: &Rule, column: u32, sentence: String) -> RuleFault {
    RuleFault {
        line: rule.line,
        column,
        sentence,
    }
}

impl Scope {
    /// What a match asks for.
    pub(super) fn conditions(&self, found: &Match) -> Result<Vec<Condition>, String> {
        let implied = found.kind.implies.iter().map(|&(field, value)| Condition {
            field,
            values: vec![(value, value)],
        });
        let mut conditions: Vec<Condition> = implied.collect();
        let (field, values) = match &found.operand {
            Operand::Set(name) => (self.set(found.kind.field, name)?, vec![(1, 1)]),
            Operand::Values(values) => (found.kind.field, self.values(found, values)?),
        };
        let values = match found.negated {
            true => others(values, field.value_max()),
            false => values,
        };
        conditions.push(Condition { field, values });
        Ok(conditions)
    }

    fn set(&self, side: Field, name: &str) -> Result<Field, String> {
        let number = self.sets.iter().position(|set| set == name);
        let number = number
            .ok_or_else(|| format!("there is no set '{name}': give it with --set {name}=FILE"))?;
        let number = u8::try_from(number).map_err(|_| "there are too many sets".to_owned())?;
        Ok(match side {
            Field::SrcV4 | Field::SrcV6 => Field::SrcSet(number),
            _ => Field::DstSet(number),
        })
    }

    fn values(&self, found: &Match, values: &[Value]) -> Result<Values, String> {
        if found.kind.field == Field::FlowState && !self.stateful {
            return Err(
                "nothing is known of flows here: give --stateful to a bridge, or leave out ct state"
                    .to_owned(),
            );
        }
        let mut all = Values::new();
        for value in values {
            match value {
                Value::Range(first, last) => all.push((*first, *last)),
                Value::Port(name) => {
                    let port = u128::from(self.port(found.kind.words, name)?);
                    all.push((port, port));
                }
                Value::Flags(set, mask) => {
                    let fits = |flags: &u8| match mask {
                        Some(mask) => flags & mask == *set,
                        None => flags & set != 0,
                    };
                    let flags = (0..=u8::MAX).filter(fits).map(u128::from);
                    all.extend(flags.map(|flags| (flags, flags)));
                }
            }
        }
        Ok(all)
    }

    /// The number of the port that a frame comes in by.
    fn port(&self, words: &str, name: &str) -> Result<u8, String> {
        let number = self
            .ports
            .iter()
            .position(|names| names.iter().any(|own| own == name));
        let number = number.ok_or_else(|| {
            let names: Vec<&str> = self
                .ports
                .iter()
                .filter_map(|port| Some(&**port.first()?))
                .collect();
            format!(
                "there is no port '{name}': write one of {}",
                names.join(", ")
            )
        })? as u8;
        match (words, self.is_pair) {
            ("oif", true) => Ok(1 - number.min(1)),
            ("oif", false) => Err(
                "where a frame leaves is not known before it is switched or routed: write iif, or \
                 destination addresses"
                    .to_owned(),
            ),
            _ => Ok(number),
        }
    }
}

/// All values up to `max` that are not among these.
fn others(mut values: Values, max: u128) -> Values {
    values.sort_unstable();
    let (mut next, mut others) = (Some(0), Values::new());
    for (first, last) in values {
        let Some(start) = next else { break };
        if start < first {
            others.push((start, first - 1));
        }
        next = last.checked_add(1).map(|after| after.max(start));
    }
    others.extend(next.filter(|&start| start <= max).map(|start| (start, max)));
    others
}
