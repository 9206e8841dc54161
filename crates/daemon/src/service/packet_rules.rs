//! Rules of packets under the daemon: made of the configuration's file or of one given by hand,
//! replaced whole while frames go by, and what they counted.

use std::fs;
use std::io::Read;
use std::sync::Arc;

use list::rules::{Rules, Scope};
use plane::{RuleCount, RuleName, RuleTable};

use super::inner::Inner;
use super::{StartError, keep, sets};
use crate::config::{Config, PipelineKind};
use crate::metrics::{RuleFigure, RuleFigures};
use crate::rpc::answers::{self, RuleFacts, RulesLoadParams, RulesLoaded, RulesParams};
use crate::rpc::{ErrorKind, RpcError, no_rules};
use crate::rules::{self, RulePlace};
use crate::sets::{KeeperConfig, RecentHits, Request};
use crate::switch::NamedPort;

/// Rules in one part of an answer, at most.
const PART_RULES: usize = 1024;
/// Bytes of their texts, at most: less than a line of the control socket has.
const PART_BYTES: usize = 128 << 10;
/// Bytes of one text that are shown.
const TEXT_BYTES: usize = 4096;
/// Rules that metrics have, and bytes of their texts there.
const METRICS_RULES: usize = 1000;
const METRICS_BYTES: usize = 160;

/// What the keeper is told when a daemon begins, with the rules.
pub(super) fn beside(
    config: &Config,
    hits: Arc<dyn RecentHits>,
    workers: usize,
) -> Result<KeeperConfig, StartError> {
    let made = of_config(config, workers).map_err(StartError::Other)?;
    Ok(KeeperConfig {
        packet_rules: made.map(Arc::new),
        ..keep::keeper_config(config, hits)
    })
}

/// The rules of a configuration's file, if it names one.
pub(super) fn of_config(config: &Config, workers: usize) -> Result<Option<RuleTable>, String> {
    let Some(file) = config.rules_file() else {
        return Ok(None);
    };
    let wrong = |sentence: String| format!("rules in [[pipeline]]: {sentence}");
    // What is no file, as a FIFO, could keep a reload waiting for ever.
    if fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        return Err(wrong(format!("{} is no file: name one", file.display())));
    }
    let read = rules::read(file).map_err(wrong)?;
    made(config, (&file.display().to_string(), &read), workers)
        .map(Some)
        .map_err(wrong)
}

fn made(
    config: &Config,
    (name, read): (&str, &Rules),
    workers: usize,
) -> Result<RuleTable, String> {
    let place = RulePlace {
        scope: scope(config),
        workers,
    };
    rules::table(name, read, &place)
}

/// What names mean in rules of this configuration.
fn scope(config: &Config) -> Scope {
    let named = config.ports.iter().map(|port| NamedPort {
        name: Some(port.name.clone()),
        spec: port.spec.to_string(),
    });
    let mut kinds = config.pipelines.iter().map(|pipeline| &pipeline.kind);
    Scope {
        ports: named
            .zip(1..)
            .map(|(port, number)| rules::port_names(&port, number))
            .collect(),
        sets: keep::sets(config)
            .into_iter()
            .map(|set| set.rule.name)
            .collect(),
        stateful: config.stateful.is_some(),
        is_pair: kinds.all(|kind| matches!(kind, PipelineKind::Bridge)),
    }
}

/// The rules that workers go by.
pub(super) fn in_force(inner: &Inner) -> Option<Arc<RuleTable>> {
    let publisher = inner.publisher.get()?;
    publisher.current().policy().packet_rules.clone()
}

/// Rules that a configuration asks for, and what a reload says of them where they are others.
pub(super) struct Next {
    pub(super) table: Option<Arc<RuleTable>>,
    pub(super) said: Option<String>,
}

/// What the configuration of a reload asks for. The file is read again; rules that are the same go
/// on counting.
pub(super) fn next(inner: &Inner, config: &Config) -> Result<Next, String> {
    let before = in_force(inner);
    let after = of_config(config, inner.workers)?;
    if before.as_deref() == after.as_ref() {
        let said = None;
        return Ok(Next {
            table: before,
            said,
        });
    }
    let count = |table: Option<&RuleTable>| match table {
        Some(table) => format!("{} and policy {}", counted(table), table.policy_word()),
        None => "none".to_owned(),
    };
    let (now, then) = (count(after.as_ref()), count(before.as_deref()));
    Ok(Next {
        table: after.map(Arc::new),
        said: Some(format!("the rules are others: {now}; before: {then}")),
    })
}

