//! From the sets of a policy to one compiled structure: files opened and read, progress shown,
//! warnings given, memory attributed.

use std::fs::File;
use std::io::{self, Read};

use daemon::Samples;
use daemon::config::Space;
use list::{Finding, ListError, Loaded, OwnAddress, Progress, Purpose, ReadOptions};
use plane::Action;
use table::{CompiledLists, Entries};

use crate::args::{Keep, ReadArgs};
use crate::error::Error;
use crate::output::Output;
use crate::report::SetFacts;
use crate::report::number::{brief, bytes, count, plural};
use crate::resolve::{SetPlan, Source};
use crate::screen::Screen;

/// Warnings shown of one list; the rest is counted.
pub(crate) const WARNINGS_SHOWN_MAX: usize = 10;

/// How lists are to be read, the same for all of a command.
#[derive(Clone, Debug)]
pub(crate) struct ReadChoices {
    options: ReadOptions,
    /// A list without entries is loaded.
    allow_empty: bool,
}

/// All sets of a policy, loaded.
pub(crate) struct LoadedSets {
    /// One list a rule of the policy, in its order.
    pub(crate) compiled: CompiledLists,
    /// The same as given.
    entries: Vec<Entries>,
}

impl ReadChoices {
    /// What the options mean, and which addresses of this machine deserve a warning.
    pub(crate) fn new(args: &ReadArgs, skip_bad_lines: bool) -> Self {
        let own = engine::own_addresses().into_iter();
        let own = own.map(|own| OwnAddress {
            address: own.address,
            role: phrase(own.role),
        });
        let options = ReadOptions {
            columns: args.places.columns(),
            json_paths: args
                .places
                .json_path
                .iter()
                .flat_map(|paths| paths.0.clone())
                .collect(),
            skip_bad_lines,
            force: args.force,
            own: own.collect(),
            ..ReadOptions::default()
        };
        Self {
            options,
            allow_empty: args.allow_empty,
        }
    }

    /// Why a list that was read is not loaded all the same: it holds nothing, and was not said to.
    pub(crate) fn refusal(&self, file: &str, loaded: &Loaded) -> Option<String> {
        match (loaded.entry_count, loaded.bad_count) {
            (0, 0) if !self.allow_empty => Some(format!(
                "{file} holds no entries (read as {}): give a list that does, or load it as it is \
                 with --allow-empty",
                loaded.format
            )),
            (0, bad_count) if bad_count != 0 => {
                let remedy = list::remedy(&loaded.bad, bad_count, 0);
                let lines = plural(bad_count, "bad line", "bad lines");
                Some(format!("{file} has {lines}: {remedy}"))
            }
            _ => None,
        }
    }

    /// The same for a list of another purpose.
    pub(crate) fn with_purpose(&self, purpose: Purpose) -> Self {
        let mut choices = self.clone();
        choices.options.purpose = purpose;
        choices
    }

    pub(crate) fn options(&self) -> &ReadOptions {
        &self.options
    }
}

/// For sentences: what the address is to this machine.
fn phrase(role: engine::Role) -> &'static str {
    match role {
        engine::Role::Address => "an address of this machine",
        engine::Role::Gateway => "a gateway of this machine",
        engine::Role::Resolver => "a name server of this machine",
    }
}

/// Opens a list: a path, or `-` for standard input.
pub(crate) fn open(file: &str) -> Result<Box<dyn Read>, Error> {
    if file == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    match File::open(file) {
        Ok(opened) => Ok(Box::new(opened)),
        Err(error) => Err(Error::refused(format!(
            "cannot read list {file}: {error}; check the path and its permissions"
        ))),
    }
}

