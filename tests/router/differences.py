"""Where linerate does not do what the kernel does, by the kind of packet, and why."""

KNOWN = {
    "IPv6 destination ::": "RFC 4291, 2.5.2: no packet may be sent there; the kernel looks for a "
    "route and reports that there is none, linerate drops it in silence",
}
