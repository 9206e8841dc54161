//! What the interface of a port was in, while it ran, that it should not be: since when, how often,
//! for how long. The control thread looks; workers go on meanwhile.

use std::fmt;

use port::interface::{Link, Monitor, View};

use crate::status::PortView;

/// Looks in a row in which a port took none of the frames there were.
const STUCK_LOOKS: u32 = 5;

/// A state that an operator wants to know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortState {
    /// The interface is set down, or nobody is at the other end.
    LinkDown,
    /// No interface of the name is there.
    Absent,
    /// It has another number of receive queues than at the start.
    QueuesChanged,
    /// It takes nothing of what is to be sent.
    RingFull,
    /// Frames come whose checksum their sender left to the receiver.
    ChecksumsLeft,
}

impl PortState {
    /// As the report has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LinkDown => "link_down",
            Self::Absent => "absent",
            Self::QueuesChanged => "queues_changed",
            Self::RingFull => "ring_full",
            Self::ChecksumsLeft => "checksums_left",
        }
    }

    const ALL: [Self; 5] = [
        Self::LinkDown,
        Self::Absent,
        Self::QueuesChanged,
        Self::RingFull,
        Self::ChecksumsLeft,
    ];
}

impl fmt::Display for PortState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LinkDown => "link down",
            Self::Absent => "interface gone",
            Self::QueuesChanged => "queues changed",
            Self::RingFull => "transmit ring full",
            Self::ChecksumsLeft => "checksums left to the receiver",
        })
    }
}

/// One state of one port.
#[derive(Clone, Debug, PartialEq)]
pub struct StateReport {
    /// Which.
    pub state: PortState,
    /// Whether it was so still at the end; in a [`Status`](crate::Status), whether it is so now.
    pub active: bool,
    /// How often it began.
    pub count: u64,
    /// When it last began, seconds since the start.
    pub since_seconds: f64,
    /// For how long it was so in all, seconds.
    pub seconds: f64,
    /// What more there is to say of the last time.
    pub detail: String,
}

/// The interface of a port, and what it was in.
#[derive(Debug)]
pub(crate) struct Watched {
    monitor: Monitor,
    states: States,
    /// At the last look.
    link: Option<Link>,
}

impl Watched {
    pub(crate) fn new(monitor: Monitor) -> Self {
        let states = States::default();
        Self {
            monitor,
            states,
            link: None,
        }
    }

    /// Looks; a sentence for each change. `sent` is what the port took so far, and how often it
    /// took nothing.
    pub(crate) fn look(&mut self, spec: &str, now: f64, sent: (u64, u64)) -> Vec<String> {
        let view = self.monitor.look();
        self.link = Some(view.link);
        let news = self.states.look(now, view, sent);
        // Driver and interface; what was chosen stands in the report.
        let spec = spec.split(',').next().unwrap_or(spec);
        news.into_iter()
            .map(|said| format!("{spec}: {said}"))
            .collect()
    }

    /// Looks at the link alone, before the run.
    pub(crate) fn look_at_link(&mut self) -> Option<Link> {
        self.link = Some(self.monitor.look().link);
        self.link
    }

    /// The link at the last look.
    pub(crate) fn link(&self) -> Option<Link> {
        self.link
    }

    /// What there is now.
    pub(crate) fn view(&self, now: f64) -> PortView {
        PortView {
            link: self.link,
            states: self.states.report(now),
        }
    }

    /// What there was until the end.
    pub(crate) fn report(&self, ended: f64) -> Vec<StateReport> {
        self.states.report(ended)
    }
}

/// One state's account.
#[derive(Clone, Debug, Default)]
struct Account {
    active: bool,
    count: u64,
    since: f64,
    seconds: f64,
    detail: String,
}

#[derive(Debug, Default)]
struct States {
    accounts: [Account; PortState::ALL.len()],
    looked: bool,
    /// The number that the interface had when it was last there.
    index: Option<u32>,
    /// What it is called by, where that is no longer its first name.
    new_name: Option<String>,
    /// Queues at the start, and at the last look that found any.
    queues_first: Option<u32>,
    queues: Option<u32>,
    sent: (u64, u64),
    /// Looks in a row that found the port stuck.
    stuck: u32,
}

impl States {
    fn look(&mut self, now: f64, view: View, sent: (u64, u64)) -> Vec<String> {
        let mut news = Vec::new();
        news.extend(self.absent(now, view.link));
        news.extend(self.down(now, view.link));
        if !std::mem::replace(&mut self.looked, true) {
            // How it is at the start, ports have said.
            news.clear();
        }
        news.extend(self.renamed(view.new_name));
        news.extend(view.queues.and_then(|queues| self.queues(now, queues)));
        news.extend(self.ring(now, sent));
        if view.checksums_left && self.accounts[PortState::ChecksumsLeft as usize].count == 0 {
            self.begin(PortState::ChecksumsLeft, now, String::new());
            news.push(
                "frames come with their checksum left to the receiver, as veth and virtio do it; \
                 where they are sent, `ethtool -K SENDER tx off` ends that"
                    .to_owned(),
            );
        }
        news
    }

