//! `linerate set push`, and the options of commands that write to etcd.

use std::path::PathBuf;

use clap::Args;
use daemon::sources::ListUrl;

use super::ReadArgs;
use crate::exit::EXIT_CODES;

/// Write a list into etcd, from where the daemons of a group have it at once.
///
/// Behind a prefix (/linerate/NAME/ unless --prefix or --key says otherwise) each key is an entry:
/// entries that are missing are put, then keys that FILE has not are deleted; keys that stay keep
/// their comments and timeouts. With --key the file as it is becomes the value of one key, at most
/// 1 MiB, which readers see whole. FILE is read as 'set check' does, and a bad line stops all.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after_long())]
pub(crate) struct PushArgs {
    /// The name of the set.
    #[arg(value_name = "NAME")]
    pub(crate) set: String,
    /// The list; '-' is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) etcd: EtcdArgs,
    /// Write the file as it is as the value of this key.
    #[arg(long, value_name = "KEY", conflicts_with = "prefix")]
    pub(crate) key: Option<String>,
    /// Print what changed as one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// A cluster of etcd.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "etcd")]
pub(crate) struct EtcdArgs {
    /// Write to etcd: addresses of members, with commas between, as `https://etcd1.example:2379`.
    #[arg(long, value_name = "URL", value_delimiter = ',', value_parser = member)]
    pub(crate) etcd: Vec<ListUrl>,
    /// The prefix of the set's keys [default: /linerate/NAME/].
    #[arg(long, value_name = "PREFIX", requires = "etcd")]
    pub(crate) prefix: Option<String>,
    /// The user of etcd; the password is in --password-file.
    #[arg(long, value_name = "NAME", requires = "password_file")]
    pub(crate) user: Option<String>,
    /// A file whose first line is the user's password.
    #[arg(long, value_name = "FILE", requires = "user")]
    pub(crate) password_file: Option<PathBuf>,
    /// Certificates of authorities to trust in place of the system's, PEM.
    #[arg(long, value_name = "FILE", requires = "etcd")]
    pub(crate) ca_file: Option<PathBuf>,
    /// A certificate of our own, PEM.
    #[arg(long, value_name = "FILE", requires = "key_file")]
    pub(crate) cert_file: Option<PathBuf>,
    /// Its private key, PEM.
    #[arg(long, value_name = "FILE", requires = "cert_file")]
    pub(crate) key_file: Option<PathBuf>,
}

fn member(text: &str) -> Result<ListUrl, String> {
    ListUrl::new(text, false).map_err(|error| error.to_string())
}

fn after_long() -> String {
    format!(
        "\
Examples:
  linerate set push ipsum ipsum.txt --etcd https://etcd1.example:2379
      every daemon whose source has the prefix /linerate/ipsum/ has it at once
  linerate set push ipsum ipsum.txt --etcd http://127.0.0.1:2379 --key /linerate/lists/ipsum
      a short list as one value
  zcat ipsum.txt.gz | linerate set push ipsum - --etcd http://127.0.0.1:2379
      from standard input

{EXIT_CODES}"
    )
}
