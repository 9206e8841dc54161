//! What iproute2 6.1 printed of routes that were made in a network namespace.

/// `ip route show`, with one link down.
pub(super) const IPV4: &str = "\
default via 192.0.2.1 dev eth0 
10.0.0.0/8 via 198.51.100.1 dev eth2 metric 50 linkdown 
10.0.0.0/8 via 192.0.2.1 dev eth0 proto static metric 100 
10.1.0.0/16 
\tnexthop via 192.0.2.1 dev eth0 weight 1 
\tnexthop via 198.51.100.1 dev eth2 weight 3 linkdown 
10.2.0.1 via 192.0.2.1 dev eth0 src 192.0.2.2 mtu 1400 rtt 30ms advmss 1360 
10.3.0.0/16 via inet6 2001:db8:1::1 dev eth0 
blackhole 10.4.0.0/16 
unreachable 10.5.0.0/16 metric 7 
prohibit 10.6.0.0/16 proto bgp 
throw 10.7.0.0/16 
10.8.0.0/16 dev eth2 scope link linkdown 
10.9.0.0/16 via 203.0.113.77 dev eth0 onlink 
10.12.0.0/16 via 192.0.2.1 dev eth0 realm 5 mtu lock 1300 window 1000 hoplimit 7 initcwnd 10 \
quickack 1 congctl reno 
10.16.0.0/16 nhid 1 via 192.0.2.1 dev eth0 
blackhole 10.18.0.0/16 nhid 4 dev lo 
10.19.0.0/16 
\tnexthop via inet6 2001:db8:1::1 dev eth0 weight 1 
\tnexthop via 198.51.100.1 dev eth2 weight 1 linkdown 
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.2 
multicast 224.1.0.0/16 dev eth0 scope link 
";

/// What is read of [`IPV4`].
pub(super) const IPV4_READ: &[&str] = &[
    "unicast 0.0.0.0/0 metric 0 via 192.0.2.1 dev eth0 weight 1",
    "unicast 10.0.0.0/8 metric 50 via 198.51.100.1 dev eth2 weight 1",
    "unicast 10.1.0.0/16 metric 0 via 192.0.2.1 dev eth0 weight 1 \
     via 198.51.100.1 dev eth2 weight 3",
    "unicast 10.2.0.1/32 metric 0 via 192.0.2.1 dev eth0 weight 1",
    "unicast 10.3.0.0/16 metric 0 via 2001:db8:1::1 dev eth0 weight 1",
    "blackhole 10.4.0.0/16 metric 0",
    "unreachable 10.5.0.0/16 metric 7",
    "prohibit 10.6.0.0/16 metric 0",
    "throw 10.7.0.0/16 metric 0",
    "unicast 10.8.0.0/16 metric 0 dev eth2 weight 1",
    "unicast 10.9.0.0/16 metric 0 via 203.0.113.77 dev eth0 weight 1",
    "unicast 10.12.0.0/16 metric 0 via 192.0.2.1 dev eth0 weight 1",
    "unicast 10.16.0.0/16 metric 0 via 192.0.2.1 dev eth0 weight 1",
    "blackhole 10.18.0.0/16 metric 0",
    "unicast 10.19.0.0/16 metric 0 via 2001:db8:1::1 dev eth0 weight 1 \
     via 198.51.100.1 dev eth2 weight 1",
    "unicast 192.0.2.0/24 metric 0 dev eth0 weight 1",
    "multicast 224.1.0.0/16 metric 0 dev eth0 weight 1",
];

/// The same routes by `ip -details route show`, `ip -oneline route show` and `ip -N -details`.
pub(super) const IPV4_OTHERWISE: [&str; 3] = [
    "\
unicast 10.1.0.0/16 proto boot scope global 
\tnexthop via 192.0.2.1 dev eth0 weight 1 
\tnexthop via 198.51.100.1 dev eth2 weight 3 linkdown 
blackhole 10.4.0.0/16 proto boot scope global 
unicast 10.16.0.0/16 nhid 1 via 192.0.2.1 dev eth0 proto boot scope global 
\tnh_info id 1 via 192.0.2.1 dev eth0 scope link proto unspec 
blackhole 10.18.0.0/16 nhid 4 dev lo proto boot scope global 
\tnh_info id 4 scope global blackhole proto unspec 
",
    "\
10.1.0.0/16 \\\tnexthop via 192.0.2.1 dev eth0 weight 1 \\\tnexthop via 198.51.100.1 dev eth2 \
weight 3 linkdown 
blackhole 10.4.0.0/16 
10.16.0.0/16 nhid 1 via 192.0.2.1 dev eth0 
blackhole 10.18.0.0/16 nhid 4 dev lo 
",
    "\
1 10.1.0.0/16 proto 3 scope 0 
\tnexthop via 192.0.2.1 dev eth0 weight 1 
\tnexthop via 198.51.100.1 dev eth2 weight 3 linkdown 
6 10.4.0.0/16 proto 3 scope 0 
1 10.16.0.0/16 nhid 1 via 192.0.2.1 dev eth0 proto 3 scope 0 
\tnh_info id 1 via 192.0.2.1 dev eth0 scope 253 proto 0 
6 10.18.0.0/16 nhid 4 dev lo proto 3 scope 0 
\tnh_info id 4 scope 0 blackhole proto 0 
",
];

