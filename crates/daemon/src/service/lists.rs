//! The lists that a daemon begins with.

use std::fs::File;

use list::ReadOptions;
use port::PortSpec;
use table::{CompileError, CompiledLists, Entries};

use super::{StartError, rules};
use crate::Samples;
use crate::config::{Config, SetConfig, Source};

/// One list a rule, in its order.
pub(super) struct Lists(Vec<Entries>);

/// Reads the files of the configuration.
pub(super) fn read(config: &Config) -> Result<Lists, StartError> {
    let sets = config.sets.iter().map(read_set);
    let kept = rules::kept(config).map(|space| Ok(space.entries()));
    sets.chain(kept).collect::<Result<_, _>>().map(Lists)
}

fn read_set(set: &SetConfig) -> Result<Entries, StartError> {
    let Some(Source::File(path)) = &set.source else {
        return Ok(Entries::default());
    };
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        StartError::Other(format!(
            "cannot read list {name}: {error}; check the path and its permissions"
        ))
    })?;
    let options = ReadOptions {
        column: set.column,
        skip_bad_lines: set.skip_bad_lines,
        ..ReadOptions::default()
    };
    Ok(list::read(&name, file, &options, &mut |_| {})?.entries)
}

impl Lists {
    /// For generators among the ports to draw hits from.
    pub(super) fn samples(&self, config: &Config) -> Samples {
        let mut ports = config.ports.iter();
        match ports.any(|port| matches!(port.spec, PortSpec::Gen(_))) {
            true => Samples::of(&self.0.iter().collect::<Vec<_>>()),
            false => Samples::default(),
        }
    }

    pub(super) fn compile(&self) -> Result<CompiledLists, CompileError> {
        CompiledLists::compile(&self.0.iter().collect::<Vec<_>>())
    }
}
