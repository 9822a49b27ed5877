"""Forbid system calls to this process, for ever and for all that it starts (seccomp, Linux 3.17).

The filter is assembled here, because libseccomp is not on every machine and its Python binding on hardly any; the
kernel's own interface is a list of eight-byte instructions. The list forbids what it names and lets everything else
pass: which calls the allocators, thread libraries and C libraries of all distributions need is not known, and a job
that dies of a harmless one would be a document without its seal. Most calls fail with EPERM, which ends up in the log
with its name. What no library ever calls ends the process: an exploit at work gets no second try.
"""

import ctypes
import os
import platform
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

# linux/bpf_common.h, linux/seccomp.h, linux/audit.h, linux/prctl.h
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, FAIL_WITH = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38
SET_SECCOMP, FILTER_MODE, GET_SECCOMP = 22, 2, 21
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = (
    0,
    4,
    16,
)  # offsets in struct seccomp_data; both machines are little-endian
X32 = 0x40000000  # calls of the ABI of x86-64 with short pointers begin here

WRITING = 0o3 | 0o100 | 0o1000 | 0o20000000  # O_ACCMODE, O_CREAT, O_TRUNC, O_TMPFILE
NEW_THREAD = 0x10000  # CLONE_THREAD
ENDS_WITH_PARENT, IS_DUMPABLE = 1, 4  # options of prctl that a confined process keeps as they are

