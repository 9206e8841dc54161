//! The bouncer against a server that speaks as CrowdSec's local API does.

use std::time::Duration;

use super::testapi::{KEY, TestApi};
use crate::config::KeyFrom;
use crate::sources::testkeeper::{TestDesk, until};
use crate::sources::testserver::{TestServer, raw};
use crate::sources::{Change, CrowdSecSpec, ListUrl, SourceState, Sources};

const HOUR: Duration = Duration::from_secs(3600);

struct Bench {
    folder: tempfile::TempDir,
    desk: TestDesk,
    sources: Sources,
}

impl Bench {
    fn new(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        std::fs::write(&key, format!("{KEY}\n")).unwrap();
        let desk = TestDesk::new();
        let mut sources = Sources::new(
            desk.keeper.clone(),
            folder.path().join("copies"),
            crate::sources::Asking::default(),
        );
        let url = ListUrl::new(url, false).unwrap();
        let mut spec = CrowdSecSpec::new("crowd", url, KeyFrom::File(key));
        spec.refresh = Duration::from_millis(20);
        sources.replace(&[], &[spec]).unwrap();
        Self {
            folder,
            desk,
            sources,
        }
    }

    fn of(api: &TestApi) -> Self {
        Self::new(&api.server.url("/"))
    }

    fn state(&self) -> SourceState {
        self.sources.states().remove(0)
    }

    fn failure(&self) -> String {
        until("a failure", || self.state().last_error.is_some());
        self.state().last_error.unwrap().text
    }
}

fn added(change: &Change) -> Vec<String> {
    let mut all: Vec<String> = change
        .added
        .iter()
        .map(|one| one.entry.to_string())
        .collect();
    all.sort();
    all
}

fn deleted(change: &Change) -> Vec<String> {
    change.deleted.iter().map(ToString::to_string).collect()
}

#[test]
fn all_decisions_first_and_then_what_changes() {
    let api = TestApi::new();
    let one = api.db().ban("192.0.2.1", HOUR);
    api.db().ban("198.51.100.0/24", HOUR * 4);
    api.db().decide("Country", "FR", "ban", HOUR);
    api.db().decide("Ip", "192.0.2.9", "captcha", HOUR);
    let bench = Bench::of(&api);
    let start = bench.desk.change();
    assert!(start.replace);
    assert_eq!(added(&start), ["192.0.2.1", "198.51.100.0/24"]);
    let ban = start
        .added
        .iter()
        .find(|one| one.entry.to_string() == "192.0.2.1")
        .unwrap();
    assert!(
        ban.left > HOUR - Duration::from_secs(600) && ban.left <= HOUR,
        "{:?}",
        ban.left
    );
    assert_eq!(ban.comment, "crowdsec crowdsecurity/ssh-bf");
    until("noted", || {
        bench.state().entries == 2 && bench.state().skipped == 2
    });
    api.db().ban("2001:db8::1", HOUR);
    let delta = bench.desk.change();
    assert!(!delta.replace && delta.deleted.is_empty());
    assert_eq!(added(&delta), ["2001:db8::1"]);
    api.db().take_back(one);
    assert_eq!(deleted(&bench.desk.change()), ["192.0.2.1"]);
    until("quiet polls", || bench.state().unchanged >= 3);
    bench.desk.nothing_more();
    let calls = api.calls();
    let first = "/v1/decisions/stream?startup=true&scopes=ip,range&dedup=false";
    assert_eq!(calls[0], first);
    assert!(calls[1..].iter().all(|call| call.contains("startup=false")));
    let asked = api.server.asked();
    let agent = &asked[0].headers["user-agent"];
    assert_eq!(
        agent.matches('/').count(),
        1,
        "CrowdSec takes it apart there: {agent}"
    );
}

#[test]
fn one_of_two_decisions_lifts_nothing() {
    let api = TestApi::new();
    let short = api.db().ban("192.0.2.1", HOUR);
    let long = api.db().ban("192.0.2.1", HOUR * 9);
    let bench = Bench::of(&api);
    let start = bench.desk.change();
    assert_eq!(start.added.len(), 1);
    assert!(start.added[0].left > HOUR * 8);
    api.db().take_back(long);
    let delta = bench.desk.change();
    assert!(delta.deleted.is_empty());
    assert!(
        delta.added[0].left <= HOUR,
        "the shorter one stands: {:?}",
        delta.added
    );
    api.db().take_back(short);
    until("it is lifted", || {
        deleted(&bench.desk.change()) == ["192.0.2.1"]
    });
}

