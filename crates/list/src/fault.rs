//! What can be wrong with one line, each with its own message.

mod texts;

use crate::columns::Columns;
use crate::entry::Entry;
use crate::foreign::Foreign;
use crate::wording::Wording;
use std::fmt;
use std::net::Ipv4Addr;

/// What is wrong with one line or element. Printed by [`Fault::about`] beside the text it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing that the other faults know.
    NotAnEntry,
    /// Bytes that no text holds: NUL or another control character.
    NotText,
    /// A host name.
    HostName,
    /// A URL.
    Url,
    /// A tag of HTML or XML.
    Markup,
    /// A line of a hosts file: the address is where a name is sent to.
    HostsFile,
    /// More than four decimal numbers with dots between.
    RunTogether,
    /// Entries of which one begins where the other ends.
    Joined,
    /// Fewer than four decimal numbers; how many there are.
    TooFewNumbers(u8),
    /// Dots side by side, or at an end.
    EmptyNumber,
    /// A number above 255 in an IPv4 address.
    NumberAbove255,
    /// A number with a leading zero, which some programs read as octal.
    LeadingZero,
    /// A number that begins with `0x`; the IPv4 address that is meant.
    Hexadecimal(Option<Ipv4Addr>),
    /// Something with colons that is no IPv6 address.
    NotIpv6,
    /// A zone id (RFC 4007 section 11).
    Zone,
    /// A port after the address.
    Port,
    /// Brackets around the address.
    Brackets,
    /// Host bits below the prefix; the network probably meant.
    HostBits(Entry),
    /// The prefix is longer than an address of the family: 32 or 128.
    PrefixTooLong(u8),
    /// What follows the slash is no prefix length.
    PrefixLength,
    /// A netmask in place of a prefix length; what it stands for, when it is a prefix.
    Netmask(Option<u8>),
    /// A netmask in the column behind the address; the prefix length it stands for.
    NetmaskBeside(u8),
    /// The range ends before it begins.
    RangeReversed,
    /// One end of the range is IPv4, the other IPv6.
    RangeOfTwoFamilies,
    /// A range with another mark than a dash.
    RangeMark,
    /// What follows the dash is no address.
    RangeEnd,
    /// All of IPv4 or of IPv6, without `--force`.
    Everything,
    /// A mark that begins a comment elsewhere.
    ForeignComment,
    /// Asterisks for the last numbers of an IPv4 address; the prefix length that is meant.
    Asterisk(u8),
    /// A character that is not ASCII beside an entry, and nothing else wrong.
    NotAscii,
    /// Carriage returns alone, where lines should end.
    LineEnds,
    /// A mark before an entry, and nothing else wrong.
    MarkBefore(u8),
    /// A mark behind an entry, and none before it.
    MarkBehind(u8),
    /// `!` or a word that takes addresses out.
    Exception,
    /// A word by which an address is let through.
    Spared,
    /// A word by which an address is kept out, in a list of what is let through.
    Denied,
    /// A line of what is no list.
    Foreign(Foreign),
    /// Commas, and no column was named.
    Commas,
    /// An entry with a comma after it.
    TrailingComma,
    /// Columns, and none was named; those that hold an entry.
    Columns(Columns<u16>),
    /// A date, and no column was named.
    DateFirst,
    /// A second address.
    TwoAddresses,
    /// What may be a part of an address behind an address.
    Fragment,
    /// A wildcard mask beside an address; what it stands for as a prefix length, when it is one.
    Wildcard(Option<u8>),
    /// An address outside of the column asked for, which is the number; the columns that make one
    /// entry of both.
    OtherColumn(Option<Columns<u16>>, u16),
    /// Two addresses in columns that make one entry.
    TwoColumns(Columns<u16>),
    /// A number beside an address that may be its prefix length; their columns.
    MaybeLength(u16, u16),
    /// A number of addresses after the first of them.
    AddressCount,
    /// A word for a mask or a prefix length after an address.
    MaskWord,
    /// A column that should hold a prefix length or a netmask.
    LengthColumn,
    /// The line is longer than the bound, in bytes.
    LineTooLong(usize),
    /// The CSV line has fewer columns; how many it has.
    ColumnMissing(usize),
    /// The CSV column is empty.
    ColumnEmpty,
    /// A quoted field that does not end on its line, or has text after its closing quote.
    CsvQuotes,
    /// Not a JSON object.
    NotJson,
    /// A JSON object with none of the keys that hold an address.
    JsonWithoutAddress,
    /// A line of JSON in which none of the paths asked for leads to anything.
    JsonPathMissing,
    /// A JSON object with two of the keys that hold an address.
    JsonTwoAddresses,
    /// A line of `ipset save` that is none of the commands known.
    IpsetCommand,
    /// An option of `add` that is not known.
    IpsetOption,
    /// `nomatch`: an exception, which an entry of a set cannot be.
    IpsetNomatch,
    /// A set whose entries are more than addresses (`hash:ip,port`).
    IpsetType,
    /// A set made with `netmask` or `bitmask`: its entries stand for networks.
    IpsetNetmask,
    /// The option `wildcard` or the entry is more than an address.
    IpsetEntry,
    /// An nft element of more than an address (`1.2.3.4 . 80`).
    NftConcatenation,
    /// The nft element `*`: everything else.
    NftCatchAll,
    /// A word after an nft element that is not known.
    NftElement,
    /// An nft set of something else than addresses (`inet_service`).
    NftType,
    /// An nft map: its elements are more than addresses.
    NftMap,
    /// A statement of nft text that is not known.
    NftStatement,
    /// The nft text ends inside braces.
    NftUnfinished,
    /// `include` of nft text: another file, which is not read.
    NftInclude,
    /// A variable of nft text that is used and not defined before.
    NftVariable,
    /// A variable among what a script removes.
    NftRemovalOfVariable,
    /// A set or variable that is made a second time, as something else.
    SetTwice,
    /// More sets or variables than there can be.
    TooManySets,
    /// A set that is added to and removed from in turns, too often.
    TooManyRemovals,
    /// An entry of the other address family than its set.
    SetFamily,
    /// A script removes a part of an entry.
    RemovalOfPart,
    /// A script removes an entry that its set does not hold.
    RemovalOfNothing,
    /// The JSON document is broken or ends early.
    JsonBroken,
    /// The JSON document is nested deeper than it is read.
    JsonTooDeep,
    /// Beside the address stands the other end of a range.
    JsonRange,
    /// Beside the address stands a prefix length or netmask that makes no network of it.
    JsonLength,
    /// Two values in an array of arrays: a range, or a network and its length.
    JsonPair,
    /// A key that stands twice in its object.
    JsonKeyTwice,
    /// A path leads to an array or object in place of text.
    JsonNotText,
    /// A string of a JSON document is longer than the bound, in bytes.
    StringTooLong(usize),
}

