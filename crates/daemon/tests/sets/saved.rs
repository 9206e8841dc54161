//! Sets written out and read back.

use crate::world::{Random, World, name};
use daemon::sets::{NewEntry, Origin, Reply, Request, live_entry};
use std::collections::BTreeSet;
use table::live::Entry;
use table::{Network, Range};

fn draw(random: &mut Random) -> Entry {
    // Global addresses: what is mapped IPv4 is read as IPv4.
    let v4 = 0x0200_0000 + random.below(1 << 24) as u32;
    let v6 = 0x2a00_u128 << 112 | u128::from(random.word()) << random.below(48);
    let bits = |most: u64, random: &mut Random| 8 + random.below(most - 7) as u8;
    match random.below(6) {
        0 => Entry::address_v4(v4),
        1 => Network::holding(v4, bits(32, random))
            .expect("a prefix")
            .into(),
        2 => Entry::V4(Range::new(v4, v4 + random.below(5000) as u32).expect("a range")),
        3 => Entry::address_v6(v6),
        4 => Network::holding(v6, bits(128, random))
            .expect("a prefix")
            .into(),
        _ => Entry::V6(Range::new(v6, v6 + u128::from(random.word())).expect("a range")),
    }
}

fn comment(random: &mut Random) -> Option<Box<str>> {
    let comments = [
        "plain",
        "# 192.0.2.1",
        "two\nlines 192.0.2.2\r\n192.0.2.3",
        "{\"ip\": \"192.0.2.4\"}",
        "add set 192.0.2.5",
        "\u{85}\u{2028}192.0.2.6",
        "- 192.0.2.7",
    ];
    let place = random.below(2 * comments.len() as u64) as usize;
    comments.get(place).map(|&comment| comment.into())
}

fn saved(world: &World, set: &str) -> String {
    let Ok(Reply::Saved(saved)) = world.handle.ask(Request::Save { set: name(set) }) else {
        panic!("not saved");
    };
    let mut text = Vec::new();
    saved.write_to(&mut text).expect("memory");
    String::from_utf8(text).expect("text")
}

#[test]
fn what_is_saved_loads_to_the_same_set() {
    let mut random = Random::seeded();
    for round in 0..30 {
        let world = World::new(&["a", "b"]);
        let mut wanted = BTreeSet::new();
        let mut file = String::new();
        for _ in 0..random.below(40) {
            let entry = draw(&mut random);
            file.push_str(&format!("{entry}\n"));
            wanted.insert(entry);
        }
        if !file.is_empty() {
            let _ = world.load("a", &file, true).expect("loaded");
        }
        let count = random.below(40);
        let entries: Vec<NewEntry> = (0..count)
            .map(|_| NewEntry {
                entry: draw(&mut random),
                timeout: (random.below(3) == 0).then(|| std::time::Duration::from_secs(9000)),
                comment: comment(&mut random),
            })
            .collect();
        wanted.extend(entries.iter().map(|new| new.entry));
        let gone = wanted.iter().next().copied();
        let add = Request::Add {
            set: name("a"),
            entries,
            origin: Origin::Hand,
        };
        let _ = world.handle.ask(add).expect("added");
        if let Some(gone) = gone {
            wanted.remove(&gone);
            world.delete("a", &gone.to_string(), Origin::Hand);
        }
        let text = saved(&world, "a");
        let loaded = world.load("b", &text, true);
        assert!(loaded.is_ok(), "round {round}: {loaded:?}\n{text}");
        let back: BTreeSet<Entry> = saved(&world, "b")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| live_entry(list::Entry::parse(line.as_bytes()).expect("an entry")))
            .collect();
        assert_eq!(back, wanted, "round {round}:\n{text}");
    }
}
