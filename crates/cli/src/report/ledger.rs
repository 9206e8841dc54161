//! The ledger of a run: as data, and as a table with the names of all differences below it.

use engine::{Column, Difference, Ledger, Step};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::number::count;
use super::table::{Align, Table, wrap};
use crate::paint::Paint;

/// Frames by where they were counted.
#[derive(Debug, Serialize)]
pub(crate) struct LedgerJson {
    /// Whether every difference has a name.
    pub(crate) closes: bool,
    /// Frames that no name stands for.
    pub(crate) unexplained: u64,
    /// One a place: ports, and what lies between them.
    pub(crate) places: Vec<Place>,
    /// One a name, place and queue; only those of some frames.
    pub(crate) differences: Vec<Part>,
    /// Where frames have no name.
    pub(crate) gaps: Vec<Gap>,
    /// What could not be counted, and why, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// Counts of one place. Columns that were not counted there are left out.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) place: String,
    pub(crate) columns: Vec<(Column, u64)>,
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("place", &self.place)?;
        for (column, frames) in &self.columns {
            map.serialize_entry(column.name(), frames)?;
        }
        map.end()
    }
}

/// A named difference.
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    pub(crate) place: String,
    /// The columns that it stands between.
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    pub(crate) name: &'static str,
    /// Null where nobody tells by queue.
    pub(crate) queue: Option<u32>,
    pub(crate) frames: u64,
    /// True where the frames are in the later column and not in the earlier one.
    pub(crate) adds: bool,
    /// Bounds of `frames`, equal where they were counted one by one.
    pub(crate) least: u64,
    pub(crate) most: u64,
    #[serde(skip)]
    sentence: &'static str,
    #[serde(skip)]
    titles: (&'static str, &'static str),
}

/// Frames without a name.
#[derive(Debug, Serialize)]
pub(crate) struct Gap {
    pub(crate) place: String,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    /// Missing in the later column; negative where it has too many.
    pub(crate) frames: i64,
}

impl LedgerJson {
    pub(crate) fn of(ledger: &Ledger) -> Self {
        let place = |place: &str| Place {
            place: place.to_owned(),
            columns: Column::ALL
                .iter()
                .filter_map(|&column| Some((column, ledger.frames(place, column)?)))
                .collect(),
        };
        let parts =
            |step: &Step| -> Vec<Part> { step.named().map(|part| Part::of(step, part)).collect() };
        Self {
            closes: ledger.closes(),
            unexplained: ledger.unexplained(),
            places: ledger.places().into_iter().map(place).collect(),
            differences: ledger.steps().iter().flat_map(parts).collect(),
            gaps: gaps(ledger),
            notes: ledger.notes().to_vec(),
        }
    }

    /// Where frames have no name, in words. Gaps of single trials may fill each other in the sum of
    /// all: then only their number is known.
    fn said(&self) -> String {
        let gaps: Vec<String> = self.gaps.iter().map(gap).collect();
        match gaps.is_empty() {
            true => format!("{} in single trials", count(self.unexplained)),
            false => gaps.join("; "),
        }
    }

    /// What a run whose ledger does not close ends with; `None` where it does.
    pub(crate) fn complaint(&self) -> Option<String> {
        let noted = self.notes.first().filter(|_| !self.closes);
        let noted = noted.map(|note| {
            format!(
                "the ledger does not close: frames have no name, {}, since of {note}",
                self.said()
            )
        });
        noted.or_else(|| self.unexpected())
    }

    fn unexpected(&self) -> Option<String> {
        (!self.closes).then(|| {
            format!(
                "the ledger does not close: frames have no name, {}; see docs/ledger.md for who \
                 else may have sent or taken them, and report it otherwise, with the output of \
                 --json",
                self.said()
            )
        })
    }

    /// Whether an interface of the kernel takes part.
    fn has_interface(&self) -> bool {
        let of_interface = |(column, _): &(Column, u64)| {
            matches!(column, Column::ArrivedAtInterface | Column::LeftInterface)
        };
        let mut columns = self.places.iter().flat_map(|place| &place.columns);
        columns.any(of_interface) || !self.notes.is_empty()
    }
}

impl Part {
    fn of(step: &Step, part: &Difference) -> Self {
        Self {
            place: step.place.clone(),
            from: step.from.name(),
            to: step.to.name(),
            name: part.cause.name(),
            queue: part.queue,
            frames: part.frames,
            adds: part.adds,
            least: part.least,
            most: part.most,
            sentence: part.cause.sentence(),
            titles: (step.from.title(), step.to.title()),
        }
    }
}

fn gaps(ledger: &Ledger) -> Vec<Gap> {
    let narrow = |frames: i128| i64::try_from(frames).unwrap_or(i64::MAX);
    let steps = ledger.steps().iter().filter(|step| step.unexplained != 0);
    let steps = steps.map(|step| Gap {
        place: step.place.clone(),
        from: step.from.name(),
        to: step.to.name(),
        frames: narrow(step.unexplained),
    });
    let twice = ledger.contradictions().into_iter();
    let twice = twice.map(|(place, column, first, other)| Gap {
        place: place.to_owned(),
        from: column.name(),
        to: column.name(),
        frames: narrow(i128::from(first) - i128::from(other)),
    });
    steps.chain(twice).collect()
}

