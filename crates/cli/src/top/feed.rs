//! Asks the daemon for its status, again and again, and says when it is away.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use daemon::rpc::answers::{NoParams, Status};
use daemon::rpc::{Client, ClientError};

use crate::error::Error;

/// How long an answer may take; a daemon that reads a large list answers all the same.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How long to wait before the daemon is looked for again.
const AWAY: Duration = Duration::from_secs(1);

/// What comes from the daemon.
#[derive(Clone, Debug)]
pub(super) enum News {
    /// How it introduced itself.
    Hello {
        version: String,
        pid: u32,
    },
    Status(Box<Status>),
    /// It does not answer; the sentence says why.
    Away(String),
}

/// Starts to ask. The thread ends with the program, or when nobody listens any more.
pub(super) fn start(socket: PathBuf, interval: Duration) -> Result<Receiver<News>, Error> {
    // Few: a screen that does not keep up gets fewer, not older ones.
    let (to_screen, news) = mpsc::sync_channel(4);
    Builder::new()
        .name("feed".to_owned())
        .spawn(move || while follow(&socket, interval, &to_screen).is_some() {})
        .map_err(|error| Error::refused(format!("no thread to ask the daemon: {error}")))?;
    Ok(news)
}

/// Follows one connection until it breaks; `None` when the screen is gone.
fn follow(socket: &Path, interval: Duration, to_screen: &SyncSender<News>) -> Option<()> {
    let away = |error: ClientError| News::Away(error.to_string());
    let mut client = match Client::connect(socket) {
        Ok(client) => client,
        Err(error) => {
            to_screen.send(away(error)).ok()?;
            thread::sleep(AWAY);
            return Some(());
        }
    };
    client.allow(ANSWER_WITHIN);
    let hello = client.hello();
    let hello = News::Hello {
        version: hello.version.clone(),
        pid: hello.pid,
    };
    to_screen.send(hello).ok()?;
    loop {
        let asked = Instant::now();
        let news = match client.call("show.status", &NoParams::default()) {
            Ok(status) => News::Status(Box::new(status)),
            Err(error) => {
                to_screen.send(away(error)).ok()?;
                thread::sleep(AWAY);
                return Some(());
            }
        };
        to_screen.send(news).ok()?;
        thread::sleep(interval.saturating_sub(asked.elapsed()));
    }
}
