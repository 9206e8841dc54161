//! The interface's part of a ledger: its counters before the first frame and after the last, read
//! on the control side, against what a port's queues counted themselves.
//!
//! No counter of an interface can be read at the same moment as another, and traffic may go on when
//! a run begins and ends. So each is read four times: before queues begin to receive and after,
//! before they are closed and after. What arrived between the first two looks or between the last
//! two may or may not have been a worker's; that many frames, and no more, may be `start_or_end`.
//! Without traffic at that time the bound is 0.
//!
//! Counters are also late: a veth counts what it sent when the other end has looked at it, NICs
//! bring their counts up to date every second or two. So as long as the ledger does not close, the
//! last look is repeated, for at most 2.5 seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use frame::PortId;
use port::interface::{LinkCounts, Reading};
use port::{Loss, QueueLoss};

use super::{Column, Ledger, Step};

/// The counters of an interface around a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    /// Before queues began to receive, and after.
    pub(crate) opened: Reading,
    pub(crate) begun: Reading,
    /// Before queues were closed, and after, as late as they were looked at.
    pub(crate) ended: Reading,
    pub(crate) last: Reading,
    /// The receive queues that the port has sockets on, where it has them one by one.
    pub(crate) queues: Option<Range<u32>>,
    /// Whether the port sends by the queueing discipline.
    pub(crate) by_qdisc: bool,
    /// Whether the kernel may forward what comes here past the workers.
    pub(crate) passes_by: bool,
}

/// What a port counted itself, all its queues together.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortCounts {
    pub(crate) id: PortId,
    /// How the ledger calls it.
    pub(crate) place: String,
    /// Frames it gave to workers, and frames it took from them.
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) losses: Vec<QueueLoss>,
    /// Frames that were in rings at the start and are not any more.
    pub(crate) carried: Vec<QueueLoss>,
    /// Frames that the kernel forwarded here past the workers, as the program counted that the run
    /// attached.
    pub(crate) bypassed_here: u64,
    /// The same, because they are surely in no list.
    pub(crate) shortcut_here: u64,
    /// Frames that it took while its link was not up, at most.
    pub(crate) taken_down: u64,
    /// Frames that it took and that the interface they are for has no room for.
    pub(crate) longer: u64,
}

impl PortCounts {
    /// What was counted since.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let (mut losses, mut carried) = (Vec::new(), Vec::new());
        let own = sums(&self.losses);
        let old = sums(&before.losses);
        let all: BTreeSet<_> = own.keys().chain(old.keys()).copied().collect();
        for (loss, queue) in all {
            let frames = |of: &BTreeMap<_, u64>| of.get(&(loss, queue)).copied().unwrap_or(0);
            let part = |frames| QueueLoss {
                loss,
                queue,
                frames,
            };
            let (now, then) = (frames(&own), frames(&old));
            losses.extend(now.checked_sub(then).map(part));
            carried.extend(then.checked_sub(now).map(part));
        }
        Self {
            id: self.id,
            place: self.place.clone(),
            received: self.received - before.received,
            // What went down with an interface is taken back.
            sent: self.sent.saturating_sub(before.sent),
            bypassed_here: self.bypassed_here.saturating_sub(before.bypassed_here),
            shortcut_here: self.shortcut_here.saturating_sub(before.shortcut_here),
            taken_down: self.taken_down.saturating_sub(before.taken_down),
            longer: self.longer.saturating_sub(before.longer),
            losses,
            carried,
        }
    }

    pub(crate) fn of(&self, loss: Loss) -> u64 {
        let losses = self.losses.iter().filter(|own| own.loss == loss);
        losses.map(|own| own.frames).sum()
    }
}

/// Frames by loss and queue.
fn sums(losses: &[QueueLoss]) -> BTreeMap<(Loss, Option<u32>), u64> {
    let mut sums = BTreeMap::new();
    for own in losses {
        *sums.entry((own.loss, own.queue)).or_default() += own.frames;
    }
    sums
}

fn arrived(link: &LinkCounts) -> u64 {
    link.rx_packets + link.rx_missed
}

/// Whether frames lost so are missing at the worker, rather than at the interface they leave by.
fn on_reception(loss: Loss) -> bool {
    !matches!(loss, Loss::TxRingLeft | Loss::TxInvalid | Loss::Qdisc)
}

/// Whether the kernel dropped frames lost so at a socket, and tells the driver, which may count
/// them too.
fn at_a_socket(loss: Loss) -> bool {
    matches!(loss, Loss::FillRingEmpty | Loss::RxRingFull | Loss::TooLong)
}