impl Fault {
    /// The message, about `text` (shown as it is: the caller has made it printable).
    #[must_use]
    pub fn about(self, text: &str, wording: Wording) -> impl fmt::Display + '_ {
        About {
            fault: self,
            text,
            wording,
        }
    }
}

impl Fault {
    /// Whether an option of a list helps.
    fn is_of_columns(self) -> bool {
        matches!(
            self,
            Self::Commas
                | Self::DateFirst
                | Self::TrailingComma
                | Self::Columns(_)
                | Self::TwoColumns(_)
                | Self::OtherColumn(..)
                | Self::MaybeLength(..)
        )
    }

    /// The option that reads a list whose lines have this fault, and what it does.
    pub(crate) fn option(self, wording: Wording) -> Option<String> {
        match self {
            Self::Columns(columns)
            | Self::TwoColumns(columns)
            | Self::OtherColumn(Some(columns), _) => Some(columns.option(wording)),
            Self::MaybeLength(address, length) => {
                Some(Columns::Network(address, length).option(wording))
            }
            Self::NetmaskBeside(_) => Some(Columns::Network(1, 2).option(wording)),
            Self::TrailingComma => Some(Columns::One(1).option(wording)),
            _ => None,
        }
    }
}

struct About<'a> {
    fault: Fault,
    text: &'a str,
    wording: Wording,
}

