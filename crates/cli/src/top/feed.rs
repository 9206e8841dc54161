//! Asks the daemon for its status, again and again, and says when it is away.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use daemon::rpc::answers::{Hits, HitsParams, NoParams, Status};
use daemon::rpc::{Client, ClientError};

use crate::error::Error;

/// How long an answer may take; a daemon that reads a large list answers all the same.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How often the addresses hit most are asked for: they change slowly, and cost the daemon more.
const HITS_EVERY: Duration = Duration::from_secs(2);
/// As many as the tallest screen shows.
const TOP: u32 = 50;
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
    /// The addresses hit most.
    Hits(Box<Hits>),
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
    let mut hits_asked: Option<Instant> = None;
    loop {
        let asked = Instant::now();
        let is_due = hits_asked.is_none_or(|at| at.elapsed() >= HITS_EVERY);
        let news = ask(&mut client, is_due).unwrap_or_else(|error| vec![away(error)]);
        if is_due {
            hits_asked = Some(asked);
        }
        let is_away = news.iter().any(|news| matches!(news, News::Away(_)));
        for news in news {
            to_screen.send(news).ok()?;
        }
        if is_away {
            thread::sleep(AWAY);
            return Some(());
        }
        thread::sleep(interval.saturating_sub(asked.elapsed()));
    }
}

fn ask(client: &mut Client, with_hits: bool) -> Result<Vec<News>, ClientError> {
    let status: Status = client.call("show.status", &NoParams::default())?;
    let mut news = vec![News::Status(Box::new(status))];
    if with_hits {
        let hits: Result<Hits, _> = client.call("show.hits", &HitsParams { top: TOP });
        match hits {
            Ok(hits) => news.push(News::Hits(Box::new(hits))),
            // A daemon that is starting has none yet.
            Err(error) if error.is_answer() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(news)
}
