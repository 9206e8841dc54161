//! `linerate show fdb`, all stations of a switch, asked for in parts, and `linerate show vlans`.

use daemon::rpc::Client;
use daemon::rpc::answers::{Fdb, FdbParams, Station, VlanFacts, Vlans};

use super::whole::show;
use super::{Looks, Question};
use crate::args::ShowFdbArgs;
use crate::error::{Error, Outcome};
use crate::output::Output;
use crate::report::number::{count, rate};
use crate::report::table::{Align, Table};

pub(super) fn run(args: &ShowFdbArgs, output: Output) -> Outcome {
    show(&args.facts, output, |client| ask(args, client), table)
}

/// All parts as one, sorted.
fn ask(args: &ShowFdbArgs, client: &mut Client) -> Result<Fdb, Error> {
    let mut params = FdbParams {
        vlan: args.vlan,
        port: args.port.clone(),
        from: None,
    };
    let mut all = Fdb::default();
    loop {
        let part: Fdb = Question::of("show.fdb", &params).ask(client)?;
        all.seconds = part.seconds;
        all.stations.extend(part.stations);
        // None is less than any: this was the last part.
        if part.next <= params.from {
            break;
        }
        params.from = part.next;
    }
    let key = |station: &Station| (station.vlan, station.mac.clone());
    all.stations.sort_by_cached_key(key);
    // One that moved while parts were asked for.
    all.stations.dedup_by_key(|station| key(station));
    Ok(all)
}

fn table(fdb: &Fdb, looks: Looks) -> String {
    if fdb.stations.is_empty() {
        return "no station is known\n".to_owned();
    }
    let mut table = Table::new(&[
        ("VLAN", Align::Right),
        ("MAC address", Align::Left),
        ("port", Align::Left),
        ("age", Align::Right),
    ]);
    for station in &fdb.stations {
        table.row([
            station
                .vlan
                .map_or_else(|| "-".to_owned(), |vlan| vlan.to_string()),
            station.mac.clone(),
            station.port.clone(),
            station.age_seconds.map_or_else(
                || "static".to_owned(),
                |age| format!("{} s", count(u64::from(age))),
            ),
        ]);
    }
    table.render(looks.paint, looks.width)
}

pub(super) fn vlans(now: &Vlans, before: Option<&Vlans>, looks: Looks) -> String {
    let mut events = Table::new(&[("switch", Align::Left), ("count", Align::Right)]);
    for own in &now.events {
        events.row([own.event.replace('_', " "), count(own.count)]);
    }
    let seconds = before.map_or(now.seconds, |before| now.seconds - before.seconds);
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[
        right("VLAN"),
        ("ports", Align::Left),
        right("in"),
        right("a second"),
        right("out"),
        right("a second"),
    ]);
    for own in &now.vlans {
        let old = before.and_then(|before| {
            let mut vlans = before.vlans.iter();
            vlans.find(|old| old.vlan == own.vlan)
        });
        let passed = |of: fn(&VlanFacts) -> u64| {
            let passed = of(own).saturating_sub(old.map_or(0, of)) as f64;
            rate(passed / seconds.max(1e-3), "pps")
        };
        let tagged = own.tagged.iter().map(|port| format!("{port}t"));
        let ports: Vec<String> = own.untagged.iter().cloned().chain(tagged).collect();
        table.row([
            own.vlan
                .map_or_else(|| "-".to_owned(), |vlan| vlan.to_string()),
            ports.join(","),
            count(own.in_frames),
            passed(|vlan| vlan.in_frames),
            count(own.out_frames),
            passed(|vlan| vlan.out_frames),
        ]);
    }
    let Looks { paint, width } = looks;
    format!(
        "{}\n{}",
        table.render(paint, width),
        events.render(paint, width)
    )
}