/// The section for people; nothing where no interface takes part, since the books say the rest, and
/// nothing is amiss.
pub(crate) fn render(title: &str, ledger: &LedgerJson, paint: Paint, width: usize) -> String {
    if !ledger.has_interface() && ledger.closes {
        return String::new();
    }
    let closing = if ledger.closes {
        paint.good("The ledger closes: every difference has a name.")
    } else {
        paint.bad(&format!("Frames WITHOUT a name: {}.", ledger.said()))
    };
    let mut text = format!("{}\n", paint.bold(title));
    text += &columns(ledger).render(paint, width);
    if !ledger.differences.is_empty() {
        text += &differences(ledger).render(paint, width);
    }
    for note in &ledger.notes {
        text += &wrap(note, 2, width);
    }
    text + &format!("  {closing}\n")
}

fn gap(gap: &Gap) -> String {
    let Gap {
        place,
        from,
        to,
        frames,
    } = gap;
    format!("{frames} from {from} to {to} of {place}")
}

fn columns(ledger: &LedgerJson) -> Table {
    let counted = |column: Column| {
        let mut all = ledger.places.iter().flat_map(|place| &place.columns);
        all.any(|&(own, _)| own == column)
    };
    let shown: Vec<Column> = Column::ALL
        .iter()
        .copied()
        .filter(|&one| counted(one))
        .collect();
    let mut headings = vec![("place", Align::Left)];
    headings.extend(shown.iter().map(|column| (column.title(), Align::Right)));
    let mut table = Table::new(&headings);
    for place in &ledger.places {
        let cell = |column: &Column| {
            let found = place.columns.iter().find(|(own, _)| own == column);
            found.map_or_else(|| "-".to_owned(), |&(_, frames)| count(frames))
        };
        let mut cells = vec![place.place.clone()];
        cells.extend(shown.iter().map(cell));
        table.push(cells);
    }
    table
}

fn differences(ledger: &LedgerJson) -> Table {
    let mut table = Table::new(&[
        ("difference", Align::Left),
        ("between", Align::Left),
        ("queue", Align::Right),
        ("frames", Align::Right),
        ("", Align::Left),
    ]);
    for part in &ledger.differences {
        let (from, to) = part.titles;
        let sign = if part.adds { "+" } else { "-" };
        let queue = part
            .queue
            .map_or_else(String::new, |queue| queue.to_string());
        table.row([
            part.name.to_owned(),
            format!("{} {from} > {to}", part.place),
            queue,
            format!("{sign}{}", count(part.frames)),
            part.sentence.to_owned(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::OwnCause;
    use port::Loss;

    fn ledger(received: u64) -> LedgerJson {
        let step = Step::new(
            "xdp:a",
            (Column::ArrivedAtInterface, 1_000),
            (Column::ReceivedByUs, received),
        );
        let step = step
            .lost(Loss::RxRingFull, Some(3), 90)
            .lost_up_to(Loss::RxDriver, None, 0, 10);
        let mut ledger = Ledger::new();
        ledger.add(step.gained(OwnCause::Cloned, None, 5));
        ledger.state("xdp:b", Column::SentByUs, 7);
        LedgerJson::of(&ledger)
    }

    #[test]
    fn the_table_names_every_difference() {
        let text = render("Ledger", &ledger(908), Paint::off(), 120);
        for part in [
            "rx_ring_full",
            "xdp:a arrived > received by us",
            "3     -90",
            "rx_driver_drop",
            "-7",
            "+5",
            "every difference has a name",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(
            text.lines().all(|line| line.chars().count() <= 120),
            "{text}"
        );
    }

    #[test]
    fn frames_without_a_name_are_told() {
        let json = ledger(800);
        assert_eq!((json.closes, json.unexplained), (false, 105));
        let text = render("Ledger", &json, Paint::off(), 120);
        let told = "105 from arrived_at_interface to received_by_us of xdp:a";
        assert!(text.contains(told), "{text}");
        let value = serde_json::to_value(&json).expect("JSON");
        assert_eq!(value["places"][0]["arrived_at_interface"], 1_000);
        assert_eq!(value["places"][1]["sent_by_us"], 7);
        assert_eq!(value["differences"][0]["queue"], 3);
        assert_eq!(value["gaps"][0]["frames"], 105);
    }

    #[test]
    fn gaps_that_fill_each_other_are_told_too() {
        let contradiction = |first, other| {
            let mut ledger = Ledger::new();
            ledger.state("xdp:a", Column::SentByUs, first);
            ledger.state("xdp:a", Column::SentByUs, other);
            ledger
        };
        let mut sum = contradiction(10, 4);
        sum.add_up(&contradiction(4, 10));
        let json = LedgerJson::of(&sum);
        let text = render("Ledger", &json, Paint::off(), 120);
        assert!(text.contains("12 in single trials"), "{text}");
        assert!(
            json.complaint()
                .expect("it is open")
                .contains("12 in single")
        );
        assert_eq!(ledger(908).complaint(), None);
    }

    #[test]
    fn without_an_interface_there_is_no_table() {
        let mut plain = Ledger::new();
        plain.state("gen:", Column::ReceivedByUs, 9);
        assert_eq!(
            render("Ledger", &LedgerJson::of(&plain), Paint::off(), 80),
            ""
        );
    }
}
