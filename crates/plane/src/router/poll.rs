//! What a router does beside frames: neighbours are asked, and frames that waited leave.

use std::sync::Arc;

use frame::Frame;
use stack::icmp::Report;
use stack::neighbours::{Event, Key};
use wire::{MacAddress, ether_type};

use super::arrive::Arrival;
use super::link::Link;
use super::packet::Packet;
use super::process::Routed;
use super::wait::Ticket;
use super::{InterfaceId, Router};
use crate::links::Taken;
use crate::{DropReason, Forwarding, Outgoing, Verdict, original_len};

/// Frames that one event may send beside those that wait: a request, or an error for each.
const BESIDE: usize = 16;

impl Router {
    pub(super) fn poll(&mut self, cx: &mut Forwarding<'_>) {
        self.now = cx.now;
        let mut taken = Taken::default();
        while let Some(heard) = self.links.take(&mut taken) {
            self.neighbours.hear(&heard, cx.now);
        }
        self.poll_nat(cx);
        self.announce_next(cx);
        while self.neighbours.due().is_some_and(|due| due <= cx.now) {
            if cx.out.room() <= self.waiting.len() + BESIDE {
                return cx.out.ask_for_room();
            }
            match self.neighbours.poll(cx.now) {
                Some(Event::Ask { key, to }) => match &mut self.kernel {
                    Some(kernel) => kernel.want(&key),
                    None => self.ask(cx, &key, to),
                },
                Some(Event::Resolved { key, mac }) => self.release(cx, &key, mac),
                Some(Event::Failed { key }) => self.fail(cx, &key),
                Some(Event::Displaced { key }) => self.displace(cx, &key),
                // The timers of many fired: the rest of them in the next step.
                None => return,
            }
        }
    }

    /// Tells of those own addresses that are still to be told, as far as there is room.
    fn announce_next(&mut self, cx: &mut Forwarding<'_>) {
        if self.announced == usize::MAX {
            return;
        }
        let table = Arc::clone(&self.table);
        let numbered = (0..=u16::MAX)
            .map(InterfaceId)
            .zip(&table.config().interfaces);
        let all = numbered.flat_map(|(id, one)| one.addresses.iter().map(move |own| (id, own)));
        for (id, own) in all.skip(self.announced) {
            if cx.out.room() == 0 {
                return cx.out.ask_for_room();
            }
            self.announce(cx, id, own.address);
            self.announced += 1;
        }
        self.announced = usize::MAX;
    }

    /// Frames that waited for a neighbour leave.
    fn release(&mut self, cx: &mut Forwarding<'_>, key: &Key, mac: MacAddress) {
        let port = self.table.link(InterfaceId(key.interface)).port;
        while let Some((ticket, mut frame)) = self.waiting.take(key) {
            Link::readdress(&mut frame, mac);
            if ticket.is_forwarded {
                let kind = ticket.arrival.ether_type;
                self.counts.count_forwarded(kind == ether_type::IPV4);
            }
            give_back(cx, &ticket, frame, Verdict::Forward(port));
        }
    }

    /// Frames that waited for one that may yet answer are dropped.
    fn displace(&mut self, cx: &mut Forwarding<'_>, key: &Key) {
        while let Some((ticket, frame)) = self.waiting.take(key) {
            give_back(cx, &ticket, frame, Verdict::Drop(DropReason::Unresolved));
        }
    }

    /// Frames that waited in vain are dropped, and their sources told.
    fn fail(&mut self, cx: &mut Forwarding<'_>, key: &Key) {
        let l3 = self.table.link(InterfaceId(key.interface)).header_len();
        while let Some((ticket, mut frame)) = self.waiting.take(key) {
            self.undo_nat(cx, l3, &mut frame);
            let arrival = Arrival {
                l3,
                ..ticket.arrival
            };
            let bytes = frame.bytes();
            let read = Packet::read(arrival.ether_type, bytes, l3, original_len(&frame));
            if let Ok(packet) = read {
                let routed = Routed::new(arrival, packet);
                self.report(cx, &routed, Report::HostUnreachable, 0, &frame);
            }
            give_back(cx, &ticket, frame, Verdict::Drop(DropReason::Unresolved));
        }
    }
}

/// Sends a frame that waited, or has it dropped.
fn give_back(cx: &mut Forwarding<'_>, ticket: &Ticket, frame: Frame, verdict: Verdict) {
    let pushed = cx.out.push(Outgoing {
        frame,
        from: ticket.from,
        origin: ticket.origin,
        verdict,
        after: 0,
    });
    debug_assert!(
        pushed.is_ok(),
        "an event is taken when there is room for what comes of it"
    );
    if let Err(frame) = pushed {
        cx.pool.free(frame);
    }
}
