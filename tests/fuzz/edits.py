"""Damage to files. Each edit takes a generator of random numbers and a sound file, and returns a damaged one.

What depends on a format's grammar takes a file apart, changes one thing in it, and puts it together again so that what
lies behind lengths and checksums is reached too.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

Edit = Callable[[Random, bytes], bytes]

MAX_BYTES = 400_000  # of a case: what repeats grows no further
NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    16,
    31,
    32,
    63,
    64,
    100,
    127,
    128,
    255,
    256,
    1000,
    32767,
    32768,
    65535,
    65536,
    10**6,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
WORDS = (
    b"",
    b"0",
    b"-0",
    b"1",
    b"-1",
    b"2",
    b"3",
    b"1e400",
    b"-1e400",
    b"1e308",
    b"1e-400",
    b"1e7",
    b"10000001",
    b"nan",
    b"-nan",
    b"inf",
    b"NaN",
    b"Infinity",
    b"0x10",
    b"1_000",
    b"1.",
    b".5",
    b"+5",
    b"5e",
    b"1e+",
    b"--1",
    b"1-2",
    b"1.5.2",
    b"4294967296",
    b"2147483648",
    b"-2147483649",
    b"9223372036854775807",
    b"9223372036854775808",
    b"99999999999999999999",
    b"9" * 400,
    b"null",
    b"true",
    b"None",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\x00",
    b"\xc3",
    b"\xe2\x80\xae",
    b"\xed\xa0\x80",
    b"\xd9\xa3",
    b"\xc2\xb2",
    b"#",
    b"\\",
    b"/",
    b'"',
    b"'",
    b"%s",
    b"..",
    b"*",
    b"&a",
    b"!!python/name:os.system",
    b"{}",
    b"[]",
    b"[[]]",
    b"{",
    b"]",
    b":",
    b",",
    b"-",
    b"|",
    b">",
    b"\t",
)
ENDS = (b"\n", b"\r\n", b"\r", b"\n\n", b"\x0b", b"\x0c", b"\x1c", b"\x85", b" ", b"\\\n")


# --- any bytes


def flip(dice: Random, data: bytes) -> bytes:
    """Some bits turned over."""
    found = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4, 16))):
        found[dice.randrange(len(found))] ^= 1 << dice.randrange(8)
    return bytes(found)


def overwrite(dice: Random, data: bytes) -> bytes:
    """A number of 1 to 8 bytes, of a kind that breaks sums, written over some place."""
    width = dice.choice((1, 2, 4, 8))
    number = dice.choice(NUMBERS) % (1 << 8 * width)
    at = dice.randrange(len(data))
    return data[:at] + number.to_bytes(width, dice.choice(("little", "big"))) + data[at + width :]


def truncate(dice: Random, data: bytes) -> bytes:
    """The file cut off, near its end as often as anywhere."""
    return data[: dice.choice((dice.randrange(len(data)), max(0, len(data) - dice.randrange(1, 40))))]


def splice(dice: Random, data: bytes, other: bytes) -> bytes:
    """The beginning of one file and the end of another."""
    return data[: dice.randrange(len(data) + 1)] + other[dice.randrange(len(other) + 1) :]


def rearrange(dice: Random, data: bytes) -> bytes:
    """A piece taken out, repeated, moved, or filled with noise."""
    a, b = sorted(dice.randrange(len(data) + 1) for _ in range(2))
    if dice.random() < 0.7:
        b = min(b, a + dice.choice((1, 2, 4, 8, 32, 200)))
    piece = data[a:b]
    act = dice.randrange(5)
    if act == 0:
        return data[:a] + data[b:]
    if act == 1:
        return data[:b] + piece * dice.choice((1, 2, 9, 100)) + data[b:]
    if act == 2:
        rest = data[:a] + data[b:]
        at = dice.randrange(len(rest) + 1)
        return rest[:at] + piece + rest[at:]
    if act == 3:
        return data[:a] + dice.randbytes(b - a) + data[b:]
    return data[:a] + bytes([dice.choice((0, 32, 48, 255))]) * (b - a) + data[b:]


ANY: tuple[Edit, ...] = (flip, overwrite, truncate, rearrange)


# --- text


def words(*more: bytes) -> Edit:
    """One word changed, doubled, dropped or swapped; `more` are the format's own words."""
    pool = WORDS + more * 3

    def edit(dice: Random, data: bytes) -> bytes:
        found = re.split(rb"([\s,;:\[\](){}\"'/=]+)", data)
        for _ in range(dice.choice((1, 1, 2, 5))):
            at = dice.randrange(len(found))
            act = dice.randrange(5)
            if act < 2:
                found[at] = dice.choice(pool)
            elif act == 2:
                found[at] = b""
            elif act == 3:
                found[at] = found[at] * dice.choice((2, 3, 50))
            else:
                other = dice.randrange(len(found))
                found[at], found[other] = found[other], found[at]
        return b"".join(found)

    return edit