impl fmt::Display for About<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text;
        match self.fault {
            Fault::LineTooLong(bytes_max) => {
                write!(f, "the line is longer than {bytes_max} bytes")
            }
            Fault::StringTooLong(bytes_max) => {
                write!(f, "a string is longer than {bytes_max} bytes")
            }
            Fault::NftUnfinished => f.write_str("the text ends before its braces do"),
            Fault::JsonBroken => f.write_str("the JSON is broken here or ends early"),
            Fault::JsonTooDeep => f.write_str("the JSON is nested deeper than 127 levels"),
            Fault::NotAnEntry => write!(f, "\"{text}\" is not an address, a network or a range"),
            Fault::NotText => write!(f, "\"{text}\" holds control characters; this is not text"),
            fault if self.wording == Wording::Entry && fault.is_of_columns() => write!(
                f,
                "\"{text}\" holds more than an entry; write the entry alone, and a note behind # \
                 or ;"
            ),
            fault => write!(f, "\"{text}\" {}", Predicate(fault, self.wording)),
        }
    }
}

/// The message without its subject.
struct Predicate(Fault, Wording);

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wording = self.1;
        match self.0 {
            Fault::HostBits(meant) => {
                write!(f, "has host bits set; the network is probably {meant}")
            }
            Fault::Asterisk(len) => write!(
                f,
                "has asterisks for numbers; write zeros in their place, and /{len} behind"
            ),
            Fault::TooFewNumbers(count) => {
                write!(f, "has {count} of the four numbers of an IPv4 address")
            }
            Fault::PrefixTooLong(bits) => write!(f, "has a prefix of more than {bits} bits"),
            Fault::Hexadecimal(Some(meant)) => {
                write!(f, "has a number in hexadecimal; write {meant} in its place")
            }
            Fault::Netmask(Some(prefix_len)) => {
                write!(
                    f,
                    "has a netmask; write it as a prefix length: /{prefix_len}"
                )
            }
            Fault::NetmaskBeside(prefix_len) => self.netmask_beside(f, prefix_len),
            Fault::Wildcard(Some(prefix_len)) => {
                write!(
                    f,
                    "has a wildcard mask; write it as a prefix length: /{prefix_len}"
                )
            }
            Fault::MarkBefore(mark) => {
                let mark = char::from(mark);
                write!(
                    f,
                    "begins with {mark}, which is not read; write the entry alone"
                )
            }
            Fault::MarkBehind(mark) => {
                let mark = char::from(mark);
                write!(
                    f,
                    "ends with {mark}, which is not read; write the entry alone"
                )
            }
            Fault::Columns(columns) => write!(f, "has columns; {}", columns.option(wording)),
            Fault::TwoColumns(columns) => {
                write!(f, "holds two addresses; {}", columns.option(wording))
            }
            Fault::ColumnMissing(1) => f.write_str("has 1 column, fewer than the column asked for"),
            Fault::ColumnMissing(count) => {
                write!(f, "has {count} columns, fewer than the column asked for")
            }
            _ => self.with_option(f),
        }
    }
}

impl Predicate {
    /// Messages that name an option or a key, and those that carry no value.
    fn with_option(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wording = self.1;
        match self.0 {
            Fault::OtherColumn(columns, asked) => self.other_column(f, columns, asked),
            Fault::MaybeLength(address, length) => {
                let columns = wording.columns(Columns::Network(address, length));
                let force = self.or_force(", --force leaves it out");
                write!(
                    f,
                    "has a number beside the address that may be a prefix length; {columns} reads \
                     it as one{force}"
                )
            }
            Fault::AddressCount => {
                let force = self.or_force(", or leave the number out with --force");
                write!(
                    f,
                    "has a number beside the address that may count addresses; write a network or \
                     a range{force}"
                )
            }
            Fault::Everything => {
                write!(f, "is every address there is; {} loads it", wording.force())
            }
            Fault::Commas | Fault::DateFirst => {
                let what = match self.0 {
                    Fault::Commas => "has commas",
                    _ => "begins with a date",
                };
                write!(
                    f,
                    "{what}; {} says which column holds the address",
                    wording.column("N")
                )
            }
            Fault::TrailingComma => write!(
                f,
                "ends in a comma; remove it, or read the list with {}",
                wording.column(1)
            ),
            Fault::JsonWithoutAddress => write!(
                f,
                "has none of the keys cidr, ip, address, network with text; {} names another",
                wording.json_path("KEY")
            ),
            Fault::JsonPathMissing => write!(
                f,
                "has nothing at the paths asked for with {}",
                wording.json_path_option()
            ),
            fault => f.write_str(fault.sentence()),
        }
    }

