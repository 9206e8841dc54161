//! Rules of packets: the file read, its names resolved, and what a dry run says of it.

use std::path::Path;
use std::sync::Arc;

use daemon::rules::{self, RulePlace};
use daemon::switch::NamedPort;
use list::rules::Scope;
use plane::{Policy, RuleTable};

use super::SetPlan;
use crate::error::Error;
use crate::report::number::{bytes, plural};

/// What is known of where rules are to hold.
pub(super) struct Place<'a> {
    /// The ports as they were typed.
    pub(super) ports: Vec<&'a str>,
    pub(super) is_pair: bool,
    pub(super) workers: usize,
}

/// Reads a file and puts the rules into the policy.
pub(super) fn resolve(file: &Path, place: &Place<'_>, policy: &mut Policy) -> Result<(), Error> {
    let rules = rules::read(file).map_err(Error::refused)?;
    let named = place.ports.iter().map(|typed| NamedPort::parse(typed));
    let place = RulePlace {
        scope: Scope {
            ports: named
                .zip(1..)
                .map(|(port, number)| rules::port_names(&port, number))
                .collect(),
            sets: policy.rules().iter().map(|set| set.name.clone()).collect(),
            stateful: policy.stateful.is_some(),
            is_pair: place.is_pair,
        },
        workers: place.workers,
    };
    let table = rules::table(&file.display().to_string(), &rules, &place);
    policy.packet_rules = Some(Arc::new(table.map_err(Error::refused)?));
    Ok(())
}

impl SetPlan {
    /// Has rules hold for a bridge between two ports of these names.
    pub(crate) fn read_rules(&mut self, file: &Path, ports: &[String]) -> Result<(), Error> {
        if ports.len() != 2 {
            return Err(Error::refused(format!(
                "--ports names two ports and {} are given: write --ports eth1,eth2",
                ports.len()
            )));
        }
        let place = Place {
            ports: ports.iter().map(String::as_str).collect(),
            is_pair: true,
            workers: 1,
        };
        resolve(file, &place, &mut self.policy)
    }
}

/// A line for a dry run.
pub(super) fn fact(table: &RuleTable) -> String {
    let count = table.names().rules.len() as u64;
    format!(
        "{}, {} by policy; {} of classes",
        plural(count, "rule", "rules"),
        table.policy_word(),
        bytes(table.bytes() as u64)
    )
}
