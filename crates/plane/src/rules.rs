//! Rules: an ordered list, of which the first that matches a packet decides whether it passes.
//!
//! A [`RuleTable`] is part of a [`crate::Policy`], so that workers get it with the lists as one
//! version; [`crate::Bridge`] tries it on frames.

mod counts;

use std::ops::ControlFlow;
use std::sync::Arc;

use stack::icmp::Report;
use table::classify::{Classifier, Entry, Field, Key, Then, TooLarge};

pub use counts::{RuleCount, RuleCounts};

/// What the rules of a table are called, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleNames {
    /// Where they were read.
    pub source: String,
    /// By their numbers.
    pub rules: Vec<RuleName>,
}

/// One rule, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleName {
    /// The line that it begins on, the first being 1.
    pub line: u32,
    /// Its canonical text.
    pub text: String,
    /// It decides on what it matches, and no later rule is asked.
    pub decides: bool,
    /// What it tells the sender of what it drops.
    pub rejects: Option<Rejection>,
}

/// What the sender of a packet is told that a rule rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A reset, of TCP; else that nobody listens at the port.
    TcpReset,
    /// An error of ICMP or ICMPv6.
    Icmp(Report),
}

/// Rules as workers look them up. Only its counters are written after it was made.
#[derive(Debug)]
pub struct RuleTable {
    classifier: Arc<Classifier>,
    names: Arc<RuleNames>,
    /// By entry: the rule it was made of, and what it does.
    steps: Arc<[(u32, Then)]>,
    /// What no rule decides on is dropped.
    default_drop: bool,
    /// A rule asks for the state of the flow.
    asks_state: bool,
    /// A rule tells senders something.
    has_rejections: bool,
    counts: Arc<RuleCounts>,
}

impl RuleTable {
    /// A table of these entries, made of rules of these names, for a number of workers.
    ///
    /// # Errors
    ///
    /// They take more memory or time than is allowed.
    pub fn new(
        entries: &[Entry],
        names: RuleNames,
        default_drop: bool,
        workers: usize,
    ) -> Result<Self, TooLarge> {
        let classifier = Classifier::new(entries)?;
        Ok(Self {
            asks_state: classifier.looks_at(Field::FlowState),
            classifier: Arc::new(classifier),
            steps: entries
                .iter()
                .map(|entry| (entry.rule, entry.then))
                .collect(),
            default_drop,
            has_rejections: names.rules.iter().any(|rule| rule.rejects.is_some()),
            counts: Arc::new(RuleCounts::new(names.rules.len(), workers)),
            names: Arc::new(names),
        })
    }

    /// The same rules, counted from nothing: workers that had them before take them as others.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self {
            classifier: Arc::clone(&self.classifier),
            names: Arc::clone(&self.names),
            steps: Arc::clone(&self.steps),
            counts: Arc::new(self.counts.anew()),
            ..*self
        }
    }

    /// What its rules are called.
    #[must_use]
    pub fn names(&self) -> &RuleNames {
        &self.names
    }

    /// What becomes of packets that no rule decides on: `accept` or `drop`.
    #[must_use]
    pub fn policy_word(&self) -> &'static str {
        match self.default_drop {
            true => "drop",
            false => "accept",
        }
    }

    /// Bytes of memory of the classifier.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.classifier.bytes()
    }

    /// Whether a rule asks for the state of the flow.
    pub(crate) fn asks_state(&self) -> bool {
        self.asks_state
    }

    /// What a rule tells the sender of what it drops.
    #[inline]
    pub(crate) fn rejection(&self, rule: u32) -> Option<Rejection> {
        if !self.has_rejections {
            return None;
        }
        self.names.rules.get(rule as usize)?.rejects
    }

    /// What its rules counted.
    #[must_use]
    pub fn counts(&self) -> &Arc<RuleCounts> {
        &self.counts
    }

    /// Whether a packet passes; `each` is called for the rules that match until one decides.
    #[inline]
    pub fn passes(&self, key: &Key, mut each: impl FnMut(u32)) -> bool {
        let mut decided = None;
        self.classifier.each_match(key, |entry| {
            let (rule, then) = self.steps[entry];
            each(rule);
            match then {
                Then::Continue => ControlFlow::Continue(()),
                Then::Accept | Then::Drop => {
                    decided = Some(then == Then::Accept);
                    ControlFlow::Break(())
                }
            }
        });
        decided.unwrap_or_else(|| {
            each(self.counts.otherwise());
            !self.default_drop
        })
    }
}

impl PartialEq for RuleTable {
    fn eq(&self, other: &Self) -> bool {
        self.default_drop == other.default_drop
            && self.steps == other.steps
            && self.classifier == other.classifier
            && self.names == other.names
    }
}

impl Eq for RuleTable {}