impl Around {
    /// Whether all four are of one interface, whose counters only grew.
    fn is_one(&self) -> bool {
        let all = [&self.opened, &self.begun, &self.ended, &self.last];
        let grew = |pair: &[&Reading]| {
            let (one, two) = (&pair[0].link, &pair[1].link);
            arrived(one) <= arrived(two) && one.tx_packets <= two.tx_packets
        };
        let index = self.opened.index;
        index != 0 && all.iter().all(|reading| reading.index == index) && all.windows(2).all(grew)
    }

    /// Whether the driver tells of the same receive queues as at the start.
    fn kept_its_queues(&self) -> bool {
        self.opened.queues.keys().eq(self.last.queues.keys())
    }

    /// How far a counter went, from before the run to after it.
    fn grew(&self, count: impl Fn(&Reading) -> u64) -> u64 {
        count(&self.last).saturating_sub(count(&self.opened))
    }

    /// Frames that came while queues began or were closed.
    pub(super) fn at_the_edges(&self) -> u64 {
        if !self.is_one() {
            return 0;
        }
        let between = |one: &Reading, two: &Reading| arrived(&two.link) - arrived(&one.link);
        between(&self.opened, &self.begun) + between(&self.ended, &self.last)
    }

    /// Adds both of the port's steps, or why they are not known.
    ///
    /// `passed`: frames that came to other ports at the edges, and that the program of the run
    /// before may have forwarded here.
    pub(crate) fn enter(&self, counts: &PortCounts, passed: u64, ledger: &mut Ledger) {
        if self.is_one() {
            if self.kept_its_queues() {
                ledger.add(self.reception(counts));
            } else {
                ledger.note(format!(
                    "{}: its queues became more or fewer during the run, and what came at that \
                     moment only the interface counted",
                    counts.place
                ));
            }
            ledger.add(self.transmission(counts, passed));
        } else {
            ledger.note(format!(
                "{}: its interface went away during the run, and its counters with it",
                counts.place
            ));
        }
    }

    /// From the interface to the worker.
    fn reception(&self, counts: &PortCounts) -> Step {
        let came = self.grew(|reading| arrived(&reading.link));
        let missed = self.grew(|reading| reading.link.rx_missed);
        let step = Step::new(
            &counts.place,
            (Column::ArrivedAtInterface, came),
            (Column::ReceivedByUs, counts.received),
        );
        let mut step = step.lost(Loss::RxMissed, None, missed);
        let losses = counts.losses.iter().filter(|own| on_reception(own.loss));
        for own in losses {
            step = match own.loss {
                Loss::NoSocket => self.without_socket(own.frames, step),
                loss => step.lost(loss, own.queue, own.frames),
            };
        }
        for own in counts.carried.iter().filter(|own| on_reception(own.loss)) {
            step = step.gained(own.loss, own.queue, own.frames);
        }
        for (queue, most) in self.rx_driver(counts) {
            step = step.lost_up_to(Loss::RxDriver, queue, 0, most);
        }
        step.lost_up_to(Loss::StartOrEnd, None, 0, self.at_the_edges())
    }

    /// Frames of queues without a socket, by queue where the driver's counts leave no doubt.
    fn without_socket(&self, frames: u64, mut step: Step) -> Step {
        let came = self.by_queue(|counts| counts.rx_frames);
        let ours = self.queues.clone().unwrap_or_default();
        let strange = came.into_iter().filter(|(queue, _)| !ours.contains(queue));
        let strange: Vec<(u32, u64)> = strange.filter(|&(_, came)| came != 0).collect();
        match &strange[..] {
            [(queue, _)] => step.lost(Loss::NoSocket, Some(*queue), frames),
            several if several.iter().map(|(_, came)| came).sum::<u64>() == frames => {
                for &(queue, came) in several {
                    step = step.lost(Loss::NoSocket, Some(queue), came);
                }
                step
            }
            _ => step.lost(Loss::NoSocket, None, frames),
        }
    }

    /// How far a count of the driver's went, by queue.
    fn by_queue(
        &self,
        count: impl Fn(&port::interface::QueueCounts) -> Option<u64>,
    ) -> BTreeMap<u32, u64> {
        let before = |queue| self.opened.queues.get(queue).and_then(&count).unwrap_or(0);
        let queues = self.last.queues.iter();
        let went = queues.filter_map(|(queue, counts)| {
            let now = count(counts)?;
            Some((*queue, now.saturating_sub(before(queue))))
        });
        went.collect()
    }

