//! `linerate rss vectors`.

use std::net::IpAddr;

use serde::Serialize;
use table::{FlowColumns, RssHash};
use wire::toeplitz::{Key, VECTORS, Vector};

use super::{both, hash_of};
use crate::args::RssVectorsArgs;
use crate::build::VERSION;
use crate::error::{Error, Outcome};
use crate::output::{Output, Stream};
use crate::report::table::{Align, Table};

#[derive(Debug, Serialize)]
struct Vectors {
    version: &'static str,
    vectors: usize,
    means: Vec<&'static str>,
    wrong: Vec<Wrong>,
}

/// A hash that is not the published one.
#[derive(Debug, Serialize)]
struct Wrong {
    means: &'static str,
    src: IpAddr,
    dst: IpAddr,
    input: &'static str,
    published: u32,
    ours: u32,
}

/// Compares each way of hashing with the published hashes; exit code 1 if one differs.
pub(super) fn run(args: &RssVectorsArgs, output: Output) -> Outcome {
    let mut means = vec!["one flow"];
    let mut wrong = check("one flow", |vector, ports| {
        let hash = RssHash::portable(&Key::MICROSOFT);
        hash_of(&hash, vector.src.0, vector.dst.0, ports).unwrap_or(0)
    });
    for hash in [
        RssHash::portable(&Key::MICROSOFT),
        RssHash::new(&Key::MICROSOFT),
    ] {
        if !means.contains(&hash.means()) {
            means.push(hash.means());
            wrong.extend(check(hash.means(), |vector, ports| {
                in_a_burst(&hash, vector, ports)
            }));
        }
    }
    let failed = wrong.len();
    let vectors = Vectors {
        version: VERSION,
        vectors: 2 * VECTORS.len(),
        means,
        wrong,
    };
    let printed = if args.json {
        output.print_json(&vectors)?
    } else {
        let stream = Stream::Stdout;
        output.print(stream, &text(&vectors, output))?
    };
    match failed {
        0 => Ok(printed),
        _ => Err(Error::check_failed(format!(
            "{failed} hashes are not the published ones: please report this machine's CPU"
        ))),
    }
}

fn check(means: &'static str, hash: impl Fn(&Vector, u32) -> u32) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    for vector in &VECTORS {
        let ports = both(vector.src.1, vector.dst.1);
        let inputs = [
            ("addresses", 0, vector.addresses),
            ("addresses and ports", ports, vector.ports),
        ];
        for (input, ports, published) in inputs {
            let ours = hash(vector, ports);
            if ours != published {
                wrong.push(Wrong {
                    means,
                    src: vector.src.0,
                    dst: vector.dst.0,
                    input,
                    published,
                    ours,
                });
            }
        }
    }
    wrong
}

/// The hash as the last of nine, so that whole vectors and the rest of a burst are both used.
fn in_a_burst(hash: &RssHash, vector: &Vector, ports: u32) -> u32 {
    const COUNT: usize = 9;
    let (ports, mut hashes) = ([ports; COUNT], [0; COUNT]);
    match (vector.src.0, vector.dst.0) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let (src, dst) = (&[src.to_bits(); COUNT], &[dst.to_bits(); COUNT]);
            let flows = FlowColumns {
                src,
                dst,
                ports: &ports,
            };
            hash.hash_v4(flows, &mut hashes);
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let (src, dst) = (&[src.to_bits(); COUNT], &[dst.to_bits(); COUNT]);
            let flows = FlowColumns {
                src,
                dst,
                ports: &ports,
            };
            hash.hash_v6(flows, &mut hashes);
        }
        _ => return 0,
    }
    let alike = hashes.iter().all(|hash| *hash == hashes[0]);
    if alike { hashes[0] } else { !hashes[0] }
}

fn text(vectors: &Vectors, output: Output) -> String {
    let mut table = Table::new(&[
        ("by", Align::Left),
        ("hashes", Align::Right),
        ("as published", Align::Right),
    ]);
    for means in &vectors.means {
        let wrong = vectors
            .wrong
            .iter()
            .filter(|wrong| wrong.means == *means)
            .count();
        let right = vectors.vectors - wrong;
        table.row([
            (*means).to_owned(),
            vectors.vectors.to_string(),
            right.to_string(),
        ]);
    }
    let stream = Stream::Stdout;
    let mut text = table.render(output.paint(stream), output.width(stream));
    for wrong in &vectors.wrong {
        let Wrong {
            means,
            src,
            dst,
            input,
            published,
            ours,
        } = wrong;
        text += &format!(
            "{means}: {src} to {dst}, {input}: published 0x{published:08x}, ours 0x{ours:08x}\n"
        );
    }
    text
}
