//! Queues of an interface, what is set on them, and which CPUs they reach. Software interfaces have
//! no such things; lines about them are left out.

use port::interface::{Interrupt, Survey};

use super::finding::Finding;
use super::interface::UNSEEN;
use crate::report::number::plural;

/// Frames that a ring had better hold: 1 ms at a million frames a second.
const RING_MIN: u32 = 1024;
/// Microseconds that a frame may wait for others.
const WAIT_US_MAX: u32 = 250;

/// `cpus` is how many this process may use.
pub(super) fn findings(survey: &Survey, cpus: usize) -> Vec<Finding> {
    let lines = [
        ("queues", queues(survey, cpus)),
        ("rings", rings(survey)),
        ("coalescing", coalescing(survey)),
        ("pause frames", pause(survey)),
        ("rss", rss(survey)),
        ("rss fields", rss_fields(survey)),
        ("interrupts", interrupts(survey)),
        ("napi", napi(survey)),
    ];
    let hardware = survey.is_virtual != Some(true);
    let line = |(what, finding): (&'static str, Option<Finding>)| {
        let unseen = !survey.in_sysfs && matches!(what, "interrupts" | "napi");
        let why = if unseen {
            UNSEEN
        } else {
            "the driver does not say"
        };
        // Those without hardware have threads all the same, and no interrupts.
        let has = hardware || (unseen && what == "napi");
        finding.or_else(|| has.then(|| Finding::unknown(what, why)))
    };
    lines.into_iter().filter_map(line).collect()
}

fn queues(survey: &Survey, cpus: usize) -> Option<Finding> {
    let channels = survey.channels?;
    let what = "queues";
    let value = format!(
        "{} of at most {}",
        channels.rx,
        channels.rx_max.max(channels.rx)
    );
    let wanted = channels.rx_max.min(u32::try_from(cpus).unwrap_or(u32::MAX));
    if channels.rx >= wanted && (channels.rx > 1 || cpus <= 1) {
        return Some(Finding::good(what, value));
    }
    let of_cpus = plural(cpus as u64, "CPU", "CPUs");
    let finding = Finding::doubtful(
        what,
        value,
        format!("with {of_cpus}, each queue feeds one worker alone"),
    );
    // A tap has as many as programs have opened, and no command sets that.
    if channels.rx >= wanted || survey.driver.as_deref() == Some("tun") {
        return Some(finding);
    }
    let kind = if channels.combined { "combined" } else { "rx" };
    let command = format!("ethtool -L {} {kind} {wanted}", survey.name);
    Some(finding.mended_by(command))
}

fn rings(survey: &Survey) -> Option<Finding> {
    let rings = survey.rings?;
    let what = "rings";
    let value = format!(
        "rx {} of {}, tx {} of {}",
        rings.rx, rings.rx_max, rings.tx, rings.tx_max
    );
    let short = |size: u32, max: u32| size < RING_MIN.min(max);
    if short(rings.rx, rings.rx_max) || short(rings.tx, rings.tx_max) {
        let (rx, tx) = (rings.rx_max.min(4096), rings.tx_max.min(4096));
        let why = "a short pause of a worker already loses frames";
        let command = format!("ethtool -G {} rx {rx} tx {tx}", survey.name);
        return Some(Finding::doubtful(what, value, why).mended_by(command));
    }
    Some(Finding::good(what, value))
}

fn coalescing(survey: &Survey) -> Option<Finding> {
    let coalescing = survey.coalescing?;
    let what = "coalescing";
    let (us, frames) = (coalescing.rx_us, coalescing.rx_frames);
    if coalescing.rx_adaptive {
        return Some(
            Finding::doubtful(
                what,
                "adaptive",
                "how long frames wait changes with the load: figures differ from run to run",
            )
            .mended_by(format!(
                "ethtool -C {} adaptive-rx off rx-usecs 8",
                survey.name
            )),
        );
    }
    let value = match frames {
        0 => format!("{us} us"),
        frames => format!("{us} us or {}", plural(frames.into(), "frame", "frames")),
    };
    if us > WAIT_US_MAX {
        let why = "frames wait so long for others";
        let command = format!("ethtool -C {} rx-usecs 8", survey.name);
        return Some(Finding::doubtful(what, value, why).mended_by(command));
    }
    Some(Finding::good(what, value))
}

fn pause(survey: &Survey) -> Option<Finding> {
    let pause = survey.pause?;
    let what = "pause frames";
    let (on, off) = ("on", "off");
    let said = |is_on| if is_on { on } else { off };
    let value = format!("rx {}, tx {}", said(pause.rx), said(pause.tx));
    if pause.rx || pause.tx {
        let why = "a full receiver stops its sender, and every host behind it waits";
        let command = format!("ethtool -A {} autoneg off rx off tx off", survey.name);
        return Some(Finding::doubtful(what, value, why).mended_by(command));
    }
    Some(Finding::good(what, value))
}

