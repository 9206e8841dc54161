//! Commands that speak to a running daemon, over its control socket and nothing else.
//!
//! [`entries`] adds and deletes, one or a million; [`etcd`] does so for a group; [`mod@file`]
//! loads and saves, [`rules`] loads rules; [`sets`] tells of sets, [`tested`] of an address;
//! [`mod@health`] says whether traffic may be sent to it; [`mod@show`] tells of the rest, once or
//! again and again.

mod ago;
mod entries;
mod etcd;
mod file;
mod health;
mod lines;
mod rules;
mod sets;
pub(crate) mod show;
mod tested;

use std::env;
use std::path::PathBuf;

use daemon::rpc::answers::{NoParams, Reloaded};
use daemon::rpc::{Client, ClientError, SOCKET_DEFAULT};
use serde::Serialize;

use crate::args::{ReloadArgs, SetCommand, SocketArgs};
use crate::error::{Error, Outcome};
use crate::output::{Output, Stream};

pub(crate) use health::{drain, health};
pub(crate) use rules::load_rules;
pub(crate) use sets::counts;
pub(crate) use show::run as show;

/// The variable of the environment that names the socket.
const SOCKET_VARIABLE: &str = "LINERATE_SOCKET";

/// `linerate set ...` but for `check`.
pub(crate) fn set(command: &SetCommand, output: Output) -> Outcome {
    match command {
        SetCommand::Check(args) => crate::set_check::run(args, output),
        SetCommand::List(args) => sets::list(args, output),
        SetCommand::Show(args) => sets::show(args, output),
        SetCommand::Test(args) => tested::run(args, output),
        SetCommand::Action(args) => sets::action(args, output),
        SetCommand::Flush(args) => sets::flush(args, output),
        SetCommand::Add(args) if !args.etcd.etcd.is_empty() => etcd::add(args, output),
        SetCommand::Del(args) if !args.etcd.etcd.is_empty() => etcd::delete(args, output),
        SetCommand::Push(args) => etcd::push(args, output),
        SetCommand::Add(args) => entries::add(args, output),
        SetCommand::Del(args) => entries::delete(args, output),
        SetCommand::Load(args) => file::load(args, output),
        SetCommand::Save(args) => file::save(args, output),
    }
}

/// `linerate reload`.
pub(crate) fn reload(args: &ReloadArgs, output: Output) -> Outcome {
    let mut client = connect(&args.daemon)?;
    let reloaded: Reloaded = client
        .call("reload", &NoParams::default())
        .map_err(failed)?;
    let text = match reloaded.changes.as_slice() {
        [] => "nothing has changed\n".to_owned(),
        changes => changes.iter().map(|change| format!("{change}\n")).collect(),
    };
    tell(args.json, &reloaded, &text, output)
}

/// Connects to the daemon that is meant.
pub(crate) fn connect(daemon: &SocketArgs) -> Result<Client, Error> {
    Client::connect(&socket(daemon)).map_err(failed)
}

/// The socket of the daemon that is meant: by the option, the environment, or where it is always.
pub(crate) fn socket(daemon: &SocketArgs) -> PathBuf {
    let typed = daemon.socket.clone();
    let named = typed.or_else(|| {
        let variable = env::var_os(SOCKET_VARIABLE).filter(|value| !value.is_empty());
        variable.map(PathBuf::from)
    });
    named.unwrap_or_else(|| SOCKET_DEFAULT.into())
}

/// What the daemon refused, and what went away, is another exit code than no daemon at all.
fn failed(error: ClientError) -> Error {
    match error {
        ClientError::NotRunning(_)
        | ClientError::Denied(_)
        | ClientError::OtherVersion(..)
        | ClientError::Garbled(..) => Error::refused(error),
        _ => Error::check_failed(error),
    }
}

/// The answer as JSON, or as text.
fn tell(json: bool, answer: &impl Serialize, text: &str, output: Output) -> Outcome {
    if json {
        output.print_json(answer)
    } else {
        output.print(Stream::Stdout, text)
    }
}
