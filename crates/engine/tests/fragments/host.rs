//! A host in a namespace of its own: a tap to it, and its sockets.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use frame::{BURST_MAX, Burst, FramePool, PortId, QueueId};
use port::{OpenContext, Port, PortQueue, PortSpec};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

pub(crate) const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub(crate) const HOST_V4: Ipv4Addr = Ipv4Addr::new(45, 83, 2, 1);
pub(crate) const HOST_V6: Ipv6Addr = Ipv6Addr::new(0xFD00, 0x201, 0, 0, 0, 0, 0, 1);
pub(crate) const PORT: u16 = 4009;
/// How long the kernel is given to deliver what was written to the tap.
const PATIENCE: Duration = Duration::from_secs(2);

/// The calling thread is in the namespace as long as this lives, and the namespace too.
pub(crate) struct Host {
    queue: Box<dyn PortQueue>,
    sockets: [UdpSocket; 2],
    _port: Box<dyn Port>,
    home: File,
    keeper: Child,
}

impl Host {
    /// `None`, with the reason printed, where there can be none.
    pub(crate) fn new() -> Option<Self> {
        match Self::make() {
            Ok(host) => Some(host),
            Err(reason) => {
                println!("skipped: {reason}");
                None
            }
        }
    }

    fn make() -> Result<Self, String> {
        let home = File::open("/proc/thread-self/ns/net").map_err(|error| error.to_string())?;
        let mut keeper = Command::new("unshare")
            .args(["--net", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("unshare does not start: {error}"))?;
        match Self::inside(&mut keeper) {
            Ok((queue, port, sockets)) => Ok(Self {
                queue,
                sockets,
                _port: port,
                home,
                keeper,
            }),
            Err(reason) => {
                set(&home);
                end(&mut keeper);
                Err(reason)
            }
        }
    }

    /// Enters the namespace of the child and makes what is in it.
    #[allow(clippy::type_complexity)]
    fn inside(
        keeper: &mut Child,
    ) -> Result<(Box<dyn PortQueue>, Box<dyn Port>, [UdpSocket; 2]), String> {
        let echoed = keeper.stdin.as_mut().map(|input| input.write_all(b"\n"));
        let mut byte = [0];
        let output = keeper
            .stdout
            .as_mut()
            .map(|output| output.read_exact(&mut byte));
        if !matches!((echoed, output), (Some(Ok(())), Some(Ok(())))) {
            return Err("network namespaces need root".to_owned());
        }
        let place = File::open(format!("/proc/{}/ns/net", keeper.id()));
        set(&place.map_err(|error| error.to_string())?);
        let spec = PortSpec::parse("tap:frag0").map_err(|error| error.to_string())?;
        let mut port = port::open(&spec, PortId(0), &OpenContext::default())
            .map_err(|error| error.to_string())?;
        let queue = port
            .open_queue(QueueId(0), 1)
            .map_err(|error| error.to_string())?;
        let _where_it_is_off = fs::write("/proc/sys/net/ipv6/conf/frag0/disable_ipv6", "0");
        for words in [
            "link set lo up".to_owned(),
            "link set frag0 address 02:00:00:00:00:01".to_owned(),
            "link set frag0 up".to_owned(),
            format!("addr add {HOST_V4}/24 dev frag0"),
            format!("addr add {HOST_V6}/64 dev frag0 nodad"),
        ] {
            ip(&words)?;
        }
        let socket = |address: std::net::IpAddr| {
            let socket = UdpSocket::bind((address, PORT)).map_err(|error| error.to_string())?;
            let set = socket.set_nonblocking(true);
            set.map(|()| socket).map_err(|error| error.to_string())
        };
        Ok((
            queue,
            port,
            [socket(HOST_V4.into())?, socket(HOST_V6.into())?],
        ))
    }

    /// Sends frames to the host.
    pub(crate) fn send(&mut self, pool: &mut FramePool, frames: &[Vec<u8>]) {
        for some in frames.chunks(BURST_MAX) {
            let mut burst = Burst::new();
            for bytes in some {
                let mut frame = pool.alloc().expect("a free frame");
                frame.copy_from(bytes).expect("a short frame");
                assert!(burst.push(frame).is_ok());
            }
            let begun = Instant::now();
            while !burst.is_empty() {
                self.queue.tx_burst(&mut burst, pool);
                self.queue.reclaim(pool);
                assert!(begun.elapsed() < 10 * PATIENCE, "the tap takes no frames");
            }
        }
        // What the host itself says, such as who it is looking for.
        let mut said = Burst::new();
        self.queue.rx_burst(pool, &mut said, BURST_MAX);
        pool.free_burst(&mut said);
    }

    /// Which of these payloads the sockets get, waiting for all of them for a while.
    pub(crate) fn received(&mut self, wanted: &[Vec<u8>]) -> Vec<bool> {
        let mut came = vec![false; wanted.len()];
        let begun = Instant::now();
        while came.contains(&false) && begun.elapsed() < PATIENCE {
            for payload in self.waiting() {
                let place = wanted.iter().position(|wanted| *wanted == payload);
                let place = place.unwrap_or_else(|| panic!("nobody sent {payload:?}"));
                assert!(!came[place], "{payload:?} came twice");
                came[place] = true;
            }
        }
        came
    }

    /// What the sockets have.
    fn waiting(&mut self) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for socket in &self.sockets {
            let mut bytes = [0; 2048];
            while let Ok(len) = socket.recv(&mut bytes) {
                all.push(bytes[..len].to_vec());
            }
        }
        all
    }

    /// What the sockets got of the packet of this number before a whole packet that is sent now:
    /// all that came before is delivered or refused by then.
    pub(crate) fn received_until_marker(
        &mut self,
        pool: &mut FramePool,
        number: u32,
        pieces: usize,
    ) -> Vec<Vec<u8>> {
        let mut came = Vec::new();
        for marker in 0..5 {
            let marker = 0x7000_0000 + 8 * number + marker;
            let packets = [false, true].map(|six| crate::packet(six, marker, pieces));
            self.send(pool, &packets);
            let mut markers = 0;
            let begun = Instant::now();
            while markers < 2 && begun.elapsed() < PATIENCE {
                for payload in self.waiting() {
                    if payload[..4] == marker.to_be_bytes() {
                        markers += 1;
                    } else if payload[..4] == number.to_be_bytes() {
                        came.push(payload);
                    }
                }
            }
            if markers == 2 {
                return came;
            }
        }
        panic!("the host does not get whole packets");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        set(&self.home);
        end(&mut self.keeper);
    }
}

fn end(keeper: &mut Child) {
    let _ended_already = keeper.kill();
    let _ended_already = keeper.wait();
}

fn set(place: &File) {
    let kind = Some(LinkNameSpaceType::Network);
    move_into_link_name_space(place.as_fd(), kind).expect("setns");
}

fn ip(words: &str) -> Result<(), String> {
    let output = Command::new("ip").args(words.split(' ')).output();
    let output = output.map_err(|error| format!("`ip` does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("ip {words}: {}", said.trim()))
}
