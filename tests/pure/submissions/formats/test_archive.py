import os
import stat
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from submissions.formats.archive import PackageError, open_package
from submissions.manifest import Bounds

CONTENT = {"a.obj": b"v 0 0 0\n", "b.json": b"{}", "sub/c.npz": b"PK"}


def folder(path: Path, contents: dict[str, bytes]) -> Path:
    for name, data in contents.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def archive(path: Path, contents: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as target:
        for name, data in contents.items():
            target.writestr(name, data)
    return path


def read_all(path: Path, bounds: Bounds = Bounds()) -> dict[str, bytes]:  # noqa: B008
    with open_package(path, bounds) as package:
        return {file.name: package.read(file.name) for file in package.files}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_and_a_folder_of_the_same_files_read_the_same(tmp_path: Path, method: int) -> None:
    assert read_all(archive(tmp_path / "x.zip", CONTENT, method)) == CONTENT
    assert read_all(folder(tmp_path / "x", CONTENT)) == CONTENT


def test_sizes_are_known_before_reading(tmp_path: Path) -> None:
    with open_package(archive(tmp_path / "x.zip", CONTENT)) as package:
        assert [(file.name, file.size) for file in package.files] == [("a.obj", 8), ("b.json", 2), ("sub/c.npz", 2)]


def test_one_common_top_folder_is_cut_off(tmp_path: Path) -> None:
    inside = {f"my entry/{name}": data for name, data in CONTENT.items()}
    assert read_all(archive(tmp_path / "x.zip", {"my entry/": b"", **inside})) == CONTENT


def test_two_top_folders_are_kept(tmp_path: Path) -> None:
    contents = {"a/x.obj": b"1", "b/x.obj": b"2"}
    assert read_all(archive(tmp_path / "x.zip", contents)) == contents


def test_junk_of_file_managers_is_ignored(tmp_path: Path) -> None:
    junk = {
        **{"__MACOSX/._a.obj": b"junk", ".DS_Store": b"junk", "sub/Thumbs.db": b"junk", "sub/.DS_Store": b"", "sub/._c.npz": b"junk"},
        **{"Desktop.ini": b"junk", "sub/desktop.ini": b"junk", ".gitattributes": b"junk", ".gitkeep": b"", ".git/HEAD": b"junk"},
        **{"@eaDir/a.obj": b"junk", ".ipynb_checkpoints/a.obj": b"junk", ".git/a.zip": b"junk", "#recycle/a.obj": b"junk"},
        **{"a.obj:Zone.Identifier": b"junk", "sub/Icon\r": b"", "System Volume Information/x": b"junk"},
    }
    assert read_all(archive(tmp_path / "x.zip", {**junk, **CONTENT})) == CONTENT
    assert read_all(folder(tmp_path / "x", {**junk, **CONTENT})) == CONTENT


def test_names_in_utf_8_are_read_where_the_archive_does_not_say_so(tmp_path: Path) -> None:
    """As Finder and many a zip command write them."""
    said, latin = tmp_path / "said.zip", tmp_path / "latin.zip"
    with zipfile.ZipFile(said, "w") as written:
        written.writestr("größe.obj", b"1")
    silent = said.read_bytes()
    for mark in (b"PK\3\4", b"PK\1\2"):  # the flag in the header of the file, and in the list at the end
        at = silent.index(mark) + (7 if mark == b"PK\3\4" else 9)
        assert silent[at] & 8
        silent = silent[:at] + bytes([silent[at] & ~8]) + silent[at + 1 :]
    (tmp_path / "silent.zip").write_bytes(silent)
    assert read_all(said) == read_all(tmp_path / "silent.zip") == {"größe.obj": b"1"}
    latin.write_bytes(silent.replace("größe".encode(), b"gr\x94\xe1e.."))  # of code page 437, padded to as many bytes
    assert read_all(latin) == {"größe...obj": b"1"}


@pytest.mark.parametrize(
    "given",
    [
        ["results\\a.obj", "results\\sub\\c.npz"],  # PowerShell of Windows 7, and .NET before 4.6.1
        ["results/a.obj", "results\\sub\\c.npz"],
        ["./", "./a.obj", "./sub/", "./sub/c.npz"],  # zip -r x.zip ./
        [".\\a.obj", ".\\sub\\", ".\\sub\\c.npz"],
        ["results//a.obj", "./results/././sub//c.npz"],
    ],
)
def test_separators_and_dots_are_normalised(tmp_path: Path, given: list[str]) -> None:
    files = [name for name in given if not name.endswith(("/", "\\"))]
    path = archive(tmp_path / "x.zip", {name: b"" if name not in files else name[-5:].encode() for name in given})
    assert read_all(path) == {"a.obj": b"a.obj", "sub/c.npz": b"c.npz"}


def test_a_folder_whose_names_hold_backslashes_reads_as_the_archive_did(tmp_path: Path) -> None:
    """As unzip of Linux leaves an archive of PowerShell."""
    assert read_all(folder(tmp_path / "x", {"results\\a.obj": b"1", "results\\b.obj": b"2"})) == {"a.obj": b"1", "b.obj": b"2"}


@pytest.mark.parametrize(
    ("letters", "page", "separator"),
    [
        ("表", "cp932", "/"),  # 95 5C
        ("表", "cp932", "\\"),
        ("表示ソース", "cp932", "/"),
        ("運", "gbk", "/"),  # DF 5C, half a letter in Shift-JIS
    ],
)
def test_a_backslash_within_a_letter_is_none(tmp_path: Path, letters: str, page: str, separator: str) -> None:
    written = f"{letters}{separator}a.obj".encode(page)
    (tmp_path / "x.zip").write_bytes(raw_zip({written: b"1", b"b.obj": b"2"}))
    assert read_all(tmp_path / "x.zip") == {f"{letters}/a.obj": b"1", "b.obj": b"2"}
    on_disk = tmp_path / "x"
    on_disk.mkdir()
    (on_disk / "b.obj").write_bytes(b"2")
    target = os.fsencode(on_disk) + b"/" + written
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as stream:
        stream.write(b"1")
    assert read_all(on_disk) == {f"{letters}/a.obj": b"1", "b.obj": b"2"}


def test_a_folder_in_two_encodings_of_accents_is_one(tmp_path: Path) -> None:
    files = {"r\u00e9s/a.obj": b"1", "re\u0301s/b.obj": b"2"}
    assert read_all(archive(tmp_path / "x.zip", files)) == {"a.obj": b"1", "b.obj": b"2"}


def raw_zip(files: dict[bytes, bytes]) -> bytes:
    """A zip with names of these bytes, which it does not call UTF-8."""
    members = directory = b""
    for name, data in files.items():
        sizes = struct.pack("<3L2H", zlib.crc32(data), len(data), len(data), len(name), 0)
        directory += struct.pack("<4s6H", b"PK\1\2", 20, 20, 0, 0, 0, 0) + sizes + struct.pack("<3H2L", 0, 0, 0, 0, len(members)) + name
        members += struct.pack("<4s5H", b"PK\3\4", 20, 0, 0, 0, 0) + sizes + name + data
    return members + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(files), len(files), len(directory), len(members), 0)


