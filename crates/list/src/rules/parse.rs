//! Text to rules.

use std::collections::HashSet;

use table::classify::ENTRIES_MAX;

use super::token::{Kind, Token, tokens};
use super::value::{flags, value};
use super::{
    Action, Chain, Ending, MATCHES, Match, MatchKind, Operand, Rule, RuleFault, Rules, RulesError,
    Value, ValueKind,
};

/// Bytes of a text, at most.
const TEXT_MAX: usize = 16 << 20;
/// Faults that are told of a text, at most.
const FAULTS_MAX: usize = 20;

/// Statements of nft that have no counterpart yet, with what helps.
const UNKNOWN_HERE: [(&str, &str); 8] = [
    ("limit", "leave it out: rules know no rates"),
    (
        "log",
        "leave it out: counters say what matched, 'linerate capture' shows frames",
    ),
    ("add", "leave it out: rules change no sets"),
    ("update", "leave it out: rules change no sets"),
    (
        "return",
        "write the rules so that the list ends, or end with accept or drop",
    ),
    ("goto", "write jump, and end the list with accept or drop"),
    ("queue", "leave it out: packets go to no other program"),
    ("masquerade", "leave it out: rules translate no addresses"),
];

/// Reads a text of rules; `file` is named in errors.
///
/// # Errors
///
/// The first faults, when there are any.
pub fn read(file: &str, text: &str) -> Result<Rules, RulesError> {
    let refused = |faults| RulesError {
        file: file.to_owned(),
        faults,
    };
    let whole = |sentence: String| RuleFault {
        line: 1,
        column: 1,
        sentence,
    };
    if text.len() > TEXT_MAX {
        let sentence = format!("the text has more than {TEXT_MAX} bytes: put addresses into sets");
        return Err(refused(vec![whole(sentence)]));
    }
    let tokens = tokens(text).map_err(|fault| refused(vec![fault]))?;
    let mut parser = Parser::new(&tokens);
    parser.file();
    match parser.faults.is_empty() {
        true => Ok(parser.rules),
        false => Err(refused(parser.faults)),
    }
}

/// Reads matches alone, to the end of the text.
///
/// # Errors
///
/// The first fault.
pub fn matches(text: &str) -> Result<Vec<Match>, RuleFault> {
    let tokens = tokens(text)?;
    let mut parser = Parser::new(&tokens);
    let mut found = Vec::new();
    while !parser.at_end() {
        found.push(parser.one_match()?);
    }
    Ok(found)
}

pub(super) struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    rules: Rules,
    number: u32,
    /// The list that is being read.
    inside: Option<Chain>,
    has_policy: bool,
    names: HashSet<String>,
    faults: Vec<RuleFault>,
}

impl<'a> Parser<'a> {
    fn new(tokens: &'a [Token]) -> Self {
        Self {
            tokens,
            at: 0,
            rules: Rules {
                policy: Ending::Accept,
                main: Vec::new(),
                chains: Vec::new(),
            },
            number: 0,
            inside: None,
            has_policy: false,
            names: HashSet::new(),
            faults: Vec::new(),
        }
    }

    /// The next token; there is always an end behind the others.
    pub(super) fn peek(&self) -> &'a Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub(super) fn next(&mut self) -> &'a Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    pub(super) fn word(&self) -> Option<&'a str> {
        match &self.peek().kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    fn takes(&mut self, sign: char) -> bool {
        let found = self.peek().kind == Kind::Sign(sign);
        self.at += usize::from(found);
        found
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let found = self.word() == Some(word);
        self.at += usize::from(found);
        found
    }

    /// Passes over ends; whether the text is over.
    fn at_end(&mut self) -> bool {
        while self.at < self.tokens.len() && self.peek().kind == Kind::End {
            self.at += 1;
        }
        self.at >= self.tokens.len()
    }

    fn file(&mut self) {
        while !self.at_end() && self.faults.len() < FAULTS_MAX {
            if let Err(fault) = self.statement() {
                self.faults.push(fault);
                while self.at < self.tokens.len() && self.next().kind != Kind::End {}
            }
        }
        if let Some(chain) = self.inside.take() {
            let sentence = format!("list '{}' does not end: close it with }}", chain.name);
            let last = &self.tokens[self.tokens.len() - 1];
            self.faults.push(last.fault(sentence));
        }
    }

