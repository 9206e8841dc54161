//! Specs as users write them, right and wrong.

use proptest::prelude::*;

use super::*;
use crate::Share;
use crate::generator::{Addresses, Sizes};
use crate::pcap::{CapturePath, Format, Loops};
use crate::ring::RingEnd;

fn parse(text: &str) -> PortSpec {
    let spec = PortSpec::parse(text).unwrap();
    // What a dry run prints means the same.
    assert_eq!(
        PortSpec::parse(&spec.to_string()).unwrap(),
        spec,
        "{text} -> {spec}"
    );
    spec
}

fn refused(text: &str) -> String {
    let sentence = PortSpec::parse(text).unwrap_err().to_string();
    assert!(
        sentence.starts_with(&format!("port `{text}`: ")),
        "{sentence}"
    );
    sentence
}

fn file(name: &str) -> CapturePath {
    CapturePath::File(name.into())
}

#[test]
fn captures() {
    let PortSpec::Pcap(spec) = parse("pcap:in=a.pcap,out=dir/b.pcapng,loop=3") else {
        panic!()
    };
    assert_eq!(spec.input, Some(file("a.pcap")));
    assert_eq!(spec.output, Some((file("dir/b.pcapng"), Format::Pcapng)));
    assert_eq!(spec.loops, Loops::Times(3));
    let PortSpec::Pcap(spec) = parse("pcap:in=-,out=-") else {
        panic!()
    };
    assert_eq!(spec.input, Some(CapturePath::Stdio));
    assert_eq!(spec.output, Some((CapturePath::Stdio, Format::Pcap)));
    let PortSpec::Pcap(spec) = parse("pcap:out=b.PCAPNG,format=pcap-us") else {
        panic!()
    };
    assert_eq!(spec.output, Some((file("b.PCAPNG"), Format::PcapMicro)));
    parse("pcap:in=a.pcap,loop=forever");
}

#[test]
fn commas_in_names_are_escaped() {
    let PortSpec::Pcap(spec) = parse(r"pcap:in=a\,b\\c=d.pcap") else {
        panic!()
    };
    assert_eq!(spec.input, Some(file(r"a,b\c=d.pcap")));
    assert_eq!(spec.to_string(), r"pcap:in=a\,b\\c=d.pcap");
    // A backslash before anything else is itself.
    let PortSpec::Pcap(spec) = parse(r"pcap:in=a\b.pcap") else {
        panic!()
    };
    assert_eq!(spec.input, Some(file(r"a\b.pcap")));
}

#[test]
fn generators() {
    assert_eq!(parse("gen:"), PortSpec::Gen(GenSpec::default()));
    let all = "gen:addresses=1_000,size=64-1518,hit=10%,vlan=7.8,ipv6=0.25,seed=9,frames=5";
    let PortSpec::Gen(spec) = parse(all) else {
        panic!()
    };
    assert_eq!(spec.addresses, Addresses::Flows(1000));
    assert_eq!(spec.size, Sizes::Range(64, 1518));
    assert_eq!(spec.hit, Share::new(0.1).unwrap());
    assert_eq!(
        (spec.vlan, spec.ipv6),
        (vec![7, 8], Share::new(0.25).unwrap())
    );
    assert_eq!((spec.seed, spec.frames), (Some(9), Some(5)));
    let PortSpec::Gen(spec) = parse("gen:size=imix,addresses=random,hit=1,ipv6=0") else {
        panic!()
    };
    assert_eq!(
        (spec.size, spec.hit, spec.ipv6),
        (Sizes::Imix, Share::ALL, Share::NONE)
    );
}

#[test]
fn the_resolved_spec_says_every_choice() {
    assert_eq!(
        parse("gen:").to_string(),
        "gen:addresses=random,size=64,hit=0,ipv6=0"
    );
    assert_eq!(
        parse("gen:hit=0.1").to_string(),
        "gen:addresses=random,size=64,hit=0.1,ipv6=0"
    );
    assert_eq!(
        parse("pcap:out=b.pcap").to_string(),
        "pcap:out=b.pcap,format=pcap"
    );
    assert_eq!(parse("ring:x").to_string(), "ring:x,capacity=1024");
    assert_eq!(parse("null:").to_string(), "null:");
}

