#!/usr/bin/env python3
"""Tries what the restrictions of etld.service forbid, from inside of such a service (check_sandbox.bash).

sandbox_probe.py forbidden PID1-NAMESPACES  every attempt must be refused
sandbox_probe.py possible PID1-NAMESPACES   every attempt must succeed: outside of the sandbox, as root, so that no attempt
                                            is refused for a reason of its own
sandbox_probe.py needed                     what the daemon lives on must work, as its user

PID1-NAMESPACES: the links /proc/1/ns/mnt and /proc/1/ns/ipc as seen from outside, joined by a comma.
"""

import ctypes
import mmap
import os
import pathlib
import socket
import subprocess
import sys
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
STATE = pathlib.Path("/var/lib/etld")
PLANTED = "planted_outside"  # a file that check_sandbox.bash puts into /root and /tmp


def call(name, *arguments):
    """A function of the C library; its failure is an OSError."""
    result = getattr(LIBC, name)(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result



def write(path):
    path = pathlib.Path(path)
    path.write_text("probe")
    path.unlink()


def run_written_program():
    program = STATE / "program"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    try:
        subprocess.run([str(program)], check=True)
    finally:
        program.unlink()


def set_user_id_file():
    path = STATE / "set_user_id"
    path.write_text("")
    try:
        path.chmod(0o4755)
    finally:
        path.unlink()


def make_control_group():
    # The hierarchy that systemd itself uses: the named one beside the old controllers, else the only one.
    parent = pathlib.Path("/sys/fs/cgroup/systemd")
    path = (parent if parent.is_dir() else parent.parent) / "probe"
    path.mkdir()
    path.rmdir()


def need(what):
    if not what:
        raise PermissionError("not so")


def widely_readable_file():
    path = STATE / "readable"
    path.write_text("")
    mode = path.stat().st_mode
    path.unlink()
    need(mode & 0o004)


def attempts(namespaces):
    mount_namespace, ipc_namespace = namespaces.split(",")
    no_new_privileges, capability_in_set, address_no_randomize = 39, 23, 0x0040000
    real_time = 1  # SCHED_FIFO
    return {
        "CapabilityBoundingSet": lambda: need(any(call("prctl", capability_in_set, n, 0, 0, 0) for n in range(38))),
        "LockPersonality": lambda: call("personality", address_no_randomize),
        "MemoryDenyWriteExecute": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC),
        "NoExecPaths": run_written_program,
        "NoNewPrivileges": lambda: need(call("prctl", no_new_privileges, 0, 0, 0, 0) == 0),
        "PrivateIPC": lambda: need(os.readlink("/proc/self/ns/ipc") == ipc_namespace),
        "PrivateMounts": lambda: need(os.readlink("/proc/self/ns/mnt") == mount_namespace),
        "PrivateTmp": lambda: need(os.path.exists("/tmp/" + PLANTED)),
        "ProcSubset": lambda: open("/proc/meminfo").close(),
        "ProtectControlGroups": make_control_group,
        "ProtectHome": lambda: open("/root/" + PLANTED).close(),
        "ProtectHostname": lambda: socket.sethostname("probe"),
        "ProtectProc": lambda: open("/proc/1/status").close(),
        "ProtectSystem, /usr": lambda: write("/usr/probe"),
        "ProtectSystem, /etc": lambda: write("/etc/probe"),
        "ProtectSystem, /var": lambda: write("/var/lib/probe"),
        "RestrictAddressFamilies, netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
        "RestrictAddressFamilies, packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close(),
        "RestrictNamespaces": lambda: call("unshare", 0x04000000),  # CLONE_NEWUTS
        "RestrictRealtime": lambda: os.sched_setscheduler(0, real_time, os.sched_param(1)),
        "RestrictSUIDSGID": set_user_id_file,
        "SystemCallFilter, @debug": lambda: call("ptrace", 0, 0, 0, 0),  # PTRACE_TRACEME
        "SystemCallFilter, @privileged": lambda: call("chroot", b"/"),
        "SystemCallFilter, @resources": lambda: os.setpriority(os.PRIO_PROCESS, 0, 5),
        "UMask": widely_readable_file,
    }


def listen_and_connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as server, socket.socket(family, socket.SOCK_STREAM) as client:
        server.bind(address)
        server.listen(1)
        client.connect(server.getsockname())


def thread():
    ran = []
    one = threading.Thread(target=lambda: ran.append(True))
    one.start()
    one.join()
    need(ran)


def needs():
    return {
        "its user": lambda: need(os.getuid() != 0 and os.getgid() != 0),
        "write state": lambda: write(STATE / "probe"),
        "hard links, for generations": lambda: (
            (STATE / "one").write_text(""),
            os.link(STATE / "one", STATE / "two"),
            (STATE / "one").unlink(),
            (STATE / "two").unlink(),
        ),
        "write its runtime folder": lambda: write("/run/etld/probe"),
        "read its settings": lambda: open("/etc/etld/etld.toml").close(),
        "memory": lambda: mmap.mmap(-1, 1 << 20),
        "threads": thread,
        "TCP": lambda: listen_and_connect(socket.AF_INET, ("127.0.0.1", 0)),
        "UNIX sockets": lambda: (
            listen_and_connect(socket.AF_UNIX, "/run/etld/probe.sock"),
            os.unlink("/run/etld/probe.sock"),
        ),
        "users and groups": lambda: socket.socket(socket.AF_UNIX).close() or need(__import__("grp").getgrnam("etld-admin")),
    }


def main():
    mode = sys.argv[1]
    tries = needs() if mode == "needed" else attempts(sys.argv[2])
    faults = 0
    for name, attempt in tries.items():
        # Each in a process of its own: some change the process for good.
        child = os.fork()
        if child == 0:
            try:
                attempt()
            except OSError as error:
                if mode != "forbidden":
                    print(f"{name}: refused: {error}", flush=True)
                os._exit(1)
            except BaseException as error:  # a fault of the probe itself is neither
                print(f"{name}: {error!r}", flush=True)
                os._exit(2)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != (1 if mode == "forbidden" else 0):
            print(f"{name}: " + ("was allowed" if status == 0 else f"ended with {status}"), flush=True)
            faults += 1
    print(f"{mode}: {len(tries)} tried, {faults} faults", flush=True)
    return 1 if faults else 0


sys.exit(main())
