"""The disks of the virtual machines: Debian 12 with its own kernel or another that its repositories
have, each made once by debootstrap and kept in target/vm by the hash of its recipe."""

import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

RELEASE = "bookworm"
# The kernel of the release, whose package has no number in its name.
OWN_KERNEL = "6.1"
CACHE = pathlib.Path(__file__).resolve().parents[2] / "target" / "vm"
DISK_BYTES = 4 << 30
PACKAGES = [
    "systemd", "systemd-sysv", "udev", "dbus", "kmod", "procps", "initramfs-tools",
    "iproute2", "iputils-ping", "ethtool", "python3",
]

# Runs in the new root. Debian's apt sources and settings of this machine are there already.
IN_ROOT = r"""
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$1"
apt-get clean
rm -rf /var/lib/apt/lists/*
systemctl enable vm-agent.service
systemctl mask getty@tty1.service serial-getty@ttyS0.service systemd-logind.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
    e2scrub_reap.service fstrim.timer
"""

FILES = {
    # A machine has a name; with one systemd takes no boot for the first.
    "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
    "etc/hostname": "guest\n",
    "etc/fstab": "LABEL=guest / ext4 noatime 0 1\nLABEL=host /host ext4 ro 0 0\n",
    # Only what finds the disk: the initial RAM disk is unpacked by an emulated processor.
    "etc/initramfs-tools/conf.d/vm": "MODULES=list\nCOMPRESS=gzip\n",
    "etc/initramfs-tools/modules": "virtio_pci\nvirtio_blk\next4\n",
    "etc/systemd/system/vm-agent.service": """[Unit]
Description=runs what the host asks for
After=multi-user.target
RequiresMountsFor=/host
[Service]
Type=idle
ExecStart=/usr/bin/python3 /host/agent.py
StandardOutput=null
[Install]
WantedBy=multi-user.target
""",
    # Half of a kernel's files are drivers that no model of QEMU needs, and nobody reads there.
    "etc/dpkg/dpkg.cfg.d/vm": "force-unsafe-io\n" + "".join(
        f"path-exclude=/{path}/*\n" for path in [
            "usr/share/doc", "usr/share/man", "usr/share/locale",
            *(f"lib/modules/*/kernel/{folder}" for folder in [
                "sound", "drivers/gpu", "drivers/media", "drivers/net/wireless",
                "drivers/infiniband", "drivers/iio", "drivers/staging", "drivers/usb"])]),
    # No service starts while the image is made; removed at the end.
    "usr/sbin/policy-rc.d": "#!/bin/sh\nexit 101\n",
}


# What `image.py` ends with where no image can be made for want of packages.
NOT_TO_BE_HAD = 3


class NotToBeHad(Exception):
    """Debian, or this kernel of it, cannot be had from the repositories of this machine."""


class Image:
    """A disk that overlays are made of, and the kernel in it."""

    def __init__(self, folder):
        self.disk = folder / "disk.img"
        self.vmlinuz, = folder.glob("vmlinuz-*")
        self.release = self.vmlinuz.name.removeprefix("vmlinuz-")
        self.initrd = folder / f"initrd.img-{self.release}"


def sources():
    """Debian's repositories of this release, as this machine's apt has them."""
    lines = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(SITE) $(RELEASE)",
         "Created-By: Packages"],
        check=True, capture_output=True, text=True).stdout.split("\n")
    found = []
    for line in sorted(set(lines)):
        origin, _, rest = line.partition(" ")
        codename, _, repository = rest.partition(" ")
        if origin == "Debian" and codename.split("-")[0] == RELEASE:
            found.append(repository.split(" "))
    return found


def apt_settings():
    """How this machine's apt reaches its repositories: proxies, and which dates it believes."""
    dump = subprocess.run(["apt-config", "dump", "Acquire"],
                          check=True, capture_output=True, text=True).stdout
    return "".join(line + "\n" for line in dump.splitlines()
                   if re.match(r"Acquire::(https?|Check)\b", line))


def write(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if text.startswith("#!"):
        path.chmod(0o755)


def apart(*command):
    """Runs it where its mounts and processes end with it."""
    subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                    *command],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def fetch(*command):
    """Runs what loads packages."""
    try:
        apart(*command)
    except subprocess.CalledProcessError as error:
        raise NotToBeHad(f"{command[0]} ended with exit code {error.returncode}") from error


def kernel_package(kernel):
    return f"linux-image-{'' if kernel == OWN_KERNEL else kernel + '-'}amd64"


def make_root(root, kernel):
    repositories = sources()
    mirrors = [site for site, suite in repositories if suite == RELEASE]
    if not mirrors:
        raise NotToBeHad(f"apt has no list of Debian's {RELEASE}: apt-get update")
    fetch("debootstrap", "--variant=minbase", "--include=" + ",".join(PACKAGES), RELEASE,
          str(root), mirrors[0])
    for name, text in FILES.items():
        write(root, name, text)
    write(root, "etc/apt/sources.list",
          "".join(f"deb {site} {suite} main\n" for site, suite in repositories))
    write(root, "etc/apt/apt.conf.d/90host", apt_settings())
    (root / "host").mkdir()
    fetch("chroot", str(root), "sh", "-c", IN_ROOT, "sh", kernel_package(kernel))
    (root / "usr/sbin/policy-rc.d").unlink()


def make(folder, kernel):
    """All of an image, in a folder that gets its name when it is whole."""
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="new-") as new:
        new = pathlib.Path(new)
        root = new / "root"
        make_root(root, kernel)
        for path in (root / "boot").glob("*"):
            if path.name.startswith(("vmlinuz-", "initrd.img-")):
                shutil.copy(path, new / path.name)
        make_disk(new / "disk.img", root, "guest", DISK_BYTES)
        shutil.rmtree(root)
        os.rename(new, folder)
        new.mkdir()


def make_disk(path, content, label, size):
    """An ext4 file system with what a folder holds."""
    with open(path, "wb") as file:
        file.truncate(size)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-L", label, "-E", "root_owner=0:0",
                    "-d", str(content), str(path)], check=True)


def recipe():
    """What a change of makes another image, apart from newer packages."""
    text = repr((RELEASE, DISK_BYTES, PACKAGES, IN_ROOT, sorted(FILES.items())))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def image(kernel):
    """The image with this kernel, which is made where it is not there yet."""
    folder = CACHE / f"{kernel}-{recipe()}"
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        print(f"making a Debian {RELEASE} image in {folder}", flush=True)
        make(folder, kernel)
    return Image(folder)


if __name__ == "__main__":
    # What is half made is removed, and what makes it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        image(sys.argv[1])
    except NotToBeHad as reason:
        print(f"skipped: no image of Debian {RELEASE} with Linux {sys.argv[1]}: {reason}")
        sys.exit(NOT_TO_BE_HAD)
