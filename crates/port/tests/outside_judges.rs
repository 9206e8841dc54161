//! What Wireshark's tools and an independent parser make of the captures written here, and what is
//! read here of captures they write. Skipped, with the reason printed, where the tools are missing.

mod support;

use std::path::Path;
use std::process::Command;

use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, LegacyPcapReader, PcapBlockOwned, PcapError, PcapNGReader};
use port::OpenContext;
use port::pcap::Format;
use support::{Folder, Owned, frames, read_capture, run, write_capture};

const FORMATS: [(Format, &str); 3] = [
    (Format::Pcap, "a.pcap"),
    (Format::PcapMicro, "us.pcap"),
    (Format::Pcapng, "a.pcapng"),
];

/// Runs a tool and returns what it printed; `None` where it is not installed.
fn tool(name: &str, arguments: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(name).args(arguments).env("TZ", "UTC").output() else {
        println!("skipped: {name} is not installed here");
        return None;
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {complaint}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn tshark(path: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let path = path.display().to_string();
    let mut arguments = vec!["-n", "-r", &path, "-T", "fields"];
    arguments.extend([
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "udp.check_checksum:TRUE",
    ]);
    arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
    let text = tool("tshark", &arguments)?;
    let row = |line: &str| line.split('\t').map(str::to_owned).collect();
    Some(text.lines().map(row).collect())
}

fn micro(time_ns: u64) -> u64 {
    time_ns / 1000 * 1000
}

#[test]
fn tshark_reads_times_and_lengths_as_written() {
    let folder = Folder::new();
    let sent = frames(300);
    for (format, name) in FORMATS {
        write_capture(&folder.file(name), format, &sent);
        let fields = ["frame.time_epoch", "frame.len", "frame.cap_len"];
        let Some(rows) = tshark(&folder.file(name), &fields) else {
            return;
        };
        assert_eq!(rows.len(), sent.len());
        for (row, (time_ns, original_len, bytes)) in rows.iter().zip(&sent) {
            let time_ns = if format == Format::PcapMicro {
                micro(*time_ns)
            } else {
                *time_ns
            };
            let time = format!("{}.{:09}", time_ns / 1_000_000_000, time_ns % 1_000_000_000);
            assert_eq!(
                row,
                &[time, original_len.to_string(), bytes.len().to_string()],
                "{name}"
            );
        }
    }
}

#[test]
fn capinfos_finds_the_format_and_resolution_meant() {
    let folder = Folder::new();
    for (format, name) in FORMATS {
        write_capture(&folder.file(name), format, &frames(10));
        let path = folder.text(name);
        let Some(text) = tool("capinfos", &["-t", "-E", "-c", &path]) else {
            return;
        };
        let kind = match format {
            Format::Pcap => "nanosecond",
            Format::PcapMicro => "Wireshark/tcpdump/... - pcap",
            Format::Pcapng => "pcapng",
        };
        assert!(
            text.contains(kind) && text.contains("Ethernet") && text.contains("10"),
            "{text}"
        );
    }
}

#[test]
fn what_editcap_writes_is_read_the_same() {
    let folder = Folder::new();
    let sent = frames(300);
    write_capture(&folder.file("a.pcap"), Format::Pcap, &sent);
    for (kind, exact) in [("nsecpcap", true), ("pcap", false), ("pcapng", true)] {
        let (from, to) = (folder.text("a.pcap"), folder.text(kind));
        if tool("editcap", &["-F", kind, &from, &to]).is_none() {
            return;
        }
        let time = |time_ns| if exact { time_ns } else { micro(time_ns) };
        let expected: Vec<Owned> = sent
            .iter()
            .map(|(time_ns, len, bytes)| (time(*time_ns), *len, bytes.clone()))
            .collect();
        assert_eq!(read_capture(&folder.file(kind)), expected, "{kind}");
    }
}

#[test]
fn tshark_finds_no_fault_in_generated_frames() {
    let folder = Folder::new();
    for spec in [
        "gen:",
        "gen:size=imix,vlan=7",
        "gen:size=64-300,ipv6=0.5,vlan=7.8",
    ] {
        let output = format!("pcap:out={}", folder.text("gen.pcapng"));
        run(
            &format!("{spec}{}frames=500", if spec == "gen:" { "" } else { "," }),
            &output,
            &OpenContext::default(),
        );
        let fields = [
            "frame.protocols",
            "ip.checksum.status",
            "udp.checksum.status",
            "_ws.malformed",
            "vlan.id",
        ];
        let Some(rows) = tshark(&folder.file("gen.pcapng"), &fields) else {
            return;
        };
        assert_eq!(rows.len(), 500);
        for row in rows {
            // 1 is "good"; IPv6 has no header checksum.
            assert!(
                row[0].contains(":ip:udp") || row[0].contains(":ipv6:udp"),
                "{row:?}"
            );
            assert_eq!(
                row[1],
                if row[0].contains(":ip:") { "1" } else { "" },
                "{row:?}"
            );
            assert_eq!((&row[2][..], &row[3][..]), ("1", ""), "{row:?}");
        }
    }
}

#[test]
fn another_parser_reads_the_frames_written() {
    let folder = Folder::new();
    let sent = frames(300);
    write_capture(&folder.file("a.pcap"), Format::Pcap, &sent);
    let file = std::fs::File::open(folder.file("a.pcap")).unwrap();
    let reader = LegacyPcapReader::new(65_536, file).unwrap();
    assert_eq!(read_with(reader), sent);
    write_capture(&folder.file("a.pcapng"), Format::Pcapng, &sent);
    let file = std::fs::File::open(folder.file("a.pcapng")).unwrap();
    assert_eq!(read_with(PcapNGReader::new(65_536, file).unwrap()), sent);
}

fn read_with(mut reader: impl PcapReaderIterator) -> Vec<Owned> {
    let mut frames = Vec::new();
    loop {
        match reader.next() {
            Ok((consumed, block)) => {
                frames.extend(frame_of(&block));
                reader.consume(consumed);
            }
            Err(PcapError::Eof) => return frames,
            Err(PcapError::Incomplete(_)) => reader.refill().unwrap(),
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn frame_of(block: &PcapBlockOwned<'_>) -> Option<Owned> {
    match block {
        PcapBlockOwned::Legacy(record) => {
            let time_ns = u64::from(record.ts_sec) * 1_000_000_000 + u64::from(record.ts_usec);
            Some((time_ns, record.origlen, record.data.to_vec()))
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let time_ns = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            let data = &packet.data[..packet.caplen as usize];
            Some((time_ns, packet.origlen, data.to_vec()))
        }
        _ => None,
    }
}
