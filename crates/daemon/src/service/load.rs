//! Lists that come by the control socket.

use std::io::Read;

use list::{Column, Columns, JsonPath, Purpose, ReadOptions, Wording};

use super::reading;
use super::sets::{KeptSets, mismatched, named, refused};
use crate::rpc::answers::{LoadParams, Loaded};
use crate::rpc::{ErrorKind, RpcError};
use crate::sets::{LoadedFrom, Origin, Reply, Request, SetName};
use crate::sources;

/// How the text of a list is read.
#[derive(Default)]
struct ReadBy {
    columns: Option<Columns>,
    json_paths: Vec<JsonPath>,
}

impl ReadBy {
    fn of(params: &LoadParams) -> Result<Self, RpcError> {
        let wrong = |why: String| RpcError::params(format!("params of set.load: {why}"));
        let given = [&params.column, &params.columns, &params.json_path];
        if given.into_iter().flatten().count() > 1 {
            let why = "column, columns and json_path stand alone";
            return Err(wrong(why.to_owned()));
        }
        let column = params.column.as_ref().map(|text| text.parse::<Column>());
        let columns = params.columns.as_ref().map(|text| text.parse::<Columns>());
        let column = column.transpose().map_err(wrong)?.map(Columns::One);
        let paths = params.json_path.as_deref().map(JsonPath::parse_all);
        Ok(Self {
            columns: column.or(columns.transpose().map_err(wrong)?),
            json_paths: paths
                .transpose()
                .map_err(|error| wrong(error.to_string()))?
                .unwrap_or_default(),
        })
    }

    fn read(
        &self,
        params: &LoadParams,
        purpose: Purpose,
        input: &mut dyn Read,
    ) -> Result<list::Loaded, RpcError> {
        let options = ReadOptions {
            columns: self.columns.clone(),
            json_paths: self.json_paths.clone(),
            everything: params.force,
            purpose,
            wording: Wording::Load,
            ..ReadOptions::default()
        };
        let read = list::read(&params.file, input, &options, &mut |_| {});
        read.map_err(|error| RpcError::new(ErrorKind::Refused, error))
    }
}

impl KeptSets {
    /// What the entries of a set are for, by its action now.
    fn purpose(&self, set: SetName) -> Result<Purpose, RpcError> {
        match self.ask(Request::Show { set })? {
            Reply::Set(facts) => Ok(sources::purpose(facts.rule.action)),
            _ => Err(mismatched()),
        }
    }

    /// Replaces the file part of a set by the list that `input` holds. Where the set has no source,
    /// the text is kept for the next start.
    pub(super) fn load_list(
        &self,
        params: &LoadParams,
        input: &mut dyn Read,
    ) -> Result<Loaded, RpcError> {
        let set = named(&params.set)?;
        self.fixed.guard(&params.set, params.force)?;
        let read_by = ReadBy::of(params)?;
        // A set that is not there needs no text of it.
        let handle = self.handle();
        let pending = handle
            .begin_load(&set)
            .map_err(|refusal| refused(&refusal))?;
        let arrived = match reading::has_source(&self.asking, &params.set) {
            true => None,
            false => self.lists.spool(&params.set, &params.file, input)?,
        };
        let mut text;
        let input = match &arrived {
            Some(arrived) => {
                text = arrived.open()?;
                &mut text
            }
            None => input,
        };
        let read = match read_by.read(params, self.purpose(set)?, input) {
            Ok(read) => read,
            Err(error) => {
                // Gone by now: then there is nobody to tell.
                let _ = pending.give_up(error.message.clone());
                return Err(error);
            }
        };
        let warnings = read.warnings.iter().map(ToString::to_string);
        let warnings = warnings.collect();
        let kept = arrived.as_ref().map(|arrived| &arrived.text);
        let from = LoadedFrom {
            file: kept.map(|text| text.path.clone()),
            columns: read_by.columns,
            json_paths: read_by.json_paths,
            bytes: kept.map_or(read.bytes_read, |text| text.bytes),
            kept: kept.map(|text| text.crc32),
            ..LoadedFrom::named(params.file.clone())
        };
        let reply = pending.finish(read.entries, from, Origin::Hand, params.force);
        let reply = reply.map_err(|refusal| refused(&refusal))?;
        if let Some(arrived) = arrived {
            arrived.keep();
        }
        match reply {
            Reply::Loaded(load) => Ok(Loaded {
                entries: load.entries,
                added: load.added,
                removed: load.removed,
                forced: load.forced,
                warnings,
                seconds: 0.0,
            }),
            _ => Err(mismatched()),
        }
    }
}
