//! Which module of a crate uses which, by the paths in its code.

use std::collections::{BTreeMap, BTreeSet};

use super::Module;
use crate::rust_text;

/// The modules of one crate with the paths that stand in them.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// By module: paths from the crate's root.
    paths: BTreeMap<Module, BTreeSet<Module>>,
    /// By module: what it passes on by another path, by name.
    names: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl Uses {
    /// Reads a file, its path in `src`.
    pub(super) fn add(&mut self, path: &str, code: &str) {
        let Some(stem) = path.strip_suffix(".rs") else {
            return;
        };
        let module: Module = match stem {
            "lib" | "main" => Vec::new(),
            _ => stem.split('/').map(str::to_owned).collect(),
        };
        let code = without_tests(code);
        let paths = self.paths.entry(module.clone()).or_default();
        let mut names = BTreeMap::new();
        for statement in use_statements(&code) {
            for (path, name) in expand(statement) {
                let path = absolute(&module, &path);
                names.insert(name, path.clone());
                paths.insert(path);
            }
        }
        paths.extend(plain_paths(&code).map(|path| absolute(&module, &path)));
        self.names.insert(module, names);
    }

    pub(super) fn modules(&self) -> impl Iterator<Item = &Module> {
        self.paths.keys()
    }

    /// Each module with each that it uses.
    pub(super) fn edges(&self) -> impl Iterator<Item = (Module, Module)> {
        self.paths.iter().flat_map(|(from, paths)| {
            let to = paths.iter().filter_map(|path| self.home(path, 0));
            to.map(|to| (from.clone(), to))
        })
    }

    /// The module where a path leads, through names that others pass on; none outside of the crate.
    fn home(&self, path: &[String], depth: usize) -> Option<Module> {
        let ends = (0..=path.len()).rev();
        let end = ends
            .into_iter()
            .find(|&end| self.paths.contains_key(&path[..end]))?;
        let (module, rest) = path.split_at(end);
        let passed_on = rest
            .first()
            .and_then(|name| self.names.get(module)?.get(name));
        match passed_on {
            // `use a::a` may lead back to itself.
            Some(path) if depth < 8 => self.home(path, depth + 1),
            _ if module.is_empty() => None,
            _ => Some(module.to_vec()),
        }
    }
}

/// Code without what stands under `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let tests = rust_text::test_lines(code);
    let is_kept = |line: usize| !tests.iter().any(|lines| lines.contains(&line));
    let lines = (1..).zip(code.lines()).filter(|&(line, _)| is_kept(line));
    lines.map(|(_, text)| text).collect::<Vec<_>>().join("\n")
}

/// What stands between each `use` and its semicolon.
fn use_statements(code: &str) -> impl Iterator<Item = &str> {
    let starts = code.match_indices("use ").filter(|&(at, _)| {
        let before = code[..at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace())
    });
    starts
        .filter_map(|(at, word)| code[at + word.len()..].split_once(';'))
        .map(|(statement, _)| statement)
}

/// The paths of a `use`, each with the name that it has here.
fn expand(tree: &str) -> Vec<(Vec<String>, String)> {
    let Some((before, inside)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, tree));
        let path = segments(path);
        let name = segments(name).pop().unwrap_or_default();
        return vec![(path, name)];
    };
    let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
    let branches = split_outside_braces(inside).into_iter().flat_map(expand);
    let joined = |(path, name)| ([segments(before), path].concat(), name);
    branches.map(joined).collect()
}

fn split_outside_braces(inside: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inside[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[from..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// `self` at the end of a path is the path itself.
fn segments(path: &str) -> Vec<String> {
    let mut segments: Vec<String> = path.split("::").map(|one| one.trim().to_owned()).collect();
    segments.retain(|one| !one.is_empty());
    if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
        segments.pop();
    }
    segments
}

/// Paths that begin with `crate`, `self` or `super`, wherever they stand.
fn plain_paths(code: &str) -> impl Iterator<Item = Vec<String>> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code
        .split(move |c| !is_path(c))
        .filter(|word| word.contains("::"));
    words.map(segments).filter(|path| {
        let first = path.first().map(String::as_str);
        matches!(first, Some("crate" | "self" | "super"))
    })
}

/// A path of `module` from the root; one that begins with a name is a child's, or of elsewhere.
fn absolute(module: &[String], path: &[String]) -> Module {
    match path.split_first() {
        Some((first, rest)) if first == "crate" => rest.to_vec(),
        Some((first, rest)) if first == "self" => [module, rest].concat(),
        Some((first, rest)) if first == "super" => {
            let parent = module.split_last().map_or(&[][..], |(_, parent)| parent);
            match rest.first() {
                Some(next) if next == "super" => absolute(parent, rest),
                _ => [parent, rest].concat(),
            }
        }
        _ => [module, path].concat(),
    }
}
