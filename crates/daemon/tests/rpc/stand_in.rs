//! A daemon that is none: sets in maps and fixed counts, so that what the socket answers is known.
//! The command line's tests use it too.

use daemon::rpc::answers::{
    Action, ActionParams, AddParams, Added, AddressVerdict, ConfigAnswer, DeleteParams, Deleted,
    Dispatch, DispatchCounts, DispatchPort, DispatchRow, DropFacts, Fdb, FdbParams, FlowCounts,
    Flows, FlushParams, Flushed, FragmentCounts, FragmentTotals, Health, HealthKind, HealthReason,
    HitAddress, HitCounts, Hits, HopFacts, LoadParams, Loaded, Match, Memory, MemoryFacts, Nat,
    NatFlow, NatParams, Neighbour, Neighbours, NeighboursParams, PortFacts, RefreshParams,
    Refreshed, Reloaded, RouteFacts, Routes, RoutesParams, Rss, RssBucket, RuleFacts, Rules,
    RulesLoadParams, RulesLoaded, RulesParams, SetFacts, SetHits, SetList, SetTest, Side, Station,
    Status, SwitchEvent, TestAnswer, VlanFacts, Vlans, WorkerFacts, parse_entry,
};
use daemon::rpc::{ErrorKind, Facts, Pending, RpcError, SetLines, Sets};
use std::collections::BTreeMap;
use std::io::Read;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use table::live::Entry;

fn refused(sentence: String) -> RpcError {
    RpcError::new(ErrorKind::Refused, sentence)
}

/// When everything happened.
const AT: u64 = 1_700_000_000;

struct Set {
    name: &'static str,
    action: Action,
    configured: Action,
    source: Option<&'static str>,
    /// With their lines.
    file: BTreeMap<Entry, u64>,
    dynamic: BTreeMap<Entry, (Option<u64>, Option<String>)>,
}

/// Two sets: `bad`, with three entries of a file, and `office`, empty.
#[derive(Clone)]
pub(crate) struct StandIn(Arc<Mutex<Vec<Set>>>);

impl StandIn {
    pub(crate) fn new() -> Self {
        let lines = ["192.0.2.1", "198.51.100.0/24", "2001:db8::/32"];
        let file = lines
            .iter()
            .zip(1..)
            .map(|(text, line)| (entry(text), line));
        let bad = Set {
            name: "bad",
            action: Action::Block,
            configured: Action::Block,
            source: Some("bad.txt"),
            file: file.collect(),
            dynamic: BTreeMap::new(),
        };
        let office = Set {
            name: "office",
            action: Action::Allow,
            configured: Action::Allow,
            source: None,
            file: BTreeMap::new(),
            dynamic: BTreeMap::new(),
        };
        Self(Arc::new(Mutex::new(vec![bad, office])))
    }

    fn with<T>(&self, name: &str, act: impl FnOnce(&mut Set) -> T) -> Result<T, RpcError> {
        let mut sets = self.0.lock().expect("no panic while it was locked");
        match sets.iter_mut().find(|set| set.name == name) {
            Some(set) => Ok(act(set)),
            None => {
                let message = format!("there is no set '{name}'; there are bad, office");
                let mut error = RpcError::new(ErrorKind::NoSuchSet, message);
                error.reason = "no-such-set".to_owned();
                Err(error)
            }
        }
    }
}

fn entry(text: &str) -> Entry {
    parse_entry(text).expect("an entry")
}

fn holds(entry: &Entry, address: IpAddr) -> bool {
    match (entry, address) {
        (Entry::V4(range), IpAddr::V4(v4)) => range.contains(v4.to_bits()),
        (Entry::V6(range), IpAddr::V6(v6)) => range.contains(v6.to_bits()),
        _ => false,
    }
}

impl Set {
    fn facts(&self) -> SetFacts {
        let both = self
            .dynamic
            .keys()
            .filter(|entry| !self.file.contains_key(entry));
        SetFacts {
            set: self.name.to_owned(),
            action: self.action,
            configured: (self.action != self.configured).then_some(self.configured),
            actions: Vec::new(),
            headers: None,
            entries: (self.file.len() + both.count()) as u64,
            dynamic: self.dynamic.len() as u64,
            timed: self
                .dynamic
                .values()
                .filter(|note| note.0.is_some())
                .count() as u64,
            source: self.source.map(str::to_owned),
            origin: self.source.map(|_| "file".to_owned()),
            loaded_at: self.source.map(|_| AT),
            changed_at: None,
            refusals: 0,
            refused: None,
            sources: Vec::new(),
            frames: None,
            hits: None,
        }
    }