def test_a_single_file_is_a_package_of_itself(tmp_path: Path) -> None:
    (tmp_path / "submission.json").write_bytes(b"[]")
    assert read_all(tmp_path / "submission.json") == {"submission.json": b"[]"}


def test_the_participants_name_decides_what_a_stored_file_is(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"v 0 0 0\n")
    with open_package(tmp_path / "blob", name="house.obj") as package:
        assert package.read("house.obj") == b"v 0 0 0\n"


def test_a_zip_is_known_by_its_bytes_whatever_it_is_called(tmp_path: Path) -> None:
    assert read_all(archive(tmp_path / "blob", CONTENT)) == CONTENT


def test_a_zip_with_64_bit_fields_and_a_comment_reads_like_any_other(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as target:
        target.comment = b"made by hand " * 100
        with target.open("a.obj", "w", force_zip64=True) as member:
            member.write(CONTENT["a.obj"])
    assert read_all(tmp_path / "x.zip") == {"a.obj": CONTENT["a.obj"]}


def test_a_zip_written_to_a_pipe_reads_like_any_other(tmp_path: Path) -> None:
    class Pipe:
        def __init__(self) -> None:
            self.data = b""

        def write(self, data: bytes) -> int:
            self.data += data
            return len(data)

        def flush(self) -> None:
            pass

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as target:  # type: ignore[call-overload]
        target.writestr("a.obj", CONTENT["a.obj"])
        target.writestr("b.json", CONTENT["b.json"])
    (tmp_path / "x.zip").write_bytes(pipe.data)
    assert read_all(tmp_path / "x.zip") == {name: CONTENT[name] for name in ("a.obj", "b.json")}


def test_all_faulty_names_are_told_at_once(tmp_path: Path) -> None:
    names = {"../a.obj": b"", "/b.obj": b"", "C:\\d.obj": b"", "fine.obj": b"x"}
    with pytest.raises(PackageError) as caught:
        open_package(archive(tmp_path / "x.zip", names))
    assert [error.file for error in caught.value.all()] == ["../a.obj", "/b.obj", "C:\\d.obj"]
    assert caught.value.count == 3


def test_more_than_twenty_faults_are_counted(tmp_path: Path) -> None:
    with pytest.raises(PackageError) as caught:
        open_package(archive(tmp_path / "x.zip", {f"../{n}.obj": b"" for n in range(50)}))
    assert (len(caught.value.all()), caught.value.count) == (20, 50)


@pytest.mark.parametrize(
    ("bounds", "sentence"),
    [
        (Bounds(max_entries=2), "holds (3 files and folders|more than 2 files and folders)"),
        (Bounds(max_file_bytes=5), "a.obj: is 8 bytes, at most 5 bytes are taken for one file"),
        (Bounds(max_total_bytes=10), "unpacks to 12 bytes, at most 10 bytes"),
    ],
)
def test_bounds_hold_for_archives_and_folders_alike(tmp_path: Path, bounds: Bounds, sentence: str) -> None:
    for path in (archive(tmp_path / "x.zip", CONTENT), folder(tmp_path / "x", CONTENT)):
        with pytest.raises(PackageError, match=sentence):
            open_package(path, bounds)


def test_the_archive_itself_is_bounded(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match=r"x.zip: is \d+ bytes, at most 50 bytes are taken"):
        open_package(archive(tmp_path / "x.zip", CONTENT), Bounds(max_archive_bytes=50))


def test_six_folders_deep_is_taken_and_seven_is_not(tmp_path: Path) -> None:
    assert len(read_all(archive(tmp_path / "x.zip", {"a/b/c/d/e/f/x.obj": b"1", "y.obj": b"2"}))) == 2
    for path in (archive(tmp_path / "y.zip", {"a/b/c/d/e/f/g/x.obj": b"1"}), folder(tmp_path / "y", {"a/b/c/d/e/f/g/h/x.obj": b"1"})):
        with pytest.raises(PackageError, match=r"folders deep, at most 6 are taken"):
            open_package(path)


def test_a_read_can_be_held_to_less_than_the_general_bound(tmp_path: Path) -> None:
    with open_package(archive(tmp_path / "x.zip", CONTENT)) as package:
        with pytest.raises(PackageError, match=r"a.obj: is 8 bytes, at most 7 bytes here"):
            package.read("a.obj", limit=7)
        assert package.read("a.obj", limit=8) == CONTENT["a.obj"]


def test_short_repetitive_text_is_no_bomb(tmp_path: Path) -> None:
    text = b"v 0.0 0.0 0.0\n" * 20_000
    assert read_all(archive(tmp_path / "x.zip", {"a.obj": text})) == {"a.obj": text}


def test_a_unix_archive_with_file_modes_is_taken(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as target:
        for name, mode in (("top/", stat.S_IFDIR | 0o755), ("top/a.obj", stat.S_IFREG | 0o644)):
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            target.writestr(info, b"" if name.endswith("/") else CONTENT["a.obj"])
    assert read_all(tmp_path / "x.zip") == {"a.obj": CONTENT["a.obj"]}


def test_an_archive_of_hidden_files_alone_says_why_it_holds_none(tmp_path: Path) -> None:
    for path in (archive(tmp_path / "x.zip", {".out/a.obj": b"1"}), folder(tmp_path / "x", {".out/a.obj": b"1"})):
        with pytest.raises(PackageError, match=r"holds no files; hidden and system files such as \.out.* are not read"):
            open_package(path)


def test_a_program_keeps_its_hidden_files_and_archives(tmp_path: Path) -> None:
    """Digests of stored programs are over them."""
    kept = {".config": b"1", "weights/.keep": b"2", "data.zip": b"3", "desktop.ini": b"4"}
    with open_package(archive(tmp_path / "x.zip", {**kept, ".DS_Store": b"5"}), all_files=True) as package:
        assert {file.name for file in package.files} == set(kept)


def test_links_are_followed_to_regular_files_under_the_names_that_are_asked_for(tmp_path: Path) -> None:
    inside, other = folder(tmp_path / "x", {".store/1": b"1"}), folder(tmp_path / "y", {"secret": b"2"})
    (inside / "a.obj").symlink_to(".store/1")
    (inside / "b.obj").symlink_to(other / "secret")
    (inside / "c.obj").symlink_to(inside / "a.obj")
    with open_package(inside, follow=lambda name: name.endswith(".obj")) as package:
        assert {file.name: package.read(file.name) for file in package.files} == {"a.obj": b"1", "b.obj": b"2", "c.obj": b"1"}
        assert package.outside == {"b.obj": other / "secret"}
    with pytest.raises(PackageError, match=r"b.obj: is a symbolic link; put the file itself there"):
        open_package(inside, follow=lambda name: name != "b.obj")
    (inside / "d.obj").symlink_to(".store")
    (inside / "e.obj").symlink_to("e.obj")
    (inside / "f.obj").symlink_to("/dev/zero")
    with pytest.raises(PackageError, match=r"d.obj: is a symbolic link that leads to no file") as caught:
        open_package(inside, follow=lambda name: True)
    assert [error.file for error in caught.value.all()] == ["d.obj", "e.obj", "f.obj"]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match=r"nothing.zip: does not exist"):
        open_package(tmp_path / "nothing.zip")
