//! The figure that a program prints, found by a pattern.

use std::collections::HashSet;
use std::str::FromStr;

/// Steps a pattern has at most: matching takes at most so many times the length of a line.
const STEPS_MAX: usize = 256;
/// Characters of a line that are looked at.
const LINE_MAX: usize = 1024;

/// One character of the text, so many times.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    set: Set,
    /// Whether it may be left out.
    optional: bool,
    /// Whether it may stand more than once.
    repeats: bool,
}

/// Which characters.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Set {
    Any,
    /// Ranges; the others where `negated`.
    Of {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
}

impl Set {
    fn has(&self, c: char) -> bool {
        match self {
            Self::Any => true,
            Self::Of { ranges, negated } => {
                ranges.iter().any(|&(low, high)| low <= c && c <= high) != *negated
            }
        }
    }

    fn one(c: char) -> Self {
        Self::of(vec![(c, c)])
    }

    fn of(ranges: Vec<(char, char)>) -> Self {
        Self::Of {
            ranges,
            negated: false,
        }
    }

    /// What stands behind a backslash.
    fn escaped(c: char) -> Self {
        match c {
            'd' => Self::of(vec![('0', '9')]),
            's' => Self::of(vec![(' ', ' '), ('\t', '\t'), ('\r', '\r')]),
            't' => Self::one('\t'),
            c => Self::one(c),
        }
    }
}

/// A regular expression of the plain kind, as in `MFLOPS: ([0-9.]+)`: characters, `.`, `[...]`,
/// `\d`, `\s`, `*`, `+`, `?`, and one pair of parentheses around the number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    steps: Vec<Step>,
    /// Steps of the number: from this one on, up to that one.
    group: (usize, usize),
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut reader = Reader {
            rest: text.chars().peekable(),
            steps: Vec::new(),
        };
        let (mut begin, mut end) = (None, None);
        while let Some(c) = reader.rest.next() {
            match c {
                '(' if begin.is_none() => begin = Some(reader.steps.len()),
                ')' if begin.is_some() && end.is_none() => end = Some(reader.steps.len()),
                '(' | ')' | '|' | '{' | '}' | '^' | '$' | '*' | '+' | '?' => {
                    return Err(format!(
                        "'{c}' at this place is not understood: a metric is text with . [...] \\d \
                         \\s * + ? and one pair of parentheses; write \\{c} for the character"
                    ));
                }
                c => reader.step(c)?,
            }
        }
        let (Some(begin), Some(end)) = (begin, end) else {
            return Err(
                "there are no parentheses around the number, as in 'MFLOPS: ([0-9.]+)'".to_owned(),
            );
        };
        if begin == end || reader.steps.len() > STEPS_MAX {
            return Err(format!(
                "parentheses must have something in them, and a pattern at most {STEPS_MAX} parts"
            ));
        }
        Ok(Self {
            text: text.to_owned(),
            steps: reader.steps,
            group: (begin, end),
        })
    }
}

/// Reads a pattern, a step at a time.
struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    steps: Vec<Step>,
}

impl Reader<'_> {
    fn step(&mut self, c: char) -> Result<(), String> {
        let set = match c {
            '.' => Set::Any,
            '[' => self.class()?,
            '\\' => Set::escaped(self.escape()?),
            c => Set::one(c),
        };
        let (optional, repeats) = match self.rest.peek() {
            Some('*') => (true, true),
            Some('+') => (false, true),
            Some('?') => (true, false),
            _ => (false, false),
        };
        if optional || repeats {
            self.rest.next();
        }
        self.steps.push(Step {
            set,
            optional,
            repeats,
        });
        Ok(())
    }

    fn escape(&mut self) -> Result<char, String> {
        let next = self.rest.next();
        next.ok_or_else(|| "the pattern ends with a backslash: write \\\\ for one".to_owned())
    }

    /// Behind `[`.
    fn class(&mut self) -> Result<Set, String> {
        let open = || "a '[' has no ']': write \\[ for the character".to_owned();
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut ranges = Vec::new();
        loop {
            match self.rest.next().ok_or_else(open)? {
                ']' if !ranges.is_empty() => return Ok(Set::Of { ranges, negated }),
                '\\' => match Set::escaped(self.escape()?) {
                    Set::Of { ranges: more, .. } => ranges.extend(more),
                    Set::Any => {}
                },
                low => ranges.push((low, self.range_end(low).ok_or_else(open)?)),
            }
        }
    }

    /// `9` of `0-9`; a hyphen before `]` stands for itself.
    fn range_end(&mut self, low: char) -> Option<char> {
        let mut ahead = self.rest.clone();
        if ahead.next() == Some('-') && ahead.next()? != ']' {
            self.rest.next();
            return self.rest.next();
        }
        Some(low)
    }
}

