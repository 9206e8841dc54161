//! Every target over its corpus, its regressions and mutations of both, on stable Rust.

use std::fs;
use std::path::Path;

/// Mutations of each file. LINERATE_FUZZ_SEED replays a failure.
const MUTATIONS: usize = 300;

struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

fn mutate(bytes: &[u8], seeded: &mut Seeded) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=seeded.below(4) {
        let at = seeded.below(bytes.len());
        match seeded.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, seeded.next() as u8),
            2 if at < bytes.len() => bytes[at] ^= 1 << seeded.below(8),
            3 if at < bytes.len() => bytes[at] = [0, 1, 0x7F, 0x80, 0xFF][seeded.below(5)],
            _ => {
                let from = seeded.below(bytes.len()).min(at);
                bytes.extend_from_within(from..at.min(from + 64));
            }
        }
    }
    bytes
}

fn replay(name: &str, target: fn(&[u8])) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let seed = std::env::var("LINERATE_FUZZ_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or(0x5EED);
    let mut seeded = Seeded(seed);
    let mut files = 0;
    for folder in ["corpus", "regressions"] {
        let Ok(entries) = fs::read_dir(here.join(folder).join(name)) else {
            continue;
        };
        let mut paths: Vec<_> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        paths.sort();
        for path in paths {
            eprintln!("{} with LINERATE_FUZZ_SEED={seed}", path.display());
            let bytes = fs::read(&path).expect("a file of the corpus");
            target(&bytes);
            for _ in 0..MUTATIONS {
                target(&mutate(&bytes, &mut seeded));
            }
            files += 1;
        }
    }
    assert!(files > 0, "{name} has no corpus");
}

#[test]
fn parse() {
    replay("parse", fuzz::parse);
}

#[test]
fn list() {
    replay("list", fuzz::list);
}

#[test]
fn capture() {
    replay("capture", fuzz::capture);
}

#[test]
fn spec() {
    replay("spec", fuzz::spec);
}

#[test]
fn sink() {
    replay("sink", fuzz::sink);
}

#[test]
fn recipe() {
    replay("recipe", fuzz::recipe);
}

#[test]
fn scrape() {
    replay("scrape", fuzz::scrape);
}

#[test]
fn sample() {
    replay("sample", fuzz::sample);
}

#[test]
fn control() {
    replay("control", fuzz::control);
}

#[test]
fn config() {
    replay("config", fuzz::config);
}

#[test]
fn journal() {
    replay("journal", fuzz::journal);
}

#[test]
fn decisions() {
    replay("decisions", fuzz::decisions);
}

#[test]
fn fragments() {
    replay("fragments", fuzz::fragments);
}

#[test]
fn tunnel() {
    replay("tunnel", fuzz::tunnel);
}

#[test]
fn switch() {
    replay("switch", fuzz::switch);
}

#[test]
fn stack() {
    replay("stack", fuzz::stack);
}

#[test]
fn tcp() {
    replay("tcp", fuzz::tcp);
}

#[test]
fn nat() {
    replay("nat", fuzz::nat);
}

#[test]
fn rules() {
    replay("rules", fuzz::rules);
}

#[test]
fn nft_rules() {
    replay("nft_rules", fuzz::nft_rules);
}

#[test]
fn routes() {
    replay("routes", fuzz::routes);
}

#[test]
fn requests() {
    replay("requests", fuzz::requests);
}
