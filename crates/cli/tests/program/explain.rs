//! `linerate explain` against the bridge whose verdicts it tells, and both against scapy.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::capture::{frames, udp};
use crate::{Place, Ran};

fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    fs::read(folder.join(name)).expect("a file of the repository")
}

/// A frame of the capture: its name, what scapy read, and the fault it has.
struct Sample {
    name: String,
    /// Source and destination, from the outside in; none where scapy was not asked.
    headers: Vec<[String; 2]>,
    fault: Option<String>,
}

fn samples() -> Vec<Sample> {
    let text = String::from_utf8(golden("tunnels.txt")).expect("ASCII");
    let mut samples: Vec<Sample> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match (words[0], samples.last_mut()) {
            ("frame", _) => samples.push(Sample {
                name: words[1].to_owned(),
                headers: Vec::new(),
                fault: None,
            }),
            ("ip", Some(sample)) => {
                let pair = [words[1], words[2]].map(str::to_owned);
                sample.headers.push(pair);
            }
            ("fault", Some(sample)) => sample.fault = Some(words[1].to_owned()),
            _ => {}
        }
    }
    samples
}

/// The lists, and the addresses of the capture that they hold.
const LISTS: [(&str, &str, &[&str]); 3] = [
    (
        "inner",
        "45.83.4.0/24\n2a0e:5::/32\n",
        &["45.83.4.7", "2a0e:5::9"],
    ),
    (
        "outer",
        "45.83.2.2\n2a0e:1::1\n",
        &["45.83.2.2", "2a0e:1::1"],
    ),
    (
        "middle",
        "45.83.7.1\n2a0e:6::/32\n",
        &["45.83.7.1", "2a0e:6::1"],
    ),
];

/// The reason why a frame is dropped, by scapy's headers and the words of the documentation.
fn expected(sample: &Sample, listed: &[&str], matching: &str) -> Option<String> {
    for (depth, header) in sample.headers.iter().enumerate() {
        let looked_at = match (sample.headers.len(), depth) {
            (1, _) => true,
            (_, 0) => matching != "inner",
            _ => matching != "outer",
        };
        for (address, reason) in header.iter().zip(["blocked_src", "blocked_dst"]) {
            if looked_at && listed.contains(&address.as_str()) {
                return Some(reason.to_owned());
            }
        }
    }
    sample.fault.clone().filter(|_| matching != "outer")
}

fn reason(frame: &Value) -> Option<String> {
    frame["reason"].as_str().map(str::to_owned)
}

/// Bridges and explains the capture with these options; both must tell the same of each frame.
fn judged(place: &Place, options: &str) -> Vec<Value> {
    let capture = golden("captures/tunnels.pcap");
    place.write("a.pcap", &capture);
    let explained = place.run(&format!("explain pcap:a.pcap --json {options}"));
    let mut explained = explained.ended(0).json();
    let bridged = format!("bridge pcap:in=a.pcap pcap:out=b.pcap --json -q {options}");
    let bridged = place.run(&bridged).ended(0).json();
    let told = explained["frames"]
        .as_array_mut()
        .expect("frames")
        .split_off(0);
    let all = frames(&capture);
    assert_eq!(told.len(), all.len());
    let passed = all
        .iter()
        .zip(&told)
        .filter(|(_, told)| told["verdict"] == "forward");
    let passed: Vec<&Vec<u8>> = passed.map(|(frame, _)| frame).collect();
    let sent = frames(&place.read("b.pcap"));
    assert!(sent.iter().eq(passed), "{options}");
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for reason in told.iter().filter_map(reason) {
        *reasons.entry(reason).or_default() += 1;
    }
    let dropped = bridged["frames"]["dropped"].as_object().expect("reasons");
    let dropped = dropped
        .iter()
        .filter(|(_, frames)| frames.as_u64() != Some(0));
    let dropped: BTreeMap<String, u64> = dropped
        .map(|(reason, frames)| (reason.clone(), frames.as_u64().expect("a count")))
        .collect();
    assert_eq!(dropped, reasons, "{options}");
    told
}

