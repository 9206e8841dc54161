//! Prints how many lines a second are read, of a list made here or of the file named.

use list::{ReadOptions, read};
use std::time::Instant;

fn made_list(lines: u32) -> Vec<u8> {
    let mut state = 0x9e37_79b9u32;
    let mut text = String::new();
    for _ in 0..lines {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        text += &format!("{}\n", std::net::Ipv4Addr::from_bits(state));
    }
    text.into_bytes()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if cfg!(debug_assertions) {
        eprintln!("this is a debug build: its figures mean nothing");
    }
    let text = match std::env::args().nth(1) {
        Some(file) => std::fs::read(file)?,
        None => made_list(6_000_000),
    };
    let options = ReadOptions {
        skip_bad_lines: true,
        ..ReadOptions::default()
    };
    for _ in 0..5 {
        let start = Instant::now();
        let loaded = read("list", text.as_slice(), &options, &mut |_| {})?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{} lines, {} entries, {:.3} s: {:.1} million lines/s, {:.0} MB/s",
            loaded.lines,
            loaded.entry_count,
            seconds,
            loaded.lines as f64 / seconds / 1e6,
            text.len() as f64 / seconds / 1e6
        );
    }
    Ok(())
}
