//! `rules load`: other rules of packets for a running daemon.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use daemon::rpc::answers::{RulesLoadParams, RulesLoaded};

use super::file::{LOADED_WITHIN, shown};
use super::{connect, failed, tell};
use crate::args::RulesLoadArgs;
use crate::error::{Error, Outcome};
use crate::output::Output;
use crate::report::number::{count, plural};

/// Has a daemon go by the rules of a file.
pub(crate) fn load_rules(args: &RulesLoadArgs, output: Output) -> Outcome {
    let name = &args.file;
    let mut client = connect(&args.daemon)?;
    client.allow(LOADED_WITHIN);
    let params = RulesLoadParams { file: shown(name) };
    let sent = if name == "-" {
        client.send_file("rules.load", &params, io::stdin().as_fd())
    } else {
        let file = File::open(name).map_err(|error| {
            Error::refused(format!(
                "cannot read rules {name}: {error}; check the path and its permissions"
            ))
        })?;
        client.send_file("rules.load", &params, file.as_fd())
    };
    let loaded: RulesLoaded = sent.and_then(|sent| client.wait(sent)).map_err(failed)?;
    let before = loaded.before.map_or_else(|| "none".to_owned(), count);
    let said = format!(
        "{} and policy {} hold from now on; before: {before}\n",
        plural(loaded.rules, "rule", "rules"),
        loaded.policy
    );
    tell(args.json, &loaded, &said, output)
}
