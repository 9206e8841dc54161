"""Where linerate's NAT does not do what nft's masquerade does, and why."""

KNOWN = {
    "GRE leaves": "linerate translates TCP, UDP and ICMP echo alone, and drops what would leave "
    "untranslated",
    "outside reaches 10.0.0.2 by its own address": "an inside address is hidden from the outside: "
    "the kernel forwards to it unless a filter says otherwise",
    "the hairpin's server sees": "RFC 4787, REQ-9: linerate gives hairpins the outside address, "
    "nft that of the interface that they leave by",
}