#[test]
fn verdicts_are_the_bridges_and_scapys() {
    let (place, samples) = (Place::new(), samples());
    for (list, text, listed) in LISTS {
        place.write(&format!("{list}.txt"), text);
        for matching in ["both", "outer", "inner"] {
            let told = judged(&place, &format!("--block {list}.txt --match {matching}"));
            let mut dropped = 0;
            for (sample, told) in samples.iter().zip(&told) {
                if sample.headers.is_empty() {
                    continue;
                }
                let expected = expected(sample, listed, matching);
                let options = format!("{}, {list}, {matching}", sample.name);
                assert_eq!(reason(told), expected, "{options}: {told}");
                dropped += usize::from(expected.is_some());
            }
            let none = matches!(
                (list, matching),
                ("inner" | "middle", "outer") | ("outer", "inner")
            );
            assert!(
                none == (dropped == 0) || dropped == 1,
                "{list} {matching}: {dropped}"
            );
        }
    }
}

#[test]
fn other_policies_agree_with_the_bridge() {
    let place = Place::new();
    for (list, text, _) in LISTS {
        place.write(&format!("{list}.txt"), text);
    }
    for options in [
        "",
        "--malformed forward --block inner.txt",
        "--allow outer.txt --default drop",
        "--allow outer.txt --default drop --match outer",
        "--allow inner.txt --default drop --match inner",
        "--block inner.txt --allow outer.txt --match inner=inner --match outer=outer",
        "--count inner.txt --block middle.txt --hash outer --keep private",
        "--block inner.txt --tunnel-ports vxlan=4788,geneve=none",
    ] {
        judged(&place, options);
    }
}

fn explained(place: &Place, words: &str) -> Ran {
    place.run(&format!("explain {words}"))
}

#[test]
fn entries_are_named_with_file_and_line() {
    let place = Place::new();
    place.write("bad.txt", "# bad\n203.0.113.9\n198.18.77.0/24 # mail\n");
    let hex: Vec<String> = udp("198.18.77.1", "203.0.113.1")
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let told = explained(
        &place,
        &format!("{} --block bad.txt --workers 4", hex.concat()),
    );
    let told = told.ended(0);
    assert_eq!(told.complaints(), "");
    let text = told.text();
    for part in [
        "bad.txt:3: 198.18.77.0/24 # mail",
        "blocked_src",
        "198.18.77.1 > 203.0.113.1",
        "is in set bad (block)",
        "payload",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text}");
    let told = explained(&place, &format!("{} --block bad.txt --json", hex.concat()));
    let json = told.ended(0).json();
    let frame = &json["frames"][0];
    assert_eq!(frame["matches"][0]["entries"][0]["line"], 3);
    assert_eq!(frame["headers"][1]["offset"], 14);
    assert_eq!(frame["placement"]["flow"]["src_port"], 4096);
}

#[test]
fn pieces_say_which_they_are() {
    let place = Place::new();
    place.write("a.pcap", golden("captures/tunnels.pcap"));
    let told = explained(&place, "pcap:a.pcap --json").ended(0).json();
    for (name, header, text) in [
        ("ipip-first", "IPv4", "bytes 0 to 63, more follow"),
        ("ipip-later", "IPv4", "bytes 64 to 147, the last"),
        (
            "4in6-first",
            "fragment",
            "id 0x9, bytes 0 to 63, more follow",
        ),
    ] {
        let at = samples().iter().position(|sample| sample.name == name);
        let headers = &told["frames"][at.expect("a frame of this name")]["headers"];
        let mut headers = headers.as_array().expect("headers").iter();
        let found = headers.find(|found| found["name"] == header);
        let found = found.and_then(|found| found["text"].as_str());
        assert!(
            found.is_some_and(|found| found.ends_with(text)),
            "{name}: {found:?}"
        );
    }
    // A whole packet has an identification, too, and nobody asks for it.
    let whole = &told["frames"][0]["headers"][1];
    assert_eq!(whole["text"], "45.83.2.1 > 45.83.2.2");
}