    fn absent(&mut self, now: f64, link: Link) -> Option<String> {
        let before = self.index;
        let Some(index) = link.index() else {
            let gone = before.is_some() && self.begin(PortState::Absent, now, String::new());
            return gone.then(|| {
                "the interface is gone; frames for it are dropped until one of its name is there"
                    .to_owned()
            });
        };
        self.index = Some(index);
        if before.is_some_and(|before| before != index) {
            // Gone and back between two looks counts as well.
            self.begin(PortState::Absent, now, String::new());
        }
        let seconds = self.end(PortState::Absent, now)?;
        let account = &mut self.accounts[PortState::Absent as usize];
        account.detail = format!("back as number {index}");
        Some(format!(
            "an interface of its name is there again after {seconds:.1} s, and is taken up"
        ))
    }

    /// That is no fault: it is what it was, and sockets on it stay.
    fn renamed(&mut self, name: Option<String>) -> Option<String> {
        let before = std::mem::replace(&mut self.new_name, name);
        if before == self.new_name {
            return None;
        }
        let Some(name) = &self.new_name else {
            return Some("the interface has its first name again, or one that got it".to_owned());
        };
        Some(format!(
            "the interface was renamed: it is {name} now, and stays this port's; another one that \
             gets its first name does not"
        ))
    }

    fn down(&mut self, now: f64, link: Link) -> Option<String> {
        match link {
            Link::Down(_) | Link::NoCarrier(_) => {
                let said = format!("the link is {link}");
                let begins = self.begin(PortState::LinkDown, now, link.to_string());
                begins.then(|| format!("{said}; frames for it are dropped until it is up"))
            }
            Link::Up(_) => {
                let seconds = self.end(PortState::LinkDown, now)?;
                Some(format!("the link is up again after {seconds:.1} s"))
            }
            Link::Absent => {
                let _gone = self.end(PortState::LinkDown, now);
                None
            }
        }
    }

    fn queues(&mut self, now: f64, queues: u32) -> Option<String> {
        let first = *self.queues_first.get_or_insert(queues);
        let before = self.queues.replace(queues).unwrap_or(queues);
        if before == queues {
            return None;
        }
        let _ended = self.end(PortState::QueuesChanged, now);
        let said = format!("it has {queues} receive queues now, and had {before}");
        if queues == first {
            return Some(format!("{said}, as at the start"));
        }
        let detail = format!("{queues}, at the start {first}");
        self.begin(PortState::QueuesChanged, now, detail);
        Some(format!(
            "{said}; a port of all queues takes them up, with small rings until the bridge is \
             started anew"
        ))
    }

    /// A ring that is full while frames get out is a slow wire; one out of which nothing gets is
    /// stuck.
    fn ring(&mut self, now: f64, sent: (u64, u64)) -> Option<String> {
        let before = std::mem::replace(&mut self.sent, sent);
        if sent.0 != before.0 {
            self.stuck = 0;
            let seconds = self.end(PortState::RingFull, now)?;
            return Some(format!("it sends again after {seconds:.1} s"));
        }
        if sent.1 == before.1 {
            return None;
        }
        self.stuck += 1;
        let begins =
            self.stuck >= STUCK_LOOKS && self.begin(PortState::RingFull, now, String::new());
        begins.then(|| {
            "its transmit ring stays full and nothing gets out; frames for it are dropped as \
             tx_ring_full, see its link and what is at the other end"
                .to_owned()
        })
    }

    /// Whether it was not so before.
    fn begin(&mut self, state: PortState, now: f64, detail: String) -> bool {
        let account = &mut self.accounts[state as usize];
        if account.active {
            return false;
        }
        account.active = true;
        account.count += 1;
        account.since = now;
        account.detail = detail;
        true
    }

    /// How long it was so, if it was.
    fn end(&mut self, state: PortState, now: f64) -> Option<f64> {
        let account = &mut self.accounts[state as usize];
        let was = std::mem::take(&mut account.active);
        let seconds = now - account.since;
        account.seconds += if was { seconds } else { 0.0 };
        was.then_some(seconds)
    }

