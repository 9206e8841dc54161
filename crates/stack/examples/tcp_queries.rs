//! What TCP queries cost without a dataplane around them: a client and a server hand each other
//! their segments.
//!
//! `tcp_queries LIVE QUERIES` keeps so many connections alive and says how long a query takes once
//! as many again are done. `valgrind --tool=callgrind` counts its instructions by function.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Instant;

use frame::Nanos;
use stack::tcp::{Application, Event, Socket, Tcp, TcpSettings};

const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));
const CLIENTS: u32 = u32::from_be_bytes([198, 18, 0, 1]);
const ADDRESSES: u32 = 65_534;
const PORT: u16 = 80;
const REQUEST: [u8; 92] = [b'q'; 92];
const RESPONSE: [u8; 206] = [b'r'; 206];
/// As good as drawn: the hash of tables needs keys with bits all over.
const KEYS: [[u64; 2]; 2] = [
    [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7345],
    [0xA409_3822_299F_31D1, 0x082E_FA98_EC4E_6C89],
];
/// What passes on the clock in a round.
const ROUND: u64 = 10_000;
/// Segments that one end sends in a round.
const SEGMENTS: usize = 64;

/// Answers each request and closes.
struct Server;

impl Application for Server {
    fn on_event(&mut self, socket: &mut Socket<'_>, event: Event<'_>) {
        if matches!(event, Event::Data(_)) {
            socket.send(&RESPONSE);
            socket.close();
        }
    }
}

/// Sends a request and closes behind the other end.
#[derive(Default)]
struct Client {
    done: u64,
}

impl Application for Client {
    fn on_event(&mut self, socket: &mut Socket<'_>, event: Event<'_>) {
        match event {
            Event::Connected => drop(socket.send(&REQUEST)),
            Event::Ended => socket.close(),
            Event::Closed(_) => self.done += 1,
            _ => {}
        }
    }
}

/// Hands segments over until there is none, or many were.
fn pass<A: Application>(from: &mut Tcp, to: &mut Tcp, application: &mut A, now: Nanos) {
    let mut segment = [0; 2048];
    for _ in 0..SEGMENTS {
        let Some(outgoing) = from.transmit(now, &mut segment) else {
            return;
        };
        let ends = (outgoing.source, outgoing.destination);
        let taken = to.receive(ends, &segment[..outgoing.len], now, application);
        assert_eq!(taken, Ok(()), "a segment of the other end was refused");
    }
}

fn run(live: u64, queries: u64) -> Result<(), String> {
    let settings = || TcpSettings {
        connections_max: live as usize + SEGMENTS,
        half_open_max: live as usize + SEGMENTS,
        ..TcpSettings::default()
    };
    let [mut server, mut client] = KEYS.map(|key| Tcp::new(settings(), key));
    let mut asker = Client::default();
    server.listen(PORT);
    let (mut asked, mut round) = (0, 0);
    let mut began = Instant::now();
    let mut is_warm = false;
    while asker.done < live + 2 * queries {
        let now = Nanos(round * ROUND);
        round += 1;
        for _ in 0..SEGMENTS {
            if asked - asker.done >= live {
                break;
            }
            let address = CLIENTS + (asked % u64::from(ADDRESSES)) as u32;
            let remote = SocketAddr::new(SERVER, PORT);
            let begun = client.connect(Ipv4Addr::from(address).into(), remote, now);
            begun.map_err(|error| format!("{error:?}"))?;
            asked += 1;
        }
        pass(&mut client, &mut server, &mut Server, now);
        pass(&mut server, &mut client, &mut asker, now);
        client.run(now, &mut asker);
        server.run(now, &mut Server);
        if !is_warm && asker.done >= live + queries {
            is_warm = true;
            began = Instant::now();
        }
    }
    let nanos = began.elapsed().as_nanos() as u64 / queries;
    println!("{nanos} ns a query, {} a second", 1_000_000_000 / nanos);
    Ok(())
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).map(|word| word.parse().ok());
    let (Some(Some(live)), Some(Some(queries))) = (words.next(), words.next()) else {
        eprintln!("usage: tcp_queries LIVE QUERIES");
        return ExitCode::FAILURE;
    };
    match run(live, queries) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