    fn netmask_beside(&self, f: &mut fmt::Formatter<'_>, prefix_len: u8) -> fmt::Result {
        let option = Columns::Network(1, 2).option(self.1);
        write!(f, "has a netmask beside the address; ")?;
        match self.1 {
            Wording::Entry => write!(f, "write it as a prefix length: /{prefix_len}"),
            _ => write!(f, "{option}, or write ADDRESS/{prefix_len}"),
        }
    }

    /// What force does, where it does it.
    fn or_force(&self, said: &'static str) -> &'static str {
        if self.1.forces_lines() { said } else { "" }
    }

    fn other_column(
        &self,
        f: &mut fmt::Formatter<'_>,
        columns: Option<Columns<u16>>,
        asked: u16,
    ) -> fmt::Result {
        write!(f, "holds an address outside of column {asked}")?;
        let option = columns.map(|columns| columns.option(self.1));
        let force = format!("--force reads column {asked} alone");
        let force = self.1.forces_lines().then_some(force);
        let helps: Vec<String> = option.into_iter().chain(force).collect();
        match helps.is_empty() {
            true => f.write_str("; leave it out of the list, or name the columns that are meant"),
            false => write!(f, "; {}", helps.join(", ")),
        }
    }
}

impl Fault {
    /// The message of a fault that carries no value, without its subject.
    fn sentence(self) -> &'static str {
        match self {
            Self::HostName => "is a host name; a list holds addresses",
            Self::NotAscii => {
                "has a character beside the entry that may not be seen; write the entry alone"
            }
            Self::LineEnds => "has carriage returns alone for line ends; use tr '\\r' '\\n'",
            Self::Url => "is a URL; a list holds addresses",
            Self::Markup => "is HTML or XML; this is a web page or an error in place of a list",
            Self::HostsFile => "is a line of a hosts file, which blocks a name, not an address",
            Self::RunTogether => "is more than one IPv4 address; two may have run together",
            Self::EmptyNumber => "has a dot without a number beside it",
            Self::NumberAbove255 => "has a number above 255",
            Self::LeadingZero => {
                "has a number with a leading zero, which some programs read as octal; \
                 write it without"
            }
            Self::Hexadecimal(_) => {
                "has a number that begins with 0x; numbers of IPv4 are written in decimal, those \
                 of IPv6 without 0x"
            }
            Self::NotIpv6 => "is not an IPv6 address",
            Self::Zone => "has a zone id; a list holds plain addresses",
            Self::Port => "has a port; a list holds plain addresses",
            Self::Brackets => "is in brackets; write the address without",
            Self::PrefixLength => "has no prefix length after the slash",
            Self::Netmask(_) => "has a netmask that is no prefix",
            Self::RangeReversed => "ends before it begins",
            Self::RangeOfTwoFamilies => "begins in one address family and ends in the other",
            Self::RangeEnd => "has no whole address at the end of the range",
            Self::RangeMark => {
                "has another mark between two addresses; write a range as FIRST-LAST"
            }
            Self::Joined => "is two entries in one; a line end between them is missing",
            Self::ForeignComment => {
                "begins with a mark that begins no comment here; comments begin with # or ;"
            }
            Self::Exception => {
                "holds an exception (!, except), which a list cannot; put it into an allow set"
            }
            Self::Spared => {
                "says that the address is not to be blocked (allow, ignore, inactive ...); put it \
                 into an allow set, or write what is only a note behind #"
            }
            Self::Denied => {
                "says that the address is not to be let through (block, deny, inactive ...); put \
                 it into a block set, or write what is only a note behind #"
            }
            Self::Foreign(foreign) => foreign.sentence(),
            Self::TwoAddresses => "holds a second address; a line holds one entry",
            Self::Fragment => {
                "has a part of an address behind the address; write each address whole, on a line \
                 of its own"
            }
            Self::Wildcard(_) => {
                "has a wildcard mask that is no prefix; write the networks it means"
            }
            Self::MaskWord => {
                "has a word for a mask behind the address; write ADDRESS/LENGTH in one word"
            }
            Self::LengthColumn => "has no prefix length or netmask in the second column asked for",
            Self::ColumnEmpty => "has nothing in the column asked for",
            Self::CsvQuotes => "has a quoted field that does not end where the field ends",
            fault => fault.of_json(),
        }
    }
}
