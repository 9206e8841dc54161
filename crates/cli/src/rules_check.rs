//! `linerate rules`: what a file of rules says, and which rule decides on a packet.

use daemon::rules::RulePlace;
use list::rules::{Operand, Rule, Rules, Scope, Value, test_packet};
use plane::RuleTable;
use serde::Serialize;
use table::classify::{Entry, Shadow, shadows};

use crate::args::{RulesArgs, RulesCheckArgs, RulesCommand, RulesImportArgs};
use crate::build::VERSION;
use crate::control;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::output::{Output, Stream};
use crate::report::number::plural;

/// Sets that rules can name.
const SETS_MAX: usize = table::LISTS_MAX;

/// What was found out, as JSON has it.
#[derive(Debug, Serialize)]
struct Check {
    version: &'static str,
    file: String,
    policy: String,
    rules: usize,
    /// Bytes of the classifier.
    bytes: usize,
    /// Rules that can never match.
    unreachable: Vec<Unreachable>,
    tests: Vec<Test>,
}

#[derive(Debug, Serialize)]
struct Unreachable {
    line: u32,
    rule: String,
    /// The line of the rule that leaves nothing for it; null of one that contradicts itself.
    behind_line: Option<u32>,
}

#[derive(Debug, Serialize)]
struct Test {
    packet: String,
    passes: bool,
    /// The rules that matched, in their order; the last decides unless that is the policy.
    matches: Vec<Matched>,
    by_policy: bool,
}

#[derive(Debug, Serialize)]
struct Matched {
    line: u32,
    rule: String,
}

/// Does what was asked for.
pub(crate) fn run(args: &RulesArgs, output: Output) -> Outcome {
    match &args.command {
        RulesCommand::Check(args) => check(args, output),
        RulesCommand::Import(args) => import(args, output),
        RulesCommand::Load(args) => control::load_rules(args, output),
        RulesCommand::Matches(_) => {
            output.print(Stream::Stdout, &list::rules::reference())?;
            Ok(ExitCode::Done)
        }
    }
}

/// Prints what nft has as a file of rules.
fn import(args: &RulesImportArgs, output: Output) -> Outcome {
    let text = daemon::rules::read_text(&args.file).map_err(Error::refused)?;
    let imported = list::rules::import(&text);
    let imported =
        imported.map_err(|said| Error::refused(format!("{}: {said}", args.file.display())))?;
    imported.left_out.iter().for_each(|said| output.warn(said));
    output.print(Stream::Stdout, &imported.text)?;
    match imported.left_out.is_empty() {
        true => Ok(ExitCode::Done),
        false => Ok(ExitCode::CheckFailed),
    }
}

fn check(args: &RulesCheckArgs, output: Output) -> Outcome {
    let rules = daemon::rules::read(&args.file).map_err(Error::refused)?;
    let stream = Stream::Stdout;
    if args.print {
        output.print(stream, &rules.to_string())?;
        return Ok(ExitCode::Done);
    }
    let shown = args.file.display();
    let scope = scope(&rules, &args.test).map_err(Error::refused)?;
    let entries = rules.entries(&scope);
    let entries = entries.map_err(|fault| Error::refused(format!("{shown}:{fault}")))?;
    let place = RulePlace {
        scope: scope.clone(),
        workers: 1,
    };
    let table = daemon::rules::table(&shown.to_string(), &rules, &place);
    let table = table.map_err(Error::refused)?;
    let tests = args
        .test
        .iter()
        .map(|packet| test(packet, &rules, &table, &scope));
    let check = Check {
        version: VERSION,
        file: shown.to_string(),
        policy: rules.policy.to_string(),
        rules: table.names().rules.len(),
        bytes: table.bytes(),
        unreachable: unreachable(&rules, &entries),
        tests: tests.collect::<Result<_, _>>()?,
    };
    match args.json {
        true => output.print_json(&check)?,
        false => output.print(stream, &text(&check))?,
    };
    match check.tests.iter().all(|test| test.passes) {
        true => Ok(ExitCode::Done),
        false => Ok(ExitCode::CheckFailed),
    }
}

