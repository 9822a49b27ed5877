"""Damage to the bytes of a PDF: whatever comes of it is taken, or refused in words."""

import re
from collections.abc import Callable, Mapping
from random import Random

Damage = Callable[[bytes, Random], bytes]

NUMBER, NAME = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])"), re.compile(rb"/[A-Za-z][\w.]*")
REFERENCE = re.compile(rb"\b(\d+) (\d+) R\b")
LENGTH, WORD = re.compile(rb"/Length (\d+)"), re.compile(rb"\b(?:end)?(?:obj|stream)\b")
TABLE, TRAILER = (
    re.compile(rb"\bxref\b[\s\d nf]*"),
    re.compile(rb"trailer.*?(?=startxref)|/Type ?/XRef.*?>>", re.DOTALL),
)
ODD = (
    *(b"0", b"-1", b"1", b"65536", b"2147483647", b"2147483648", b"-2147483649", b"4294967296"),
    *(b"9223372036854775807", b"9223372036854775808", b"9" * 400, b"1e400", b"0.0000001", b"-0.0", b"1.5.2"),
    *(b"null", b"true", b"()", b"<>", b"[]", b"<<>>", b"/", b"--7", b"+", b"."),
)


def place(file: bytes, random: Random) -> int:
    return random.randrange(len(file) + 1)


def piece(file: bytes, random: Random) -> tuple[int, int]:
    """Where a piece begins and ends, mostly a small one."""
    first = place(file, random)
    return first, min(len(file), first + int(2 ** random.uniform(0, 13)))


def bits_flipped(file: bytes, random: Random) -> bytes:
    made = bytearray(file)
    for _ in range(int(2 ** random.uniform(0, 8))):
        made[random.randrange(len(made))] ^= 1 << random.randrange(8)
    return bytes(made)


def overwrite_bytes(file: bytes, random: Random) -> bytes:
    first, last = piece(file, random)
    return file[:first] + random.randbytes(last - first) + file[last:]


def zero_bytes(file: bytes, random: Random) -> bytes:
    first, last = piece(file, random)
    return file[:first] + bytes(last - first) + file[last:]


def cut_end(file: bytes, random: Random) -> bytes:
    return file[: place(file, random)]


def cut_head(file: bytes, random: Random) -> bytes:
    return file[piece(file, random)[0] % 5000 :]


def delete_bytes(file: bytes, random: Random) -> bytes:
    first, last = piece(file, random)
    return file[:first] + file[last:]


def double_bytes(file: bytes, random: Random) -> bytes:
    first, last = piece(file, random)
    return file[:last] + file[first:last] * random.randrange(1, 4) + file[last:]


def swap_bytes(file: bytes, random: Random) -> bytes:
    a, b, c, d = sorted(place(file, random) for _ in range(4))
    return file[:a] + file[c:d] + file[b:c] + file[a:b] + file[d:]


def replace_places(
    pattern: re.Pattern[bytes], new: Callable[[re.Match[bytes], bytes, Random], bytes]
) -> Damage:
    """Some of the places that look like this hold something else."""

    def damage(file: bytes, random: Random) -> bytes:
        found = list(pattern.finditer(file))
        for match in sorted(
            random.sample(found, min(len(found), random.randrange(1, 6))), key=lambda m: -m.start()
        ):
            file = file[: match.start()] + new(match, file, random) + file[match.end() :]
        return file

    return damage


def odd(match: re.Match[bytes], file: bytes, random: Random) -> bytes:
    return random.choice(ODD)


def nest_value(match: re.Match[bytes], file: bytes, random: Random) -> bytes:
    """A value within thousands of brackets, closed or not."""
    depth, (opening, closing) = (
        int(10 ** random.uniform(1, 5.3)),
        random.choice([(b"[", b"]"), (b"<</A ", b">>"), (b"(", b")")]),
    )
    return opening * depth + match[0] + closing * (depth if random.random() < 0.7 else 0)


def another(match: re.Match[bytes], file: bytes, random: Random) -> bytes:
    """What stands elsewhere in the file at a place of this kind: circles come of references."""
    return bytes(random.choice([found[0] for found in match.re.finditer(file)]))


def length(match: re.Match[bytes], file: bytes, random: Random) -> bytes:
    was = int(match[1])
    return b"/Length %d" % random.choice([0, 1, was - 1, was + 1, was * 10, len(file), 2**31, 2**63, -was])


def digits(match: re.Match[bytes], file: bytes, random: Random) -> bytes:
    """Some digits of a table are others."""
    made = bytearray(match[0])
    places = [at for at, byte in enumerate(made) if chr(byte).isdigit()]
    for at in random.sample(places, min(len(places), random.randrange(1, 20))):
        made[at] = random.choice(b"0123456789")
    return bytes(made)


def tear_entry(match: re.Match[bytes], file: bytes, random: Random) -> bytes:
    """One entry less, or one of them with another value."""
    damage = random.choice(
        [delete_bytes, bits_flipped, replace_places(NUMBER, odd), replace_places(NAME, another)]
    )
    return damage(match[0], random)


def word(match: re.Match[bytes], file: bytes, random: Random) -> bytes:
    return random.choice([b"", b"obj", b"endobj", b"stream\n", b"endstream", b"%", b"xref", b"(", b"<<"])


HARMFUL: Mapping[str, Damage] = {
    "bits-flipped": bits_flipped,
    "overwritten": overwrite_bytes,
    "zeroed": zero_bytes,
    "cut": cut_end,
    "beheaded": cut_head,
    "deleted": delete_bytes,
    "doubled": double_bytes,
    "swapped": swap_bytes,
    "odd-numbers": replace_places(NUMBER, odd),
    "nested": replace_places(NUMBER, nest_value),
    "other-numbers": replace_places(NUMBER, another),
    "other-names": replace_places(NAME, another),
    "other-references": replace_places(REFERENCE, another),
    "lengths": replace_places(LENGTH, length),
    "table": replace_places(TABLE, digits),
    "trailer": replace_places(TRAILER, tear_entry),
    "words": replace_places(WORD, word),
}
