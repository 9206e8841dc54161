//! The sets of the policy: names, actions, sides and where each comes from.

use std::collections::HashSet;
use std::fs;

use plane::{Action, Otherwise, Policy, SetRule, Sides};

use crate::args::{self, Keep, MatchRule, PolicyArgs, SetFile};
use crate::error::Error;

/// Where the entries of a set come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A list, as written by the user; `-` is standard input.
    File(String),
    /// Address space to keep.
    Keep(Keep),
}

/// The sets of a policy, one source a rule, in the same order.
#[derive(Clone, Debug)]
pub(crate) struct SetPlan {
    pub(crate) policy: Policy,
    pub(crate) sources: Vec<Source>,
}

impl SetPlan {
    /// Names the sets and looks whether their files are there.
    pub(crate) fn resolve(args: &PolicyArgs) -> Result<Self, Error> {
        let given = given(args);
        let files: Vec<&SetFile> = given.iter().map(|&(file, ..)| file).collect();
        for file in &files {
            check_file(file)?;
        }
        let names = names(&files);
        let rules = given
            .iter()
            .zip(names)
            .map(|(&(_, action, sides), name)| SetRule::new(name, action, sides));
        let mut rules: Vec<SetRule> = rules.collect();
        let mut sources: Vec<Source> = files
            .iter()
            .map(|file| Source::File(file.file.clone()))
            .collect();
        for &space in &distinct(&args.keep) {
            let name = format!("keep-{}", keep_name(space));
            rules.push(SetRule::new(name, Action::Allow, Sides::BOTH));
            sources.push(Source::Keep(space));
        }
        looks_at(&args.tunnels.matching, &mut rules)?;
        let mut policy = Policy::new(rules).map_err(Error::refused)?;
        policy.tunnels = args.tunnels.policy()?;
        policy.default = otherwise(args.default);
        policy.non_ip = otherwise(args.non_ip);
        policy.malformed = args.malformed.map_or(Otherwise::Drop, otherwise);
        policy.pass = args.pass;
        if policy.default == Otherwise::Drop && !has_allow(&policy) {
            return Err(Error::refused(
                "--default drop without --allow FILE would drop all IP frames but those of --pass: \
                 name what may pass",
            ));
        }
        Ok(Self { policy, sources })
    }

    /// The files that sets are read from.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().filter_map(|source| match source {
            Source::File(file) if file != "-" => Some(file.as_str()),
            _ => None,
        })
    }

    /// How many sets are read from standard input.
    pub(crate) fn stdin_count(&self) -> usize {
        let stdin = Source::File("-".to_owned());
        self.sources
            .iter()
            .filter(|&source| *source == stdin)
            .count()
    }
}

/// Which headers each set looks at: of what is said of all sets, and of one, the last holds.
fn looks_at(said: &[MatchRule], rules: &mut [SetRule]) -> Result<(), Error> {
    for all in said.iter().filter(|said| said.set.is_none()) {
        rules.iter_mut().for_each(|rule| rule.headers = all.headers);
    }
    for said in said {
        let Some(name) = &said.set else {
            continue;
        };
        let mut rules = rules.iter_mut();
        let rule = rules.find(|rule| rule.name == *name).ok_or_else(|| {
            Error::refused(format!(
                "--match {name}={}: no set is named '{name}'; name one of those given",
                said.headers.name()
            ))
        })?;
        rule.headers = said.headers;
    }
    Ok(())
}

/// How many of these files are standard input.
pub(crate) fn stdin_count(files: &[SetFile]) -> usize {
    files.iter().filter(|file| file.is_stdin()).count()
}

/// The word for address space to keep.
pub(crate) fn keep_name(keep: Keep) -> &'static str {
    match keep {
        Keep::Private => "private",
        Keep::Local => "local",
    }
}

fn given(args: &PolicyArgs) -> Vec<(&SetFile, Action, Sides)> {
    let groups = [
        (&args.block, Action::Block, Sides::BOTH),
        (&args.block_src, Action::Block, Sides::SRC),
        (&args.block_dst, Action::Block, Sides::DST),
        (&args.count, Action::Count, Sides::BOTH),
        (&args.allow, Action::Allow, Sides::BOTH),
        (&args.set, Action::Count, Sides::NONE),
    ];
    let group = |(files, action, sides)| {
        let files: &Vec<SetFile> = files;
        files.iter().map(move |file| (file, action, sides))
    };
    groups.into_iter().flat_map(group).collect()
}

fn distinct(keep: &[Keep]) -> Vec<Keep> {
    let both = [Keep::Private, Keep::Local];
    both.into_iter()
        .filter(|space| keep.contains(space))
        .collect()
}

fn has_allow(policy: &Policy) -> bool {
    policy
        .rules()
        .iter()
        .any(|rule| rule.action == Action::Allow)
}

fn otherwise(typed: args::Otherwise) -> Otherwise {
    match typed {
        args::Otherwise::Forward => Otherwise::Forward,
        args::Otherwise::Drop => Otherwise::Drop,
    }
}

/// Names as given; two files of one stem become `stem` and `stem-2`. Two equal given names stay
/// as they are, for the policy to refuse.
fn names(files: &[&SetFile]) -> Vec<String> {
    let mut taken: HashSet<String> = files.iter().filter_map(|file| file.name.clone()).collect();
    let mut name = |file: &&SetFile| {
        let stem = file.name_or_stem();
        if file.name.is_some() || taken.insert(stem.clone()) {
            return stem;
        }
        let numbered = (2..).map(|number| format!("{stem}-{number}"));
        numbered
            .into_iter()
            .find(|name| taken.insert(name.clone()))
            .unwrap_or(stem)
    };
    files.iter().map(&mut name).collect()
}

/// Looks at the file without opening it: opening a pipe twice would lose what is in it.
pub(crate) fn check_file(set: &SetFile) -> Result<(), Error> {
    if set.is_stdin() {
        return Ok(());
    }
    let file = &set.file;
    match fs::metadata(file) {
        Ok(found) if found.is_dir() => Err(Error::refused(format!(
            "cannot read list {file}: it is a folder; name the files in it"
        ))),
        Ok(_) => Ok(()),
        Err(error) => Err(Error::refused(format!(
            "cannot read list {file}: {error}; {}",
            set.path_remedy()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stems_are_told_apart() {
        let files: Vec<SetFile> = ["a/x.txt", "b/x.txt", "x-2=c.txt", "c/x.gz", "y"]
            .iter()
            .map(|text| match text.parse() {
                Ok(file) => file,
                Err(never) => match never {},
            })
            .collect();
        let files: Vec<&SetFile> = files.iter().collect();
        assert_eq!(names(&files), ["x", "x-3", "x-2", "x-4", "y"]);
    }
}
