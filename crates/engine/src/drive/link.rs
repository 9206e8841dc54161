//! The links of a trial's ports: frames that were due while that of the port that sends was down
//! did not leave, whatever the port took, and none came while that of the one that takes in was.

use port::interface::Link;

/// A trial whose link was never up ends after so long, and one that would wait for the link for
/// ever when it has been down for so long; seconds.
const NEVER_UP_MAX: f64 = 2.0;
const AWAY_MAX: f64 = 10.0;

/// The times that the link of a port was not up, seconds since the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// What it was last, or gone where it once was.
    pub link: Link,
    /// When it was first seen so.
    pub since_seconds: f64,
    /// For how long in all.
    pub seconds: f64,
    /// It was never seen up.
    pub whole: bool,
    /// How often it was up and was not any more.
    pub losses: u32,
    /// Frames that the trial dealt with from the look before until the look behind: more than
    /// these the outage explains nowhere.
    pub frames: u64,
}

/// Watches one.
#[derive(Debug, Default)]
pub(super) struct LinkWatch {
    outage: Option<Outage>,
    /// Since when it is not up.
    since: Option<f64>,
    was_up: bool,
    /// The number of the interface at the last look that found it.
    index: Option<u32>,
    /// Frames at the last look.
    frames: u64,
}

impl LinkWatch {
    /// Takes note of the link at a time, when the trial has dealt with so many frames; nothing
    /// where the port has no link.
    pub(super) fn look(&mut self, now: f64, link: Option<Link>, frames: u64) {
        // The other end of what is no interface has no number: it comes when it comes.
        let Some(link) = link.filter(|&link| link != Link::NoCarrier(0)) else {
            return;
        };
        let more = frames.saturating_sub(std::mem::replace(&mut self.frames, frames));
        let before = match link.index() {
            Some(index) => self.index.replace(index).filter(|&own| own != index),
            None => None,
        };
        if before.is_some() {
            // Gone and made anew between two looks.
            self.down(now, Link::Absent, 0);
        }
        match link {
            Link::Up(_) => self.up(now, more),
            link => self.down(now, link, more),
        }
    }

    fn up(&mut self, now: f64, more: u64) {
        self.was_up = true;
        let since = self.since.take();
        if let (Some(outage), Some(since)) = (&mut self.outage, since) {
            outage.seconds += now - since;
            outage.frames += more;
        }
    }

    fn down(&mut self, now: f64, link: Link, more: u64) {
        let begins = self.since.is_none();
        self.since.get_or_insert(now);
        let outage = self.outage.get_or_insert(Outage {
            link,
            since_seconds: now,
            seconds: 0.0,
            whole: false,
            losses: 0,
            frames: 0,
        });
        // One that was made anew is down at first: what counts is that it was gone.
        if outage.link != Link::Absent {
            outage.link = link;
        }
        outage.losses += u32::from(begins && self.was_up);
        outage.frames += more;
    }

    /// Whether waiting for the link makes no sense any more. `for_ever`: nothing else would end the
    /// trial.
    pub(super) fn is_hopeless(&self, now: f64, for_ever: bool) -> bool {
        let away = self.since.map_or(0.0, |since| now - since);
        (!self.was_up && away >= NEVER_UP_MAX) || (for_ever && away >= AWAY_MAX)
    }

    /// What there was by the end, of a trial that dealt with so many frames.
    pub(super) fn report(&self, ended: f64, frames: u64) -> Option<Outage> {
        let more = self.since.map_or(0.0, |since| (ended - since).max(0.0));
        let rest = self.since.map_or(0, |_| frames.saturating_sub(self.frames));
        self.outage.map(|outage| Outage {
            seconds: outage.seconds + more,
            whole: !self.was_up,
            frames: outage.frames + rest,
            ..outage
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_are_added_up() {
        let (up, down, none) = (Link::Up(3), Link::Down(3), Link::NoCarrier(3));
        // Times and links; since when it was down, for how long by second 20, whether all the
        // time, how often it was lost, and frames: ten a second, of a look a second.
        type Row = (Vec<(f64, Link)>, Option<(f64, f64, bool, u32, u64)>);
        let table: [Row; 6] = [
            (vec![(0.0, up), (1.0, up)], None),
            (
                vec![(0.0, down), (1.0, down)],
                Some((0.0, 20.0, true, 0, 200)),
            ),
            (
                vec![(0.0, up), (14.0, up), (15.0, none)],
                Some((15.0, 5.0, false, 1, 60)),
            ),
            (
                vec![(0.0, up), (1.0, none), (3.0, up), (20.0, up)],
                Some((1.0, 2.0, false, 1, 30)),
            ),
            (
                vec![(0.0, down), (1.0, up), (20.0, up)],
                Some((0.0, 1.0, false, 0, 10)),
            ),
            (
                vec![(0.0, down), (1.0, up), (4.0, Link::Absent), (6.0, up)],
                Some((0.0, 3.0, false, 1, 60)),
            ),
        ];
        let frames = |at: f64| (at * 10.0) as u64;
        for (looks, expected) in &table {
            let mut watch = LinkWatch::default();
            looks
                .iter()
                .for_each(|&(at, link)| watch.look(at, Some(link), frames(at)));
            let outage = watch.report(20.0, 200);
            let found = outage.map(|own| {
                let Outage { whole, losses, .. } = own;
                (own.since_seconds, own.seconds, whole, losses, own.frames)
            });
            assert_eq!(found, *expected, "{looks:?}");
        }
        let mut memory = LinkWatch::default();
        memory.look(1.0, None, 0);
        memory.look(1.5, Some(Link::NoCarrier(0)), 0);
        assert_eq!(memory.report(2.0, 0), None);
    }

    #[test]
    fn gone_is_gone_whichever_look_saw_it() {
        let (up, none, again) = (Link::Up(3), Link::NoCarrier(4), Link::Up(4));
        for (looks, link, losses) in [
            (&[up, Link::Absent, none, again][..], Link::Absent, 1),
            (&[up, none, again], Link::Absent, 1),
            (&[up, again], Link::Absent, 1),
            (&[up, Link::Down(3), none, again], Link::Absent, 1),
            (&[up, Link::NoCarrier(3), up], Link::NoCarrier(3), 1),
            (
                &[up, Link::Down(3), up, Link::Down(3), up],
                Link::Down(3),
                2,
            ),
        ] {
            let mut watch = LinkWatch::default();
            let times = (0_u32..).zip(looks);
            times.for_each(|(at, &link)| watch.look(at.into(), Some(link), at.into()));
            let outage = watch.report(9.0, 9).expect("an outage");
            assert_eq!((outage.link, outage.losses), (link, losses), "{looks:?}");
            assert!(outage.frames > 0, "{looks:?}");
        }
    }

    #[test]
    fn a_trial_waits_for_a_link_that_was_there_and_not_for_one_that_never_was() {
        let mut never = LinkWatch::default();
        never.look(0.0, Some(Link::Down(3)), 0);
        assert!(!never.is_hopeless(1.9, true) && never.is_hopeless(2.0, false));
        let mut away = LinkWatch::default();
        away.look(0.0, Some(Link::Up(3)), 0);
        away.look(1.0, Some(Link::Absent), 0);
        assert!(!away.is_hopeless(10.9, true) && away.is_hopeless(11.0, true));
        assert!(!away.is_hopeless(1000.0, false));
        away.look(12.0, Some(Link::Up(4)), 0);
        assert!(!away.is_hopeless(1000.0, true));
    }
}
