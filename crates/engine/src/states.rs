//! What the interface of a port was in, while it ran, that it should not be: since when, how often,
//! for how long. The control thread looks; workers go on meanwhile.

mod full_frames;
mod state;

use port::interface::{Link, Monitor, TAKING_TAGS, View};

use crate::status::PortView;
use full_frames::{FullFrames, Seen};
pub use state::PortState;

/// Looks in a row in which a port took none of the frames there were.
const STUCK_LOOKS: u32 = 5;

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
    full_frames: FullFrames,
    /// At the last look.
    link: Option<Link>,
    /// What it was at a moment since the look before.
    blink: Option<Link>,
    /// It was not up at a moment since the look before, or went down within the last
    /// [`DOWN_LOOKS`].
    went_down: bool,
    /// How many more looks say so.
    down_looks: u8,
    /// Frames that the port took by then, and of all those that it took while the link was not up,
    /// from the look before until the look behind.
    taken: u64,
    taken_down: u64,
}

/// So many looks say that a link went down, half a second: a worker may come to frames later that
/// were received before, and learn from them what it was told to forget.
const DOWN_LOOKS: u8 = 5;

/// How many looks are still to say that a link went down. A link that is down for another reason
/// than before went down once more: the kernel says up to a second late that a carrier is back, and
/// frames passed meanwhile.
fn down_looks(left: u8, was: Option<Link>, link: Link) -> u8 {
    match was {
        _ if link.is_up() => 0,
        Some(was) if was != link => DOWN_LOOKS,
        _ => left.saturating_sub(1),
    }
}

impl Watched {
    pub(crate) fn new(monitor: Monitor) -> Self {
        let states = States::default();
        Self {
            monitor,
            states,
            full_frames: FullFrames::default(),
            link: None,
            blink: None,
            went_down: false,
            down_looks: 0,
            taken: 0,
            taken_down: 0,
        }
    }

    /// Looks; a sentence for each change. `sent` is what the port took so far, and how often it
    /// took nothing; `missed` what it knows that it could not receive.
    pub(crate) fn look(
        &mut self,
        spec: &str,
        now: f64,
        sent: (u64, u64),
        missed: u64,
    ) -> Vec<String> {
        let view = self.monitor.look();
        let was_down = self.link.is_some_and(|link| !link.is_up()) || view.blink.is_some();
        self.down_looks = down_looks(self.down_looks, self.link, view.link);
        self.went_down = view.blink.is_some() || self.down_looks != 0;
        self.blink = view.blink;
        if was_down || !view.link.is_up() {
            self.taken_down += sent.0.saturating_sub(self.taken);
        }
        self.taken = sent.0;
        self.link = Some(view.link);
        let lengths = self.full_frames.look(&view, missed);
        let mut news = self.states.look(now, view, sent);
        news.extend(lengths.and_then(|seen| self.states.full_frames(now, seen)));
        // Driver and interface; what was chosen stands in the report.
        let spec = spec.split(',').next().unwrap_or(spec);
        news.into_iter()
            .map(|said| format!("{spec}: {said}"))
            .collect()
    }

    /// Looks at the link alone, before the run.
    pub(crate) fn look_at_link(&mut self) -> Option<Link> {
        self.monitor.look();
        self.link = Some(self.monitor.look_at_link());
        self.link
    }

    /// Frames that the port took while its link was not up, at most.
    pub(crate) fn taken_down(&self) -> u64 {
        self.taken_down
    }

    /// Whether its MTU is smaller than at the start, and has no room for packets this long.
    pub(crate) fn has_shrunk_below(&self, packet_bytes: usize) -> bool {
        let mtu = self.states.mtu.map_or(usize::MAX, |mtu| mtu as usize);
        self.states.is_active(PortState::MtuChanged) && mtu < packet_bytes
    }

    /// What the link was at a moment before the last look, where that found it up again.
    pub(crate) fn blink(&self) -> Option<Link> {
        self.blink
    }

    /// Whether the link went down a moment ago, if for a moment.
    pub(crate) fn went_down(&self) -> bool {
        self.went_down
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
    /// MTU at the last look that found one.
    mtu: Option<u32>,
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
        news.extend(self.absent(now, &view));
        news.extend(view.blink.and_then(|blink| self.blink(now, blink)));
        news.extend(self.down(now, view.link));
        if !std::mem::replace(&mut self.looked, true) {
            // How it is at the start, ports have said.
            news.clear();
        }
        news.extend(self.mtu(now, &view));
        news.extend(self.offloads(now, &view));
        news.extend(self.renamed(view.new_name));
        news.extend(view.queues.and_then(|queues| self.queues(now, queues)));
        news.extend(self.ring(now, view.link, sent));
        if view.checksums_left && self.accounts[PortState::ChecksumsLeft as usize].count == 0 {
            self.begin(PortState::ChecksumsLeft, now, String::new());
            news.push(
                "frames come with their checksum left to the receiver, as veth and virtio do it; \
                 it is finished here, which `ethtool -K SENDER tx off` spares"
                    .to_owned(),
            );
        }
        news
    }

