//! The control socket from outside: what it answers, and what it does with who means it no good.

mod document;
mod floods;
mod hostile;
mod python;
mod speaking;
mod stand_in;

use daemon::rpc::{Client, Server, ServerConfig};
use stand_in::StandIn;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// A server with a stand-in behind it, in a folder of its own.
pub(crate) struct Place {
    folder: TempDir,
    /// None once it was stopped.
    pub(crate) server: Option<Server>,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// With other limits.
    pub(crate) fn with(adjust: impl FnOnce(&mut ServerConfig)) -> Self {
        let folder = TempDir::new().expect("a folder for temporary files");
        let mut config = ServerConfig::new(folder.path().join("control.sock"));
        adjust(&mut config);
        let stand_in = StandIn::new();
        let (sets, facts) = (Arc::new(stand_in.clone()), Arc::new(stand_in));
        let server = Server::start(&config, sets, facts).expect("a socket");
        Self {
            folder,
            server: Some(server),
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("control.sock")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket()).expect("a server that answers")
    }
}