#[test]
fn rings() {
    let PortSpec::Ring(spec) = parse("ring:left,end=b,capacity=64") else {
        panic!()
    };
    assert_eq!(
        (&spec.name[..], spec.end, spec.capacity),
        ("left", Some(RingEnd::B), 64)
    );
}

#[test]
fn drivers_that_are_not_there() {
    assert!(refused("pacp:in=a").ends_with("there is no driver `pacp`; did you mean pcap:?"));
    let all = "there are xdp, packet, tap, memif, pcap, gen, null, ring";
    assert!(refused("dpdk:0").ends_with(all));
    assert!(refused("eth0").contains("it names no driver; write DRIVER:NAME"));
    assert!(refused("eth0").ends_with("; an interface of that name is xdp:eth0"));
    assert!(!refused("no interface").contains("xdp:no"));
    assert!(refused("gen").ends_with("the colon is missing; write gen:"));
    assert!(refused("a.pcap").contains("pcap:in=a.pcap to read it, pcap:out=a.pcap to write it"));
    assert!(refused("").contains("it is empty"));
    assert!(refused(":").contains("there is no driver ``"));
}

#[test]
fn settings_that_are_not_there() {
    assert!(refused("gen:adresses=1").ends_with("no setting `adresses`; did you mean addresses=?"));
    assert!(refused("gen:colour=red").contains("it takes addresses, size, hit"));
    assert!(refused("null:a=b").ends_with("null has no setting `a`; it takes none"));
    assert!(refused("null:a").contains("`a` is no setting; write null: alone"));
    assert!(refused("gen:64").contains("`64` is no setting"));
    assert!(refused("gen:size").contains("`size` is no setting"));
    assert!(refused("gen:size=64,hit").ends_with("`hit` has no value; write hit=VALUE"));
    assert!(refused("gen:size=64,").contains("a comma too many"));
    assert!(refused("gen:size=64,size=65").contains("size= is given twice"));
    assert!(refused("gen:size=").contains("size= has no value"));
    assert!(refused("pcap:a.pcap").contains("`a.pcap` is no setting; write in=FILE"));
    assert!(refused("pcap:").contains("it names no file"));
    assert!(refused("pcap:out=a,loop=2").contains("loop= repeats an input and there is none"));
    assert!(refused("pcap:in=a,format=pcap").contains("format= is of an output"));
    assert!(refused("pcap:in=-,loop=2").contains("standard input cannot be read again"));
    assert!(refused("ring:").contains("it has no name"));
}

#[test]
fn values_that_are_not_understood() {
    for text in [
        "gen:size=63",
        "gen:size=9217",
        "gen:size=100-64",
        "gen:size=x",
        "gen:size=64-",
        "gen:hit=1.1",
        "gen:hit=-0.1",
        "gen:hit=x",
        "gen:hit=101%",
        "gen:hit=NaN",
        "gen:vlan=4095",
        "gen:vlan=1.2.3",
        "gen:vlan=x",
        "gen:ipv6=2",
        "gen:addresses=0",
        "gen:addresses=4294967296",
        "gen:seed=-1",
        "gen:frames=0",
        "pcap:in=a,loop=0",
        "pcap:out=a,format=erf",
        "ring:x,end=c",
        "ring:x,capacity=0",
    ] {
        let sentence = refused(text);
        assert!(
            sentence.contains("is not understood: ") && sentence.contains(" takes "),
            "{text}"
        );
    }
}