#[test]
fn what_ends_by_itself_is_taken_out() {
    let api = TestApi::new();
    api.db().ban("192.0.2.1", Duration::from_millis(600));
    let bench = Bench::of(&api);
    assert_eq!(added(&bench.desk.change()), ["192.0.2.1"]);
    until("forgotten", || bench.state().entries == 0);
}

#[test]
fn while_the_api_is_away_all_stays_and_then_all_is_compared() {
    let api = TestApi::new();
    let one = api.db().ban("192.0.2.1", HOUR);
    let bench = Bench::of(&api);
    bench.desk.change();
    api.db().closed = true;
    let told = bench.failure();
    assert!(
        told.contains("does not take the API key") && told.contains("cscli"),
        "{told}"
    );
    assert!(!told.contains(KEY), "{told}");
    bench.desk.nothing_more();
    assert_eq!(bench.state().entries, 1);
    api.db().take_back(one);
    api.db().ban("192.0.2.2", HOUR);
    api.db().closed = false;
    let again = bench.desk.change();
    assert!(again.replace, "what was missed is unknown");
    assert_eq!(added(&again), ["192.0.2.2"]);
    until("well again", || bench.state().last_error.is_none());
}

#[test]
fn an_answer_that_was_cut_off_is_not_lost() {
    let api = TestApi::new();
    let bench = Bench::of(&api);
    assert!(bench.desk.change().replace);
    // The API believes that it has given this out.
    {
        let mut db = api.db();
        db.ban("192.0.2.1", HOUR);
        db.cut = Some(60);
    }
    let again = bench.desk.change();
    assert!(again.replace);
    assert_eq!(added(&again), ["192.0.2.1"]);
    until("counted", || {
        bench.state().failures == 1 && bench.state().last_error.is_none()
    });
}

#[test]
fn what_the_keeper_refuses_is_offered_again_whole() {
    let api = TestApi::new();
    let bench = Bench::of(&api);
    bench.desk.change();
    bench.desk.refuse("it is stopping");
    api.db().ban("192.0.2.1", HOUR);
    let told = bench.failure();
    assert_eq!(told, "set crowd was not changed: it is stopping");
    bench.desk.take();
    let again = bench.desk.change();
    assert!(again.replace);
    assert_eq!(added(&again), ["192.0.2.1"]);
}

#[test]
fn versions_that_know_no_dedup_are_asked_without() {
    let api = TestApi::new();
    api.db().old = true;
    api.db().gzip = true;
    for last in 0..3000 {
        api.db()
            .ban(&format!("10.0.{}.{}", last / 250, last % 250), HOUR);
    }
    let bench = Bench::of(&api);
    let start = bench.desk.change();
    assert_eq!(start.added.len(), 3000);
    until("well", || bench.state().last_error.is_none());
    assert!(!api.calls()[1].contains("dedup"));
}

#[test]
fn a_key_that_is_put_right_is_taken_without_a_restart() {
    let api = TestApi::new();
    let bench = Bench::of(&api);
    bench.desk.change();
    std::fs::write(bench.folder.path().join("key"), "\n").unwrap();
    api.db().closed = true;
    until("no key", || bench.failure().contains("holds no API key"));
    std::fs::write(bench.folder.path().join("key"), KEY).unwrap();
    api.db().closed = false;
    bench.desk.change();
}

#[test]
fn what_speaks_something_else_is_told() {
    for (body, told) in [
        ("<html>nginx</html>", "no stream of decisions"),
        ("{\"message\":\"ok\"}", "neither new nor deleted"),
        ("[]", "no stream of decisions"),
    ] {
        let length = body.len();
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        let server = TestServer::new(move |_| raw(&text));
        let bench = Bench::new(&server.url("/"));
        let failure = bench.failure();
        assert!(failure.contains(told), "{failure}");
        bench.desk.nothing_more();
    }
    let away = "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n";
    let server = TestServer::new(move |_| raw(away));
    let bench = Bench::new(&server.url("/"));
    assert!(bench.failure().contains("302 Found"));
    assert!(
        server
            .asked()
            .iter()
            .all(|asked| asked.target != "/elsewhere")
    );
}
