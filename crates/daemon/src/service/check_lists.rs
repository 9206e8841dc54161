//! What `linerate run --check --lists` looks at: whether the start would take the lists that are
//! files here. They are read by the rules of their sets and held against the guards, by a keeper
//! that publishes nothing and keeps nothing. A reload looks so at the lists that it brings.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{StartError, keep};
use crate::config::Config;
use crate::sets::{
    Deferred, Handle, Keeper, LoadedFrom, NoHits, Origin, Publish, Refusal, Reply, Request, SetName,
};
use crate::sources::{self, Accepted, Source, SourceSpec, Sources};

/// What came of reading all lists: sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListsChecked {
    /// Lists that are taken, that are not read, and that are missing and may be.
    pub said: Vec<String>,
    /// Why lists are not taken.
    pub refused: Vec<String>,
}

/// What came of one list.
pub(super) struct ListRead {
    /// The set that it feeds.
    pub(super) set: Arc<str>,
    /// The set must have it at a start.
    required: bool,
    /// A start would go on with the copy of what was accepted before.
    has_copy: bool,
    said: Vec<String>,
    /// Why the list is not taken.
    pub(super) refusal: Option<String>,
}

impl ListRead {
    /// Whether a start ends here.
    pub(super) fn refuses_start(&self) -> bool {
        self.refusal.is_some() && self.required && !self.has_copy
    }
}

/// Sets that nobody sees, for lists to be loaded into.
struct Aside<'a> {
    config: &'a Config,
    handle: Handle,
    _keeper: Keeper,
    folder: PathBuf,
}

/// Reads all lists that are files.
///
/// # Errors
///
/// What no machine would take.
pub fn check_lists(config: &Config) -> Result<ListsChecked, StartError> {
    let (specs, _) = Sources::planned(config)?;
    let mut checked = ListsChecked::default();
    for list in read(config, &specs.iter().collect::<Vec<_>>())? {
        checked.said.extend(list.said);
        checked.refused.extend(list.refusal);
    }
    Ok(checked)
}

/// Reads those lists of a configuration that are files, as a start would.
pub(super) fn read(config: &Config, specs: &[&SourceSpec]) -> Result<Vec<ListRead>, StartError> {
    // Sets of no use would take memory.
    if specs.is_empty() {
        return Ok(Vec::new());
    }
    let aside = Aside::new(config)?;
    Ok(specs.iter().map(|spec| aside.read(spec)).collect())
}

impl<'a> Aside<'a> {
    fn new(config: &'a Config) -> Result<Self, StartError> {
        let publish: Box<dyn Publish> = Box::new(Deferred::default());
        let keeper_config = keep::keeper_config(config, Arc::new(NoHits));
        let (handle, keeper) =
            keep::start(keeper_config, Default::default(), publish, config, false)?;
        handle.set_starting(true);
        Ok(Self {
            config,
            handle,
            _keeper: keeper,
            folder: Sources::folder(config),
        })
    }

    fn read(&self, spec: &SourceSpec) -> ListRead {
        let set = &*spec.set;
        let mut sets = self.config.sets.iter();
        let mut list = ListRead {
            set: Arc::clone(&spec.set),
            required: sets.any(|one| one.name == set && one.required),
            has_copy: false,
            said: Vec::new(),
            refusal: None,
        };
        let name = spec.source.name();
        let Source::File { path } = &spec.source else {
            let said = format!("set '{set}': {name} is not read by --check");
            list.said.push(said);
            return list;
        };
        if !list.required && !path.exists() {
            let shown = path.display();
            let said = format!("set '{set}': {shown} is missing, and may be");
            list.said.push(said);
            return list;
        }
        match self.judge(spec, path, &mut list) {
            Ok(entries) => {
                let shown = path.display();
                let word = if entries == 1 { "entry" } else { "entries" };
                let said = format!("set '{set}': {entries} {word} of {shown}");
                list.said.push(said);
            }
            Err(sentence) => list.refusal = Some(sentence),
        }
        list
    }

