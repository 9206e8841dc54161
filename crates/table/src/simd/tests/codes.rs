//! How the forms of line tell codes.

use super::*;

struct Zeros(u64, u32);
impl Job for Zeros {
    type Answer = u32;
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u32 {
        lanes.zeros_below(self.0, self.1)
    }
}

#[test]
fn every_level_counts_zeros() {
    let mut words = vec![0, 1, 1 << 63, u64::MAX, 0x5555_5555_5555_5555];
    let drawn = if cfg!(miri) { 3 } else { 49 };
    words.extend((1..=drawn).map(|word: u64| word.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    for level in Level::here() {
        for &ones in &words {
            let places: Vec<u32> = (0..64).filter(|place| ones >> place & 1 != 0).collect();
            for number in 0..32u32 {
                let place = places.get(number as usize).copied().unwrap_or(64);
                for numbers in [1 << number, u32::MAX << number] {
                    let found = run(level, Zeros(ones, numbers));
                    assert_eq!(found, place - number, "{level} {ones:#x} {number}");
                }
            }
        }
    }
}

struct SumSteps<'a>(&'a [u32; 16], &'a [u64; 16]);
impl Job for SumSteps<'_> {
    type Answer = [u8; 16];
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> [u8; 16] {
        lanes.sum_steps(self.0, self.1)
    }
}

/// Steps of every kind of word, above every place alone, above it with all others beyond it found
/// as well, and where none is found.
#[test]
fn every_level_sums_steps_alike() {
    if !sums_steps() {
        println!("skipped: the vectors of a CPU with AVX-512 VPOPCNTDQ, which this one has not");
    }
    let mut words = vec![0, 1, 1 << 28, 1 << 29, 1 << 63, 0xffff_ffff, u64::MAX];
    let drawn = if cfg!(miri) { 3 } else { 49 };
    words.extend((1..=drawn).map(|word: u64| word.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let lowest = (0..=28).map(|place| [1u32 << place, !0 << place]);
    let found: Vec<u32> = lowest.flatten().chain([0, 0xf000_0000]).collect();
    for &word in &words {
        for found in found.chunks(13) {
            let found: [u32; 16] = std::array::from_fn(|line| found[line % found.len()]);
            let steps = std::array::from_fn(|line| word.rotate_left(line as u32));
            let wanted = std::array::from_fn(|line| {
                let lowest = found[line].trailing_zeros().min(28);
                let step = |bit: u32| (steps[line] >> bit & 1) as u8;
                let above = lowest + 1..32;
                above.map(|bit| step(bit) + 2 * step(32 + bit)).sum::<u8>()
            });
            for level in Level::here() {
                let sums: [u8; 16] = run(level, SumSteps(&found, &steps));
                assert_eq!(sums, wanted, "{level} {found:x?} {steps:x?}");
            }
        }
    }
}

struct Mark31<'a>(&'a [[u16; 32]; 16], u16);
impl Job for Mark31<'_> {
    type Answer = ([u32; 16], [u8; 16]);
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Answer {
        let mut marked = [0; 16];
        for (marked, line) in marked.iter_mut().zip(self.0) {
            *marked = lanes.marked31(line, self.1);
        }
        (marked, lanes.codes31(&marked))
    }
}

/// Of lines that have a value nowhere, at each place alone, everywhere and in the last place, which
/// is not compared, with the mark and without.
#[test]
fn every_level_marks_alike() {
    for value in [0, 1, 0x7fff, 0x8000, 0xff01, 0xffff] {
        let other = value ^ 0x0100;
        for place in 0..=32 {
            let lines = std::array::from_fn(|number| {
                let mut line = [if number & 2 == 0 { other } else { value }; 32];
                line[31] = [1, 0xff01, value & 0x7fff, value | 0x8000][number % 4];
                if let Some(at) = line[..31].get_mut(place) {
                    *at = if number & 4 == 0 { value } else { other };
                }
                line
            });
            let is_marked = |line: &[u16; 32]| line[31] >> 15 != 0;
            let code = |line: &[u16; 32]| match line[..31].contains(&value) {
                true => 1,
                false if is_marked(line) => 255,
                false => 0,
            };
            for level in Level::here() {
                let (marked, codes) = run(level, Mark31(&lines, value));
                assert_eq!(codes, lines.map(|line| code(&line)), "{place}, {level}");
                for (marked, line) in marked.iter().zip(&lines) {
                    let places = (0..31).filter(|&at| line[at] == value);
                    let equal: u32 = places.map(|at| 1 << at).sum();
                    let clean = u32::from(!is_marked(line)) << 31;
                    assert_eq!(*marked, equal | clean, "{place}, {level}");
                }
            }
        }
    }
}
