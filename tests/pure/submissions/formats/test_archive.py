import stat
import zipfile
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
    junk = {"__MACOSX/._a.obj": b"junk", ".DS_Store": b"junk", "sub/Thumbs.db": b"junk", "sub/.DS_Store": b"", "sub/._c.npz": b"junk"}
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
    names = {"../a.obj": b"", "/b.obj": b"", "c\\d.obj": b"", "fine.obj": b"x"}
    with pytest.raises(PackageError) as caught:
        open_package(archive(tmp_path / "x.zip", names))
    assert [error.file for error in caught.value.all()] == ["../a.obj", "/b.obj", "c\\d.obj"]
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


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match=r"nothing.zip: does not exist"):
        open_package(tmp_path / "nothing.zip")