    /// Entries of a list that is taken. What was accepted before is loaded first, as at a start.
    fn judge(&self, spec: &SourceSpec, path: &Path, list: &mut ListRead) -> Result<u64, String> {
        let name = path.display().to_string();
        let meta = std::fs::metadata(path).map_err(|error| {
            let accepted = sources::accepted(spec, path, &self.folder);
            list.has_copy = matches!(accepted, Ok(Accepted::Copy(_)));
            format!("{name} cannot be read: {error}")
        })?;
        // Opening it would wait for a FIFO's other end.
        if !meta.is_file() {
            return Err(format!("{name} is not a regular file: name the list"));
        }
        let accepted = sources::accepted(spec, path, &self.folder);
        let accepted = accepted.map_err(|error| error.to_string());
        let before = match accepted {
            Ok(Accepted::Same) => return self.load(spec, path, true),
            Ok(Accepted::Copy(copy)) => self.load(spec, &copy, true).map(|_| true),
            Ok(Accepted::Nothing) => Ok(false),
            Err(why) => Err(why),
        };
        match before {
            Ok(has_copy) => list.has_copy = has_copy,
            Err(why) => {
                let set = &spec.set;
                let said = format!("set '{set}': max_change was not checked, since {why}");
                list.said.push(said);
            }
        }
        self.load(spec, path, false)
    }

    fn load(&self, spec: &SourceSpec, path: &Path, force: bool) -> Result<u64, String> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| format!("{name} cannot be read: {error}"))?;
        let read = sources::read_list(&name, file, spec, force);
        let read = read.map_err(|error| error.to_string())?;
        let source = LoadedFrom {
            file: Some(path.to_owned()),
            columns: spec.text.columns.clone(),
            json_paths: spec.text.json_paths.clone(),
            bytes: read.bytes_read,
            ..LoadedFrom::named(name)
        };
        let loaded = self.handle.ask(Request::Load {
            set: SetName::new(&spec.set).map_err(|error| error.to_string())?,
            entries: read.entries,
            source,
            origin: Origin::File,
            force,
        });
        match loaded.map_err(|refusal: Refusal| refusal.to_string())? {
            Reply::Loaded(load) => Ok(load.entries),
            _ => Err("the keeper answered another question: report this".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_is_read_and_judged_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        write("good.txt", "198.51.100.1\n198.51.100.2\n");
        write("empty.txt", "# no entries today\n");
        write("bad.txt", "198.51.100.1\nexample.com\n");
        write("private.txt", "10.0.0.0/8\n");
        let set = |name: &str, action: &str, more: &str| {
            format!("[[set]]\nname='{name}'\nsource='{name}.txt'\naction='{action}'\n{more}\n")
        };
        let text = [
            "[[port]]\nspec='null:'\n[[port]]\nname='b'\nspec='gen:'\n[state]\nkeep=false\n",
            &set("good", "block", ""),
            &set("empty", "block", ""),
            &set("bad", "block", ""),
            &set("private", "block", ""),
            &set("absent", "block", "required = false"),
            "[[set]]\nname='net'\nsource='https://a.example/'\naction='block'\n",
        ];
        let path = folder.path().join("a.toml");
        let config = Config::parse(&path, &text.concat()).expect("a configuration");
        let checked = check_lists(&config).expect("sets");
        let has = |sentences: &[String], wanted: &[&str]| {
            assert_eq!(sentences.len(), wanted.len(), "{sentences:?}");
            for (sentence, wanted) in sentences.iter().zip(wanted) {
                assert!(sentence.contains(wanted), "{sentence}");
            }
        };
        let said = [
            "set 'good': 2 entries",
            "absent.txt is missing",
            "a.example/ is not read",
        ];
        has(&checked.said, &said);
        let wanted = [
            "allow_empty = true",
            "bad.txt:2: \"example.com\"",
            "private.txt:1: 10.",
        ];
        has(&checked.refused, &wanted);
        assert!(
            !checked
                .refused
                .iter()
                .any(|sentence| sentence.contains("--force"))
        );
    }
}