impl Pattern {
    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number in the last line that the pattern is in: programs print their result last.
    #[must_use]
    pub fn figure(&self, text: &str) -> Option<f64> {
        text.lines().rev().find_map(|line| self.in_line(line))
    }

    fn in_line(&self, line: &str) -> Option<f64> {
        let line: Vec<char> = line.chars().take(LINE_MAX).collect();
        let mut matcher = Matcher {
            pattern: self,
            line: &line,
            failed: HashSet::new(),
        };
        let (from, to) = (0..=line.len()).find_map(|at| matcher.from(0, at, (at, at)))?;
        let number: String = line[from..to].iter().filter(|&&c| c != ',').collect();
        number.trim().parse().ok().filter(|n: &f64| n.is_finite())
    }
}

/// Tries a pattern, longest repetitions first, and remembers what failed: each step at each place
/// is tried once.
struct Matcher<'a> {
    pattern: &'a Pattern,
    line: &'a [char],
    failed: HashSet<(usize, usize)>,
}

impl Matcher<'_> {
    /// Where the number stands if the steps from this one on match here.
    fn from(&mut self, step: usize, at: usize, group: (usize, usize)) -> Option<(usize, usize)> {
        let (begin, end) = self.pattern.group;
        let group = (
            if step == begin { at } else { group.0 },
            if step == end { at } else { group.1 },
        );
        let Some(this) = self.pattern.steps.get(step) else {
            return Some(group);
        };
        if self.failed.contains(&(step, at)) {
            return None;
        }
        let rest = self.line[at..].iter();
        let longest = if this.repeats { self.line.len() } else { 1 };
        let most = rest.take(longest).take_while(|&&c| this.set.has(c)).count();
        for taken in (usize::from(!this.optional)..=most).rev() {
            if let Some(found) = self.from(step + 1, at + taken, group) {
                return Some(found);
            }
        }
        self.failed.insert((step, at));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        for (pattern, text, figure) in [
            ("MFLOPS: ([0-9.]+)", "MFLOPS: 831.5\n", Some(831.5)),
            ("MFLOPS: ([0-9.]+)", "a\nMFLOPS: 1\nMFLOPS: 2\nb", Some(2.0)),
            ("MFLOPS: ([0-9.]+)", "MFLOPS: \n", None),
            ("([0-9.]+) MFLOPS", "loop 3: 1692.25 MFLOPS", Some(1692.25)),
            ("([\\d.]+)\\s*s$?", "", None),
            ("time *= *([0-9.]+) ?ms", "time =  12ms", Some(12.0)),
            ("a.*b([-0-9e.]+)", "axxb1 yb-2.5e3", Some(-2500.0)),
            ("rate ([0-9,]+)", "rate 1,692,000", Some(1_692_000.0)),
            ("\\(([^)]+)\\)", "speed (4)", Some(4.0)),
            ("([a-z]+)", "word", None),
            ("([0-9.]+)", "1.2.3", None),
            ("(\\d+)", "ü 7", Some(7.0)),
        ] {
            let Ok(parsed) = pattern.parse::<Pattern>() else {
                assert!(pattern.contains('$'), "{pattern}");
                continue;
            };
            assert_eq!(parsed.figure(text), figure, "{pattern} in {text}");
        }
    }

    #[test]
    fn patterns_that_are_none() {
        for (pattern, reason) in [
            ("", "no parentheses"),
            ("MFLOPS", "no parentheses"),
            ("(", "no parentheses"),
            ("()", "something in them"),
            ("(a)(b)", "is not understood"),
            ("((a))", "is not understood"),
            ("*(a)", "is not understood"),
            ("(a|b)", "is not understood"),
            ("^(a)", "is not understood"),
            ("(a){2}", "is not understood"),
            ("([0-9)", "has no ']'"),
            ("(a\\", "ends with a backslash"),
        ] {
            let refused = pattern.parse::<Pattern>().expect_err(pattern);
            assert!(refused.contains(reason), "{pattern}: {refused}");
        }
        assert!(format!("({})", "a".repeat(300)).parse::<Pattern>().is_err());
    }

    /// Without memory of what failed this would take longer than anybody lives.
    #[test]
    fn hostile_text_takes_bounded_time() {
        let pattern = format!("{}(b)", "a*".repeat(40)).parse::<Pattern>();
        let text = "a".repeat(500);
        assert_eq!(pattern.expect("a pattern").figure(&text), None);
    }
}
