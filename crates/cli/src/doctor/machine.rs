//! What the machine is set to, and what it does meanwhile. Nothing here endangers correctness.

use engine::{Activity, Host};
use lab::Conditions;
use port::Rights;

use super::finding::Finding;
use crate::report::number::{bytes, count, plural};

/// Waking takes longer than a ring of 1,024 frames lasts at ten million a second.
const IDLE_EXIT_US_MAX: u32 = 100;
/// What a bridge of many queues, maps and lists opens.
const OPEN_FILES_MIN: u64 = 1024;
/// The frame memory of one worker.
const LOCKED_BYTES_MIN: u64 = 64 << 20;
/// Interrupts by other CPUs that cost a worker about a thousandth of its time.
const IPIS_MAX: f64 = 1000.0;
const CONTEXT_SWITCHES_MAX: f64 = 20_000.0;

/// Everything that is judged here.
#[derive(Debug)]
pub(super) struct MachineFacts {
    pub(super) conditions: Conditions,
    pub(super) host: Host,
    pub(super) activity: Activity,
    /// What moves interrupts about.
    pub(super) irq_balancer: Option<String>,
    pub(super) rights: Rights,
}

pub(super) fn findings(facts: &MachineFacts) -> Vec<Finding> {
    let (conditions, host) = (&facts.conditions, &facts.host);
    let mut findings = vec![
        governor(conditions),
        turbo(conditions),
        idle_states(host),
        smt(conditions),
        huge_pages(conditions),
        isolated(host),
        open_files(host),
        locked_memory(host),
        rights(&facts.rights),
        bpf_jit(host),
        connection_tracking(host),
        softnet(host),
        irq_balance(facts.irq_balancer.as_deref()),
        context_switches(&facts.activity),
    ];
    findings.extend(interrupts(&facts.activity));
    findings
}

fn governor(conditions: &Conditions) -> Finding {
    let what = "governor";
    match conditions.governor.as_deref() {
        None => Finding::unknown(what, unsaid(conditions)),
        Some("performance") => Finding::good(what, "performance"),
        Some(other) => Finding::doubtful(what, other, "clocks follow the load, some ms late")
            .mended_by("cpupower frequency-set -g performance"),
    }
}

fn unsaid(conditions: &Conditions) -> &'static str {
    if conditions.virtual_machine {
        "the hypervisor decides"
    } else {
        "the kernel does not say"
    }
}

fn turbo(conditions: &Conditions) -> Finding {
    let what = "turbo";
    match conditions.turbo {
        None => Finding::unknown(what, unsaid(conditions)),
        Some(true) => Finding::good(what, "on: rates depend on how many cores work"),
        Some(false) => Finding::good(what, "off: rates are steady and lower"),
    }
}

fn idle_states(host: &Host) -> Finding {
    let what = "idle states";
    match host.idle_exit_us {
        None => Finding::unknown(what, "the kernel does not say"),
        Some(us) if us > IDLE_EXIT_US_MAX => Finding::doubtful(
            what,
            format!("up to {us} us to leave"),
            "the first frames after a pause wait so long, and short rings overflow",
        )
        .mended_by(format!("cpupower idle-set -D {IDLE_EXIT_US_MAX}")),
        Some(us) => Finding::good(what, format!("up to {us} us to leave")),
    }
}

fn smt(conditions: &Conditions) -> Finding {
    let what = "smt";
    match conditions.threads_per_core {
        None => Finding::unknown(what, "the kernel does not say"),
        Some(1) => Finding::good(what, "one thread a core"),
        Some(threads) => Finding::doubtful(
            what,
            format!("{threads} threads a core"),
            "two workers on one core share its caches: give each a core of its own with --cpus",
        ),
    }
}

fn huge_pages(conditions: &Conditions) -> Finding {
    let what = "huge pages";
    let free = conditions.huge_pages_free_bytes;
    let mode = conditions.transparent_huge_pages.as_deref();
    let shown = mode.unwrap_or("unknown");
    let value = format!("{} set aside and free, transparent: {shown}", bytes(free));
    match mode {
        _ if free > 0 => Finding::good(what, value),
        Some("always" | "madvise") => Finding::good(what, value),
        None => Finding::unknown(what, "the kernel does not say"),
        Some(_) => Finding::doubtful(what, value, "large tables are 1.5 to 2 times slower")
            .mended_by("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"),
    }
}

fn isolated(host: &Host) -> Finding {
    let what = "isolated cpus";
    match host.isolated_cpus.as_deref() {
        None => Finding::unknown(what, "the kernel does not say"),
        Some("") => Finding::doubtful(
            what,
            "none",
            "the scheduler may put others on a worker's CPU; isolcpus=LIST at boot keeps them off",
        ),
        Some(cpus) => Finding::good(what, cpus),
    }
}

fn open_files(host: &Host) -> Finding {
    let what = "open files";
    match host.open_files_max {
        None => Finding::unknown(what, "the kernel does not say"),
        Some(u64::MAX) => Finding::good(what, "no limit"),
        Some(files) if files < OPEN_FILES_MIN => Finding::doubtful(
            what,
            format!("at most {}", count(files)),
            "sockets of many queues may not fit",
        )
        .mended_by(format!("ulimit -n {OPEN_FILES_MIN}")),
        Some(files) => Finding::good(what, format!("at most {}", count(files))),
    }
}

