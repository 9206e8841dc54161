//! How the forms of line tell codes.

use super::*;

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
