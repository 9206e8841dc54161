//! Fragments: packets of records, and frames as they are.

use std::collections::HashSet;

use frame::Nanos;
use table::fragments::oracle::Holes;
use table::fragments::{FragmentLimits, FragmentTable, Lost, Met, Refused};
use wire::{DatagramKey, Family, Piece};

/// Bytes that make one fragment.
const RECORD: usize = 6;

/// Fragments of six bytes each: whose, from where, how long, last, its mark, the time before it.
/// With the first byte even there is room for all, and the table answers as its twin does; with it
/// odd there is little, and what is held stays within bounds and is given back once. The rest of
/// the input is read as a frame, too.
pub fn fragments(bytes: &[u8]) {
    let Some((&mode, bytes)) = bytes.split_first() else {
        return;
    };
    let parsed = wire::parse(bytes, bytes.len());
    if let Some(piece) = Piece::of(bytes, &parsed) {
        assert!(piece.start.is_multiple_of(8) && piece.end >= piece.start);
        assert!(usize::from(parsed.l3_offset + piece.header) <= bytes.len());
    }
    let records = bytes.chunks_exact(RECORD).take(400);
    if mode & 1 == 0 {
        beside_its_twin(records.map(piece_of));
    } else {
        within_bounds(records.map(|record| (piece_of(record), record[5])));
    }
}

fn piece_of(record: &[u8]) -> Piece {
    let start = u16::from(record[1] % 32) * 8;
    let odd = u16::from(record[2] & 0xC0 == 0xC0);
    Piece {
        key: DatagramKey {
            src: u128::from(record[0] >> 4),
            dst: 1,
            identification: u32::from(record[0] & 3),
            protocol: 17,
            family: if record[0] & 8 == 0 {
                Family::V4
            } else {
                Family::V6
            },
        },
        start,
        end: start + u16::from(record[2] % 8) * 8 + odd,
        last: record[3] & 1 == 1,
        mark: u32::from(record[4] & 1),
        header: 20,
    }
}

fn beside_its_twin(pieces: impl Iterator<Item = Piece>) {
    let mut table: FragmentTable<(), u32> = FragmentTable::new(FragmentLimits {
        datagrams: 1024,
        pieces: 400,
        source_part: 1,
        ..FragmentLimits::default()
    });
    let mut twin = Holes::new();
    for piece in pieces {
        let hash = table.hash(&piece.key, 0);
        let met = table.meet(&piece, (0, hash), Nanos(1), &mut |_, _| ());
        assert_eq!(met.map(|met| met.complete), twin.meet(&piece), "{piece:?}");
        if let Ok(Met { id, complete: true }) = met {
            table.finish(id);
        }
    }
}

fn within_bounds(pieces: impl Iterator<Item = (Piece, u8)>) {
    let limits = FragmentLimits {
        datagrams: 8,
        pieces: 6,
        held: 5,
        timeout: Nanos(1000),
        source_part: 2,
    };
    let mut table = FragmentTable::new(limits);
    let (bytes, mut now) = (table.bytes(), Nanos(1));
    let (mut held, mut given): (HashSet<usize>, Vec<usize>) = (HashSet::new(), Vec::new());
    for (item, (piece, pause)) in pieces.enumerate() {
        now = now.after(u64::from(pause));
        let hash = table.hash(&piece.key, 0);
        let mut lost = |item, _: Lost| given.push(item);
        table.expire(now, &mut lost);
        match table.meet(&piece, (0, hash), now, &mut lost) {
            Ok(Met { id, complete }) => {
                held.insert(item);
                if let Err((item, _)) = table.hold(id, item, &mut lost) {
                    lost(item, Lost::Evicted);
                }
                if piece.is_first() || complete {
                    table.judge(id, ());
                    table.release(id, &mut |item| given.push(item));
                }
                if complete {
                    table.finish(id);
                }
            }
            Err(Refused::Duplicate | Refused::Source | Refused::Flawed(_)) => {}
        }
        for item in given.drain(..) {
            assert!(held.remove(&item), "{item} is given back twice");
        }
        assert_eq!(held.len(), table.held());
        assert!(table.held() <= 5 && table.len() <= 8 && table.bytes() == bytes);
    }
    table.clear(&mut |item, _| assert!(held.remove(&item)));
    assert!(held.is_empty() && table.is_empty());
}