fn rss(survey: &Survey) -> Option<Finding> {
    let (what, rss) = ("rss", survey.rss.as_ref()?);
    if survey.channels.is_some_and(|channels| channels.rx <= 1) {
        return Some(Finding::good(what, "one queue, nothing to choose"));
    }
    if rss.indirection.is_empty() {
        return None;
    }
    let mut used = rss.indirection.clone();
    used.sort_unstable();
    used.dedup();
    let buckets = rss.indirection.len();
    let key = match rss.key.len() {
        0 => "key not shown".to_owned(),
        bytes => {
            let first: String = rss
                .key
                .iter()
                .take(4)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            format!("key of {bytes} bytes ({first}...)")
        }
    };
    let value = format!("{buckets} buckets over {} queues, {key}", used.len());
    let name = &survey.name;
    if !rss.key.is_empty() && rss.key.iter().all(|&byte| byte == 0) {
        let why = "a key of zeros sends every flow to the same queue";
        return Some(Finding::doubtful(what, value, why));
    }
    if survey
        .channels
        .is_some_and(|channels| (used.len() as u32) < channels.rx)
    {
        let why = "some queues get no frames";
        let command = format!("ethtool -X {name} default");
        return Some(Finding::doubtful(what, value, why).mended_by(command));
    }
    Some(Finding::good(what, value))
}

/// What of each kind of frame chooses its queue. Ports of UDP are often left out, so that fragments
/// come by the queue of their datagram: no fault.
fn rss_fields(survey: &Survey) -> Option<Finding> {
    let what = "rss fields";
    if survey.channels.is_some_and(|channels| channels.rx <= 1) {
        return Some(Finding::good(what, "one queue, nothing to choose"));
    }
    if survey.hashed.is_empty() {
        return None;
    }
    let shown = |(kind, fields): &(&str, String)| match fields.as_str() {
        "" => format!("{kind} none"),
        fields => format!("{kind} {fields}"),
    };
    let value: Vec<String> = survey.hashed.iter().map(shown).collect();
    let value = value.join(", ");
    let has_addresses = |fields: &str| fields.contains('s') && fields.contains('d');
    let mut lacking = survey.hashed.iter();
    let Some((kind, _)) = lacking.find(|(_, fields)| !has_addresses(fields)) else {
        return Some(Finding::good(what, value));
    };
    let why = format!("without both addresses (sd) most {kind} frames come by one queue");
    let command = format!("ethtool -N {} rx-flow-hash {kind} sd", survey.name);
    Some(Finding::doubtful(what, value, why).mended_by(command))
}

/// Whether the queues' interrupts reach different CPUs. Where names tell no queue, those of
/// configuration are among them.
fn interrupts(survey: &Survey) -> Option<Finding> {
    const SHOWN_MAX: usize = 8;
    let (what, all) = ("interrupts", survey.interrupts.as_ref()?);
    let known = all.iter().filter(|interrupt| !interrupt.cpus.is_empty());
    let mut known: Vec<&Interrupt> = known.collect();
    if known.iter().any(|interrupt| interrupt.queue().is_some()) {
        known.retain(|interrupt| interrupt.queue().is_some());
    }
    let first = known.first()?.number;
    let shown = |interrupt: &&Interrupt| {
        let Interrupt { number, name, cpus } = interrupt;
        match name.as_str() {
            "" => format!("{number} on CPU {cpus}"),
            name => format!("{number} ({name}) on CPU {cpus}"),
        }
    };
    let mut cpus: Vec<&str> = known.iter().map(|known| known.cpus.as_str()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let value = match known.len() {
        0..=SHOWN_MAX => known.iter().map(shown).collect::<Vec<_>>().join(", "),
        count => format!("{count} on {} different CPUs", cpus.len()),
    };
    let queues = survey.channels.map_or(1, |channels| channels.rx);
    if queues > 1 && cpus.len() == 1 {
        let why = "one CPU does the kernel's work of all queues; --pin-irqs of a bridge puts each \
                   beside its worker";
        let command = format!("echo CPU > /proc/irq/{first}/smp_affinity_list");
        return Some(Finding::doubtful(what, value, why).mended_by(command));
    }
    Some(Finding::good(what, value))
}

fn napi(survey: &Survey) -> Option<Finding> {
    let what = "napi";
    if survey.is_virtual == Some(true) && survey.channels.is_none() {
        return None;
    }
    if survey.threaded? {
        let why = "receptions run in kernel threads, which the scheduler moves and delays";
        let command = format!("echo 0 > /sys/class/net/{}/threaded", survey.name);
        return Some(Finding::doubtful(what, "threaded", why).mended_by(command));
    }
    Some(Finding::good(
        what,
        "in softirq, on the CPU of the interrupt",
    ))
}