    fn test(&self, address: IpAddr) -> SetTest {
        let found = |entry: &Entry| Match {
            entry: entry.to_string(),
            from: "hand".to_owned(),
            file_part: false,
            place: None,
            comment: None,
            since: Some(AT),
            left_ms: None,
        };
        let file = self.file.iter().filter(|(entry, _)| holds(entry, address));
        let file = file.map(|(entry, line)| Match {
            from: "file".to_owned(),
            file_part: true,
            place: Some(format!("bad.txt:{line}")),
            ..found(entry)
        });
        let dynamic = self
            .dynamic
            .iter()
            .filter(|(entry, _)| holds(entry, address));
        let dynamic = dynamic.map(|(entry, (left_ms, comment))| Match {
            comment: comment.clone(),
            left_ms: *left_ms,
            ..found(entry)
        });
        let known = HitCounts {
            last_minute: Some(7),
            last_hour: Some(90),
            error: 1,
            last_minute_error: 0,
            last_hour_error: 1,
            of_sets: 1,
        };
        let matches: Vec<Match> = file.chain(dynamic).collect();
        SetTest {
            set: self.name.to_owned(),
            action: self.action,
            hits: if matches.is_empty() {
                HitCounts::default()
            } else {
                known
            },
            matches,
        }
    }
}

impl Sets for StandIn {
    fn list(&self) -> Result<SetList, RpcError> {
        let sets = self.0.lock().expect("no panic while it was locked");
        Ok(SetList {
            sets: sets.iter().map(Set::facts).collect(),
        })
    }

    fn show(&self, set: &str) -> Result<SetFacts, RpcError> {
        self.with(set, |set| set.facts())
    }

    fn test(&self, address: IpAddr) -> Result<TestAnswer, RpcError> {
        let sets = self.0.lock().expect("no panic while it was locked");
        let sets: Vec<SetTest> = sets.iter().map(|set| set.test(address)).collect();
        let verdict = |side, reason: &str| {
            let block = sets.iter().filter(|set| !set.matches.is_empty());
            let block: Vec<String> = block.map(|set| set.set.clone()).collect();
            AddressVerdict {
                port: "outside".to_owned(),
                side,
                drop: (!block.is_empty()).then(|| reason.to_owned()),
                block,
                allow: Vec::new(),
                count: Vec::new(),
                would_drop: false,
            }
        };
        Ok(TestAnswer {
            address,
            verdicts: vec![
                verdict(Side::Source, "blocked_src"),
                verdict(Side::Destination, "blocked_dst"),
            ],
            stateful: false,
            sets,
        })
    }

    fn add(&self, params: AddParams) -> Pending<Added> {
        let sets = self.clone();
        Box::new(move || {
            sets.with(&params.set, |set| {
                let mut did = Added::default();
                for entry in params.entries.0 {
                    let known = set.file.contains_key(&entry);
                    let note = (params.timeout_ms, params.comment.clone());
                    let known = set.dynamic.insert(entry, note).is_some() || known;
                    did.already += u64::from(known);
                    did.added += u64::from(!known);
                }
                did
            })
        })
    }

    fn delete(&self, params: DeleteParams) -> Pending<Deleted> {
        let sets = self.clone();
        Box::new(move || {
            sets.with(&params.set, |set| {
                let mut did = Deleted::default();
                for entry in params.entries.0 {
                    let dynamic = set.dynamic.remove(&entry).is_some();
                    let known = set.file.remove(&entry).is_some() || dynamic;
                    did.deleted += u64::from(known);
                    did.absent += u64::from(!known);
                }
                did
            })
        })
    }

    fn flush(&self, params: &FlushParams) -> Result<Flushed, RpcError> {
        self.with(&params.set, |set| {
            let deleted = set.facts().entries;
            set.file.clear();
            set.dynamic.clear();
            Flushed { deleted }
        })
    }

