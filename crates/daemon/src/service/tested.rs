//! What the sets say of an address, one by one and all together, in the words of the protocol.

use std::net::IpAddr;
use std::time::Duration;

use frame::PortId;
use plane::Side;

use super::fixed::Fixed;
use super::sets::seconds;
use crate::rpc::answers::{self, AddressVerdict, HitCounts, Match, SetTest};
use crate::rpc::{ErrorKind, RpcError};
use crate::sets::{PartHeld, Place, TestAnswer, TestReason};

/// The whole answer.
pub(super) fn answer(
    address: IpAddr,
    sets: Vec<TestAnswer>,
    fixed: &Fixed,
) -> Result<answers::TestAnswer, RpcError> {
    let holding = sets.iter().filter(|set| !set.reasons.is_empty()).count();
    Ok(answers::TestAnswer {
        address,
        verdicts: verdicts(&sets, fixed)?,
        stateful: fixed.stateful,
        sets: sets.into_iter().map(|set| tested(set, holding)).collect(),
    })
}

/// What all sets together do, by ingress port and side.
fn verdicts(sets: &[TestAnswer], fixed: &Fixed) -> Result<Vec<AddressVerdict>, RpcError> {
    let rules = sets.iter().map(|set| set.rule.clone()).collect();
    let policy = fixed.defaults.policy(rules);
    let policy = policy.map_err(|error| RpcError::new(ErrorKind::Internal, error))?;
    let held = |(place, set): (usize, &TestAnswer)| u32::from(!set.reasons.is_empty()) << place;
    let lists = sets
        .iter()
        .enumerate()
        .map(held)
        .fold(0, |all, one| all | one);
    let named = |lists: u32| -> Vec<String> {
        let sets = sets.iter().enumerate();
        let sets = sets.filter(|(place, _)| lists >> place & 1 != 0);
        sets.map(|(_, set)| set.name.to_string()).collect()
    };
    let mut verdicts = Vec::new();
    for (number, port) in (0..).zip(&fixed.ports) {
        for side in Side::EVERY {
            let verdict = plane::AddressVerdict::of(&policy, lists, (side, PortId(number)));
            verdicts.push(AddressVerdict {
                port: port.clone(),
                side: side.into(),
                drop: verdict.drop.map(|reason| reason.name().to_owned()),
                block: named(verdict.block),
                allow: named(verdict.allow),
                count: named(verdict.count),
                would_drop: verdict.would_drop,
            });
        }
    }
    Ok(verdicts)
}

/// Workers count hits by address and not by set: they are the set's where it alone has the address.
fn tested(answer: TestAnswer, holding: usize) -> SetTest {
    let (holds, hits) = (!answer.reasons.is_empty(), answer.hits);
    let hits = match holds {
        true => HitCounts {
            last_minute: hits.last_minute,
            last_hour: hits.last_hour,
            error: hits.minute_error.max(hits.hour_error),
            last_minute_error: hits.minute_error,
            last_hour_error: hits.hour_error,
            of_sets: holding as u64,
        },
        false => HitCounts::default(),
    };
    SetTest {
        set: answer.name.to_string(),
        action: answer.rule.action.into(),
        matches: answer.reasons.into_iter().map(matched).collect(),
        hits,
    }
}

fn matched(reason: TestReason) -> Match {
    let millis = |left: Duration| u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
    Match {
        entry: reason.entry.to_string(),
        from: reason.origin.name().to_owned(),
        file_part: reason.part == PartHeld::File,
        place: match reason.place {
            Place::Single(_) => None,
            place => Some(place.to_string()),
        },
        comment: reason.comment,
        since: reason.since.map(seconds),
        left_ms: reason.time_left.map(millis),
    }
}
