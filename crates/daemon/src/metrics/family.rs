//! The families of metrics, each declared once: name, kind, labels, help.
//!
//! Text, documentation and the test of the dashboard derive from here. Names follow
//! <https://prometheus.io/docs/practices/naming/>: base units, `_total` for counters.

/// What kind of figure a family holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, until the daemon starts again.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by upper bounds, a sum and a count.
    Histogram,
}

impl Kind {
    /// The word of the text format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One family of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// The names of its labels; `le` of histograms is not among them.
    pub labels: &'static [&'static str],
    /// One sentence.
    pub help: &'static str,
}

macro_rules! families {
    (
        $vis:vis $list:ident: $sentence:literal;
        $($constant:ident = $kind:ident $name:literal [$($label:literal),*] $help:literal;)+
    ) => {
        $(
            #[doc = $help]
            $vis const $constant: Family = Family {
                name: $name,
                kind: Kind::$kind,
                labels: &[$($label),*],
                help: $help,
            };
        )+

        #[doc = $sentence]
        pub const $list: &[Family] = &[$($constant),+];
    };
}

families! {
    pub(super) FAMILIES: "Every family of a daemon, in the order of the text.";
    BUILD_INFO = Gauge "linerate_build_info" ["version", "commit"]
        "Always 1; the labels say what is running.";
    START_TIME = Gauge "process_start_time_seconds" []
        "When the daemon started, in seconds since 1970.";
    HEALTHY = Gauge "linerate_healthy" []
        "1 while workers go round, ports are up and required sets are current.";
    READY = Gauge "linerate_ready" []
        "1 while it is healthy and does not drain.";
    DRAINING = Gauge "linerate_draining" []
        "1 since 'linerate drain', until 'linerate drain --off'.";
    PORT_INFO = Gauge "linerate_port_info" ["port", "spec", "mode"]
        "Always 1; the port as configured, and the mode that was granted.";
    PORT_UP = Gauge "linerate_port_up" ["port"]
        "Whether frames can pass: the interface is there and its link is up.";
    PORT_FRAMES = Counter "linerate_port_frames_total" ["port", "direction"]
        "Frames received (rx) and transmitted (tx) by the port.";
    PORT_BYTES = Counter "linerate_port_bytes_total" ["port", "direction"]
        "Bytes of those frames, without FCS.";
    PORT_DROPS = Counter "linerate_port_drops_total" ["port", "direction"]
        "Frames that came in by the port (rx) or were to leave by it (tx) and were dropped.";
    PORT_MISSED = Counter "linerate_port_missed_frames_total" ["port"]
        "Frames that were there to receive and were lost before a worker saw them.";
    PORT_PAST = Counter "linerate_port_past_workers_frames_total" ["port", "way"]
        "Frames the kernel passed on beside the workers: shortcut, bypass or host.";
    DROPS = Counter "linerate_drops_total" ["reason", "severity"]
        "Dropped frames by declared reason; see 'linerate drops'.";
    PASSED = Counter "linerate_passed_total" ["rule"]
        "Frames that would have been dropped, and passed by this rule of pass.";
    FRAGMENTS_HELD = Gauge "linerate_fragments_held_frames" []
        "Fragments that wait now for the first of their packet; absent where none are followed.";
    FRAGMENTED_KNOWN = Gauge "linerate_fragmented_packets_known" []
        "Packets in fragments that are known now; absent where none are followed.";
    FRAGMENTED = Counter "linerate_fragmented_packets_total" ["event"]
        "Packets in fragments: begun, complete, timed_out, evicted, flawed, reused (flawed, too).";
    FRAGMENTS = Counter "linerate_fragments_total" ["event"]
        "Fragments that waited for the first of their packet, and that came twice (duplicate).";
    SWITCH = Counter "linerate_switch_events_total" ["event"]
        "What a switch did, as its report has it; absent where there is none.";
    VLAN_FRAMES = Counter "linerate_vlan_frames_total" ["vlan", "direction"]
        "Frames of a VLAN taken in (rx) and given to ports, copies too (tx); 0: no VLANs.";
    ROUTER = Counter "linerate_router_events_total" ["event"]
        "What a router did, as its report has it; absent where there is none.";
    RULES = Gauge "linerate_rules" ["policy"]
        "Rules of packets that hold, and their policy; absent where there are none.";
    RULE_PACKETS = Counter "linerate_rule_packets_total" ["rule", "text"]
        "Packets that the rule matched, by its number; rule policy: no rule decided on them.";
    RULE_BYTES = Counter "linerate_rule_bytes_total" ["rule", "text"]
        "Bytes of those packets' frames, without FCS. The first 1,000 rules have figures.";
    SET_HITS = Counter "linerate_set_hits_total" ["set", "port", "side", "action"]
        "Frames of that ingress port whose address on that side is in the set, by its action then.";
    SET_WOULD_DROP = Counter "linerate_set_would_drop_total" ["set"]
        "Frames a count set would have dropped, were it a block set, and no block set did.";
    WOULD_DROP = Counter "linerate_would_drop_total" []
        "Frames at least one count set would have dropped, and no block set did.";
    SET_ENTRIES = Gauge "linerate_set_entries" ["set", "part"]
        "Entries as given: of the set's source (file), and added by hand or CrowdSec (dynamic).";
    SET_ACTION = Gauge "linerate_set_action_info" ["set", "action"]
        "Always 1; the set's action now.";
    SET_LOADED = Gauge "linerate_set_loaded_timestamp_seconds" ["set"]
        "When the set's source last brought another list; absent without a source.";
    SET_CONFIRMED = Gauge "linerate_set_confirmed_timestamp_seconds" ["set"]
        "When the set's source last brought a list or said that nothing changed.";
    SET_REFRESHES = Counter "linerate_set_refreshes_total" ["set", "result"]
        "Refreshes by result: loaded, unchanged, failed (not read), refused (by a guard).";
    SET_STALE = Gauge "linerate_set_stale" ["set"]
        "1 while the last refresh failed or was refused, so that an older list is in force.";
    SET_REQUIRED = Gauge "linerate_set_required" ["set"]
        "1 where the daemon is not healthy without a current list; absent without a source.";
    SET_CURRENT = Gauge "linerate_set_current" ["set"]
        "1 while the set has its source's list and that is not older than max_age.";
    SET_AGE = Gauge "linerate_set_age_seconds" ["set"]
        "Since the source last brought or confirmed the list, or since its copy was fetched.";
    SET_NEVER_READ = Gauge "linerate_set_never_read" ["set"]
        "1 while nothing was ever read of the set's source, not even a copy; absent without one.";
    WORKER_BUSY = Counter "linerate_worker_busy_seconds_total" ["worker", "cpu"]
        "Time in steps that moved a frame; its rate is the busy share, 0 to 1.";
    WORKER_FRAMES = Counter "linerate_worker_frames_total" ["worker", "direction"]
        "Frames the worker received (rx) and transmitted (tx).";
    WORKER_DROPS = Counter "linerate_worker_drops_total" ["worker"]
        "Frames the worker dropped, for whatever reason.";
    WORKER_HANDED_OFF = Counter "linerate_worker_handed_off_frames_total" ["worker"]
        "Frames given to other workers, whose flows they are.";
    WORKER_CPU = Counter "linerate_worker_cpu_seconds_total" ["worker"]
        "CPU time of the worker's thread.";
    WORKER_SLEEPS = Counter "linerate_worker_sleeps_total" ["worker"]
        "System calls made for want of frames.";
    WORKER_SILENT = Gauge "linerate_worker_silent_seconds" ["worker"]
        "Since the worker last showed that it goes round; it grows only when one hangs.";
    WORKER_BURST = Histogram "linerate_worker_burst_frames" ["worker"]
        "Frames in received bursts, empty ones left out.";
    POOL_FRAMES = Gauge "linerate_pool_frames" ["worker"]
        "Frames in the worker's pool.";
    POOL_FREE = Gauge "linerate_pool_free_frames" ["worker"]
        "Of those, frames that nobody holds; at 0 nothing more can be received.";
    FRAME_MEMORY = Gauge "linerate_frame_memory_bytes" []
        "Memory mapped for frames.";
    PUBLISHED = Counter "linerate_published_versions_total" []
        "Versions of sets and actions that every worker has taken over.";
    RELOADS = Counter "linerate_reloads_total" ["result"]
        "Reloads of the configuration by result: applied or refused.";
    RELOADED = Gauge "linerate_reload_applied_timestamp_seconds" []
        "When a reload was last applied; absent before the first.";
    CAPTURE_SAMPLES = Counter "linerate_capture_samples_total" []
        "Sampled frames given to 'linerate capture'.";
    CAPTURE_FRAMES = Counter "linerate_capture_frames_total" []
        "Frames that those samples stand for.";
}

families! {
    pub LOAD_FAMILIES: "Every family of a client that sends requests, beside linerate_build_info.";
    LOAD_REQUESTS = Counter "linerate_load_requests_total" ["pool", "event"]
        "Requests sent, answered, aborted (on purpose), and left_out (by a closed loop).";
    LOAD_ERRORS = Counter "linerate_load_errors_total" ["pool", "kind"]
        "Requests without a sound answer, by the names that the report has.";
    LOAD_CONNECTIONS = Counter "linerate_load_connections_total" ["pool"]
        "Connections opened.";
    LOAD_BYTES = Counter "linerate_load_bytes_total" ["pool", "direction"]
        "Bytes received (rx) and sent (tx), without what TLS adds.";
    LOAD_LATENCY = Histogram "linerate_load_latency_seconds" ["pool"]
        "Sound answers by their time since they were due; in a closed loop, since they were sent.";
}
