//! The ledger of a trial: from the rate that was asked for to the sink.

use plane::DropReason;
use port::Loss;
use traffic::SinkReport;

use super::interface::PortCounts;
use super::meters::Meters;
use super::{Cause, Column, Ledger, OwnCause, Step};
use crate::{Accounting, Outage};

/// What a trial counted beside its ports. Ports are told by their places among all.
pub(crate) struct Driven<'a> {
    pub(crate) accounting: &'a Accounting,
    /// Frames made, or read of a capture, and frames of them that the port took.
    pub(crate) made: u64,
    pub(crate) sent: u64,
    /// Frames that left for the links' sake, by the port that takes in and by the one that sends.
    pub(crate) rx_controls: u64,
    pub(crate) tx_controls: u64,
    /// Frames that had not left when they were due, and of those such as left later.
    pub(crate) behind: u64,
    pub(crate) late: u64,
    /// The port that sends, and the one that takes in.
    pub(crate) tx: Option<usize>,
    pub(crate) rx: Option<usize>,
    /// What is taken in goes back.
    pub(crate) reflects: bool,
    /// But for these, which nobody may send back.
    pub(crate) ended: u64,
    /// The times that the links of the port that takes in, and of the one that sends, were down.
    pub(crate) outages: [Option<Outage>; 2],
    /// Frames that the port which takes in has no room for.
    pub(crate) longer: u64,
    /// What arrived at the one that takes in, and what came back to the one that sends.
    pub(crate) ahead: Option<&'a SinkReport>,
    pub(crate) back: Option<&'a SinkReport>,
}

/// Draws it.
pub(crate) fn of_drive(driven: &Driven<'_>, ports: &[PortCounts], meters: &Meters) -> Ledger {
    let mut ledger = Ledger::new();
    let (tx, rx) = (at(ports, driven.tx), at(ports, driven.rx));
    if let Some(tx) = tx {
        ledger.add(sending(driven, tx));
    }
    for counts in ports {
        ledger.state(&counts.place, Column::SentByUs, counts.sent);
        meters.enter(counts, &mut ledger);
        ledger.state(&counts.place, Column::ReceivedByUs, counts.received);
    }
    if let (Some(tx), Some(rx)) = (tx, rx) {
        let [rx_outage, tx_outage] = driven.outages;
        let strange = |sink: Option<&SinkReport>, controls| {
            let foreign = sink.map_or(0, |sink| sink.foreign);
            foreign.saturating_sub(controls)
        };
        let way = Way {
            outage: rx_outage,
            longer: driven.longer,
            strange: strange(driven.ahead, driven.tx_controls),
        };
        ledger.add_between((tx, rx), &way);
        if driven.reflects {
            let way = Way {
                outage: tx_outage,
                longer: 0,
                strange: strange(driven.back, driven.rx_controls),
            };
            ledger.add_between((rx, tx), &way);
        }
    }
    for (counts, sink) in [(rx, driven.ahead), (tx, driven.back)] {
        if let (Some(counts), Some(sink)) = (counts, sink) {
            ledger.add(sinking(counts, sink));
        }
    }
    if let Some(rx) = rx.filter(|_| driven.reflects) {
        ledger.add(reflecting(driven, rx));
        ledger.state(&rx.place, Column::Forwarded, rx.sent);
    }
    ledger
}

fn at(ports: &[PortCounts], place: Option<usize>) -> Option<&PortCounts> {
    place.and_then(|place| ports.get(place))
}

/// From the rate to the port. Where frames are sent back, too, drops may be of either.
fn sending(driven: &Driven<'_>, tx: &PortCounts) -> Step {
    let step = Step::new(
        &tx.place,
        (Column::Offered, driven.made + driven.behind - driven.late),
        (Column::SentByUs, driven.sent + driven.tx_controls),
    );
    let step = step
        .gained(OwnCause::Originated, None, driven.tx_controls)
        .lost(OwnCause::Behind, None, driven.behind)
        .gained(OwnCause::Late, None, driven.late);
    dropped(driven, step, driven.outages[1], !driven.reflects)
}