# Each call with its number on x86-64 and on aarch64; -1 where a machine has none.
REFUSED = {
    # other programs and processes
    **{"execve": (59, 221), "execveat": (322, 281), "fork": (57, -1), "vfork": (58, -1)},
    **{"unshare": (272, 97), "setns": (308, 268)},
    **{"tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240)},
    **{"pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438)},
    **{"process_madvise": (440, 440)},
    # connections; an event loop wakes itself by a pair of sockets (socketpair, sendto)
    **{"socket": (41, 198), "connect": (42, 203), "bind": (49, 200)},
    **{"listen": (50, 201), "accept": (43, 202), "accept4": (288, 242)},
    **{"sendmsg": (46, 211), "sendmmsg": (307, 269)},
    **{"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427)},
    **{"shmget": (29, 194), "shmat": (30, 196), "semget": (64, 190), "msgget": (68, 186)},
    **{"mq_open": (240, 180), "name_to_handle_at": (303, 264)},
    # files
    **{"creat": (85, -1), "mknod": (133, -1), "mknodat": (259, 33), "mkdir": (83, -1), "mkdirat": (258, 34)},
    **{"rmdir": (84, -1), "unlink": (87, -1), "unlinkat": (263, 35)},
    **{"rename": (82, -1), "renameat": (264, 38), "renameat2": (316, 276)},
    **{"link": (86, -1), "linkat": (265, 37), "symlink": (88, -1), "symlinkat": (266, 36)},
    **{"truncate": (76, 45), "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53)},
    **{"fchmodat2": (452, 452), "chown": (92, -1), "lchown": (94, -1), "fchown": (93, 55)},
    **{"fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1)},
    **{"utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7)},
    **{"removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16)},
    # other users
    **{"setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143)},
    **{"setresuid": (117, 147), "setresgid": (119, 149), "setgroups": (116, 159)},
}
# The filter cannot see into memory, where these have their flags. The C library then calls clone and openat instead.
UNKNOWN = {"clone3": (435, 435), "openat2": (437, 437)}
DEADLY = {
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"kcmp": (312, 272), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41)},
    **{"chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430)},
    **{"fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442)},
    **{"bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282)},
    **{"keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218)},
    **{"kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105)},
    **{"finit_module": (313, 273), "delete_module": (176, 106), "open_by_handle_at": (304, 265)},
    **{"swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "acct": (163, 89)},
    **{"settimeofday": (164, 170), "clock_settime": (227, 112), "sethostname": (170, 161)},
    **{"setdomainname": (171, 162), "iopl": (172, -1), "ioperm": (173, -1), "quotactl": (179, 60)},
    **{"modify_ldt": (154, -1), "syslog": (103, 116), "vhangup": (153, 58)},
}


class Machine(NamedTuple):
    """A processor: its name in the audit interface of Linux, and which column of the tables it has."""

    audit: int
    column: int


MACHINES = {"x86_64": Machine(0xC000003E, 0), "aarch64": Machine(0xC00000B7, 1)}

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, value


def forbid_calls(opens_files: bool) -> bool:
    """Install the filter, and return whether the kernel took it. `opens_files` lets the process open files to read.

    The process must be without a way to new privileges (prctl). A machine that is not in MACHINES gets no filter.
    """
    machine = MACHINES.get(platform.machine())
    if machine is None:
        return False
    code = assemble_filter(machine, os.getpid(), opens_files)
    packed = b"".join(struct.pack("<HBBI", *one) for one in code)
    held = ctypes.create_string_buffer(packed, len(packed))
    program = struct.pack("@HxxxxxxP", len(code), ctypes.addressof(held))
    library = ctypes.CDLL(None, use_errno=True)
    return bool(library.prctl(SET_SECCOMP, FILTER_MODE, ctypes.c_char_p(program), 0, 0) == 0)


def is_filtered() -> bool:
    """Return whether this process has a filter."""
    return bool(ctypes.CDLL(None).prctl(GET_SECCOMP, 0, 0, 0, 0) == FILTER_MODE)


def assemble_filter(machine: Machine, pid: int, opens_files: bool) -> list[Instruction]:
    """Return the filter for a process with this id."""
    code: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, machine.audit),
        _give(KILL),  # calls of another machine have other numbers
        (LOAD, 0, 0, NUMBER),
    ]
    if machine.column == 0:
        code += [(AT_LEAST, 0, 1, X32), _give(KILL)]
    for table, answer in ((REFUSED, FAIL_WITH | EPERM), (UNKNOWN, FAIL_WITH | ENOSYS), (DEADLY, KILL)):
        for number in _list_numbers(table.values(), machine):
            code += [(EQUAL, 0, 1, number), _give(answer)]
    for numbers, argument, checks in _list_conditions(pid, opens_files):
        for number in _list_numbers([numbers], machine):
            code += _assemble_condition(number, argument, checks)
    return [*code, _give(ALLOW)]


def _list_numbers(calls: Iterable[tuple[int, int]], machine: Machine) -> Iterator[int]:
    return (numbers[machine.column] for numbers in calls if numbers[machine.column] >= 0)


# Whether an argument is this value, or has one of these bits, and whether the call then passes.
Check = tuple[int, int, bool]


def _list_conditions(pid: int, opens_files: bool) -> Iterator[tuple[tuple[int, int], int, Sequence[Check]]]:
    """Yield calls whose arguments decide: the numbers of each, which argument, and the checks of it.

    What none of the checks names passes if the last of them refuses, and is refused if it passes.
    """
    reading = [(ANY_BIT, WRITING, False)] if opens_files else [(AT_LEAST, 0, False)]
    yield (2, -1), 1, reading  # open
    yield (257, 56), 2, reading  # openat
    yield (56, 220), 0, [(ANY_BIT, NEW_THREAD, True)]  # clone
    yield (62, 129), 0, [(EQUAL, pid, True)]  # kill
    yield (234, 131), 0, [(EQUAL, pid, True)]  # tgkill
    yield (302, 261), 0, [(EQUAL, 0, True), (EQUAL, pid, True)]  # prlimit64
    yield (157, 167), 0, [(EQUAL, ENDS_WITH_PARENT, False), (EQUAL, IS_DUMPABLE, False)]  # prctl


def _assemble_condition(number: int, argument: int, checks: Sequence[Check]) -> list[Instruction]:
    """Return the instructions for one call; only the lower half of an argument counts, as the kernel reads an int."""
    block: list[Instruction] = [(LOAD, 0, 0, FIRST_ARGUMENT + 8 * argument)]
    for kind, value, passes in checks:
        block += [(kind, 0, 1, value), _give(ALLOW if passes else FAIL_WITH | EPERM)]
    block.append(_give(FAIL_WITH | EPERM if checks[-1][2] else ALLOW))
    return [(EQUAL, 0, len(block), number), *block]


def _give(answer: int) -> Instruction:
    return (RETURN, 0, 0, answer)
