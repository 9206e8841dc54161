//! What is said of faults of JSON and of what ipset and nft print and read.

use super::Fault;

impl Fault {
    /// The message of a fault of JSON, without its subject.
    pub(super) fn of_json(self) -> &'static str {
        match self {
            Self::NotJson => "is not a JSON object",
            Self::JsonRange => {
                "has the other end of a range beside it, which is not read; write FIRST-LAST"
            }
            Self::JsonLength => {
                "has a prefix length or netmask beside it that makes no network of it; write \
                 ADDRESS/LENGTH"
            }
            Self::JsonPair => "is half of a pair, which may be a range; write it as one text",
            Self::JsonKeyTwice => "stands under a key that its object has twice",
            Self::JsonNotText => "is an array or object, where the path should lead to text",
            Self::JsonTwoAddresses => "has more than one of the keys cidr, ip, address, network",
            fault => fault.of_script(),
        }
    }

    /// The same of faults of what ipset and nft print and read.
    fn of_script(self) -> &'static str {
        match self {
            Self::IpsetCommand => "is not a command of ipset save or ipset restore",
            Self::IpsetOption => "is an option of ipset that is not known here",
            Self::IpsetNomatch => "is an exception (nomatch), which is not supported",
            Self::IpsetType => "is in a set whose entries are more than addresses",
            Self::IpsetNetmask => {
                "is in a set made with netmask or bitmask, which is not supported"
            }
            Self::IpsetEntry => "is more than an address, a network or a range",
            Self::NftConcatenation => "is an element of several fields, which is not supported",
            Self::NftCatchAll => "is the element that matches everything, which is not supported",
            Self::NftElement => "is not known in an element of a set",
            Self::NftType => "is in a set whose elements are not addresses",
            Self::NftMap => "is a map, whose elements are more than addresses",
            Self::NftStatement => "is not a statement that nft lists or that makes a set",
            Self::NftInclude => "names another file, which is not read: give that file, too",
            Self::NftVariable => "is a variable that is not defined above",
            Self::NftRemovalOfVariable => "removes a variable, which is not supported",
            Self::SetTwice => "is made a second time, and as something else",
            Self::TooManySets => "is one set or variable more than a text may have",
            Self::TooManyRemovals => "has its entries removed and added in turns too often",
            Self::SetFamily => "is not of the address family of its set",
            Self::RemovalOfPart => {
                "is removed from a larger entry; write the networks that remain of that"
            }
            Self::RemovalOfNothing => "is removed and was not there",
            _ => "is wrong",
        }
    }
}
