//! From bytes to entries: gzip undone within bounds, the list read, its first warnings kept.

use std::io::{BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use list::{ListError, Loaded, OwnAddress, ReadOptions};

use super::bounded::{Bounded, is_too_large};
use super::error::SourceError;
use super::source::SourceSpec;

const GZIP: &[u8] = b"\x1f\x8b";

/// Reads the list of a source. `name` stands before line numbers; by `force` the list may hold
/// every address there is.
///
/// Gzip is undone here and not by `list`, so that the text is bounded however well it was packed:
/// 512 MiB of packed zeros are 500 GiB of text.
pub(crate) fn read(
    name: &str,
    input: impl Read,
    spec: &SourceSpec,
    force: bool,
) -> Result<Loaded, SourceError> {
    let limits = &spec.limits;
    let options = options(spec, force);
    let mut input = BufReader::with_capacity(64 << 10, Bounded::new(input, limits.bytes_max));
    let start = input
        .fill_buf()
        .map_err(|error| failed(name, spec, false, error))?;
    let packed = start.starts_with(GZIP);
    let read = if packed {
        let text = Bounded::new(MultiGzDecoder::new(&mut input), limits.text_bytes_max);
        list::read(name, text, &options, &mut |_| {})
    } else {
        list::read(name, &mut input, &options, &mut |_| {})
    };
    let mut loaded = read.map_err(|error| match error {
        ListError::Read { source, .. } => failed(name, spec, packed, source),
        other => SourceError::List(other),
    })?;
    loaded.gzip = packed;
    loaded.bytes_read = input.get_ref().read;
    Ok(loaded)
}

fn options(spec: &SourceSpec, force: bool) -> ReadOptions {
    let limits = list::Limits {
        entries_max: spec.limits.entries_max,
        ..list::Limits::default()
    };
    let own = engine::own_addresses().into_iter().map(|own| OwnAddress {
        address: own.address,
        role: role(own.role),
    });
    ReadOptions {
        columns: spec.text.columns.clone(),
        json_paths: spec.text.json_paths.clone(),
        skip_bad_lines: spec.text.skip_bad_lines,
        // Who overrides the guards has not said that lines are to be read by half.
        force: false,
        everything: spec.text.force || force,
        own: own.collect(),
        purpose: spec.text.purpose,
        wording: list::Wording::Keys,
        limits,
    }
}

/// For sentences: what the address is to this machine.
fn role(role: engine::Role) -> &'static str {
    match role {
        engine::Role::Address => "an address of this machine",
        engine::Role::Gateway => "a gateway of this machine",
        engine::Role::Resolver => "a name server of this machine",
    }
}

fn failed(name: &str, spec: &SourceSpec, packed: bool, error: std::io::Error) -> SourceError {
    if is_too_large(&error) {
        let (packed_max, text_max) = (spec.limits.bytes_max, spec.limits.text_bytes_max);
        return SourceError::TooLarge {
            name: name.to_owned(),
            bytes_max: if packed { text_max } else { packed_max },
            unpacked: packed,
        };
    }
    let what = if packed { "be unpacked" } else { "be read" };
    SourceError::io(name, what, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::{Freshness, Limits, Source, TextRules};
    use flate2::{Compression, write::GzEncoder};
    use std::io::{Write, repeat};
    use std::time::Duration;

    fn spec(limits: Limits) -> SourceSpec {
        SourceSpec {
            set: "a".into(),
            source: Source::parse("/a.txt").unwrap(),
            refresh: Duration::from_secs(60),
            text: TextRules::default(),
            limits,
            freshness: Freshness::default(),
        }
    }

    fn packed(text: &mut dyn Read) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        std::io::copy(text, &mut packer).unwrap();
        packer.finish().unwrap()
    }

    fn told(bytes: &[u8], limits: Limits) -> String {
        read("a.txt", bytes, &spec(limits), false)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn plain_and_packed_are_one() {
        let text = b"192.0.2.1\n198.51.100.0/24\n";
        let plain = read("a.txt", &text[..], &spec(Limits::default()), false).unwrap();
        let bytes = packed(&mut &text[..]);
        let unpacked = read("a.txt", &bytes[..], &spec(Limits::default()), false).unwrap();
        assert_eq!(plain.entries, unpacked.entries);
        assert_eq!((plain.gzip, unpacked.gzip), (false, true));
        assert_eq!(unpacked.bytes_read, bytes.len() as u64);
        assert_eq!(plain.entry_count, 2);
    }

    /// Force is for guards: what it takes of a text is every address, and no line by half.
    #[test]
    fn force_reads_no_line_otherwise() {
        let csv = list::Columns::One(list::Column::Number(1));
        for (text, columns, plain, forced) in [
            ("198.51.100.0\n", None, true, true),
            ("0.0.0.0/0\n", None, false, true),
            ("::/0\n", None, false, true),
            ("198.51.100.0 24\n", None, false, false),
            ("198.51.100.0 256\n", None, false, false),
            ("198.51.100.0 255.255.255.0\n", None, false, false),
            (
                "198.51.100.0,198.51.100.255\n",
                Some(csv.clone()),
                false,
                false,
            ),
            ("example.com\n", None, false, false),
            ("0.0.0.0/0\n198.51.100.0 24\n", None, false, false),
        ] {
            let mut spec = spec(Limits::default());
            spec.text.columns = columns;
            for (force, taken) in [(false, plain), (true, forced)] {
                let read = read("a.txt", text.as_bytes(), &spec, force);
                assert_eq!(read.is_ok(), taken, "{text:?} by force {force}: {read:?}");
                let told = read.err().map(|error| error.to_string());
                // What a daemon is not told by an option is no way out.
                let names =
                    |told: &String| told.contains("--col") || told.contains("--force leaves");
                assert!(!told.as_ref().is_some_and(names), "{text:?}: {told:?}");
            }
        }
    }

    #[test]
    fn a_bomb_ends_at_the_limit_of_its_text() {
        let bomb = packed(&mut repeat(b'\n').take(64 << 20));
        let limits = Limits {
            text_bytes_max: 1 << 20,
            ..Limits::default()
        };
        assert!(bomb.len() < 128 << 10, "{} bytes", bomb.len());
        let told = told(&bomb, limits);
        assert!(
            told.contains("larger than 1048576 bytes when unpacked"),
            "{told}"
        );
    }

    #[test]
    fn too_much_and_damage_are_told_apart() {
        let limits = Limits {
            bytes_max: 10,
            ..Limits::default()
        };
        let large = told(b"192.0.2.1\n192.0.2.2\n", limits);
        assert!(large.contains("larger than 10 bytes:"), "{large}");
        let mut cut = packed(&mut repeat(b'\n').take(100_000));
        cut.truncate(cut.len() - 9);
        let cut = told(&cut, Limits::default());
        assert!(cut.starts_with("a.txt cannot be unpacked"), "{cut}");
        let mut end = GzEncoder::new(Vec::new(), Compression::best());
        end.write_all(b"oops\nworse\n").unwrap();
        let broken = told(&end.finish().unwrap(), Limits::default());
        assert!(broken.starts_with("a.txt:1: \"oops\""), "{broken}");
        assert!(broken.contains("and 1 more bad line"), "{broken}");
        assert!(!broken.contains('\n'), "{broken}");
    }
}