    fn report(&self, ended: f64) -> Vec<StateReport> {
        let accounts = PortState::ALL.iter().zip(&self.accounts);
        let occurred = accounts.filter(|(_, account)| account.count != 0);
        let report = |(&state, account): (&PortState, &Account)| StateReport {
            state,
            active: account.active,
            count: account.count,
            since_seconds: account.since,
            seconds: match account.active {
                true => account.seconds + (ended - account.since).max(0.0),
                false => account.seconds,
            },
            detail: account.detail.clone(),
        };
        occurred.map(report).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up(queues: u32) -> View {
        View {
            link: Link::Up(3),
            queues: Some(queues),
            checksums_left: false,
            new_name: None,
        }
    }

    fn with(link: Link) -> View {
        View { link, ..up(1) }
    }

    #[track_caller]
    fn only(states: &States, state: PortState, ended: f64) -> StateReport {
        let report = states.report(ended);
        assert_eq!(report.len(), 1, "{report:?}");
        assert_eq!(report[0].state, state);
        report[0].clone()
    }

    #[test]
    fn nothing_happens_to_a_port_that_is_well() {
        let mut states = States::default();
        for look in 0..50 {
            let sent = (look * 10, look);
            assert!(states.look(look as f64, up(2), sent).is_empty());
        }
        assert!(states.report(50.0).is_empty());
    }

    #[test]
    fn a_link_goes_and_comes() {
        let mut states = States::default();
        let mut look = |now, view| states.look(now, view, (0, 0));
        assert!(look(0.0, up(1)).is_empty());
        assert!(look(1.0, with(Link::Down(3)))[0].contains("the link is down"));
        assert!(look(2.0, with(Link::NoCarrier(3))).is_empty());
        assert!(look(4.0, up(1))[0].contains("up again after 3.0 s"));
        assert_eq!(look(5.0, with(Link::NoCarrier(3))).len(), 1);
        let mut down_at_first = States::default();
        let news = down_at_first.look(0.0, with(Link::Down(3)), (0, 0));
        assert!(news.is_empty());
        assert!(only(&down_at_first, PortState::LinkDown, 1.0).active);
        let report = only(&states, PortState::LinkDown, 6.5);
        assert!(report.active && report.count == 2, "{report:?}");
        assert_eq!((report.since_seconds, report.seconds), (5.0, 4.5));
        assert_eq!(report.detail, "without a carrier");
    }

    #[test]
    fn an_interface_that_goes_is_back_under_another_number() {
        let mut states = States::default();
        let mut look = |now, link| states.look(now, with(link), (0, 0));
        look(0.0, Link::Up(3));
        assert!(look(1.0, Link::Absent)[0].contains("gone"));
        assert!(look(2.0, Link::Absent).is_empty());
        assert!(look(3.0, Link::Up(9))[0].contains("again after 2.0 s"));
        // In between two looks.
        assert_eq!(look(4.0, Link::Up(10)).len(), 1);
        let report = only(&states, PortState::Absent, 9.0);
        assert_eq!(
            (report.active, report.count, report.seconds),
            (false, 2, 2.0)
        );
        assert_eq!(report.detail, "back as number 10");
    }

    #[test]
    fn a_new_name_is_told_of_and_no_fault() {
        let mut states = States::default();
        let mut look = |name: &str| {
            let new_name = (!name.is_empty()).then(|| name.to_owned());
            let view = View { new_name, ..up(1) };
            states.look(1.0, view, (0, 0))
        };
        assert!(look("").is_empty());
        assert!(look("other")[0].contains("it is other now"));
        assert!(look("other").is_empty());
        assert!(look("third")[0].contains("it is third now"));
        assert!(look("")[0].contains("first name"));
        assert!(states.report(2.0).is_empty());
    }

    #[test]
    fn queues_change_and_change_back() {
        let mut states = States::default();
        let mut look = |now, queues| states.look(now, up(queues), (0, 0));
        look(0.0, 1);
        assert!(look(1.0, 4)[0].contains("4 receive queues now, and had 1"));
        assert!(look(2.0, 4).is_empty());
        assert_eq!(look(3.0, 2).len(), 1);
        assert!(look(4.0, 1)[0].contains("as at the start"));
        let report = only(&states, PortState::QueuesChanged, 9.0);
        assert_eq!(
            (report.active, report.count, report.seconds),
            (false, 2, 3.0)
        );
    }

    #[test]
    fn a_ring_is_stuck_when_nothing_gets_out_for_several_looks() {
        let mut states = States::default();
        let mut look = |now: u32, sent| states.look(f64::from(now), up(1), sent);
        look(0, (100, 0));
        // A slow wire.
        for now in 1..20 {
            let now64 = u64::from(now);
            assert!(look(now, (100 + now64, 50 * now64)).is_empty());
        }
        let taken = 119;
        assert!((20..24).all(|now| look(now, (taken, 1000 + u64::from(now))).is_empty()));
        assert!(look(24, (taken, 1024))[0].contains("stays full"));
        // Nobody wants to send: it is as it was.
        assert!(look(30, (taken, 1024)).is_empty());
        assert!(look(34, (taken + 1, 1024))[0].contains("again after 10.0 s"));
        let report = only(&states, PortState::RingFull, 40.0);
        assert_eq!(
            (report.active, report.count, report.seconds),
            (false, 1, 10.0)
        );
    }

    #[test]
    fn checksums_are_told_of_once() {
        let mut states = States::default();
        let view = View {
            checksums_left: true,
            ..up(1)
        };
        assert!(states.look(1.0, view.clone(), (0, 0))[0].contains("ethtool -K SENDER tx off"));
        assert!(states.look(2.0, view, (0, 0)).is_empty());
        assert!(only(&states, PortState::ChecksumsLeft, 3.0).active);
    }
}