    fn statement(&mut self) -> Result<(), RuleFault> {
        let first = self.peek();
        if self.takes('}') {
            let open = self.inside.take();
            let chain = open.ok_or_else(|| first.fault("'}' closes nothing: take it out"))?;
            self.rules.chains.push(chain);
            return Ok(());
        }
        if self.takes_word("policy") {
            self.policy(first)?;
        } else if self.takes_word("chain") {
            return self.chain(first);
        } else {
            let rule = self.rule()?;
            match &mut self.inside {
                Some(chain) => chain.rules.push(rule),
                None => self.rules.main.push(rule),
            }
        }
        self.end()
    }

    /// What must stand behind a statement: the end of the line, or of the list.
    fn end(&mut self) -> Result<(), RuleFault> {
        let token = self.peek();
        match token.kind {
            Kind::End | Kind::Sign('}') => Ok(()),
            _ => Err(token.fault(format!(
                "'{}' stands behind the end of the rule: begin a new line",
                token.shown()
            ))),
        }
    }

    fn policy(&mut self, first: &Token) -> Result<(), RuleFault> {
        if self.inside.is_some() || self.has_policy {
            return Err(first.fault(
                "a policy stands once, outside of lists: behind the last rule of a list the one \
                 that jumped there goes on",
            ));
        }
        let token = self.next();
        self.rules.policy = match &token.kind {
            Kind::Word(word) if word == "accept" => Ending::Accept,
            Kind::Word(word) if word == "drop" => Ending::Drop,
            _ => {
                let shown = token.shown();
                return Err(token.fault(format!("'{shown}' is no policy: write accept or drop")));
            }
        };
        self.has_policy = true;
        Ok(())
    }

    fn chain(&mut self, first: &Token) -> Result<(), RuleFault> {
        if self.inside.is_some() {
            return Err(first.fault("a list stands in no other list: close that one with }"));
        }
        let name = self.name()?;
        if !self.names.insert(name.clone()) {
            return Err(first.fault(format!(
                "list '{name}' is there already: rename one of both"
            )));
        }
        let token = self.peek();
        if !self.takes('{') {
            return Err(token.fault(format!("list '{name}' has no {{ behind its name: write it")));
        }
        let rules = Vec::new();
        self.inside = Some(Chain { name, rules });
        Ok(())
    }

    /// The name of a list or a set.
    fn name(&mut self) -> Result<String, RuleFault> {
        let token = self.next();
        match &token.kind {
            Kind::Word(word) if is_name(word) => Ok(word.clone()),
            _ => Err(token.fault(format!(
                "'{}' is no name: write letters, digits, '-', '_' and '.'",
                token.shown()
            ))),
        }
    }

    fn rule(&mut self) -> Result<Rule, RuleFault> {
        let line = self.peek().line;
        let mut matches = Vec::new();
        let (action, action_column) = loop {
            let column = self.peek().column;
            match self.action()? {
                Some(action) => break (action, column),
                None => matches.push(self.one_match()?),
            }
        };
        let number = self.number;
        if number as usize >= ENTRIES_MAX {
            let sentence =
                format!("there are more than {ENTRIES_MAX} rules: put addresses into sets");
            return Err(self.peek().fault(sentence));
        }
        self.number += 1;
        Ok(Rule {
            line,
            number,
            matches,
            action,
            action_column,
        })
    }

    /// The action, if one stands here.
    fn action(&mut self) -> Result<Option<Action>, RuleFault> {
        let token = self.peek();
        let Kind::Word(word) = &token.kind else {
            return match token.kind {
                Kind::End | Kind::Sign('}') => Err(token.fault(
                    "the rule has no action: end it with accept, drop, reject, counter or jump",
                )),
                _ => Ok(None),
            };
        };
        let action = match word.as_str() {
            "accept" => Action::End(Ending::Accept),
            "drop" => Action::End(Ending::Drop),
            "jump" => {
                self.at += 1;
                return self.name().map(|chain| Some(Action::Jump(chain)));
            }
            "reject" => {
                self.at += 1;
                return self.reject().map(|with| Some(Action::Reject(with)));
            }
            "counter" | "count" => {
                self.at += 1;
                let ends = matches!(self.peek().kind, Kind::End | Kind::Sign('}'));
                return if ends {
                    Ok(Some(Action::Count))
                } else {
                    self.action()
                };
            }
            word => {
                let known = UNKNOWN_HERE.iter().find(|(unknown, _)| *unknown == word);
                return known.map_or(Ok(None), |(_, remedy)| {
                    Err(token.fault(format!("'{word}' is not known here: {remedy}")))
                });
            }
        };
        self.at += 1;
        Ok(Some(action))
    }