/// The frames, each cut by the capture after every third byte.
fn cut_frames() -> Vec<u8> {
    let capture = golden("captures/tunnels.pcap");
    let mut cut = capture[..24].to_vec();
    for frame in frames(&capture) {
        let len = (frame.len() as u32).to_le_bytes();
        for kept in (1..frame.len()).step_by(3) {
            cut.extend([0; 8]);
            cut.extend((kept as u32).to_le_bytes());
            cut.extend(len);
            cut.extend(&frame[..kept]);
        }
    }
    cut
}

#[test]
fn headers_follow_each_other_to_where_the_capture_cut() {
    let place = Place::new();
    place.write("a.pcap", cut_frames());
    let told = explained(&place, "pcap:a.pcap --json").ended(0).json();
    let told = told["frames"].as_array().expect("frames");
    assert!(told.len() > 2000, "{}", told.len());
    for frame in told {
        let mut at = 0;
        for header in frame["headers"].as_array().expect("headers") {
            assert_eq!(header["offset"], at, "{frame}");
            at += header["bytes"].as_u64().expect("a length");
        }
        assert_eq!(frame["bytes"], at, "{frame}");
    }
}

#[test]
fn no_line_is_longer_than_the_screen() {
    let place = Place::new();
    place.write("a.pcap", golden("captures/tunnels.pcap"));
    place.write("bad.txt", "45.83.4.0/24\n2a0e:4::/32\n");
    let told = explained(&place, "pcap:a.pcap --block bad.txt").ended(0);
    let long = told.text().lines().find(|line| line.chars().count() > 80);
    assert_eq!(long, None);
    assert_eq!(told.text().matches("\nframe ").count() + 1, samples().len());
}

#[test]
fn what_cannot_be_explained_is_refused_in_one_sentence() {
    let place = Place::new();
    place.write("a.pcap", golden("captures/tunnels.pcap"));
    place.write("no.pcap", "not a capture, but long enough to look at");
    place.write("bad.txt", "203.0.113.9\n");
    for (words, part) in [
        ("zz", "hexadecimal"),
        ("0", "hexadecimal"),
        ("pcap:", "pcap:FILE"),
        ("pcap:a.pcap:0", "number 1"),
        ("pcap:none.pcap", "none.pcap"),
        ("pcap:no.pcap", "no.pcap"),
        ("pcap:a.pcap:200", "106 frames"),
        (
            "00ff --block bad.txt --match other=inner",
            "no set is named 'other'",
        ),
        (
            "00ff --block bad.txt --match sideways",
            "both, outer or inner",
        ),
        ("00ff --tunnel-ports vxlan=0", "vxlan=8472"),
        ("00ff --tunnel-ports vxlan=6081", "6081"),
        ("00ff --block -", "standard input"),
    ] {
        let told = explained(&place, words).ended(2);
        let complaint = told.complaints();
        assert!(complaint.contains(part), "{words}: {complaint}");
        assert!(told.stdout.is_empty(), "{words}");
    }
}

/// A pcapng of an Ethernet interface and one of IEEE 802.11, with frames of these, little-endian.
fn pcapng(interfaces: &[u32]) -> Vec<u8> {
    let words = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<_>>()
    };
    let mut bytes = words(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28]);
    for link_type in [1, 105] {
        bytes.extend(words(&[1, 20, link_type, 0, 20]));
    }
    for (&interface, number) in interfaces.iter().zip(1..) {
        bytes.extend(words(&[6, 92, interface, 0, number, 60, 60]));
        bytes.extend(udp(&format!("198.18.77.{number}"), "203.0.113.1"));
        bytes.extend(words(&[92]));
    }
    bytes
}

