//! `linerate show neighbours`, all of them, asked for in parts, and `linerate show routes`.

use daemon::rpc::Client;
use daemon::rpc::answers::{
    HopFacts, Neighbour, Neighbours, NeighboursParams, RouteFacts, Routes, RoutesParams,
};

use super::watch::{Rhythm, page};
use super::{Looks, Question, line_of};
use crate::args::{ShowNeighboursArgs, ShowRoutesArgs};
use crate::control::{connect, tell};
use crate::error::{Error, Outcome};
use crate::output::Output;
use crate::report::number::{count, plural};
use crate::report::table::{Align, Table};

pub(super) fn neighbours(args: &ShowNeighboursArgs, output: Output) -> Outcome {
    let mut client = connect(&args.facts.daemon)?;
    if !args.facts.watch {
        let all = ask(&mut client)?;
        let text = table(&all, Looks::of(output));
        return tell(args.facts.json, &all, &text, output);
    }
    Rhythm::new(args.facts.interval)?.each(|| {
        let all = ask(&mut client)?;
        let text = match args.facts.json {
            true => line_of(&all)?,
            false => page(&table(&all, Looks::of(output))),
        };
        output.print_on(&text)
    })
}

/// All parts as one, sorted.
fn ask(client: &mut Client) -> Result<Neighbours, Error> {
    let mut params = NeighboursParams::default();
    let mut all = Neighbours::default();
    loop {
        let part: Neighbours = Question::of("show.neighbours", &params).ask(client)?;
        all.seconds = part.seconds;
        all.neighbours.extend(part.neighbours);
        // None is less than any: this was the last part.
        if part.next <= params.from {
            break;
        }
        params.from = part.next;
    }
    let key = |one: &Neighbour| (one.interface.clone(), one.address.clone());
    all.neighbours.sort_by_cached_key(key);
    // One that moved while parts were asked for.
    all.neighbours.dedup_by_key(|one| key(one));
    Ok(all)
}

fn table(all: &Neighbours, looks: Looks) -> String {
    if all.neighbours.is_empty() {
        return "no neighbour is known\n".to_owned();
    }
    let left = |name| (name, Align::Left);
    let mut table = Table::new(&[
        left("interface"),
        left("address"),
        left("MAC address"),
        left("state"),
        ("age", Align::Right),
    ]);
    for one in &all.neighbours {
        let none = || "-".to_owned();
        table.row([
            one.interface.clone(),
            one.address.clone(),
            one.mac.clone().unwrap_or_else(none),
            one.state.clone(),
            one.age_seconds
                .map_or_else(none, |age| format!("{} s", count(age))),
        ]);
    }
    table.render(looks.paint, looks.width)
}

pub(super) fn routes(args: &ShowRoutesArgs, output: Output) -> Outcome {
    let params = RoutesParams {
        vrf: args.vrf.clone(),
        address: args.address,
        from: None,
    };
    let question = Question::of("show.routes", &params);
    let render = match args.address {
        Some(_) => |now: &Routes, _: Option<&Routes>, looks| route(now, looks),
        None => |now: &Routes, _: Option<&Routes>, looks| page_of_routes(now, looks),
    };
    super::tell::<Routes, _>(&args.facts, &question, render, output)
}

/// The route to an address.
fn route(now: &Routes, looks: Looks) -> String {
    match now.routes.is_empty() {
        true => "no route leads to this address\n".to_owned(),
        false => table_of(&now.routes, looks),
    }
}

/// How many routes there are, and some of them.
fn page_of_routes(now: &Routes, looks: Looks) -> String {
    let counts = format!(
        "{} of IPv4, {} of IPv6\n",
        plural(now.count_v4, "route", "routes"),
        count(now.count_v6)
    );
    let more = now.next.map_or_else(String::new, |next| {
        let all = now.count_v4 + now.count_v6;
        format!("and {} more\n", count(all.saturating_sub(next)))
    });
    let vrfs = match now.vrfs.is_empty() {
        true => String::new(),
        false => format!("VRFs: {} (--vrf)\n", now.vrfs.join(", ")),
    };
    format!("{}{counts}{more}{vrfs}", table_of(&now.routes, looks))
}

fn table_of(routes: &[RouteFacts], looks: Looks) -> String {
    let mut table = Table::new(&[
        ("prefix", Align::Left),
        ("kind", Align::Left),
        ("next hops", Align::Left),
    ]);
    for own in routes {
        table.row([own.prefix.clone(), own.kind.clone(), hops(own)]);
    }
    table.render(looks.paint, looks.width)
}

/// The next hops of a route.
pub(crate) fn hops(route: &RouteFacts) -> String {
    let hops: Vec<String> = route.hops.iter().map(hop).collect();
    hops.join(", ")
}

/// As `ip route` writes it.
fn hop(hop: &HopFacts) -> String {
    match &hop.gateway {
        Some(gateway) => format!("via {gateway} dev {}", hop.interface),
        None => format!("dev {}", hop.interface),
    }
}