    fn one_match(&mut self) -> Result<Match, RuleFault> {
        let column = self.peek().column;
        let kind = self.kind()?;
        let negated = self.takes_word("!=");
        if !negated {
            self.takes_word("==");
        }
        Ok(Match {
            kind,
            negated,
            operand: self.operand(kind)?,
            column,
        })
    }

    fn kind(&mut self) -> Result<&'static MatchKind, RuleFault> {
        let token = self.next();
        let unknown = || {
            token.fault(format!(
                "'{}' begins no match: 'linerate rules matches' lists them",
                token.shown()
            ))
        };
        let Kind::Word(first) = &token.kind else {
            return Err(unknown());
        };
        if let Some(kind) = MATCHES.iter().find(|kind| kind.words == first) {
            return Ok(kind);
        }
        let second = self.word().unwrap_or_default();
        let both = format!("{first} {second}");
        if let Some(kind) = MATCHES.iter().find(|kind| kind.words == both) {
            self.at += 1;
            return Ok(kind);
        }
        let begins = |kind: &&MatchKind| kind.words.split(' ').next() == Some(first);
        let others: Vec<&str> = MATCHES
            .iter()
            .filter(begins)
            .map(|kind| kind.words)
            .collect();
        if others.is_empty() {
            return Err(unknown());
        }
        let said = format!(
            "'{first}' begins other matches: write {}",
            others.join(", ")
        );
        Err(self.peek().fault(said))
    }

    fn operand(&mut self, kind: &'static MatchKind) -> Result<Operand, RuleFault> {
        if let Some(name) = self.word().and_then(|word| word.strip_prefix('@')) {
            let token = self.next();
            let takes = matches!(kind.value, ValueKind::Ipv4 | ValueKind::Ipv6);
            return match (takes, is_name(name)) {
                (true, true) => Ok(Operand::Set(name.to_owned())),
                (true, false) => Err(token.fault("behind '@' stands the name of a set: write it")),
                _ => Err(token.fault("sets hold addresses: name them behind saddr or daddr")),
            };
        }
        if kind.value == ValueKind::Flags {
            return self.flags().map(|value| Operand::Values(vec![value]));
        }
        let open = self.takes('{');
        let mut values = Vec::new();
        loop {
            self.blank(open);
            values.push(self.value(kind)?);
            self.blank(open);
            let more = self.takes(',');
            self.blank(open && more);
            if open && self.takes('}') {
                break;
            }
            if !more && !open {
                break;
            }
            if !more {
                let token = self.peek();
                let shown = token.shown();
                return Err(token.fault(format!(
                    "'{shown}' stands in {{ }}: write , or }} before it"
                )));
            }
        }
        Ok(Operand::Values(values))
    }

    /// Passes over ends of lines within braces.
    fn blank(&mut self, open: bool) {
        while open && self.at < self.tokens.len() && self.peek().kind == Kind::End {
            self.at += 1;
        }
    }

    fn value(&mut self, kind: &MatchKind) -> Result<Value, RuleFault> {
        let token = self.next();
        let found = match &token.kind {
            Kind::Word(word) if word.starts_with('@') => {
                Err("stands in { }: write a rule for each set, or join their files".to_owned())
            }
            Kind::Word(word) => value(kind, word),
            Kind::Quoted(word) if kind.value == ValueKind::Port => value(kind, word),
            _ => Err(format!(
                "stands where a value is due: write {}",
                kind.value.hint()
            )),
        };
        found.map_err(|said| token.fault(format!("'{}' {said}", token.shown())))
    }

    fn flags(&mut self) -> Result<Value, RuleFault> {
        let set = match self.takes_word("none") {
            true => 0,
            false => self.flag_list()?,
        };
        let token = self.peek();
        let mask = match self.takes_word("/") {
            true => Some(self.flag_list()?),
            false => None,
        };
        match mask {
            None if set == 0 => Err(token.fault("'none' needs the flags that it is about: / MASK")),
            Some(mask) if set & !mask != 0 => {
                Err(token.fault("a flag before the '/' is not behind it: add it there"))
            }
            _ => Ok(Value::Flags(set, mask)),
        }
    }

    fn flag_list(&mut self) -> Result<u8, RuleFault> {
        let mut set = 0;
        loop {
            let token = self.next();
            let word = match &token.kind {
                Kind::Word(word) => word.as_str(),
                _ => "",
            };
            set |=
                flags(word).map_err(|said| token.fault(format!("'{}' {said}", token.shown())))?;
            if !self.takes(',') {
                return Ok(set);
            }
        }
    }
}

pub(super) fn is_name(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !word.is_empty() && word.len() <= 64 && word.chars().all(fits)
}
