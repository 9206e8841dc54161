//! `linerate rss plan`.

use std::net::IpAddr;

use serde::Serialize;
use table::{Address, Network, RssHash, SourcePlan};

use super::both;
use crate::args::RssPlanArgs;
use crate::build::VERSION;
use crate::error::{Error, Outcome};
use crate::output::{Output, Stream};

#[derive(Debug, Serialize)]
struct Plan {
    version: &'static str,
    buckets: usize,
    dst: IpAddr,
    /// By bucket; null where no source of the network falls into it.
    sources: Vec<Option<String>>,
}

/// Prints one source a bucket; exit code 1 when the network has none for some.
pub(super) fn run(args: &RssPlanArgs, output: Output) -> Outcome {
    let sources = match (network(&args.src)?, args.dst) {
        ((IpAddr::V4(net), len), IpAddr::V4(dst)) => {
            sources::<u32>(args, net.to_bits(), len, dst.to_bits())?
        }
        ((IpAddr::V6(net), len), IpAddr::V6(dst)) => {
            sources::<u128>(args, net.to_bits(), len, dst.to_bits())?
        }
        _ => {
            return Err(Error::refused(format!(
                "{} and {} are not of one family: give both as IPv4 or both as IPv6",
                args.src, args.dst
            )));
        }
    };
    let missing = sources.iter().filter(|source| source.is_none()).count();
    let plan = Plan {
        version: VERSION,
        buckets: sources.len(),
        dst: args.dst,
        sources,
    };
    let printed = if args.json {
        output.print_json(&plan)?
    } else {
        output.print(Stream::Stdout, &text(&plan, &args.src))?
    };
    match missing {
        0 => Ok(printed),
        _ => Err(Error::check_failed(format!(
            "no source of {} falls into {missing} of {} buckets: give a larger network",
            args.src, plan.buckets
        ))),
    }
}

fn network(text: &str) -> Result<(IpAddr, u8), Error> {
    let parts = text.split_once('/');
    let parsed = parts.and_then(|(net, len)| Some((net.parse().ok()?, len.parse().ok()?)));
    parsed.ok_or_else(|| {
        Error::refused(format!(
            "{text} is not a network: write 10.0.0.0/16 or 2001:db8::/64"
        ))
    })
}

fn sources<A: Address>(
    args: &RssPlanArgs,
    net: A,
    prefix_len: u8,
    dst: A,
) -> Result<Vec<Option<String>>, Error> {
    let network = Network::new(net, prefix_len);
    let network = network.map_err(|error| Error::refused(format!("{}: {error}", args.src)))?;
    let plan = SourcePlan {
        network,
        dst,
        ports: args.ports.map_or(0, |(src, dst)| both(src, dst)),
        buckets: args.placement.buckets,
    };
    let found = RssHash::new(&args.placement.key).sources(&plan);
    let text = |source: Option<A>| source.map(|source| source.text().to_string());
    Ok(found.into_iter().map(text).collect())
}

/// A list as 'gen' and 'bridge' read it.
fn text(plan: &Plan, network: &str) -> String {
    let mut text = format!(
        "# one source of {network} for each of {} RSS buckets, destination {}\n",
        plan.buckets, plan.dst
    );
    for (bucket, source) in plan.sources.iter().enumerate() {
        match source {
            Some(source) => text += &format!("{source} # bucket {bucket}\n"),
            None => text += &format!("# bucket {bucket}: none\n"),
        }
    }
    text
}
