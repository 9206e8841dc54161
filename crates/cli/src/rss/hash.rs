//! `linerate rss hash`.

use serde::Serialize;
use table::RssHash;

use super::{both, hash_of};
use crate::args::RssHashArgs;
use crate::build::VERSION;
use crate::error::Outcome;
use crate::output::{Output, Stream};
use crate::report::table::{Align, Table};

#[derive(Debug, Serialize)]
struct Hashes {
    version: &'static str,
    buckets: usize,
    hashes: Vec<Hash>,
}

#[derive(Debug, Serialize)]
struct Hash {
    input: &'static str,
    hash: u32,
    bucket: usize,
}

/// Prints hash and bucket of one flow.
pub(super) fn run(args: &RssHashArgs, output: Output) -> Outcome {
    let hash = RssHash::new(&args.placement.key);
    let buckets = args.placement.buckets;
    let of = |input, ports| {
        let hash = hash_of(&hash, args.src, args.dst, ports)?;
        let bucket = hash as usize % buckets;
        Ok(Hash {
            input,
            hash,
            bucket,
        })
    };
    let mut hashes = vec![of("addresses", 0)?];
    if let (Some(src), Some(dst)) = (args.src_port, args.dst_port) {
        hashes.push(of("addresses and ports", both(src, dst))?);
    }
    if args.json {
        return output.print_json(&Hashes {
            version: VERSION,
            buckets,
            hashes,
        });
    }
    let mut table = Table::new(&[
        ("hashed", Align::Left),
        ("hash", Align::Left),
        ("bucket", Align::Right),
    ]);
    for Hash {
        input,
        hash,
        bucket,
    } in hashes
    {
        table.row([
            input.to_owned(),
            format!("0x{hash:08x}"),
            bucket.to_string(),
        ]);
    }
    let stream = Stream::Stdout;
    output.print(
        stream,
        &table.render(output.paint(stream), output.width(stream)),
    )
}
