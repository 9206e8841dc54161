//! Heads, each of which begins a linked list: a node an allocation, scattered by the order in
//! which addresses came.

use super::{Design, bucket};

/// One address and what follows. The heap gives it 32 bytes.
struct Node {
    address: u32,
    next: Link,
}

type Link = Option<Box<Node>>;

/// What the heap takes for a node: the least it gives, its own record included.
const NODE_BYTES: usize = 32;

/// Heads and nodes.
pub(crate) struct ListTable {
    heads: Vec<Link>,
    count: usize,
}

impl ListTable {
    /// Of addresses that differ, with this many heads.
    pub(crate) fn new(addresses: impl Iterator<Item = u32>, heads: usize) -> Self {
        let mut table = Self {
            heads: std::iter::repeat_with(|| None).take(heads).collect(),
            count: 0,
        };
        for address in addresses {
            let head = &mut table.heads[bucket(address, heads)];
            let next = head.take();
            *head = Some(Box::new(Node { address, next }));
            table.count += 1;
        }
        table
    }

    fn contains(&self, address: u32) -> bool {
        let mut link = &self.heads[bucket(address, self.heads.len())];
        while let Some(node) = link {
            if node.address == address {
                return true;
            }
            link = &node.next;
        }
        false
    }
}

impl Design for ListTable {
    fn bytes(&self) -> usize {
        size_of_val(&self.heads[..]) + self.count * NODE_BYTES
    }

    fn contains_burst(&self, keys: &[u32], found: &mut [bool]) -> usize {
        let mut hits = 0;
        for (&key, found) in keys.iter().zip(found) {
            *found = self.contains(key);
            hits += usize::from(*found);
        }
        hits
    }
}