/// All names that the rules and the packets use, as known.
fn scope(rules: &Rules, packets: &[String]) -> Result<Scope, String> {
    let mut scope = Scope {
        stateful: true,
        ..Scope::default()
    };
    let packets = packets.iter().map(|packet| list::rules::described(packet));
    let packets: Vec<_> = packets
        .collect::<Result<_, _>>()
        .map_err(|fault| format!("--test {fault}"))?;
    let matches = rules.all().flat_map(|rule| &rule.matches);
    for found in matches.chain(packets.iter().flatten()) {
        match &found.operand {
            Operand::Set(name) if !scope.sets.contains(name) => scope.sets.push(name.clone()),
            Operand::Set(_) => {}
            Operand::Values(values) => values.iter().for_each(|value| add_port(&mut scope, value)),
        }
    }
    if scope.sets.len() > SETS_MAX {
        let given = scope.sets.len();
        return Err(format!(
            "the rules name {given} sets, and {SETS_MAX} are the most: join some"
        ));
    }
    scope.is_pair = scope.ports.len() <= 2;
    Ok(scope)
}

fn add_port(scope: &mut Scope, value: &Value) {
    if let Value::Port(name) = value {
        let known = scope.ports.iter().any(|names| names.contains(name));
        if !known {
            scope.ports.push(vec![name.clone()]);
        }
    }
}

/// The rules of which no entry can match.
fn unreachable(rules: &Rules, entries: &[Entry]) -> Vec<Unreachable> {
    let all: Vec<&Rule> = rules.all().collect();
    let mut why: Vec<Option<Shadow>> = vec![None; all.len()];
    let mut alive = vec![false; all.len()];
    for (entry, shadow) in entries.iter().zip(shadows(entries)) {
        let rule = entry.rule as usize;
        why[rule] = why[rule].or(shadow);
        alive[rule] |= shadow.is_none();
    }
    let dead = all.iter().zip(why).zip(alive).filter(|(_, alive)| !alive);
    let dead = dead.map(|((rule, why), _)| Unreachable {
        line: rule.line,
        rule: rule.to_string(),
        behind_line: match why {
            Some(Shadow::Behind(entry)) => Some(all[entries[entry].rule as usize].line),
            _ => None,
        },
    });
    dead.collect()
}

fn test(packet: &str, rules: &Rules, table: &RuleTable, scope: &Scope) -> Result<Test, Error> {
    let described = test_packet(packet, scope);
    let described = described.map_err(|fault| Error::refused(format!("--test {fault}")))?;
    let all: Vec<&Rule> = rules.all().collect();
    let mut matched = Vec::new();
    let passes = table.passes(&described.key, |rule| matched.push(rule as usize));
    let by_policy = matched.last() == Some(&all.len());
    let matches = matched.iter().filter_map(|&rule| all.get(rule));
    Ok(Test {
        packet: packet.to_owned(),
        passes,
        matches: matches
            .map(|rule| Matched {
                line: rule.line,
                rule: rule.to_string(),
            })
            .collect(),
        by_policy,
    })
}

fn text(check: &Check) -> String {
    let mut text = format!(
        "{}: {}, policy {}\n",
        check.file,
        plural(check.rules as u64, "rule", "rules"),
        check.policy
    );
    for dead in &check.unreachable {
        let why = match dead.behind_line {
            Some(line) => format!("line {line} decides on all that it would match"),
            None => "it contradicts itself, or nothing jumps to its list".to_owned(),
        };
        text += &format!(
            "  line {} can never match ({why}): {}\n",
            dead.line, dead.rule
        );
    }
    for test in &check.tests {
        let does = if test.passes { "passes" } else { "is dropped" };
        text += &format!("{}: {does}\n", test.packet);
        for matched in &test.matches {
            text += &format!("  line {}: {}\n", matched.line, matched.rule);
        }
        if test.by_policy {
            text += &format!("  no rule decides: policy {}\n", check.policy);
        }
    }
    text
}