/// What is read of each of [`IPV4_OTHERWISE`].
pub(super) const IPV4_OTHERWISE_READ: &[&str] = &[
    "unicast 10.1.0.0/16 metric 0 via 192.0.2.1 dev eth0 weight 1 \
     via 198.51.100.1 dev eth2 weight 3",
    "blackhole 10.4.0.0/16 metric 0",
    "unicast 10.16.0.0/16 metric 0 via 192.0.2.1 dev eth0 weight 1",
    "blackhole 10.18.0.0/16 metric 0",
];

/// `ip -6 route show`.
pub(super) const IPV6: &str = "\
2001:db8:1::/64 dev eth0 proto kernel metric 256 pref medium
2001:db8:a::/48 via fe80::1 dev eth0 metric 50 pref medium
2001:db8:b::/48 metric 1024 pref medium
\tnexthop via 2001:db8:1::1 dev eth0 weight 2 
\tnexthop via 2001:db8:2::1 dev eth2 weight 5 linkdown 
blackhole 2001:db8:c::/48 dev lo metric 1024 pref medium
unreachable 2001:db8:d::/48 dev lo metric 1024 pref medium
prohibit 2001:db8:e::/48 dev lo metric 5 pref medium
throw 2001:db8:f::/48 dev lo metric 1024 pref medium
2001:db8:10::/48 via 2001:db8:1::1 dev eth0 metric 1024 pref high
2001:db8:11::1 via 2001:db8:1::1 dev eth0 metric 1024 expires 298sec pref medium
2001:db8:14::/48 via 2001:db8:1::1 dev eth0 src 2001:db8:1::2 metric 1024 mtu 1400 hoplimit 7 \
pref medium
fe80::/64 dev eth1 proto kernel metric 256 pref medium
fe80::/64 dev eth0 proto kernel metric 256 pref medium
default via 2001:db8:1::1 dev eth0 metric 1024 pref medium
";

/// What is read of [`IPV6`].
pub(super) const IPV6_READ: &[&str] = &[
    "unicast ::/0 metric 1024 via 2001:db8:1::1 dev eth0 weight 1",
    "unicast 2001:db8:1::/64 metric 256 dev eth0 weight 1",
    "unicast 2001:db8:a::/48 metric 50 via fe80::1 dev eth0 weight 1",
    "unicast 2001:db8:b::/48 metric 1024 via 2001:db8:1::1 dev eth0 weight 2 \
     via 2001:db8:2::1 dev eth2 weight 5",
    "blackhole 2001:db8:c::/48 metric 1024",
    "unreachable 2001:db8:d::/48 metric 1024",
    "prohibit 2001:db8:e::/48 metric 5",
    "throw 2001:db8:f::/48 metric 1024",
    "unicast 2001:db8:10::/48 metric 1024 via 2001:db8:1::1 dev eth0 weight 1",
    "unicast 2001:db8:11::1/128 metric 1024 via 2001:db8:1::1 dev eth0 weight 1",
    "unicast 2001:db8:14::/48 metric 1024 via 2001:db8:1::1 dev eth0 weight 1",
    "unicast fe80::/64 metric 256 dev eth1 weight 1",
];

/// Of `ip route show table all` and the same of IPv6.
pub(super) const ALL_TABLES: &str = "\
10.10.0.0/16 via 192.0.2.1 dev eth0 table 100 
10.10.0.0/16 via 192.0.2.9 dev eth0 
local 127.0.0.0/8 dev lo table local proto kernel scope host src 127.0.0.1 
broadcast 192.0.2.255 dev eth0 table local proto kernel scope link src 192.0.2.2 
unicast 10.20.0.0/16 via 192.0.2.1 dev eth0 table main proto boot scope global 
local 2001:db8:1::2 dev eth0 table local proto kernel scope global metric 0 pref medium
multicast ff00::/8 dev eth1 table local proto kernel metric 256 pref medium
multicast ff00::/8 dev eth0 table local proto kernel metric 256 pref medium
";

/// What is read of [`ALL_TABLES`].
pub(super) const ALL_TABLES_READ: &[&str] = &[
    "unicast 10.10.0.0/16 metric 0 via 192.0.2.9 dev eth0 weight 1",
    "unicast 10.10.0.0/16 metric 0 via 192.0.2.1 dev eth0 weight 1 table 100",
    "unicast 10.20.0.0/16 metric 0 via 192.0.2.1 dev eth0 weight 1",
    "local 127.0.0.0/8 metric 0 dev lo weight 1 table local",
    "broadcast 192.0.2.255/32 metric 0 dev eth0 weight 1 table local",
    "local 2001:db8:1::2/128 metric 0 dev eth0 weight 1 table local",
    "multicast ff00::/8 metric 256 dev eth1 weight 1 table local",
];

/// `ip route show` and `ip -6 route show` once a link was set down.
pub(super) const DEAD: &str = "\
10.1.0.0/16 
\tnexthop via 192.0.2.1 dev eth0 weight 1 dead linkdown 
\tnexthop via 198.51.100.1 dev eth2 weight 3 linkdown 
2001:db8:b::/48 metric 1024 pref medium
\tnexthop via 2001:db8:1::1 dev eth0 weight 2 dead linkdown 
\tnexthop via 2001:db8:2::1 dev eth2 weight 5 linkdown 
10.9.0.0/16 via 192.0.2.1 dev eth0 dead linkdown 
";

/// What is read of [`DEAD`].
pub(super) const DEAD_READ: &[&str] = &[
    "unicast 10.1.0.0/16 metric 0 via 198.51.100.1 dev eth2 weight 3",
    "unicast 2001:db8:b::/48 metric 1024 via 2001:db8:2::1 dev eth2 weight 5",
];