/// From a port back to it.
fn reflecting(driven: &Driven<'_>, rx: &PortCounts) -> Step {
    let step = Step::new(
        &rx.place,
        (Column::ReceivedByUs, rx.received),
        (Column::Forwarded, rx.sent),
    );
    let step = step
        .gained(OwnCause::Originated, None, driven.rx_controls)
        .lost(OwnCause::Consumed, None, driven.ended);
    dropped(driven, step, driven.outages[0], driven.tx.is_none())
}

/// What workers dropped. What a port kept back while its link was down, or since the other end has
/// no room for it, that explains, whatever it was dropped as.
fn dropped(driven: &Driven<'_>, mut step: Step, outage: Option<Outage>, all: bool) -> Step {
    let mut by_link = outage.map_or(0, |outage| outage.frames);
    let mut by_mtu = driven.longer;
    for &(reason, frames) in &driven.accounting.dropped {
        let kept_back = if is_kept_back(reason) { frames } else { 0 };
        let down = by_link.min(kept_back);
        let longer = by_mtu.min(kept_back - down);
        (by_link, by_mtu) = (by_link - down, by_mtu - longer);
        let parts: [(Cause, u64); 3] = [
            (Loss::LinkDown.into(), down),
            (Loss::LongerThanMtu.into(), longer),
            (reason.into(), frames - down - longer),
        ];
        for (cause, frames) in parts {
            let least = if all { frames } else { 0 };
            step = step.lost_up_to(cause, None, least, frames);
        }
    }
    step
}

/// Whether the port that a frame was to leave by did not let it.
fn is_kept_back(reason: DropReason) -> bool {
    matches!(
        reason,
        DropReason::TxRefused
            | DropReason::TxRingFull
            | DropReason::PortFailed
            | DropReason::Shutdown
    )
}

/// From a port to what the sink makes of its frames.
fn sinking(counts: &PortCounts, sink: &SinkReport) -> Step {
    let sum = |of: fn(&traffic::StreamReport) -> u64| sink.streams.iter().map(of).sum::<u64>();
    let known = sum(|stream| stream.unique) + sink.beyond_streams;
    Step::new(
        &counts.place,
        (Column::ReceivedByUs, counts.received),
        (Column::ReceivedBySink, known),
    )
    .lost(OwnCause::Foreign, None, sink.foreign)
    .lost(OwnCause::Cut, None, sink.cut)
    .lost(OwnCause::Corrupted, None, sink.corrupted)
    .lost(OwnCause::Duplicated, None, sum(|stream| stream.duplicated))
    .lost(
        OwnCause::OutsideWindow,
        None,
        sum(|stream| stream.outside_window),
    )
}

/// What is known of the way from one interface to another.
struct Way {
    /// That of the interface that frames are for.
    outage: Option<Outage>,
    /// Frames that do not fit it.
    longer: u64,
    /// Frames that came and that no worker here sent.
    strange: u64,
}

impl Ledger {
    /// From one interface to the other, where both were counted. What lies between them is not
    /// ours: its losses are what a trial is for.
    fn add_between(&mut self, (from, to): (&PortCounts, &PortCounts), way: &Way) {
        let left = self.frames(&from.place, Column::LeftInterface);
        let came = self.frames(&to.place, Column::ArrivedAtInterface);
        let place = format!("{} to {}", from.place, to.place);
        let (Some(left), Some(came)) = (left, came) else {
            if !self.notes().is_empty() {
                self.add(past_lost_counters(&place, (from, to), way.outage));
            }
            return;
        };
        let step = Step::new(
            &place,
            (Column::LeftInterface, left),
            (Column::ArrivedAtInterface, came),
        );
        let down = way.outage.map_or(0, |outage| outage.frames);
        // Whatever is lost on the way: these did not come by it.
        let foreign = way.strange.saturating_sub(self.others_sent(&from.place));
        self.add(
            step.lost_up_to(Loss::LinkDown, None, 0, down)
                .lost_up_to(Loss::LongerThanMtu, None, 0, way.longer)
                .lost_up_to(OwnCause::Between, None, 0, left)
                .gained_up_to(OwnCause::Foreign, None, foreign.min(came), came),
        );
    }