    fn load(&self, params: &LoadParams, input: &mut dyn Read) -> Result<Loaded, RpcError> {
        let mut text = String::new();
        let read = input.read_to_string(&mut text);
        read.map_err(|error| {
            RpcError::new(ErrorKind::Refused, format!("{}: {error}", params.file))
        })?;
        let mut entries = BTreeMap::new();
        for (line, number) in text.lines().zip(1..) {
            let entry = parse_entry(line).map_err(|error| {
                RpcError::new(
                    ErrorKind::Refused,
                    format!("{}:{number}: {error}", params.file),
                )
            })?;
            entries.insert(entry, number);
        }
        self.with(&params.set, |set| {
            if entries.is_empty() && !params.force {
                let message = format!(
                    "{} holds no entries, so set '{}' keeps its {}: mend the list, or write \
                     allow_empty = true in its [[set]], or load it with --force",
                    params.file,
                    set.name,
                    set.file.len()
                );
                let mut error = RpcError::new(ErrorKind::Guarded, message);
                error.reason = "empty".to_owned();
                return Err(error);
            }
            let before = std::mem::replace(&mut set.file, entries);
            let missing = |from: &BTreeMap<Entry, u64>, of: &BTreeMap<Entry, u64>| {
                from.keys().filter(|entry| !of.contains_key(entry)).count() as u64
            };
            Ok(Loaded {
                entries: set.file.len() as u64,
                added: missing(&set.file, &before),
                removed: missing(&before, &set.file),
                forced: set.file.is_empty(),
                warnings: Vec::new(),
                seconds: 0.0,
            })
        })?
    }

    fn refresh(&self, params: &RefreshParams) -> Result<Refreshed, RpcError> {
        self.with(&params.set, |set| {
            let Some(source) = set.source else {
                let message = format!("set '{}' has no source that could be read", set.name);
                return Err(RpcError::new(ErrorKind::Refused, message));
            };
            Ok(Refreshed {
                sources: vec![source.to_owned()],
                entries: (set.file.len() + set.dynamic.len()) as u64,
                seconds: 0.0,
            })
        })?
    }

    fn save(&self, set: &str) -> Result<SetLines, RpcError> {
        self.with(set, |set| {
            let mut entries: Vec<Entry> = set.file.keys().copied().collect();
            entries.extend(
                set.dynamic
                    .keys()
                    .filter(|entry| !set.file.contains_key(entry)),
            );
            let lines: Vec<String> = entries.iter().map(ToString::to_string).collect();
            SetLines {
                entries: lines.len() as u64,
                lines: Box::new(lines.into_iter()),
            }
        })
    }

    fn action(&self, params: &ActionParams) -> Result<SetFacts, RpcError> {
        self.with(&params.set, |set| {
            set.action = params.action;
            set.facts()
        })
    }
}

fn hits(set: &str, action: Action, source: u64) -> SetHits {
    SetHits {
        set: set.to_owned(),
        action,
        source,
        destination: 0,
        would_drop: 0,
    }
}

fn ports() -> Vec<PortFacts> {
    let outside = PortFacts {
        port: "outside".to_owned(),
        spec: "xdp:eth1".to_owned(),
        state: "up".to_owned(),
        in_frames: 1000,
        in_bytes: 60_000,
        in_drops: 2,
        missed: 2,
        in_dropped: 4,
        out_frames: 990,
        out_bytes: 59_400,
        ..PortFacts::default()
    };
    let inside = PortFacts {
        port: "inside".to_owned(),
        spec: "xdp:eth2".to_owned(),
        state: "no carrier".to_owned(),
        in_frames: 990,
        in_bytes: 59_400,
        in_errors: 1,
        missed: 1,
        out_frames: 995,
        out_bytes: 59_700,
        out_errors: 3,
        out_dropped: 3,
        ..PortFacts::default()
    };
    vec![outside, inside]
}

impl Facts for StandIn {
    fn dispatch(&self) -> Dispatch {
        let port = |port: &str| DispatchPort {
            port: port.to_owned(),
            policy: "hybrid".to_owned(),
            queues: 1,
        };
        Dispatch {
            seconds: 12.5,
            policy: "auto".to_owned(),
            ring_limit: 1024,
            workers: 2,
            bound: true,
            cpus: vec![2, 3],
            ports: vec![port("outside"), port("inside")],
            rows: vec![DispatchRow {
                worker: 1,
                cpu: 3,
                port: "outside".to_owned(),
                kind: "decide".to_owned(),
                counts: DispatchCounts {
                    len: 6,
                    wmark: 640,
                    qdrops: 4,
                    queued: 996,
                    handled: 990,
                    ..DispatchCounts::default()
                },
            }],
        }
    }