    fn absent(&mut self, now: f64, view: &View) -> Option<String> {
        let before = self.index;
        let Some(index) = view.link.index() else {
            let (detail, said) = match view.moved {
                true => (
                    "moved to another network namespace",
                    "the interface is gone: it was moved to another network namespace",
                ),
                false => ("", "the interface is gone"),
            };
            let gone = before.is_some() && self.begin(PortState::Absent, now, detail.to_owned());
            return gone.then(|| {
                format!("{said}; frames for it are dropped until one of its name is there")
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
                let begins = self.begin(PortState::LinkDown, now, link.to_string());
                let told = begins || self.set_down(link);
                told.then(|| {
                    format!("the link is {link}; frames for it are dropped until it is up")
                })
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

    /// Whether somebody set a link down that was without a carrier. The other way round says
    /// nothing new: a link that is set up has no carrier at first.
    fn set_down(&mut self, link: Link) -> bool {
        let detail = &mut self.accounts[PortState::LinkDown as usize].detail;
        let news = matches!(link, Link::Down(_)) && *detail != link.to_string();
        if news {
            *detail = link.to_string();
        }
        news
    }

    /// Down and up again between two looks counts as well.
    fn blink(&mut self, now: f64, link: Link) -> Option<String> {
        let begins = self.begin(PortState::LinkDown, now, link.to_string());
        let _up_again = self.end(PortState::LinkDown, now);
        begins.then(|| format!("the link was {link} for a moment"))
    }

    /// What an MTU that changes means for the frames of the port.
    fn mtu(&mut self, now: f64, view: &View) -> Option<String> {
        let mtu = view.mtu?;
        let first = view.mtu_first.unwrap_or(mtu);
        let before = self.mtu.replace(mtu).unwrap_or(first);
        let fits = view.mtu_max.is_none_or(|mtu_max| mtu <= mtu_max);
        let (well, active) = (mtu == first && fits, self.is_active(PortState::MtuChanged));
        if before == mtu && well != active {
            return None;
        }
        let _over = self.end(PortState::MtuChanged, now);
        let said = match before == mtu {
            true => format!("its MTU is {mtu}"),
            false => format!("its MTU is {mtu} now, and was {before}"),
        };
        if well {
            return Some(format!("{said}, as at the start"));
        }
        let name = view.new_name.as_ref().unwrap_or(&view.name);
        let set = |mtu| format!("ip link set dev {name} mtu {mtu}");
        let (detail, means) = match view.mtu_max.filter(|_| !fits) {
            Some(mtu_max) => (
                format!(", room for {mtu_max}"),
                format!(
                    "the port has room for frames of an MTU of {mtu_max}, and longer ones are lost \
                     as missed_too_long: start it anew, or `{}`",
                    set(mtu_max)
                ),
            ),
            None if mtu < first => (String::new(), smaller(view, &set(first))),
            None => (
                String::new(),
                "the port has room for such frames".to_owned(),
            ),
        };
        self.begin(
            PortState::MtuChanged,
            now,
            format!("{mtu}, at the start {first}{detail}"),
        );
        Some(format!("{said}; {means}"))
    }

    /// Somebody switches on what the port wants off, as a service that sets interfaces does.
    fn offloads(&mut self, now: f64, view: &View) -> Option<String> {
        let on = view.switched_on.join(", ");
        let before = &self.accounts[PortState::OffloadsOn as usize];
        if on == before.detail && before.active || on.is_empty() && !before.active {
            return None;
        }
        let seconds = self.end(PortState::OffloadsOn, now);
        if on.is_empty() {
            let seconds = seconds.unwrap_or(0.0);
            return Some(format!("offloads are off again after {seconds:.1} s"));
        }
        let off: String = view
            .switched_on
            .iter()
            .map(|name| format!(" {name} off"))
            .collect();
        let tags = view
            .switched_on
            .iter()
            .any(|name| TAKING_TAGS.contains(&&name[..]));
        let means = match tags {
            true => "frames may lose their VLAN tags",
            false => "received frames are merged, and merged ones are left out",
        };
        let name = view.new_name.as_ref().unwrap_or(&view.name);
        self.begin(PortState::OffloadsOn, now, on.clone());
        Some(format!(
            "somebody switched {on} on; {means}: `ethtool -K {name}{off}` ends that"
        ))
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

    /// Said once: a driver that has no room for full frames has none later either.
    fn full_frames(&mut self, now: f64, seen: Seen) -> Option<String> {
        match seen {
            Seen::Lost { detail, said } => {
                let first = self.accounts[PortState::FullFramesLost as usize].count == 0;
                let begins = self.begin(PortState::FullFramesLost, now, detail);
                (begins && first).then_some(said)
            }
            Seen::Came => {
                let seconds = self.end(PortState::FullFramesLost, now)?;
                Some(format!("full frames come, after {seconds:.1} s without"))
            }
        }
    }

    /// A ring that is full while frames get out is a slow wire; one out of which nothing gets is
    /// stuck. Nothing gets out where the link is down, which is said as that.
    fn ring(&mut self, now: f64, link: Link, sent: (u64, u64)) -> Option<String> {
        let before = std::mem::replace(&mut self.sent, sent);
        if !link.is_up() {
            self.stuck = 0;
            let _by_the_link = self.end(PortState::RingFull, now);
            return None;
        }
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

    fn is_active(&self, state: PortState) -> bool {
        self.accounts[state as usize].active
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

/// What a smaller MTU than at the start means, and the command that sets it back.
fn smaller(view: &View, set: &str) -> String {
    let arrives = "longer ones may go on to arrive, which their sender and the driver decide";
    match view.keeps_to_mtu {
        true => format!(
            "longer frames that are to leave by it are dropped as tx_refused, and {arrives}: \
             `{set}` lets them pass"
        ),
        false => "the port takes longer frames all the same, and the host receives them; what the \
                  host sends is shorter"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests;