/// The name of a list in messages.
pub(crate) fn shown(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

/// Reads one list and shows how far it has come when that takes time.
pub(crate) fn read(
    file: &str,
    input: impl Read,
    choices: &ReadChoices,
    output: Output,
) -> Result<Loaded, ListError> {
    let shown = shown(file);
    let mut screen = Screen::new(output);
    let mut progress = |progress: Progress| {
        if screen.is_due() {
            screen.show(&progress_line(shown, progress));
        }
    };
    list::read(shown, input, &choices.options, &mut progress)
}

fn progress_line(file: &str, progress: Progress) -> Vec<String> {
    vec![
        format!("  {:>9} entries", brief(progress.entries as f64)),
        bytes(progress.bytes_read),
        format!("reading {file}"),
    ]
}

/// Loads all sets, with a sieve where a port has use for it. One that cannot be loaded refuses them
/// all.
pub(crate) fn load_sets(
    plan: &SetPlan,
    choices: &ReadChoices,
    sieved: bool,
    output: Output,
) -> Result<LoadedSets, Error> {
    let mut entries = Vec::with_capacity(plan.sources.len());
    let kept = plan
        .sources
        .iter()
        .any(|source| matches!(source, Source::Keep(_)));
    let mut covers_space = false;
    for (rule, source) in plan.policy.rules().iter().zip(&plan.sources) {
        entries.push(match source {
            Source::Keep(space) => keep(*space),
            Source::File(file) => {
                let purpose = daemon::sources::purpose(rule.action);
                let choices = choices.with_purpose(purpose);
                let loaded = read(file, open(file)?, &choices, output).map_err(refused)?;
                if let Some(why) = choices.refusal(shown(file), &loaded) {
                    loaded
                        .bad
                        .iter()
                        .for_each(|bad| output.complain(&bad.to_string()));
                    return Err(Error::refused(why));
                }
                let concerns = rule.action != Action::Allow;
                covers_space |= concerns && loaded.warnings.iter().any(|found| found.line != 0);
                speak(&rule.name, &loaded, concerns, output);
                loaded.entries
            }
        });
    }
    if covers_space && !kept {
        output.warn("--keep private,local exempts such addresses from the sets that block them");
    }
    let lists: Vec<&Entries> = entries.iter().collect();
    let compiled = match sieved {
        true => CompiledLists::compile_with_sieve(&lists),
        false => CompiledLists::compile(&lists),
    };
    let compiled = compiled.map_err(Error::refused)?;
    Ok(LoadedSets { compiled, entries })
}

fn refused(error: ListError) -> Error {
    Error::refused(error)
}

/// What a list that was loaded has to say. What an allow set covers is no concern.
fn speak(name: &str, loaded: &Loaded, concerns: bool, output: Output) {
    if loaded.bad_count != 0 {
        for bad in &loaded.bad {
            output.warn(&bad.to_string());
        }
        output.warn(&format!(
            "set {name}: {} left out, {} loaded",
            plural(loaded.bad_count, "bad line", "bad lines"),
            plural(loaded.entry_count, "entry", "entries"),
        ));
    }
    let relevant: Vec<&Finding> = loaded
        .warnings
        .iter()
        .filter(|found| concerns || found.line == 0)
        .collect();
    for finding in relevant.iter().take(WARNINGS_SHOWN_MAX) {
        output.warn(&finding.to_string());
    }
    let shown = relevant.len().min(WARNINGS_SHOWN_MAX) as u64;
    if concerns && loaded.warning_count > shown {
        let more = count(loaded.warning_count - shown);
        output.warn(&format!(
            "set {name}: and {more} more such lines; 'set check' tells of them"
        ));
    }
}

fn keep(space: Keep) -> Entries {
    match space {
        Keep::Private => Space::Private.entries(),
        Keep::Local => Space::Local.entries(),
    }
}

impl LoadedSets {
    /// For the generator to draw hits from.
    pub(crate) fn samples(&self) -> Samples {
        Samples::of(&self.entries.iter().collect::<Vec<_>>())
    }

    /// One place a set, in the policy's order.
    pub(crate) fn facts(&self) -> Vec<SetFacts> {
        let entries: Vec<u64> = self
            .entries
            .iter()
            .map(|list| list.count() as u64)
            .collect();
        let bytes = attribute(self.compiled.bytes() as u64, &entries);
        entries
            .iter()
            .zip(bytes)
            .map(|(&entries, bytes)| SetFacts { entries, bytes })
            .collect()
    }
}

/// The bytes of the one structure, by share of entries. The parts add up to the whole: each is
/// the distance of two rounded running sums. Without entries the first set bears it all.
pub(crate) fn attribute(whole: u64, entries: &[u64]) -> Vec<u64> {
    let total: u128 = entries.iter().map(|&n| u128::from(n)).sum();
    let up_to = |sum: u128, place: usize| match (u128::from(whole) * sum).checked_div(total) {
        Some(bytes) => bytes as u64,
        None if place == 0 => 0,
        None => whole,
    };
    let mut sum = 0;
    let mut part = |(place, &entries): (usize, &u64)| {
        let before = up_to(sum, place);
        sum += u128::from(entries);
        up_to(sum, place + 1) - before
    };
    entries.iter().enumerate().map(&mut part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up() {
        for (whole, entries) in [
            (100, vec![1, 1, 1]),
            (7, vec![0, 5, 0, 2]),
            (0, vec![3, 4]),
            (64, vec![0, 0]),
            (u64::MAX, vec![1 << 40, 1, 1 << 50]),
        ] {
            let parts = attribute(whole, &entries);
            let sum: u128 = parts.iter().map(|&part| u128::from(part)).sum();
            assert_eq!(
                sum,
                u128::from(whole),
                "{whole} over {entries:?} is {parts:?}"
            );
        }
        assert_eq!(attribute(100, &[1, 3]), [25, 75]);
        assert_eq!(attribute(64, &[0, 0]), [64, 0]);
        assert!(attribute(64, &[]).is_empty());
    }
}