    fn flows(&self) -> Flows {
        Flows {
            seconds: 12.5,
            remembers: true,
            counts: FlowCounts {
                most: 65_536,
                known_v4: 120,
                known_v6: 3,
                begun: 500,
                expired: 377,
                records: 377,
                ..FlowCounts::default()
            },
            fragments: Some(FragmentCounts {
                held: 0,
                known: 2,
                totals: FragmentTotals {
                    begun: 40,
                    complete: 38,
                    waited: 9,
                    waited_most: 3,
                    ..FragmentTotals::default()
                },
            }),
            ..Flows::default()
        }
    }

    fn fdb(&self, params: &FdbParams) -> Result<Fdb, RpcError> {
        let is_first = params.from.is_none();
        let station = Station {
            vlan: params.vlan,
            mac: format!("02:00:00:00:00:0{}", if is_first { 1 } else { 2 }),
            port: params.port.clone().unwrap_or_default(),
            r#static: !is_first,
            age_seconds: is_first.then_some(7),
        };
        Ok(Fdb {
            seconds: 12.5,
            stations: vec![station],
            next: is_first.then_some(256),
        })
    }

    fn neighbours(&self, params: &NeighboursParams) -> Result<Neighbours, RpcError> {
        let is_first = params.from.is_none();
        let neighbour = Neighbour {
            interface: "lan".to_owned(),
            address: format!("10.0.0.{}", if is_first { 9 } else { 2 }),
            mac: Some("02:00:00:00:00:09".to_owned()),
            state: if is_first { "static" } else { "reachable" }.to_owned(),
            age_seconds: (!is_first).then_some(7),
        };
        Ok(Neighbours {
            seconds: 12.5,
            neighbours: vec![neighbour],
            next: is_first.then_some(256),
        })
    }

    fn nat(&self, params: &NatParams) -> Result<Nat, RpcError> {
        let is_first = params.from.is_none();
        let end = |port| format!("203.0.113.9:{port}");
        let flow = NatFlow {
            protocol: if is_first { "tcp" } else { "udp" }.to_owned(),
            from: "10.0.0.2:5000".to_owned(),
            to: is_first.then(|| end(443)),
            new_from: "198.51.100.1:5000".to_owned(),
            new_to: is_first.then(|| end(443)),
            state: if is_first { "established" } else { "mapping" }.to_owned(),
            idle_seconds: 7,
            left_seconds: if is_first { 7433 } else { 293 },
        };
        Ok(Nat {
            seconds: 12.5,
            flows: 2,
            flows_max: 65536,
            begun: 40,
            ended: 38,
            revoked: 3,
            translated: 900,
            entries: vec![flow],
            next: is_first.then_some(1),
        })
    }

    fn rules(&self, params: &RulesParams) -> Result<Rules, RpcError> {
        let is_first = params.from.is_none();
        let rule = if is_first {
            "ip saddr @bad drop"
        } else {
            "tcp dport { 22, 443 } accept"
        };
        let fact = RuleFacts {
            number: if is_first { 1 } else { 2 },
            line: if is_first { 2 } else { 3 },
            rule: rule.to_owned(),
            packets: 4,
            bytes: 240,
        };
        Ok(Rules {
            seconds: 12.5,
            file: "/etc/linerate/rules.txt".to_owned(),
            policy: "drop".to_owned(),
            policy_packets: 7,
            policy_bytes: 420,
            count: 2,
            rules: vec![fact],
            next: is_first.then_some(1),
        })
    }

    fn load_rules(
        &self,
        params: &RulesLoadParams,
        input: &mut dyn Read,
    ) -> Result<RulesLoaded, RpcError> {
        let name = &params.file;
        let text = daemon::rules::bounded(name, input).map_err(refused)?;
        let read = daemon::rules::parsed(name, &text).map_err(refused)?;
        Ok(RulesLoaded {
            rules: read.all().count() as u64,
            before: Some(2),
            policy: read.policy.to_string(),
        })
    }

