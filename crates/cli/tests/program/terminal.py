"""Runs a program that draws on a terminal, ends it by a signal, and looks at what it left.

    terminal.py SIGNAL PROGRAM [ARGUMENT...]

SIGNAL may be `nothing` for a program that ends by itself. Prints one line: `restored`, or what is
not as it was. A terminal is as it was when its modes are, the last word on the alternate screen is
to leave it, and on the cursor to show it.
"""

import os
import pty
import select
import signal
import sys
import termios
import time

PATIENCE_S = 60


def read_until(master, wanted, ended):
    """Everything it drew until `wanted` was in it, or it went."""
    drawn, end = b"", time.monotonic() + PATIENCE_S
    while wanted not in drawn and time.monotonic() < end:
        readable, _, _ = select.select([master], [], [], 0.1)
        if not readable:
            if ended():
                break
            continue
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        drawn += piece
    return drawn


def last(drawn, on, off):
    """Whether `off` was said last, having been said at all."""
    return drawn.rfind(off) > drawn.rfind(on)


def main():
    number, argv = getattr(signal, sys.argv[1], None), sys.argv[2:]
    # Held open here, so that the terminal lives longer than the program.
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    child = os.fork()
    if child == 0:
        os.close(master)
        os.login_tty(slave) if hasattr(os, "login_tty") else login(slave)
        os.environ["TERM"] = "xterm"
        os.execv(argv[0], argv)
    gone = []

    def ended():
        if not gone:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                gone.append(status)
        return bool(gone)

    drawn = read_until(master, b"\x1b[?1049h", ended)
    if b"\x1b[?1049h" not in drawn:
        return f"it drew no screen: {drawn!r}"
    # A whole picture: in the middle of one, signals are least welcome.
    time.sleep(0.3)
    raw = termios.tcgetattr(slave)
    if raw[3] & termios.ICANON:
        return "it never took the keys one by one"
    if number:
        os.kill(child, number)
    drawn += read_until(master, b"\0never", ended)
    if not gone:
        os.kill(child, signal.SIGKILL)
        return f"it did not end by {sys.argv[1]}"
    after = termios.tcgetattr(slave)
    if after != before:
        return f"its modes are {after} and were {before}"
    if not last(drawn, b"\x1b[?1049h", b"\x1b[?1049l"):
        return "the alternate screen is not left"
    if b"\x1b[?25l" in drawn and not last(drawn, b"\x1b[?25l", b"\x1b[?25h"):
        return "the cursor is hidden"
    return "restored"


def login(slave):
    """For Python before 3.11."""
    import fcntl

    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for descriptor in (0, 1, 2):
        os.dup2(slave, descriptor)


print(main())