fn counted(table: &RuleTable) -> String {
    match table.names().rules.len() {
        1 => "1 rule".to_owned(),
        many => format!("{many} rules"),
    }
}

/// Has the rules of an open file hold from now on, until a reload or the end.
pub(super) fn load(
    inner: &Inner,
    params: &RulesLoadParams,
    input: &mut dyn Read,
) -> Result<RulesLoaded, RpcError> {
    let refused = |sentence: String| RpcError::new(ErrorKind::Refused, sentence);
    inner.observer()?;
    let name = &params.file;
    let text = rules::bounded(name, input).map_err(refused)?;
    let read = rules::parsed(name, &text).map_err(refused)?;
    // Held until they are in force: a reload makes rules for other sets.
    let live = inner.live();
    let table = made(&live.config, (name, &read), inner.workers).map_err(refused)?;
    let loaded = RulesLoaded {
        rules: table.names().rules.len() as u64,
        before: in_force(inner).map(|table| table.names().rules.len() as u64),
        policy: table.policy_word().to_owned(),
    };
    let packet_rules = Some(Arc::new(table));
    let asked = sets::handle(&inner.keeping).ask(Request::SetRules { packet_rules });
    asked.map_err(|refusal| sets::refused(&refusal))?;
    tracing::info!(file = %name, rules = loaded.rules, policy = loaded.policy, "rules were loaded");
    Ok(loaded)
}

/// What `show.rules` answers.
pub(super) fn show(inner: &Inner, params: &RulesParams) -> Result<answers::Rules, RpcError> {
    let observer = inner.observer()?;
    let table = in_force(inner).ok_or_else(no_rules)?;
    let counts = table.counts().read();
    let otherwise = counts.last().copied().unwrap_or_default();
    let named = &table.names().rules;
    let from = usize::try_from(params.from.unwrap_or(0)).unwrap_or(usize::MAX);
    let (mut facts, mut bytes) = (Vec::new(), 0);
    for (number, (rule, count)) in named.iter().zip(&counts).enumerate().skip(from) {
        if facts.len() == PART_RULES || bytes > PART_BYTES {
            break;
        }
        let fact = fact(number, rule, *count);
        bytes += fact.rule.len();
        facts.push(fact);
    }
    let next = from.saturating_add(facts.len());
    Ok(answers::Rules {
        seconds: observer.snapshot().seconds,
        file: table.names().source.clone(),
        policy: table.policy_word().to_owned(),
        policy_packets: otherwise.packets,
        policy_bytes: otherwise.bytes,
        count: named.len() as u64,
        rules: facts,
        next: (next < named.len()).then_some(next as u64),
    })
}

fn fact(number: usize, rule: &RuleName, count: RuleCount) -> RuleFacts {
    RuleFacts {
        number: number as u64 + 1,
        line: rule.line,
        rule: cut(&rule.text, TEXT_BYTES),
        packets: count.packets,
        bytes: count.bytes,
    }
}

/// A text, cut where it has more bytes.
fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = (0..=bytes - 4).rev().find(|&at| text.is_char_boundary(at));
    format!("{} ...", &text[..end.unwrap_or(0)])
}

/// What metrics have of the rules.
pub(super) fn figures(inner: &Inner) -> Option<RuleFigures> {
    let table = in_force(inner)?;
    let counts = table.counts().read();
    let named = &table.names().rules;
    let texts = named.iter().zip(1..).take(METRICS_RULES);
    let figure = |rule: String, text: String, count: &RuleCount| RuleFigure {
        rule,
        text,
        packets: count.packets,
        bytes: count.bytes,
    };
    let of_rules = texts.zip(&counts).map(|((rule, number), count)| {
        figure(number.to_string(), cut(&rule.text, METRICS_BYTES), count)
    });
    let policy = table.policy_word().to_owned();
    let of_policy = counts
        .last()
        .map(|count| figure("policy".to_owned(), policy.clone(), count));
    Some(RuleFigures {
        count: named.len() as u64,
        rules: of_rules.chain(of_policy).collect(),
        policy,
    })
}
