//! From an observation to a page.

use plane::DropReason;
use wire::LinkProtocol;

use super::exposition::Exposition;
use super::family as f;
use super::observation::{Observation, Observe, Port, RuleFigures, Set, Worker};
use super::request::{Made, Page};
use super::server::Pages;
use crate::rpc::answers::{FragmentCounts, Health, Vlans};

/// The page that `GET /metrics` gets, in text format 0.0.4.
#[must_use]
pub fn render(now: &Observation) -> String {
    let mut page = Exposition::new();
    build_info(&mut page, &now.version, &now.commit);
    page.family(f::START_TIME).add(&[], now.started_at);
    health(&mut page, &now.health);
    ports(&mut page, &now.ports);
    drops(&mut page, &now.drops);
    passed(&mut page, &now.passed);
    fragments(&mut page, now.fragments.as_ref());
    switch(&mut page, now.switch.as_ref());
    router(&mut page, &now.router);
    rules(&mut page, now.rules.as_ref());
    hits(&mut page, now);
    sets(&mut page, &now.sets);
    refreshes(&mut page, &now.sets);
    workers(&mut page, &now.workers);
    memory(&mut page, now);
    changes(&mut page, now);
    page.into_text()
}

impl<O: Observe> Pages for O {
    fn make(&self, page: Page) -> Made {
        if page == Page::Metrics {
            return Made {
                is_well: true,
                text: render(&self.observe()),
            };
        }
        let health = self.health();
        match page {
            Page::Ready => Made {
                is_well: health.ready,
                text: health.text(),
            },
            _ => Made {
                is_well: health.healthy,
                text: health.without_drain().text(),
            },
        }
    }
}

/// What is running.
pub fn build_info(page: &mut Exposition, version: &str, commit: &str) {
    page.family(f::BUILD_INFO).add(&[version, commit], 1_u64);
}

fn health(page: &mut Exposition, health: &Health) {
    page.family(f::HEALTHY).add(&[], health.healthy);
    page.family(f::READY).add(&[], health.ready);
    page.family(f::DRAINING).add(&[], health.draining);
}

fn ports(page: &mut Exposition, ports: &[Port]) {
    let mut family = page.family(f::PORT_INFO);
    for port in ports {
        family.add(&[&port.name, &port.spec, &port.mode], 1_u64);
    }
    let mut family = page.family(f::PORT_UP);
    for port in ports {
        family.add(&[&port.name], port.up);
    }
    let mut family = page.family(f::PORT_FRAMES);
    for port in ports {
        family.add(&[&port.name, "rx"], port.rx_frames);
        family.add(&[&port.name, "tx"], port.tx_frames);
    }
    let mut family = page.family(f::PORT_BYTES);
    for port in ports {
        family.add(&[&port.name, "rx"], port.rx_bytes);
        family.add(&[&port.name, "tx"], port.tx_bytes);
    }
    let mut family = page.family(f::PORT_DROPS);
    for port in ports {
        family.add(&[&port.name, "rx"], port.rx_dropped);
        family.add(&[&port.name, "tx"], port.tx_dropped);
    }
    let mut family = page.family(f::PORT_MISSED);
    for port in ports {
        family.add(&[&port.name], port.missed);
    }
    let mut family = page.family(f::PORT_PAST);
    for port in ports {
        family.add(&[&port.name, "shortcut"], port.shortcut);
        family.add(&[&port.name, "bypass"], port.unfiltered);
        family.add(&[&port.name, "host"], port.to_host);
    }
}

/// Every reason, also those that never occurred: a rate needs the 0 that a count began at.
fn drops(page: &mut Exposition, drops: &[u64]) {
    let mut family = page.family(f::DROPS);
    for reason in DropReason::all() {
        let frames = drops.get(reason.index()).copied().unwrap_or(0);
        family.add(&[reason.name(), reason.severity().name()], frames);
    }
}

/// Every rule, as of drops.
fn passed(page: &mut Exposition, passed: &[u64]) {
    let mut family = page.family(f::PASSED);
    for &rule in LinkProtocol::ALL {
        let frames = passed.get(rule as usize).copied().unwrap_or(0);
        family.add(&[rule.name()], frames);
    }
}

