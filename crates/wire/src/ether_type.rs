//! Ether types and tag protocol identifiers this crate knows (IEEE 802 numbers).

/// Greatest type field that is a length (IEEE 802.3); 1501 to 1535 are undefined and are read as
/// lengths, as Linux does.
pub const LENGTH_MAX: u16 = 0x05FF;
/// Internet Protocol version 4.
pub const IPV4: u16 = 0x0800;
/// Address Resolution Protocol.
pub const ARP: u16 = 0x0806;
/// Reverse Address Resolution Protocol (RFC 903).
pub const REVERSE_ARP: u16 = 0x8035;
/// Link Layer Discovery Protocol (IEEE 802.1AB).
pub const LLDP: u16 = 0x88CC;
/// Internet Protocol version 6.
pub const IPV6: u16 = 0x86DD;
/// IEEE 802.1Q customer tag.
pub const VLAN: u16 = 0x8100;
/// IEEE 802.1ad service tag.
pub const VLAN_SERVICE: u16 = 0x88A8;
/// Stacked tag of equipment older than 802.1ad.
pub const VLAN_9100: u16 = 0x9100;
/// Stacked tag of equipment older than 802.1ad.
pub const VLAN_9200: u16 = 0x9200;
/// An LLC header in a frame too long for a length field.
pub const JUMBO_LLC: u16 = 0x8870;

/// True for the types that announce a VLAN tag.
#[inline]
#[must_use]
pub const fn is_vlan(ether_type: u16) -> bool {
    matches!(ether_type, VLAN | VLAN_SERVICE | VLAN_9100 | VLAN_9200)
}
