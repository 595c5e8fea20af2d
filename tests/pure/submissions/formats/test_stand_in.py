"""Pointers and web pages in place of data: each suffix that the service takes gets the one sentence, before any reader."""

import zipfile
from pathlib import Path

import pytest

from evaluation import result_tables
from evaluation.programs import files
from evaluation.programs.document import ProgramError
from leaderboard.stats import votes
from submissions.formats import inputs
from submissions.formats.archive import PackageError, open_package
from submissions.formats.errors import FormatError, TableError
from submissions.formats.stand_in import stand_in
from submissions.kinds import FAMILIES

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"b" * 64 + b"\nsize 1034\n"
PAGE = b"\n<!DOCTYPE html>\n<html lang=en><head><title>Sign in</title></head><body>" + b"x" * 3000
SUFFIXES = sorted({suffix for family in FAMILIES.values() for suffix in (*family.singles, *family.companions)})
LFS, HTML = "is a Git LFS pointer, .* run `git lfs pull`", r"is a web page \(HTML\) .* run `curl -fLO`"


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (POINTER, "Git LFS"),
        (POINTER.replace(b"\n", b"\r\n"), "Git LFS"),
        (b"\xef\xbb\xbf" + POINTER, "Git LFS"),
        (b"version https://hawser.github.com/spec/v1\noid sha256:1\nsize 1\n", "Git LFS"),
        (b"version http://git-media.io/v/2\noid sha256:1\nsize 1\n", "Git LFS"),
        (b"/annex/objects/SHA256E-s10--abc.ply\n", "git annex get"),
        (b"../../.git/annex/objects/x/y/SHA256E-s10--abc.ply/SHA256E-s10--abc.ply", "git annex get"),
        (PAGE, "web page"),
        (b"<html><body>404", "web page"),
        (b"\xef\xbb\xbf<!-- saved from url=(0014)about:internet -->\r\n<HTML>", "web page"),
        (b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0">', "web page"),
        (b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>', "error message"),
    ],
)
def test_what_stands_in_for_a_file_is_named(head: bytes, words: str) -> None:
    assert words in stand_in(head, "a.obj")


@pytest.mark.parametrize("head", [b"", b"v 0 0 0\n", b"version 2\n", b"ply\n", b"[1]", b"# <html>\n", b"<svg>", b"version,oid,size\n"])
def test_other_files_are_themselves(head: bytes) -> None:
    assert stand_in(head, "a.obj") == ""


def test_a_page_may_be_one() -> None:
    assert stand_in(PAGE, "README.html") == ""


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(("data", "sentence"), [(POINTER, LFS), (PAGE, HTML)])
def test_every_suffix_that_is_taken_is_told(tmp_path: Path, suffix: str, data: bytes, sentence: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(f"house_01{suffix}", data)
    with open_package(tmp_path / "x.zip") as package, pytest.raises(PackageError, match=f"house_01{suffix}: {sentence}"):
        package.read(f"house_01{suffix}")


@pytest.mark.parametrize(("data", "sentence"), [(POINTER, LFS), (PAGE, HTML)])
def test_an_archive_a_program_and_every_table_are_told(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = tmp_path / "entry.zip"
    path.write_bytes(data)
    with pytest.raises(PackageError, match=f"entry.zip: {sentence}"):
        open_package(path)
    with pytest.raises(ProgramError, match=f"entry.zip {sentence}"):
        files.read(path)
    text = data.decode().lstrip()
    with pytest.raises(TableError, match=f"votes.csv {sentence}"):
        votes.parse(text.splitlines(), "votes.csv")
    with pytest.raises(TableError, match=f"the table {sentence}"):
        result_tables.lines(text, ["method"])
    with pytest.raises(TableError, match=f"The table of inputs {sentence}"):
        inputs.read_table(text)
    for suffix in inputs.READ:
        (tmp_path / f"a{suffix}").write_bytes(data)
        with pytest.raises(FormatError, match=sentence):
            inputs.of_files(tmp_path / f"a{suffix}")