fn locked_memory(host: &Host) -> Finding {
    let what = "locked memory";
    match (host.locked_bytes_max, host.may_lock) {
        (_, Some(true)) => Finding::good(what, "no limit for this user (CAP_IPC_LOCK)"),
        (Some(u64::MAX), _) => Finding::good(what, "no limit"),
        (None, _) => Finding::unknown(what, "the kernel does not say"),
        (Some(most), _) if most < LOCKED_BYTES_MIN => Finding::doubtful(
            what,
            format!("at most {}", bytes(most)),
            "frame memory of xdp: counts against it, unless the program runs as root",
        )
        .mended_by("ulimit -l unlimited"),
        (Some(most), _) => Finding::good(what, format!("at most {}", bytes(most))),
    }
}

/// What was tried, not what capabilities promise.
pub(super) fn rights(rights: &Rights) -> Finding {
    let what = "rights";
    let value = match (rights.packet_sockets, rights.bpf) {
        (true, true) => return Finding::good(what, "packet sockets and BPF"),
        (true, false) => "packet sockets, no BPF",
        (false, true) => "BPF, no packet sockets",
        (false, false) => "neither packet sockets nor BPF",
    };
    match rights.in_user_namespace {
        Some(true) => Finding::doubtful(
            what,
            value,
            "root of this user namespace is not the machine's; run outside of it",
        ),
        _ => Finding::doubtful(
            what,
            value,
            "a bridge runs as root, or with CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF; what root \
             alone may see is unknown here",
        ),
    }
}

fn bpf_jit(host: &Host) -> Finding {
    let what = "bpf jit";
    match host.bpf_jit {
        None => Finding::unknown(
            what,
            "the kernel shows it in its first network namespace alone",
        ),
        Some(true) => Finding::good(what, "on"),
        Some(false) => Finding::doubtful(what, "off", "the XDP program is interpreted")
            .mended_by("sysctl net.core.bpf_jit_enable=1"),
    }
}

fn connection_tracking(host: &Host) -> Finding {
    let what = "conntrack";
    match host.tracked_connections {
        None => Finding::unknown(what, "the kernel does not say"),
        Some(0) => Finding::good(what, "no connections tracked"),
        Some(tracked) => Finding::doubtful(
            what,
            plural(tracked, "connection", "connections"),
            "frames that packet: copies or xdp: passes on to the host are tracked too",
        )
        .mended_by("nft add rule inet raw prerouting iif IFACE notrack"),
    }
}

fn softnet(host: &Host) -> Finding {
    let what = "softnet";
    let (Some(dropped), Some(squeezed)) = (host.softnet_dropped, host.softnet_squeezed) else {
        return Finding::unknown(what, "the kernel does not say");
    };
    let value = format!("{} dropped, {} put off", count(dropped), count(squeezed));
    if dropped > 0 {
        let why = "since the start a CPU's backlog was full so often";
        return Finding::doubtful(what, value, why)
            .mended_by("sysctl net.core.netdev_max_backlog=10000");
    }
    Finding::good(what, value)
}

fn irq_balance(balancer: Option<&str>) -> Finding {
    let what = "irq balancing";
    match balancer {
        None => Finding::good(what, "nothing moves interrupts"),
        Some(name) => Finding::doubtful(
            what,
            format!("{name} runs"),
            "interrupts move between CPUs, also pinned ones, and rates with them",
        )
        .mended_by(format!("systemctl stop {name}")),
    }
}

fn context_switches(activity: &Activity) -> Finding {
    let what = "context switches";
    match activity.context_switches {
        None => Finding::unknown(what, "the kernel does not say"),
        Some(rate) => {
            let value = format!("{} a second on all CPUs", count(rate as u64));
            if rate > CONTEXT_SWITCHES_MAX {
                let why = "other programs run here; workers share their CPUs";
                return Finding::doubtful(what, value, why);
            }
            Finding::good(what, value)
        }
    }
}

/// The busiest CPUs decide; a machine of many does not get a line each.
fn interrupts(activity: &Activity) -> Vec<Finding> {
    const SHOWN_MAX: usize = 8;
    let mut cpus = activity.cpus.clone();
    cpus.sort_by(|a, b| b.ipis.total_cmp(&a.ipis).then(a.cpu.cmp(&b.cpu)));
    cpus.truncate(SHOWN_MAX);
    cpus.sort_by_key(|cpu| cpu.cpu);
    if cpus.is_empty() {
        return vec![Finding::unknown("interrupts", "the kernel does not say")];
    }
    let line = |cpu: engine::CpuActivity| {
        let (all, ipis) = (count(cpu.interrupts as u64), count(cpu.ipis as u64));
        let value = format!(
            "CPU {}: {all} a second, {ipis} of them by other CPUs",
            cpu.cpu
        );
        if cpu.ipis > IPIS_MAX {
            let why = "each stops a worker for some microseconds";
            return Finding::doubtful("interrupts", value, why);
        }
        Finding::good("interrupts", value)
    };
    cpus.into_iter().map(line).collect()
}