    /// Frames that others sent by the interface of a place.
    fn others_sent(&self, place: &str) -> u64 {
        let steps = self.steps().iter().filter(|step| step.place == place);
        let parts = steps.flat_map(Step::named);
        let others = parts.filter(|part| part.cause == Loss::OthersSent.into());
        others.map(|part| part.frames).sum()
    }
}

/// From one port to the other where counters of an interface went away: what is missing beyond the
/// frames of the time that it was gone has no name.
fn past_lost_counters(
    place: &str,
    (from, to): (&PortCounts, &PortCounts),
    outage: Option<Outage>,
) -> Step {
    let sent = from.sent.saturating_sub(from.taken_down);
    let down = outage
        .map_or(0, |outage| outage.frames)
        .max(from.taken_down);
    Step::new(
        place,
        (Column::SentByUs, from.sent),
        (Column::ReceivedByUs, to.received),
    )
    .lost_up_to(Loss::LinkDown, None, 0, down)
    .gained_up_to(OwnCause::Foreign, None, 0, to.received.saturating_sub(sent))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames that a name stands for between two interfaces.
    fn frames(step: &Step, name: &str) -> u64 {
        let named = step.named().filter(|part| part.cause.name() == name);
        named.map(|part| part.frames).sum()
    }

    #[test]
    fn what_came_from_elsewhere_is_foreign_whatever_was_lost_on_the_way() {
        let counts = |place: &str| PortCounts {
            place: place.to_owned(),
            ..PortCounts::default()
        };
        let (from, to) = (counts("x"), counts("y"));
        // Frames that left and that others sent of them, that came, and that came and are no test
        // frames of ours; lost between, and foreign.
        for (left, others, came, strange, between, foreign) in [
            (1_000, 0, 1_000, 0, 0, 0),
            (1_000, 0, 970, 0, 30, 0),
            (1_000, 0, 970, 20, 50, 20),
            (1_000, 0, 1_000, 20, 20, 20),
            (1_000, 0, 1_020, 20, 0, 20),
            // The host's own frames left by the one and came to the other.
            (1_010, 10, 1_010, 10, 0, 0),
            (1_010, 10, 1_000, 10, 10, 0),
            (1_010, 10, 1_005, 15, 10, 5),
            // More than the sink told: it did not see all that came.
            (1_000, 0, 1_007, 0, 0, 7),
            (0, 0, 0, 5, 0, 0),
        ] {
            let mut ledger = Ledger::new();
            let sent = Step::new(
                "x",
                (Column::SentByUs, left - others),
                (Column::LeftInterface, left),
            );
            ledger.add(sent.gained_up_to(Loss::OthersSent, None, 0, others));
            ledger.state("y", Column::ArrivedAtInterface, came);
            let way = Way {
                outage: None,
                longer: 0,
                strange,
            };
            ledger.add_between((&from, &to), &way);
            let step = ledger.steps().last().expect("a step");
            let what = format!("{left} {others} {came} {strange}: {step:?}");
            assert_eq!(frames(step, "between"), between, "{what}");
            assert_eq!(frames(step, "foreign"), foreign, "{what}");
            assert_eq!(step.unexplained, 0, "{what}");
        }
    }

    #[test]
    fn what_is_missing_where_counters_went_away_is_no_outage_beyond_its_frames() {
        // Sent, received, frames of the outage; what has no name.
        for (sent, received, frames, nameless) in [
            (1_000, 1_000, 0, 0),
            (1_000, 900, 100, 0),
            (1_000, 700, 100, 200),
            (1_000, 1_003, 0, 0),
        ] {
            let counts = |sent, received| PortCounts {
                sent,
                received,
                ..PortCounts::default()
            };
            let outage = Outage {
                link: port::interface::Link::Absent,
                since_seconds: 1.0,
                seconds: 0.1,
                whole: false,
                losses: 1,
                frames,
            };
            let ends = (&counts(sent, 0), &counts(0, received));
            let step = past_lost_counters("x to y", ends, Some(outage));
            assert_eq!(step.unexplained, nameless, "{sent} {received} {frames}");
        }
    }
}