/// Numbers are those of tshark (`frame.number`), whether records can be read or not.
#[test]
fn frames_have_the_numbers_of_their_records() {
    let place = Place::new();
    place.write("mixed.pcapng", pcapng(&[0, 1, 0, 1, 0]));
    for (number, src) in [(1, "198.18.77.1"), (3, "198.18.77.3"), (5, "198.18.77.5")] {
        let told = explained(&place, &format!("pcap:mixed.pcapng:{number} --json"));
        let told = told.ended(0).json();
        assert_eq!(told["frames"][0]["number"], number, "{told}");
        assert_eq!(told["frames"][0]["placement"]["flow"]["src"], src, "{told}");
    }
    for (number, part) in [
        (
            2,
            "frame 2 of mixed.pcapng cannot be read as Ethernet (IEEE 802.11",
        ),
        (4, "frame 4 of mixed.pcapng cannot be read"),
        (6, "mixed.pcapng has 5 frames"),
    ] {
        let told = explained(&place, &format!("pcap:mixed.pcapng:{number}")).ended(2);
        assert!(
            told.complaints().contains(part),
            "{number}: {}",
            told.stderr
        );
    }
    let all = explained(&place, "pcap:mixed.pcapng").ended(0);
    let headings = |line: &&str| line.starts_with("frame ");
    let headings: Vec<&str> = all.text().lines().filter(headings).collect();
    let wanted = ["1 of mixed.pcapng: 60 bytes", "2 of mixed.pcapng: not read"];
    for (heading, wanted) in headings.iter().zip(wanted) {
        assert_eq!(*heading, format!("frame {wanted}"));
    }
    assert_eq!(headings.len(), 5, "{headings:?}");
    let all = explained(&place, "pcap:mixed.pcapng --json")
        .ended(0)
        .json();
    assert_eq!(all["unread"][1]["number"], 4, "{all}");
    assert_eq!(all["frames"][2]["number"], 5, "{all}");
    assert!(
        all["warnings"][0]
            .as_str()
            .is_some_and(|told| told.contains("2 frames")),
        "{all}"
    );
}

#[test]
fn a_capture_without_a_frame_is_refused_with_its_reason() {
    let place = Place::new();
    let pcap = crate::capture::pcap(&[]);
    for (name, bytes, part) in [
        ("zero.pcap", vec![], "zero.pcap is empty"),
        (
            "cut.pcap",
            pcap[..13].to_vec(),
            "ends within its file header",
        ),
        (
            "head.pcap",
            pcap,
            "head.pcap holds no frames: it has 0 records",
        ),
        (
            "head.pcapng",
            pcapng(&[])[..28].to_vec(),
            "it has 0 records",
        ),
        ("described.pcapng", pcapng(&[]), "it has 0 records"),
        ("foreign.pcapng", pcapng(&[1, 1]), "IEEE 802.11"),
        (
            "unknown.pcapng",
            pcapng(&[7]),
            "its one record cannot be read",
        ),
    ] {
        place.write(name, bytes);
        for number in ["", ":1"] {
            let told = explained(&place, &format!("pcap:{name}{number}")).ended(2);
            let said = told.complaints();
            let unread = number == ":1" && said.contains("frame 1 of");
            assert!(said.contains(part) || unread, "{name}{number}: {said}");
        }
    }
}

/// What was not looked up is not called unlisted.
#[test]
fn addresses_that_a_capture_cut_off_are_not_known() {
    let place = Place::new();
    place.write("bad.txt", "198.18.77.1\n203.0.113.1\n");
    let whole = crate::capture::pcap(&[udp("198.18.77.1", "203.0.113.1")]);
    for (len, told, matches, cut) in [
        (20, "not known: the capture cut", 0, true),
        (30, "known in part: the capture cut", 1, true),
        (34, "", 2, false),
    ] {
        let mut bytes = whole[..40 + len].to_vec();
        bytes[32] = len as u8;
        place.write("cut.pcap", bytes);
        let text = explained(&place, "pcap:cut.pcap:1 --block bad.txt").ended(0);
        assert!(text.text().contains(told), "{len}: {}", text.text());
        assert!(
            !text.text().contains("no address is in"),
            "{len}: {}",
            text.text()
        );
        let json = explained(&place, "pcap:cut.pcap:1 --block bad.txt --json");
        let frame = &json.ended(0).json()["frames"][0];
        assert_eq!(frame["addresses_cut"], cut, "{frame}");
        assert_eq!(
            frame["matches"].as_array().map(Vec::len),
            Some(matches),
            "{frame}"
        );
        let bridged = place.run("bridge pcap:in=cut.pcap null: --block bad.txt");
        let said = bridged
            .ended(0)
            .stderr
            .contains("1 frames of cut.pcap were cut within");
        assert_eq!(said, cut, "{len}");
    }
}