/// Families without samples where no fragment is followed.
fn fragments(page: &mut Exposition, counts: Option<&FragmentCounts>) {
    let mut family = page.family(f::FRAGMENTS_HELD);
    if let Some(counts) = counts {
        family.add(&[], counts.held);
    }
    let mut family = page.family(f::FRAGMENTED_KNOWN);
    if let Some(counts) = counts {
        family.add(&[], counts.known);
    }
    let totals = counts.map(|counts| &counts.totals);
    let mut family = page.family(f::FRAGMENTED);
    if let Some(totals) = totals {
        family.add(&["begun"], totals.begun);
        family.add(&["complete"], totals.complete);
        family.add(&["timed_out"], totals.timed_out);
        family.add(&["evicted"], totals.evicted);
        family.add(&["flawed"], totals.flawed);
        family.add(&["reused"], totals.reused);
    }
    let mut family = page.family(f::FRAGMENTS);
    if let Some(totals) = totals {
        family.add(&["waited"], totals.waited);
        family.add(&["duplicate"], totals.duplicates);
    }
}

/// Families without samples where there is no switch.
fn switch(page: &mut Exposition, now: Option<&Vlans>) {
    let mut family = page.family(f::SWITCH);
    for own in now.iter().flat_map(|now| &now.events) {
        family.add(&[&own.event], own.count);
    }
    let mut family = page.family(f::VLAN_FRAMES);
    for own in now.iter().flat_map(|now| &now.vlans) {
        let vlan = own.vlan.unwrap_or(0).to_string();
        family.add(&[&vlan, "rx"], own.in_frames);
        family.add(&[&vlan, "tx"], own.out_frames);
    }
}

/// Without samples where there is no router.
fn router(page: &mut Exposition, counts: &[(String, u64)]) {
    let mut family = page.family(f::ROUTER);
    for (event, count) in counts {
        family.add(&[event], *count);
    }
}

/// Without samples where there are no rules.
fn rules(page: &mut Exposition, rules: Option<&RuleFigures>) {
    let mut family = page.family(f::RULES);
    if let Some(rules) = rules {
        family.add(&[&rules.policy], rules.count);
    }
    let each = || rules.iter().flat_map(|rules| &rules.rules);
    let mut family = page.family(f::RULE_PACKETS);
    for one in each() {
        family.add(&[&one.rule, &one.text], one.packets);
    }
    let mut family = page.family(f::RULE_BYTES);
    for one in each() {
        family.add(&[&one.rule, &one.text], one.bytes);
    }
}

fn hits(page: &mut Exposition, now: &Observation) {
    let mut family = page.family(f::SET_HITS);
    for set in &now.sets {
        for hits in &set.hits {
            let labels: [&str; 4] = [&set.name, &hits.port, &hits.side, &hits.action];
            family.add(&labels, hits.frames);
        }
    }
    let mut family = page.family(f::SET_WOULD_DROP);
    for set in &now.sets {
        family.add(&[&set.name], set.would_drop);
    }
    page.family(f::WOULD_DROP).add(&[], now.would_drop);
}

fn sets(page: &mut Exposition, sets: &[Set]) {
    let mut family = page.family(f::SET_ENTRIES);
    for set in sets {
        let parts = [("file", set.file_entries), ("dynamic", set.dynamic_entries)];
        for (part, entries) in parts {
            if let Some(entries) = entries {
                family.add(&[&set.name, part], entries);
            }
        }
    }
    let mut family = page.family(f::SET_ACTION);
    for set in sets {
        family.add(&[&set.name, &set.action], 1_u64);
    }
}

