"""Archives and folders that mean harm, or are broken as real ones are."""

import os
import stat
import struct
import warnings
import zipfile
from pathlib import Path

from tests.support.submissions.hostile.cases import GOOD, Build, Cases, patched, zipped

CASES = Cases()


def special(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


@CASES.case(r"house_01.obj: unpacks from .* to 100 MB, more than 200 times")
def zip_bomb(folder: Path) -> Path:
    return zipped(folder, [("house_01.obj", bytes(100_000_000))])


@CASES.case(r"entry.zip: unpacks from .* looks like a zip bomb|to 1 MB, more than 200 times")
def zip_bomb_of_many_files(folder: Path) -> Path:
    return zipped(folder, [(f"house_{n}.obj", bytes(1_000_000)) for n in range(300)])


@CASES.case(r"entry.zip: holds files that overlap")
def zip_bomb_overlapping(folder: Path) -> Path:
    path = zipped(folder, [("house_01.obj", os.urandom(100) + bytes(10_000))])
    data = path.read_bytes()
    start = data.index(b"PK\x01\x02")
    entry = data[start : data.index(b"PK\x05\x06")]
    entries = [entry.replace(b"house_01", b"house_%02d" % n) for n in range(50)]
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, len(entries), len(entries), sum(map(len, entries)), start, 0)
    path.write_bytes(data[:start] + b"".join(entries) + end)
    return path


@CASES.case(r"inner.zip: is an archive within the upload")
def zip_in_zip(folder: Path) -> Path:
    inner = zipped(folder, [("deep.obj", bytes(10_000_000))]).read_bytes()
    return zipped(folder, [("inner.zip", inner)], zipfile.ZIP_STORED)


@CASES.case(r"house_01.obj: line 1: holds a zero byte")
def zip_named_obj(folder: Path) -> Path:
    inner = zipped(folder, [("deep.obj", bytes(10_000_000))]).read_bytes()
    return zipped(folder, [("house_01.obj", inner)], zipfile.ZIP_STORED)


CASES.names(
    r"leads outside the archive with \.\.",
    dot_dot="../evil.obj",
    dot_dot_inside="a/../../evil.obj",
    dot_dot_by_backslash="..\\evil.obj",
    dot_dot_mixed="./a\\..//..\\evil.obj",
    dot_dot_hidden=".a/../evil.obj",
)
CASES.names(
    r"absolute path",
    absolute_path="/tmp/evil.obj",
    drive_letter="C:/evil.obj",
    drive_by_backslash="C:\\evil.obj",
    drive_of_a_folder="c:evil.obj",
    drive_behind_a_dot="./C:/evil.obj",
    share="\\\\server\\evil.obj",
    root_by_backslash="\\evil.obj",
)
CASES.names(
    r"differs from .* by case, separators or accents",
    twice_by_dot_slash="./house_01.obj",
    twice_by_case_and_dot=".\\House_01.obj",
)
CASES.names(r"control or invisible characters", newline_in_name="a\nb.obj", escape_in_name="\x1b[31mred.obj", turned_name="gpj.\u202ejbo")
CASES.names(r"lies 9 folders deep", deep_folders="a/b/c/d/e/f/g/h/i/evil.obj")
CASES.names(r"name of 1004 characters", long_name=f"{'a' * 1000}.obj")
CASES.names(r"house_01.obj: is named twice", twice_by_folder="house_01.obj/inner.obj")
CASES.names(r"House_01.OBJ: differs from house_01.obj by case", twice_by_case="House_01.OBJ")
CASES.names(r"hause_02.obj: is not an item of this phase", misspelt="hause_02.obj")
CASES.names(r"house_02.ply: is not in a format of this phase", other_format="house_02.ply")
CASES.names(r"more/house_01.obj: is a second file for house_01", second_file="more/house_01.obj")
CASES.names(r"house_02.obj/: is a folder that holds data of its own", folder_with_data="house_02.obj/")
CASES.names(r"house_02.obj: is a folder named like a file", folder_named_like_a_file="house_02.obj/readme.txt")


@CASES.case(r"control or invisible characters")
def zero_byte_in_name(folder: Path) -> Path:
    path = zipped(folder, [("house_01.objX.exe", GOOD)])
    return patched(path, lambda data: data.__setitem__(slice(None), data.replace(b"objX.exe", b"obj\0.exe")))


