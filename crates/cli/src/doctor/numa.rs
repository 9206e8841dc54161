//! Whether an interface and the CPUs of its workers share a memory node.

use engine::Host;
use port::interface::Survey;

use super::finding::Finding;
use super::interface::UNSEEN;

/// Nothing for interfaces without hardware.
pub(super) fn finding(survey: &Survey, host: &Host) -> Option<Finding> {
    let what = "memory node";
    if survey.is_virtual == Some(true) {
        return None;
    }
    if let [(only, _)] = host.nodes.as_slice() {
        return Some(Finding::good(what, format!("{only}, the only one")));
    }
    let Some(node) = survey.numa_node else {
        let said = if survey.in_sysfs {
            "the kernel does not say"
        } else {
            UNSEEN
        };
        return Some(Finding::unknown(what, said));
    };
    let cpus = host.nodes.iter().find(|(number, _)| *number == node);
    let Some((_, cpus)) = cpus else {
        return Some(Finding::unknown(what, "the node's CPUs are not shown"));
    };
    Some(Finding::good(
        what,
        format!("{node}: workers belong on its CPUs, --cpus {cpus}"),
    ))
}
