"""Lists and what a policy makes of a frame, in Python's own address types."""

import ipaddress


class AddressList:
    """One address, network or `a-b` range a line; `#` and `;` comments, trailing text ignored."""

    def __init__(self, path):
        self.exact, self.ranges = set(), []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                text = line.split("#")[0].split(";")[0].split()
                if text:
                    self.add(text[0])

    def add(self, text):
        if "-" in text:
            first, last = (ipaddress.ip_address(part) for part in text.split("-"))
        elif "/" in text:
            network = ipaddress.ip_network(text)
            first, last = network[0], network[-1]
        else:
            self.exact.add(ipaddress.ip_address(text).packed)
            return
        self.ranges.append((first.packed, last.packed))

    def holds(self, address):
        """`address` is packed bytes or None; bytes of one length compare like numbers."""
        if address is None:
            return False
        return address in self.exact or any(
            len(first) == len(address) and first <= address <= last for first, last in self.ranges
        )


class Policy:
    """Block and allow lists by side, and what becomes of everything else."""

    def __init__(self, options):
        def lists(paths):
            return [AddressList(path) for path in paths]

        both, allow = lists(options.block), lists(options.allow)
        self.block = {
            "src": both + lists(options.block_src),
            "dst": both + lists(options.block_dst),
        }
        self.allow = allow
        self.default, self.non_ip = options.default, options.non_ip
        self.malformed = options.malformed

    def reason_to_drop(self, facts):
        """Why a frame with these facts must not pass, or None."""
        for side, address in (("src", facts.src), ("dst", facts.dst)):
            blocked = any(one.holds(address) for one in self.block[side])
            if blocked and not self.allows(address):
                return f"blocked_{side}"
        if facts.fault and self.malformed == "drop":
            return f"malformed ({facts.fault})"
        if facts.family is None and not facts.fault:
            return "non_ip" if self.non_ip == "drop" else None
        if self.default == "drop" and not (self.allows(facts.src) or self.allows(facts.dst)):
            return "not_allowed"
        return None

    def allows(self, address):
        return any(one.holds(address) for one in self.allow)
