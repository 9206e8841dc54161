//! A router under the daemon: `linerate run` with `kind = "router"`.

use serde_json::{Value, json};

use crate::Place;
use crate::daemon::{Daemon, until};

const PORTS: &str = "[[port]]\nname = 'A'\nspec = 'gen:size=64'\n\
                     [[port]]\nname = 'B'\nspec = 'null:'\n\
                     [control]\nsocket = 'ctl.sock'\n[state]\ndir = 'state'\n";
const ROUTER: &str = "interface = ['lan=A,10.0.0.1/24', 'wan=B,10.0.1.1/24']\n\
                      neighbour = ['10.0.1.2-10.0.1.9=02:00:00:00:00:09@wan']\n\
                      route = ['default via 10.0.1.2', 'blackhole 10.9.0.0/16']\n\
                      routes = ['routes.txt']\n";
/// What the file of routes has.
const FILE: &str =
    "10.8.0.0/16\n\tnexthop via 10.0.1.2 weight 1\n\tnexthop via 10.0.1.3 weight 1\n";

fn config(pipeline: &str) -> String {
    format!("{PORTS}[[pipeline]]\nkind = 'router'\n{pipeline}\n")
}

/// The kind and the hops of the route to an address, as `prefix kind via gateway dev interface`.
fn route_to(daemon: &Daemon<'_>, address: &str) -> String {
    let shown = daemon.must(&format!("show routes {address}"));
    let line = shown.text().lines().last().unwrap_or_default().to_owned();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn routes_and_neighbours_are_shown() {
    let place = Place::new();
    place.write("routes.txt", FILE);
    place.write("a.toml", config(ROUTER));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("show workers");
    for (address, said) in [
        ("192.0.2.1", "0.0.0.0/0 unicast via 10.0.1.2 dev wan"),
        ("10.0.0.7", "10.0.0.0/24 unicast dev lan"),
        ("10.0.0.1", "10.0.0.1/32 local"),
        ("10.0.1.255", "10.0.1.255/32 broadcast"),
        ("10.9.1.1", "10.9.0.0/16 blackhole"),
        (
            "10.8.1.1",
            "10.8.0.0/16 unicast via 10.0.1.2 dev wan, via 10.0.1.3 dev wan",
        ),
        ("2001:db8::1", "no route leads to this address"),
    ] {
        assert_eq!(route_to(&daemon, address), said, "{address}");
    }
    let all = daemon.must("show routes --json").json();
    assert_eq!((&all["count_v4"], &all["count_v6"]), (&9.into(), &0.into()));
    assert_eq!(all["routes"].as_array().map(Vec::len), Some(9));
    assert_eq!(all["next"], Value::Null);
    // A worker that has no time within a second is told of, and may be asked again.
    let mut known = Value::Null;
    until("the worker answers", || {
        let ran = daemon.ask("show neighbours --json");
        let answers = ran.code == 0;
        if answers {
            known = ran.json();
        }
        answers
    });
    let range = json!({"interface": "wan", "address": "10.0.1.2-10.0.1.9",
                       "mac": "02:00:00:00:00:09", "state": "static"});
    assert_eq!(known["neighbours"], json!([range]));
    for method in ["show fdb", "show vlans"] {
        let refused = daemon.ask(method).ended(1);
        assert!(refused.complaints().contains("no switch"));
    }
    let (report, _) = daemon.stop();
    assert_eq!(report["balanced"], true, "{report}");
}

#[test]
fn routes_of_vrfs_are_shown() {
    let place = Place::new();
    let router = "interface = ['lan=A,10.0.0.1/24', 'red=B,10.0.0.1/24,vrf=red']\n\
                  route = ['default via 10.0.0.2', '10.9.0.0/16 via 10.0.0.3 table red']\n";
    place.write("a.toml", config(router));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("show workers");
    for (words, said) in [
        ("10.9.0.1", "0.0.0.0/0 unicast via 10.0.0.2 dev lan"),
        (
            "10.9.0.1 --vrf red",
            "10.9.0.0/16 unicast via 10.0.0.3 dev red",
        ),
        ("10.10.0.1 --vrf red", "no route leads to this address"),
        ("10.0.0.7 --vrf red", "10.0.0.0/24 unicast dev red"),
    ] {
        assert_eq!(route_to(&daemon, words), said, "{words}");
    }
    let all = daemon.must("show routes --vrf red --json").json();
    assert_eq!(
        (&all["count_v4"], &all["vrfs"]),
        (&4.into(), &json!(["red"]))
    );
    let shown = daemon.must("show routes");
    assert!(shown.text().contains("VRFs: red"), "{}", shown.text());
    let refused = daemon.ask("show routes --vrf blue").ended(1);
    let complaints = refused.complaints();
    assert!(
        complaints.contains("no VRF is called 'blue': the VRFs are red"),
        "{complaints}"
    );
    let other = router.replace("via 10.0.0.3", "via 10.0.0.4");
    place.write("a.toml", config(&other));
    daemon.must("reload");
    let route = route_to(&daemon, "10.9.0.1 --vrf red");
    assert_eq!(route, "10.9.0.0/16 unicast via 10.0.0.4 dev red");
    place.write("a.toml", config(&format!("{router}vrf = ['red=B']\n")));
    let refused = daemon.ask("reload").ended(1);
    assert!(
        refused
            .complaints()
            .contains("vrf of [[pipeline]] cannot change")
    );
    daemon.stop();
}

#[test]
fn a_bridge_has_neither() {
    let place = Place::new();
    place.write("a.toml", crate::daemon::config(""));
    let daemon = Daemon::start(&place, "run a.toml --json");
    for words in ["show neighbours", "show routes", "show routes 10.0.0.1"] {
        let refused = daemon.ask(words).ended(1);
        assert!(refused.complaints().contains("runs no router"), "{words}");
    }
    daemon.stop();
}

#[test]
fn a_reload_refuses_other_settings_by_name() {
    let place = Place::new();
    place.write("routes.txt", FILE);
    place.write("a.toml", config(ROUTER));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("reload");
    let with = |from: &str, to: &str| config(&ROUTER.replace(from, to));
    for (text, said) in [
        (
            with("10.0.0.1/24", "10.0.0.2/24"),
            "interface of [[pipeline]]",
        ),
        (with("00:09", "00:08"), "neighbour of [[pipeline]]"),
        (
            config(&format!("{ROUTER}icmp_rate = 5")),
            "icmp_rate of [[pipeline]]",
        ),
        (
            config(&format!("{ROUTER}neighbours = 5")),
            "neighbours of [[pipeline]]",
        ),
        (
            config(&format!("{ROUTER}reverse_path = 'loose'")),
            "reverse_path of [[pipeline]]",
        ),
        (
            format!("{PORTS}[[pipeline]]\nkind = 'bridge'\n"),
            "[[pipeline]]",
        ),
    ] {
        place.write("a.toml", text);
        let refused = daemon.ask("reload").ended(1);
        let wanted = format!("{said} cannot change while the daemon runs");
        assert!(
            refused.complaints().contains(&wanted),
            "{}",
            refused.complaints()
        );
    }
    // What was in force still is.
    assert!(route_to(&daemon, "10.9.0.1").contains("blackhole"));
    daemon.stop();
}

/// Each row: the pipeline and the file of a reload, its exit code and what it says, and where two
/// addresses lead behind it.
type Reload = (
    String,
    &'static str,
    i32,
    &'static str,
    &'static str,
    &'static str,
);

fn reloads() -> Vec<Reload> {
    let other = ROUTER.replace("blackhole", "prohibit");
    let set = "[[set]]\nname = 's'\naction = 'block'\nsource = '/no'\n";
    vec![
        (
            other.clone(),
            FILE,
            0,
            "9, and 9 before",
            "prohibit",
            "10.8.0.0/16",
        ),
        // Files are read again.
        (
            other.clone(),
            "10.9.8.0/24 via 10.0.1.3\n",
            0,
            "9, and 9",
            "prohibit",
            "0.0.0.0/0",
        ),
        (
            other.clone(),
            "nonsense\n",
            1,
            "routes.txt:1",
            "prohibit",
            "0.0.0.0/0",
        ),
        (
            ROUTER.replace("10.9", "10.7"),
            "10.9.0.0/16 via 10.7.0.1\n",
            1,
            "10.7.0.1",
            "prohibit",
            "0.0.0.0/0",
        ),
        // The set has no list, and the routes stay with the sets.
        (
            format!("{ROUTER}{set}"),
            FILE,
            1,
            "/no",
            "prohibit",
            "0.0.0.0/0",
        ),
        (
            ROUTER.to_owned(),
            FILE,
            0,
            "9, and 9 before",
            "blackhole",
            "10.8.0.0/16",
        ),
        (
            ROUTER.replace("['routes.txt']", "[]"),
            FILE,
            0,
            "8, and 9 before",
            "blackhole",
            "0.0.0.0/0",
        ),
    ]
}

#[test]
fn a_reload_changes_routes_or_nothing() {
    let place = Place::new();
    place.write("routes.txt", FILE);
    place.write("a.toml", config(ROUTER));
    let daemon = Daemon::start(&place, "run a.toml --json");
    let reload = |pipeline: &str, file: &str| {
        place.write("routes.txt", file);
        place.write("a.toml", config(pipeline));
        daemon.ask("reload")
    };
    for (pipeline, file, code, said, nine, eight) in reloads() {
        let told = reload(&pipeline, file).ended(code);
        let told = format!("{}{}", told.text(), told.complaints());
        assert!(told.contains(said), "{pipeline}: {told}");
        let route = route_to(&daemon, "10.9.0.1");
        assert!(route.contains(nine), "{pipeline}: {route}");
        let route = route_to(&daemon, "10.8.0.1");
        assert!(route.starts_with(eight), "{pipeline}: {route}");
    }
    daemon.stop();
}

#[test]
fn check_names_all_that_is_wrong() {
    let place = Place::new();
    let lan = "interface = ['lan=A,10.0.0.1/24']";
    for (pipeline, said) in [
        (
            format!("{lan}\nroute = ['any',\n'default via 10.0.0.2 dev x y']"),
            &["a.toml:14: 'any'", "a.toml:15: 'default"][..],
        ),
        (
            format!("{lan}\nroute = ['default via 10.7.0.2']"),
            &["a.toml:14: "],
        ),
        (format!("{lan}\nroutes = ['bad.txt']"), &["bad.txt:2: "]),
    ] {
        place.write("bad.txt", "10.1.0.0/16 via 10.0.0.2\nnonsense\n");
        place.write("a.toml", config(&pipeline));
        let ran = place.run("run --check a.toml").ended(2);
        for said in said {
            assert!(ran.complaints().contains(said), "{}", ran.complaints());
        }
    }
    place.write("a.toml", config(&format!("{lan}\nroutes = ['absent.txt']")));
    let ran = place.run("run --check a.toml").ended(0);
    let all = format!("{}{}", ran.text(), ran.complaints());
    assert!(all.contains("absent.txt"), "{all}");
}