proptest! {
    /// Any text is answered, and what is understood is printed so that it is understood again.
    #[test]
    fn any_text(text in "(pcap|gen|ring|null)?:?[a-z0-9=,.\\\\:-]{0,40}|\\PC{0,40}") {
        if let Ok(spec) = PortSpec::parse(&text) {
            prop_assert_eq!(PortSpec::parse(&spec.to_string()), Ok(spec));
        }
    }

    #[test]
    fn any_path_comes_back(path in "[^-\\x00][^\\x00]{0,30}") {
        let spec = PortSpec::parse(&format!("pcap:in={}", escape(&path))).unwrap();
        let PortSpec::Pcap(spec) = spec else { panic!() };
        prop_assert_eq!(spec.input, Some(file(&path)));
    }
}

#[test]
fn a_capture_to_read_is_written_in_any_of_three_ways() {
    for (text, path, loops) in [
        ("a,b.pcap", "a,b.pcap", 1),
        ("a\\b,c=d.pcap", "a\\b,c=d.pcap", 1),
        (" x y.pcap", " x y.pcap", 1),
        ("in=out", "in=out", 1),
        ("in=out,loop=3", "in=out", 3),
        ("ä.pcap", "ä.pcap", 1),
        ("-", "-", 1),
        ("pcap:-", "-", 1),
        ("pcap:in=-", "-", 1),
        ("pcap:a,b.pcap", "a,b.pcap", 1),
        ("pcap:a.pcap,loop=3", "a.pcap", 3),
        ("pcap:in=a.pcap", "a.pcap", 1),
        ("pcap:loop=3,in=a.pcap", "a.pcap", 3),
        ("pcap:in=a\\,b.pcap,loop=3", "a,b.pcap", 3),
        ("pcap:./in=a", "./in=a", 1),
    ] {
        let Ok(PortSpec::Pcap(spec)) = PortSpec::reading(text) else {
            panic!("{text} is refused");
        };
        let expected = match path {
            "-" => CapturePath::Stdio,
            path => file(path),
        };
        let read = (spec.input, spec.output, spec.loops);
        assert_eq!(read, (Some(expected), None, Loops::Times(loops)), "{text}");
    }
    for (text, why) in [
        ("", "in= has no value"),
        ("pcap:", "in= has no value"),
        ("pcap:out=a", "leave out out=FILE"),
        ("pcap:in=a,out=b", "leave out out=FILE"),
        ("pcap:in=a,lop=3", "did you mean loop=?"),
        ("a,loop=x", "a whole number from 1"),
    ] {
        let refused = PortSpec::reading(text).expect_err(text).to_string();
        assert!(refused.contains(why), "{text}: {refused}");
    }
}

#[test]
fn interfaces_of_the_kernel_are_those_of_three_drivers() {
    for (text, interface) in [
        ("xdp:eth0,queues=2", Some("eth0")),
        ("packet:eth0.7", Some("eth0.7")),
        ("tap:tap0", Some("tap0")),
        ("null:", None),
        ("pcap:in=a", None),
        ("memif:/run/m.sock", None),
    ] {
        assert_eq!(parse(text).interface(), interface, "{text}");
    }
}

#[test]
fn names_that_promise_what_is_not_written_are_refused() {
    for ending in [
        "tgz", "tar", "tar.gz", "br", "lz4", "xz", "bz2", "7z", "zip", "zst", "lzma", "lz", "lzo",
        "Z", "sz", "txz", "tbz2", "rar",
    ] {
        for name in [
            format!("a.pcap.{ending}"),
            format!("a.{}", ending.to_uppercase()),
        ] {
            let said = refused(&format!("pcap:out={name}"));
            let last = ending
                .rsplit('.')
                .next_back()
                .unwrap_or(ending)
                .to_lowercase();
            assert!(said.contains(&format!(".{last}")), "{name}: {said}");
            assert!(
                said.contains("a name that ends in .gz is packed"),
                "{name}: {said}"
            );
        }
    }
    for name in [
        "a.pcap.gz",
        "a.GZ",
        "a.gzip",
        "a.pcapng.gz",
        "a.cap",
        "zip",
        "a.zipped",
        "a.pcap",
    ] {
        parse(&format!("pcap:out={name}"));
    }
    assert_eq!(
        parse("pcap:out=a.pcapng.gzip"),
        parse("pcap:out=a.pcapng.gzip,format=pcapng")
    );
}