@CASES.case(r"named twice")
def duplicate_names(folder: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return zipped(folder, [("house_01.obj", GOOD), ("house_01.obj", GOOD)])


@CASES.case(r"differs from .* by case, separators or accents")
def duplicate_names_by_separators(folder: Path) -> Path:
    return zipped(folder, [("a/house_01.obj", GOOD), ("a\\house_01.obj", GOOD)])


@CASES.case(r"differs from .* by case, separators or accents")
def duplicate_names_by_accents(folder: Path) -> Path:
    return zipped(folder, [("caf\u00e9.obj", GOOD), ("cafe\u0301.obj", GOOD)])


@CASES.case(r"holds 100000 files and folders, at most 20000")
def hundred_thousand_entries(folder: Path) -> Path:
    return many_entries(folder, 100_000, b"%06d")


@CASES.case(r"lists too many files; at most 20000")
def a_million_entries_of_no_size(folder: Path) -> Path:
    return many_entries(folder, 1_000_000, b"%07d")


def many_entries(folder: Path, count: int, name: bytes) -> Path:
    """Central directory entries without files behind them, far quicker to write than a real archive."""
    width = len(name % 0)
    directory = b"".join(
        struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, width, 0, 0, 0, 0, 0, 4) + name % n
        for n in range(count)
    )
    count = min(count, 0xFFFF)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), 4, 0)
    path = folder / "entry.zip"
    path.write_bytes(b"PK\x03\x04" + directory + end)
    return path


def _linked(name: str, mode: int) -> Build:
    return lambda folder: zipped(folder, [("house_02.obj", GOOD), (special(name, mode), b"/etc/passwd")])


CASES["symlink"] = (_linked("house_01.obj", stat.S_IFLNK | 0o777), r"house_01.obj: is a symbolic link")
CASES["named_pipe"] = (_linked("house_01.obj", stat.S_IFIFO | 0o666), r"house_01.obj: is a special file")
CASES["device"] = (_linked("house_01.obj", stat.S_IFCHR | 0o666), r"house_01.obj: is a special file")


@CASES.case(r"house_01.obj: is a symbolic link")
def symlink_in_folder(folder: Path) -> Path:
    (folder / "entry").mkdir()
    (folder / "entry" / "house_01.obj").symlink_to("/etc/passwd")
    (folder / "entry" / "house_02.obj").write_bytes(GOOD)
    return folder / "entry"


@CASES.case(r"loop: is a symbolic link")
def symlink_loop_in_folder(folder: Path) -> Path:
    (folder / "entry").mkdir()
    (folder / "entry" / "loop").symlink_to(".")
    return folder / "entry"


CASES.whole(r"entry.zip: is empty", empty_upload=b"")
CASES.whole(r"entry.zip: is not a zip archive", wrong_magic=GOOD, gzip_named_zip=b"\x1f\x8b\x08" + bytes(100))
CASES.whole(r"entry.zip: is a broken zip archive", only_magic=b"PK\x03\x04", garbage_after_magic=b"PK\x03\x04" + bytes(range(256)) * 9)
CASES.whole(r"entry.zip: holds no files", empty_archive=b"PK\x05\x06" + bytes(18))


@CASES.case(r"is a broken zip archive")
def truncated_archive(folder: Path) -> Path:
    path = zipped(folder, [("house_01.obj", GOOD * 100)])
    return patched(path, lambda data: data.__delitem__(slice(len(data) - 30, None)))


@CASES.case(r"holds no files")
def only_junk(folder: Path) -> Path:
    return zipped(folder, [("__MACOSX/._x.obj", b"x"), (".DS_Store", b"x"), ("a/Thumbs.db", b"x")])


def _central(data: bytearray, offset: int, form: str, value: int) -> None:
    struct.pack_into(form, data, data.index(b"PK\x01\x02") + offset, value)


def _lying(sentence: str, **changes: tuple[int, str, int]) -> None:
    for label, change in changes.items():
        CASES[label] = (
            lambda folder, c=change: patched(zipped(folder, [("house_01.obj", GOOD * 50)]), lambda data: _central(data, *c)),
            sentence,
        )


_lying(r"house_01.obj: (cannot be unpacked|has another size)", claims_less=(24, "<L", 20), claims_more=(24, "<L", 5000))
_lying(r"house_01.obj: cannot be unpacked \(Bad CRC", wrong_checksum=(16, "<L", 12345))
_lying(r"house_01.obj: is encrypted", encrypted=(8, "<H", 1))
_lying(r"house_01.obj: unpacks from .* to 4.29 GB", claims_four_gigabytes=(24, "<L", 0xFFFFFFFE))
_lying(r"runs into the archive's own list|overlap", packed_size_too_large=(20, "<L", 100_000))
_lying(r"(overlap|runs into|broken zip)", offset_outside=(42, "<L", 0x7FFFFFFF))


@CASES.case(r"house_01.obj: is packed by an uncommon method")
def lzma_archive(folder: Path) -> Path:
    return zipped(folder, [("house_01.obj", GOOD)], zipfile.ZIP_LZMA)


@CASES.case(r"house_01.obj: cannot be unpacked")
def garbled_data(folder: Path) -> Path:
    def garble(data: bytearray) -> None:
        data[45:75] = bytes(255 - byte for byte in data[45:75])

    return patched(zipped(folder, [("house_01.obj", os.urandom(2000).hex().encode())]), garble)