fn refreshes(page: &mut Exposition, sets: &[Set]) {
    let mut family = page.family(f::SET_LOADED);
    for (set, at) in sets.iter().filter_map(|set| Some((set, set.loaded_at?))) {
        family.add(&[&set.name], at);
    }
    let mut family = page.family(f::SET_CONFIRMED);
    for (set, at) in sets.iter().filter_map(|set| Some((set, set.confirmed_at?))) {
        family.add(&[&set.name], at);
    }
    let mut family = page.family(f::SET_REFRESHES);
    let sourced = || sets.iter().filter_map(|set| Some((set, set.refreshes?)));
    for (set, results) in sourced() {
        family.add(&[&set.name, "loaded"], results.loaded);
        family.add(&[&set.name, "unchanged"], results.unchanged);
        family.add(&[&set.name, "failed"], results.failed);
        family.add(&[&set.name, "refused"], results.refused);
    }
    let mut family = page.family(f::SET_STALE);
    for (set, _) in sourced() {
        family.add(&[&set.name], set.stale);
    }
    let mut family = page.family(f::SET_REQUIRED);
    for (set, _) in sourced() {
        family.add(&[&set.name], set.required);
    }
    let mut family = page.family(f::SET_CURRENT);
    for (set, is_current) in sets.iter().filter_map(|set| Some((set, set.current?))) {
        family.add(&[&set.name], is_current);
    }
    let mut family = page.family(f::SET_AGE);
    for (set, age) in sets.iter().filter_map(|set| Some((set, set.age_seconds?))) {
        family.add(&[&set.name], age);
    }
    let mut family = page.family(f::SET_NEVER_READ);
    for (set, _) in sourced() {
        family.add(&[&set.name], set.never_read);
    }
}

fn workers(page: &mut Exposition, workers: &[Worker]) {
    let named = || workers.iter().map(|worker| (worker, worker.id.to_string()));
    let mut family = page.family(f::WORKER_BUSY);
    for (worker, id) in named() {
        family.add(&[&id, &worker.cpu.to_string()], worker.busy_seconds);
    }
    let mut family = page.family(f::WORKER_FRAMES);
    for (worker, id) in named() {
        family.add(&[&id, "rx"], worker.rx_frames);
        family.add(&[&id, "tx"], worker.tx_frames);
    }
    let mut family = page.family(f::WORKER_DROPS);
    for (worker, id) in named() {
        family.add(&[&id], worker.dropped);
    }
    let mut family = page.family(f::WORKER_HANDED_OFF);
    for (worker, id) in named() {
        family.add(&[&id], worker.handed_off);
    }
    let mut family = page.family(f::WORKER_CPU);
    for (worker, id) in named() {
        family.add(&[&id], worker.cpu_seconds);
    }
    let mut family = page.family(f::WORKER_SLEEPS);
    for (worker, id) in named() {
        family.add(&[&id], worker.sleeps);
    }
    let mut family = page.family(f::WORKER_SILENT);
    for (worker, id) in named() {
        if let Some(seconds) = worker.silent_seconds {
            family.add(&[&id], seconds);
        }
    }
    let mut family = page.family(f::WORKER_BURST);
    for (worker, id) in named() {
        let sizes = &worker.bursts;
        family.histogram(&[&id], &sizes.counts, (sizes.bursts, sizes.frames));
    }
}

fn memory(page: &mut Exposition, now: &Observation) {
    let mut family = page.family(f::POOL_FRAMES);
    for pool in &now.pools {
        family.add(&[&pool.worker.to_string()], pool.frames);
    }
    let mut family = page.family(f::POOL_FREE);
    for pool in &now.pools {
        family.add(&[&pool.worker.to_string()], pool.free);
    }
    page.family(f::FRAME_MEMORY)
        .add(&[], now.frame_memory_bytes);
}

fn changes(page: &mut Exposition, now: &Observation) {
    page.family(f::PUBLISHED).add(&[], now.published_version);
    let mut family = page.family(f::RELOADS);
    family.add(&["applied"], now.reloads.applied);
    family.add(&["refused"], now.reloads.refused);
    let mut family = page.family(f::RELOADED);
    if let Some(at) = now.reloads.applied_at {
        family.add(&[], at);
    }
    page.family(f::CAPTURE_SAMPLES)
        .add(&[], now.captured.samples);
    page.family(f::CAPTURE_FRAMES).add(&[], now.captured.frames);
}