def lines(*more: bytes) -> Edit:
    """One line dropped, repeated, moved, joined, or put in; `more` are lines of the format."""

    def edit(dice: Random, data: bytes) -> bytes:
        found = data.split(b"\n")
        at = dice.randrange(len(found))
        act = dice.randrange(6)
        if act == 0:
            del found[at]
        elif act == 1:
            found[at:at] = [found[at]] * dice.choice((1, 2, 30, 2000))
        elif act == 2:
            found.insert(dice.randrange(len(found)), found.pop(at))
        elif act == 3 and more:
            found.insert(at, dice.choice(more))
        elif act == 4:
            return data.replace(b"\n", dice.choice(ENDS))
        else:
            found[at] = dice.choice((b"", b" ", found[at].strip(), found[at] + b" " + dice.choice(WORDS), found[at][: len(found[at]) // 2]))
        return b"\n".join(found)

    return edit


# --- JSON


def change_tree(dice: Random, tree: Any, keys: Sequence[str] = ()) -> Any:
    """One value somewhere in lists and objects changed, dropped, repeated, moved into another, or buried."""
    places: list[tuple[Any, Any]] = []
    stack = [tree]
    while stack and len(places) < 5000:
        node = stack.pop()
        pairs = list(node.items() if type(node) is dict else enumerate(node) if type(node) is list else ())
        places += [(node, key) for key, _ in pairs]
        stack += [value for _, value in pairs]
    if not places:
        return dice.choice((None, [], {}, 0, "", [[]]))
    owner, key = dice.choice(places)
    act = dice.randrange(8)
    if act == 0:
        del owner[key]
    elif act == 1:
        owner[key] = dice.choice((None, True, False, "", "0", [], {}, [[]], [None], -1, 0.5, 1e308, "\ud800", "\0", "a" * 3000))
    elif act == 2:
        owner[key] = dice.choice((1, -1)) * dice.choice(NUMBERS)
    elif act == 3:
        other, place = dice.choice(places)
        owner[key] = json.loads(json.dumps(other[place] if place in other or (type(other) is list and place < len(other)) else None))
    elif act == 4:
        value = owner[key]
        for _ in range(dice.choice((1, 2, 20, 300))):
            value = [value] if dice.random() < 0.5 else {"a": value}
        owner[key] = value
    elif act == 5 and type(owner) is list:
        owner[key:key] = [owner[key]] * dice.choice((1, 3, 1000))
    elif act == 6 and type(owner) is dict:
        owner[dice.choice((*keys, "a", "", "__class__"))] = owner.pop(key)
    else:
        owner[key] = dice.choice((owner[key], [owner[key]] * 3, str(owner[key])[:100]))
    return tree


def json_values(*keys: str) -> Edit:
    """A value in a JSON file; `keys` are names of the format."""

    def edit(dice: Random, data: bytes) -> bytes:
        tree = json.loads(data)
        for _ in range(dice.choice((1, 1, 2, 4))):
            tree = change_tree(dice, tree, keys)
            text = json.dumps(tree).encode()
            if len(text) > MAX_BYTES:  # what is repeated again and again would fill the memory
                break
        return text

    return edit


# --- containers


def glb_values(*keys: str) -> Edit:
    """A value in the JSON of a GLB, or its binary chunk; lengths are made right again."""
    change = json_values(*keys)

    def edit(dice: Random, data: bytes) -> bytes:
        length = struct.unpack_from("<I", data, 12)[0]
        text, rest = data[20 : 20 + length], data[28 + length :]
        if dice.random() < 0.85 or not rest:
            text = change(dice, text)
        else:
            rest = dice.choice(ANY)(dice, rest)
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(rest), b"BIN\0") + rest
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks

    return edit


def png_chunks(dice: Random, data: bytes) -> bytes:
    """A chunk of a PNG changed, dropped, repeated, moved or put in, with its checksum made right; the pixels unpacked first."""
    chunks, at = [], 8
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunks.append((kind, data[at + 8 : at + 8 + length]))
        at += 12 + length
    n = dice.randrange(len(chunks))
    kind, body = chunks[n]
    act = dice.randrange(7)
    if act == 0:
        del chunks[n]
    elif act == 1:
        chunks[n:n] = [chunks[n]] * dice.choice((1, 1, 200))
    elif act == 2:
        chunks.insert(dice.randrange(len(chunks)), chunks.pop(n))
    elif act == 3:
        made = dice.choice(
            (b"PLTE", b"tRNS", b"iCCP", b"eXIf", b"gAMA", b"cHRM", b"acTL", b"fcTL", b"fdAT", b"IHDR", b"zTXt", b"iTXt", b"sRGB")
        )
        filling = dice.choice((b"", dice.randbytes(dice.choice((1, 3, 26, 300))), b"x\0\0" + zlib.compress(bytes(dice.choice((9, 10**6))))))
        chunks.insert(dice.randrange(len(chunks)), (made, filling))
    elif act == 4 and kind == b"IDAT":
        pixels = zlib.decompressobj().decompress(body, MAX_BYTES)
        chunks[n] = (kind, zlib.compress(dice.choice(ANY)(dice, pixels or b"\0"), 1))
    elif act == 5:  # width, height, depth, colours, and the methods of the header
        fields = list(struct.unpack_from(">IIBBBBB", chunks[0][1].ljust(13, b"\0")))
        field = dice.randrange(7)
        fields[field] = dice.choice(NUMBERS[:24] if field < 2 else (0, 1, 2, 3, 4, 5, 6, 8, 16, 255)) % (1 << (32 if field < 2 else 8))
        chunks[0] = (chunks[0][0], struct.pack(">IIBBBBB", *fields))
    elif body:
        chunks[n] = (kind, dice.choice(ANY)(dice, body))
    sealed = (struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks)
    return data[:8] + b"".join(sealed)


def jpeg_segments(dice: Random, data: bytes) -> bytes:
    """A segment of a JPEG before its pixels changed, dropped, repeated, moved or put in, with its length made right."""
    segments, at = [], 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] != 0xDA:
        (length,) = struct.unpack_from(">H", data, at + 2)
        segments.append((data[at + 1], data[at + 4 : at + 2 + length]))
        at += 2 + length
    n = dice.randrange(len(segments))
    act = dice.randrange(5)
    if act == 0:
        del segments[n]
    elif act == 1:
        segments[n:n] = [segments[n]] * dice.choice((1, 1, 200))
    elif act == 2:
        segments.insert(dice.randrange(len(segments)), segments.pop(n))
    elif act == 3:
        segments.insert(
            n, (dice.choice((0xC0, 0xC2, 0xC4, 0xDB, 0xDD, 0xE1, 0xE2, 0xEE, 0xFE, 0x01)), dice.randbytes(dice.choice((0, 2, 17, 300))))
        )
    elif segments[n][1]:
        segments[n] = (segments[n][0], dice.choice(ANY)(dice, segments[n][1])[:65533])
    made = b"".join(struct.pack(">BBH", 0xFF, marker, min(len(body) + 2, 65535)) + body for marker, body in segments)
    return data[:2] + made + data[at:]


def riff_chunks(dice: Random, data: bytes) -> bytes:
    """A chunk of a WebP changed, dropped, repeated, moved or put in, with the lengths made right."""
    chunks, at = [], 12
    while at + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, at)
        chunks.append((kind, data[at + 8 : at + 8 + length]))
        at += 8 + length + length % 2
    n = dice.randrange(len(chunks))
    act = dice.randrange(5)
    if act == 0 and len(chunks) > 1:
        del chunks[n]
    elif act == 1:
        chunks[n:n] = [chunks[n]] * dice.choice((1, 1, 50))
    elif act == 2:
        chunks.insert(dice.randrange(len(chunks)), chunks.pop(n))
    elif act == 3:
        made = dice.choice((b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP", b"EXIF", b"XMP ", b"VP8 ", b"VP8L"))
        chunks.insert(dice.randrange(len(chunks) + 1), (made, dice.randbytes(dice.choice((0, 6, 10, 16, 200)))))
    elif chunks[n][1]:
        chunks[n] = (chunks[n][0], dice.choice(ANY)(dice, chunks[n][1]))
    made = b"".join(struct.pack("<4sI", kind, len(body)) + body + bytes(len(body) % 2) for kind, body in chunks)
    return struct.pack("<4sI4s", b"RIFF", len(made) + 4, b"WEBP") + made


def zip_members(inner: Edit, names: Sequence[str]) -> Edit:
    """A member of a zip damaged by `inner`, renamed, dropped, repeated, or with a field of its header changed."""

    def edit(dice: Random, data: bytes) -> bytes:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
        n = dice.randrange(len(members))
        name, body = members[n]
        act = dice.randrange(6)
        if act < 2 and body:
            members[n] = (name, inner(dice, body))
        elif act == 2:
            members[n] = (
                dice.choice((*names, "", "/", "..", "../x", "a/" * 9 + "x", "\x00", "\u202e", "a" * 300, name.upper(), name + "/")),
                body,
            )
        elif act == 3:
            members.append((dice.choice((name, *names)), body * dice.choice((0, 1, 400))))
        made = _zipped(members, dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
        if act >= 4:  # a field of a local header, of the directory or of its end
            found = bytearray(made)
            starts = [at.start() for at in re.finditer(rb"PK(\x01\x02|\x03\x04|\x05\x06)", made)]
            at = dice.choice(starts) + dice.randrange(4, 46)
            width = dice.choice((1, 2, 4))
            found[at : at + width] = (dice.choice(NUMBERS) % (1 << 8 * width)).to_bytes(width, "little")
            return bytes(found)
        return made

    return edit


def _zipped(members: Sequence[tuple[str, bytes]], method: int) -> bytes:
    """The members as a zip, with names that `zipfile` would mend as they are."""
    made, directory = bytearray(), bytearray()
    for name, body in members:
        packer = zlib.compressobj(1, zlib.DEFLATED, -15)
        packed = body if method == zipfile.ZIP_STORED else packer.compress(body) + packer.flush()
        raw = name.encode("utf-8", "surrogatepass")
        fields = struct.pack("<HHHHHIIIHH", 20, 0x800, method, 0, 33, zlib.crc32(body), len(packed), len(body), len(raw), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, len(made)) + raw
        made += b"PK\x03\x04" + fields + raw + packed
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(made), 0)
    return bytes(made + directory + end)


def head(marker: bytes, *edits: Edit) -> Edit:
    """Damage to what stands before the end of `marker`, the rest left as it is: the header of a binary file."""

    def edit(dice: Random, data: bytes) -> bytes:
        at = data.find(marker) + len(marker)
        return dice.choice(edits)(dice, data[:at] or b" ") + data[at:]

    return edit


def tail(size: int, *edits: Edit) -> Edit:
    """The last bytes damaged, the rest as it is: the footer of a file that is read from its end."""

    def edit(dice: Random, data: bytes) -> bytes:
        return data[:-size] + dice.choice(edits)(dice, data[-size:])

    return edit


# --- all of them


def case(dice: Random, seeds: Sequence[bytes], edits: Sequence[Edit]) -> bytes:
    """One damaged file: a sound one after one to three edits, every other time by its grammar where it has one."""
    data = dice.choice(seeds)
    if dice.random() < 0.1:
        data = splice(dice, data, dice.choice(seeds))
    else:
        # An edit by grammar needs a sound file, so it comes first.
        data = dice.choice(edits if edits and dice.random() < 0.6 else ANY)(dice, data)
    for _ in range(dice.choice((0, 0, 0, 1, 2))):
        data = dice.choice(ANY)(dice, data or b" ")
    return data[:MAX_BYTES]
