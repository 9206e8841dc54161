//! Connections that others ask for.

use frame::Nanos;

use super::connection::{Birth, Connection};
use super::cookie::{self, Cookies};
use super::segment::{Segment, flag};
use super::time_wait::Old;
use super::{ConnectionId, Pair, Seq, Tcp};

impl Tcp {
    /// Takes connections to a port, of any own address.
    pub fn listen(&mut self, port: u16) {
        if !self.listening.contains(&port) {
            self.listening.push(port);
        }
    }

    /// A segment without a connection (RFC 9293 sections 3.10.7.1 and 3.10.7.2).
    pub(super) fn arrive_unknown(&mut self, pair: Pair, segment: &Segment<'_>, now: Nanos) {
        let mut initial = None;
        match self.time_waits.arrive(&pair, segment, now) {
            Some(Old::Ignored) => return,
            Some(Old::Answer(header)) => return self.reply(pair, header),
            Some(Old::Reuse(last)) if self.listening.contains(&pair.local.port()) => {
                initial = Some(last);
            }
            Some(Old::Reuse(_)) | None => {}
        }
        if segment.has(flag::RST) {
            return;
        }
        let is_request = segment.has(flag::SYN) && !segment.has(flag::ACK);
        let is_listening = self.listening.contains(&pair.local.port());
        // Data may have overtaken the segment that has the cookie: it will be sent again.
        let awaits_cookie = is_listening && now <= self.cookies_until;
        if awaits_cookie && segment.has(flag::ACK) && !segment.has(flag::SYN) {
            return;
        }
        if !is_request || !is_listening {
            self.counts.resets += 1;
            return self.reply(pair, segment.reset());
        }
        self.accept(pair, segment, initial, now);
    }

    /// A connection is asked for. `last` is where one of the same ends before it ended.
    fn accept(&mut self, pair: Pair, syn: &Segment<'_>, last: Option<Seq>, now: Nanos) {
        // FIN and data of a SYN are sent again once the connection is there.
        if self.slab.len() >= self.settings.connections_max {
            self.counts.no_room += 1;
            return;
        }
        if self.half_open >= self.settings.half_open_max {
            self.cookies_until = now.after(cookie::GOOD_FOR);
            self.counts.cookies += 1;
            let answer = self.cookies(&pair, now).answer(syn);
            return self.reply(pair, answer);
        }
        self.time_waits.remove(&pair);
        let mut birth = self.birth(pair, now);
        if let Some(last) = last {
            birth.initial = birth.initial.max(last.after(1));
        }
        self.half_open += 1;
        self.add(Connection::passive(birth, syn));
    }

    fn cookies<'a>(&'a self, pair: &'a Pair, now: Nanos) -> Cookies<'a> {
        Cookies {
            secret: &self.secret,
            settings: &self.settings,
            pair,
            now,
        }
    }

    /// Makes the connection whose SYN was answered by a cookie, if a segment acknowledges one.
    pub(super) fn accept_cookie(
        &mut self,
        pair: Pair,
        segment: &Segment<'_>,
        now: Nanos,
    ) -> Option<ConnectionId> {
        let is_acknowledgment = segment.has(flag::ACK) && !segment.has(flag::SYN | flag::RST);
        let may_be = is_acknowledgment
            && now <= self.cookies_until
            && self.listening.contains(&pair.local.port())
            && self.slab.len() < self.settings.connections_max
            && !self.time_waits.contains(&pair);
        if !may_be {
            return None;
        }
        let header = self.cookies(&pair, now).recover(segment)?;
        let birth = Birth {
            initial: segment.header.ack.back(1),
            ..self.birth(pair, now)
        };
        let payload = &[];
        let mut connection = Connection::passive(birth, &Segment { header, payload });
        connection.snd.next = segment.header.ack;
        self.half_open += 1;
        Some(self.add(connection))
    }
}
