//! `linerate rss verify`.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use engine::placement::{Check, Claims, Enough, Misplaced, Verification, Verifier, observe};
use frame::PortId;
use port::interface::{HashSettings, Interface, RssAccess};
use port::{Fanout, OpenContext, PortSpec, Queues};
use serde::Serialize;
use wire::toeplitz::Key;
use wire::{Family, FlowKey};

use super::nic;
use crate::args::RssVerifyArgs;
use crate::build::VERSION;
use crate::error::{Error, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::report::number::count;
use crate::report::table::{Align, Table};

/// The verification, as JSON has it.
#[derive(Debug, Serialize)]
struct Page {
    version: &'static str,
    interface: String,
    driver: String,
    frames: u64,
    without_flow: u64,
    flows: usize,
    /// Whether the key was told by the driver, given, or is neither.
    key: &'static str,
    /// Whether no hash is Toeplitz.
    other_hash: bool,
    hash: CheckPage,
    queue: CheckPage,
    flow: CheckPage,
    /// Wrong queues: due, seen, frames.
    queue_pairs: Vec<(u32, u32, u64)>,
    /// Flows that moved: before, after, how often.
    flow_pairs: Vec<(u32, u32, u64)>,
    causes: Vec<String>,
    /// What is to be known of hashes that contradict no claim.
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CheckPage {
    right: u64,
    wrong: u64,
    /// Frames of which it was not told.
    untold: u64,
    first: Vec<FramePage>,
}

#[derive(Debug, Serialize)]
struct FramePage {
    number: u64,
    flow: String,
    hash: u32,
    queue: Option<u32>,
    due: u32,
}

/// Looks at frames and concludes; exit code 1 where something is wrong.
pub(super) fn run(args: &RssVerifyArgs, output: Output) -> Outcome {
    let interface = nic::interface(&args.port)?;
    let settings = interface.settings();
    let untold = settings.as_ref().map(nic::untold).unwrap_or_default();
    let settings = settings.unwrap_or_default();
    let told = Key::new(&settings.rss.key).ok();
    let claims = Claims {
        key: args.key.or(told),
        types: nic::types(&settings),
        table: settings.rss.indirection.clone(),
        driver: interface.driver().unwrap_or_default(),
        other_function: settings.rss.function > 1,
        untold,
        through_kernel: !args.port.starts_with("xdp:"),
        hash_off: interface.hands_on_no_hash(),
    };
    let mut verifier = Verifier::new(claims);
    look(args, &interface, &mut verifier, output)?;
    let found = verifier.conclude();
    let claimed = told.is_some() || args.key.is_some();
    let other = found.is_other_hash();
    // Where nobody says that it is Toeplitz, that it is not is no fault.
    let failed = found.queue.wrong + found.flow.wrong > 0
        || found.hash.wrong > 0 && (claimed && settings.rss.function <= 1 || !other);
    let source = match (args.key, told) {
        (Some(_), _) => "given",
        (None, Some(_)) => "told by the driver",
        (None, None) => "not told",
    };
    let page = Page::of(&interface, &found, source);
    let printed = if args.json {
        output.print_json(&page)?
    } else {
        output.print(Stream::Stdout, &text(&page, &settings, output))?
    };
    match failed {
        false => Ok(printed),
        true => Err(Error::check_failed(format!(
            "{} does not place frames as it says",
            page.interface
        ))),
    }
}

fn look(
    args: &RssVerifyArgs,
    interface: &Interface,
    verifier: &mut Verifier,
    output: Output,
) -> Result<(), Error> {
    let interrupt = Interrupt::watch()?;
    let rx_queues = interface.rx_queues().unwrap_or(1).clamp(1, 255);
    let text = match args.port.contains(':') {
        true => args.port.clone(),
        false => format!("packet:{}", args.port),
    };
    let spec = PortSpec::parse(&text).map_err(Error::refused)?;
    let mut see = |spec: &PortSpec, queues: &[Option<u32>]| {
        let opened = port::open(spec, PortId(0), &OpenContext::default());
        let mut port = opened.map_err(Error::refused)?;
        port.notes().iter().for_each(|note| output.warn(note));
        let enough = Enough {
            frames: args.frames,
            duration: args.duration,
        };
        let stop = || interrupt.is_asked();
        observe(&mut *port, queues, verifier, enough, &stop).map_err(Error::refused)
    };
    match spec {
        PortSpec::Packet(mut packet) => {
            packet.fanout = Fanout::Queue;
            // One more, for frames whose queue the driver does not tell.
            packet.queues = Some(rx_queues as u16 + 1);
            see(
                &PortSpec::Packet(packet),
                &vec![None; rx_queues as usize + 1],
            )
        }
        PortSpec::Xdp(mut xdp) => {
            let numbers = match xdp.queues {
                Queues::All => 0..rx_queues,
                Queues::Range(first, last) => first..last.min(rx_queues - 1) + 1,
            };
            let numbers: Vec<Option<u32>> = numbers.map(Some).collect();
            xdp.rx_hash = true;
            let asked = see(&PortSpec::Xdp(xdp.clone()), &numbers);
            let Err(why) = asked else { return Ok(()) };
            // Queues are something; where those cannot be had either, that is the reason.
            xdp.rx_hash = false;
            see(&PortSpec::Xdp(xdp), &numbers)?;
            output.warn(&why.to_string());
            Ok(())
        }
        _ => see(&spec, &[None]),
    }
}

impl Page {
    fn of(interface: &Interface, found: &Verification, key: &'static str) -> Self {
        let pairs = |pairs: &BTreeMap<(u32, u32), u64>| {
            let rows = pairs
                .iter()
                .map(|((due, seen), frames)| (*due, *seen, *frames));
            rows.collect()
        };
        Self {
            version: VERSION,
            interface: interface.name().to_owned(),
            driver: interface.driver().unwrap_or_default(),
            frames: found.frames,
            without_flow: found.without_flow,
            flows: found.flows,
            key,
            other_hash: found.is_other_hash(),
            hash: CheckPage::of(&found.hash, found.hash_untold),
            queue: CheckPage::of(&found.queue, found.queue_untold),
            flow: CheckPage::of(&found.flow, found.queue_untold),
            queue_pairs: pairs(&found.queue_pairs),
            flow_pairs: pairs(&found.flow_pairs),
            causes: found.causes.clone(),
            notes: found.notes.clone(),
        }
    }
}

impl CheckPage {
    fn of(check: &Check, untold: u64) -> Self {
        let frame = |wrong: &Misplaced| FramePage {
            number: wrong.number,
            flow: flow(&wrong.seen.flow),
            hash: wrong.seen.hash,
            queue: wrong.seen.queue,
            due: wrong.due,
        };
        Self {
            right: check.right,
            wrong: check.wrong,
            untold,
            first: check.first.iter().map(frame).collect(),
        }
    }
}

fn flow(key: &FlowKey) -> String {
    let address = |word: u128| match key.family {
        Family::V6 => IpAddr::V6(Ipv6Addr::from_bits(word)),
        _ => IpAddr::V4(Ipv4Addr::from_bits(word as u32)),
    };
    format!(
        "{} {} to {} {}, protocol {}",
        address(key.src),
        key.src_port,
        address(key.dst),
        key.dst_port,
        key.protocol
    )
}

fn text(page: &Page, settings: &HashSettings, output: Output) -> String {
    let stream = Stream::Stdout;
    let mut text = format!(
        "{} ({}): {} frames, {} flows, {} without addresses; key {}, table of {} entries\n",
        page.interface,
        page.driver,
        count(page.frames),
        count(page.flows as u64),
        count(page.without_flow),
        page.key,
        settings.rss.indirection.len(),
    );
    let mut table = Table::new(&[
        ("check", Align::Left),
        ("right", Align::Right),
        ("wrong", Align::Right),
        ("not told", Align::Right),
    ]);
    let checks = [
        ("hash is ours", &page.hash),
        ("queue is the table's", &page.queue),
        ("flow stays in its queue", &page.flow),
    ];
    for (name, check) in checks {
        let numbers = [check.right, check.wrong, check.untold].map(count);
        let [right, wrong, untold] = numbers;
        table.row([name.to_owned(), right, wrong, untold]);
    }
    text += &table.render(output.paint(stream), output.width(stream));
    for (name, check) in checks {
        // Hashes of another function are all wrong, and the first say no more.
        let named = !page.other_hash || name != checks[0].0;
        for wrong in check.first.iter().filter(|_| named) {
            text += &format!("not so: {name}: {}\n", line(wrong, name == checks[0].0));
        }
    }
    for (due, seen, frames) in &page.queue_pairs {
        text += &format!(
            "queue {seen} in place of {due}: {} frames\n",
            count(*frames)
        );
    }
    for (before, after, frames) in &page.flow_pairs {
        text += &format!("flows from queue {before} to {after}: {}\n", count(*frames));
    }
    for cause in &page.causes {
        text += &format!("likely: {cause}\n");
    }
    for note in &page.notes {
        text += &format!("no fault: {note}\n");
    }
    text
}

fn line(wrong: &FramePage, of_hash: bool) -> String {
    let FramePage {
        number,
        flow,
        hash,
        queue,
        due,
    } = wrong;
    let queue = queue.map_or_else(|| "not told".to_owned(), |queue| queue.to_string());
    let due = match of_hash {
        true => format!("hash 0x{due:08x}"),
        false => format!("queue {due}"),
    };
    format!("frame {number}, {flow}: hash 0x{hash:08x}, queue {queue}, due {due}")
}
