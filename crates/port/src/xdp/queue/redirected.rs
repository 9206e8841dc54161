//! Frames that leave without a socket buffer each, and when they do.

use frame::{Burst, FramePool};

use super::XdpQueue;
use crate::xdp::sender::Sent;

impl XdpQueue {
    /// Goes over to the other way of sending where the interface began or ceased to take redirected
    /// frames; what was taken the one way leaves before anything the other.
    #[cold]
    fn change_ways(&mut self) {
        if self.redirects {
            self.send_gathered();
            self.redirects = false;
        } else {
            let mut members = self.members.iter_mut();
            self.redirects = members.all(|member| member.waiting() == 0);
            if let Some(sender) = &mut self.sender {
                sender.begin();
            }
        }
    }

    /// Whether frames leave by redirection.
    #[inline]
    pub(super) fn redirects(&mut self) -> bool {
        let Some(sender) = &self.sender else {
            return false;
        };
        if sender.is_open() != self.redirects {
            self.change_ways();
        }
        self.redirects
    }

    /// Sends what was gathered.
    pub(super) fn send_gathered(&mut self) {
        if let Some(sender) = self.sender.as_mut().filter(|sender| sender.held() != 0) {
            let sent = sender.send();
            self.note(sent);
        }
    }

    pub(super) fn note(&mut self, sent: Sent) {
        self.statistics.tx_frames += sent.frames;
        self.statistics.tx_bytes += sent.bytes;
        self.stranded += sent.given_up;
        self.lost += sent.lost;
    }

    /// Gathers frames, and sends them whenever there is room for no more.
    pub(super) fn send_redirected(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        let Some(sender) = &mut self.sender else {
            return;
        };
        let mut sent = Sent::default();
        for frame in burst.frames() {
            if !self.carries.contains(&frame.len()) {
                self.refused += 1;
            } else if !sender.push(frame.bytes()) {
                sent += sender.send();
                // There is room: what is not taken now is longer than can be redirected.
                self.refused += u64::from(!sender.push(frame.bytes()));
            }
        }
        pool.free_burst(burst);
        self.note(sent);
    }
}
