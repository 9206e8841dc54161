//! Circles of a graph.

use std::collections::{BTreeMap, BTreeSet};

type Edges = BTreeMap<String, BTreeSet<String>>;

/// The largest sets of two nodes or more of which each leads to each.
pub(super) fn circles(edges: &Edges) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = edges
        .keys()
        .map(|from| (from, reached(edges, from)))
        .collect();
    let leads = |from: &String, to: &String| reached.get(from).is_some_and(|all| all.contains(to));
    let mut circles: Vec<BTreeSet<String>> = Vec::new();
    for node in edges.keys() {
        if circles.iter().any(|circle| circle.contains(node)) {
            continue;
        }
        let with = |other: &&String| *other == node || leads(node, other) && leads(other, node);
        let circle: BTreeSet<String> = edges.keys().filter(with).cloned().collect();
        if circle.len() > 1 {
            circles.push(circle);
        }
    }
    circles
}

/// Where edges lead from a node.
fn reached<'a>(edges: &'a Edges, from: &'a String) -> BTreeSet<&'a String> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(node) = next.pop() {
        for to in edges.get(node).into_iter().flatten() {
            if reached.insert(to) {
                next.push(to);
            }
        }
    }
    reached
}