    /// What the driver dropped at most, by queue where it tells. It may count among these what the
    /// kernel dropped at a socket behind it, which has a name already.
    fn rx_driver(&self, counts: &PortCounts) -> Vec<(Option<u32>, u64)> {
        let by_queue = self.by_queue(|counts| counts.rx_drops);
        let told: u64 = by_queue.values().sum();
        let all = self.grew(|reading| reading.link.rx_dropped);
        let named = |queue: Option<u32>| -> u64 {
            let mut losses = counts.losses.clone();
            losses.retain(|own| at_a_socket(own.loss) && (queue.is_none() || own.queue == queue));
            let here = self.queues.is_some();
            losses.iter().filter(|_| here).map(|own| own.frames).sum()
        };
        let less = |dropped: u64, named: u64| dropped.checked_sub(named).unwrap_or(dropped);
        let queues = by_queue.into_iter();
        let mut most: Vec<_> = queues
            .map(|(queue, dropped)| (Some(queue), less(dropped, named(Some(queue)))))
            .collect();
        let rest = match told {
            0 => less(all, named(None)),
            told => all.saturating_sub(told),
        };
        most.push((None, rest));
        most
    }

    /// From the worker to the interface.
    fn transmission(&self, counts: &PortCounts, passed: u64) -> Step {
        let left = self.grew(|reading| reading.link.tx_packets);
        let mut step = Step::new(
            &counts.place,
            (Column::SentByUs, counts.sent),
            (Column::LeftInterface, left),
        );
        for own in &counts.losses {
            if matches!(own.loss, Loss::TxRingLeft | Loss::TxInvalid) {
                step = step.lost(own.loss, own.queue, own.frames);
            }
        }
        for own in counts.carried.iter().filter(|own| !on_reception(own.loss)) {
            step = step.gained(own.loss, own.queue, own.frames);
        }
        let refused = counts.of(Loss::Qdisc);
        let queues = self.last.queueing.root.is_some() && self.by_qdisc;
        if queues {
            step = self.queueing(refused, step);
        }
        // Where nothing queues, what was refused at once the driver refused.
        let refused = if queues { 0 } else { refused };
        let dropped = self.grew(|reading| reading.link.tx_dropped + reading.link.tx_errors);
        let (least, most) = self.others_sent(counts.sent, left);
        let by = counts.bypassed_here;
        step.lost_up_to(Loss::LinkDown, None, 0, counts.taken_down)
            .lost_up_to(Loss::LongerThanMtu, None, 0, counts.longer)
            .lost_up_to(Loss::TxDriver, None, refused, dropped)
            .gained(Loss::Shortcut, None, counts.shortcut_here)
            .gained_up_to(Loss::OthersSent, None, least, most)
            .gained_up_to(Loss::Bypassed, None, by, by + passed)
    }

    /// What queueing disciplines dropped and hold. They count others' frames too; of `refused` the
    /// port was told, so that these are its own for certain.
    fn queueing(&self, refused: u64, mut step: Step) -> Step {
        let now = &self.last.queueing;
        if now.queues.is_empty() {
            let dropped = self.grew(|reading| reading.queueing.root.map_or(0, |root| root.dropped));
            let backlog = now.root.map_or(0, |root| root.backlog);
            return step
                .lost_up_to(Loss::Qdisc, None, refused, dropped)
                .lost_up_to(Loss::QdiscBacklog, None, 0, backlog);
        }
        for &(queue, counts) in &now.queues {
            let before = self.opened.queueing.queues.iter();
            let before = before.filter(|(other, _)| *other == queue);
            let before: u64 = before.map(|(_, counts)| counts.dropped).sum();
            let dropped = counts.dropped.saturating_sub(before);
            step = step
                .lost_up_to(Loss::Qdisc, Some(queue), 0, dropped)
                .lost_up_to(Loss::QdiscBacklog, Some(queue), 0, counts.backlog);
        }
        step
    }

    /// What others sent by the interface, at least and at most. The tap counts what the NIC cuts
    /// up once, a queueing discipline every piece of it.
    fn others_sent(&self, sent: u64, left: u64) -> (u64, u64) {
        let root = |reading: &Reading| reading.queueing.root.unwrap_or_default();
        let queued = self.grew(|reading| root(reading).sent);
        let kept = self.grew(|reading| root(reading).dropped) + root(&self.last).backlog;
        let ours = if self.by_qdisc {
            sent.saturating_sub(kept)
        } else {
            0
        };
        let queued = queued.saturating_sub(ours);
        match (self.opened.others_sent, self.last.others_sent) {
            (Some(before), Some(after)) => {
                let seen = after.saturating_sub(before);
                (seen, seen.max(queued))
            }
            // Where nothing queues, nobody counts what others send.
            _ if self.last.queueing.root.is_none() => (0, left),
            _ => (0, queued),
        }
    }
}