    fn routes(&self, params: &RoutesParams) -> Result<Routes, RpcError> {
        let is_one = params.address.is_some();
        let hop = HopFacts {
            gateway: Some("192.0.2.1".to_owned()),
            interface: "wan".to_owned(),
        };
        let route = RouteFacts {
            prefix: "0.0.0.0/0".to_owned(),
            kind: "unicast".to_owned(),
            hops: vec![hop],
        };
        Ok(Routes {
            vrfs: Vec::new(),
            count_v4: 600,
            count_v6: 4,
            routes: vec![route],
            next: (!is_one).then_some(512),
        })
    }

    fn vlans(&self) -> Result<Vlans, RpcError> {
        let event = |event: &str, count| SwitchEvent {
            event: event.to_owned(),
            count,
        };
        Ok(Vlans {
            seconds: 12.5,
            events: vec![event("learned", 3), event("flooded", 5)],
            vlans: vec![VlanFacts {
                vlan: Some(10),
                untagged: vec!["inside".to_owned()],
                tagged: vec!["outside".to_owned()],
                in_frames: 1000,
                out_frames: 1004,
            }],
        })
    }

    fn rss(&self) -> Rss {
        let bucket = |bucket, frames| RssBucket {
            bucket,
            worker: 1,
            frames,
            bytes: frames * 60,
        };
        Rss {
            seconds: 12.5,
            workers: 2,
            moved: 1,
            uncounted: Vec::new(),
            buckets: vec![bucket(0, 1000), bucket(1, 990)],
        }
    }

    fn status(&self) -> Status {
        let drop = |reason: &str, frames| DropFacts {
            reason: reason.to_owned(),
            frames,
        };
        Status {
            seconds: 12.5,
            ports: ports(),
            workers: vec![WorkerFacts {
                worker: 0,
                cpu: 2,
                frames: 1990,
                bursts: 100,
                busy_ns: 250_000_000,
                busy_share: 0.25,
                silent_ms: 1,
                drops: 5,
                pool_free: 4000,
                pool_frames: 4096,
            }],
            passed: Vec::new(),
            drops: vec![
                drop("udp_truncated", 1),
                drop("blocked_src", 4),
                drop("no-room", 0),
            ],
            sets: vec![
                hits("bad", Action::Block, 4),
                hits("office", Action::Allow, 0),
            ],
            would_drop: 0,
        }
    }

    fn hits(&self, top: usize) -> Result<Hits, RpcError> {
        let one = HitAddress {
            address: IpAddr::from([192, 0, 2, 1]),
            side: Side::Source,
            last_minute: 2,
            last_minute_error: 0,
            frames: 4,
            error: 1,
            sets: vec!["bad".to_owned()],
        };
        Ok(Hits {
            seconds: 12.5,
            top: [one].into_iter().take(top).collect(),
            never: vec!["office".to_owned()],
        })
    }

    fn memory(&self) -> Memory {
        let part = |what: &str, bytes, note: &str| MemoryFacts {
            what: what.to_owned(),
            bytes,
            note: note.to_owned(),
        };
        Memory {
            resident_bytes: Some(30 << 20),
            parts: vec![
                part("frames", 4096 * 2112, "huge pages, node 0"),
                part("tables", 1 << 18, ""),
            ],
        }
    }

    fn config(&self) -> ConfigAnswer {
        ConfigAnswer {
            file: "linerate.toml".to_owned(),
            toml: "[control]\nsocket = \"/run/linerate/control.sock\"\n".to_owned(),
        }
    }

    fn health(&self) -> Health {
        self.drain(false)
    }

    fn drain(&self, on: bool) -> Health {
        let reason = |kind, name: &str, text: &str| HealthReason {
            kind,
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let port = "port uplink (xdp:eth1) has no carrier: look at the cable and the other end";
        let drain = "the daemon drains: 'linerate drain --off' ends that";
        let mut reasons = vec![reason(HealthKind::Port, "uplink", port)];
        if on {
            reasons.push(reason(HealthKind::Drain, "", drain));
        }
        Health {
            healthy: false,
            ready: false,
            draining: on,
            reasons,
        }
    }

    fn reload(&self) -> Result<Reloaded, RpcError> {
        Ok(Reloaded {
            changes: vec![
                "set bad has other settings: its configured action was count and is block"
                    .to_owned(),
            ],
        })
    }
}
