"""Programs in zips and folders: hostile ones are refused, and the digest is of names and contents alone."""

from __future__ import annotations

import io
import stat
import zipfile

import pytest

from evaluation.programs import files
from evaluation.programs.document import ProgramError

YAML = b"key: size\ntitle: Size\nkind: mesh\nhigher_is_better: false\nworst: null\nrun: python\nentry: score.py:score\n"
CODE = b"def score(prediction, reference, params):\n    return 1.0\n"


def packed(path, contents, modes=()):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in contents:
            info = zipfile.ZipInfo(name)
            info.external_attr = dict(modes).get(name, stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data)
    return path


def test_a_folder_and_zips_of_it_are_one_program(tmp_path):
    folder = tmp_path / "size"
    (folder / "weights").mkdir(parents=True)
    for name, data in (("metric.yaml", YAML), ("score.py", CODE), ("weights/net.bin", b"\0\1")):
        (folder / name).write_bytes(data)
    found = files.read(folder)
    rows = list(found.contents.items())
    for rows_as_sent in (rows, rows[::-1], [(f"top/{name}", data) for name, data in rows]):
        assert files.read(packed(tmp_path / "sent.zip", rows_as_sent)).digest == found.digest
    (tmp_path / "again.zip").write_bytes(found.archive())
    assert files.read(tmp_path / "again.zip").digest == found.digest
    (folder / "weights/net.bin").write_bytes(b"\0\2")
    assert files.read(folder).digest != found.digest


@pytest.mark.parametrize(
    ("contents", "modes", "said"),
    [
        ([("score.py", CODE)], (), "metric.yaml"),
        ([("a/metric.yaml", YAML), ("b/score.py", CODE)], (), "a/metric.yaml"),
        ([("metric.yaml", YAML)], (), "score.py"),
        ([("metric.yaml", YAML), ("../score.py", CODE)], (), ".."),
        ([("metric.yaml", YAML), ("/score.py", CODE)], (), "absolute"),
        ([("metric.yaml", YAML), ("score.py", b"/etc/passwd")], {"score.py": stat.S_IFLNK | 0o777}, "symbolic link"),
        ([("metric.yml", YAML), ("score.py", CODE)], (), "metric.yml must be called metric.yaml"),
        ([("metric.yaml", YAML), ("score.py", CODE), *((f"f{n}", b"") for n in range(2000))], (), "2000"),
        ([("metric.yaml", YAML.replace(b"python", b"script")), ("prediction/x", b"")], (), "prediction"),
    ],
)
def test_a_hostile_archive_is_refused_in_one_sentence(tmp_path, contents, modes, said):
    with pytest.raises(ProgramError, match=r"(?s).*\.$") as refused:
        files.read(packed(tmp_path / "sent.zip", contents, modes))
    assert said in str(refused.value)


def test_a_bomb_is_refused(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metric.yaml", YAML)
        archive.writestr("weights.bin", bytes(150_000_000))
    (tmp_path / "bomb.zip").write_bytes(buffer.getvalue())
    with pytest.raises(ProgramError, match="bomb"):
        files.read(tmp_path / "bomb.zip")


def test_a_program_may_carry_archives_as_data(tmp_path):
    data = ("annotations.zip", b"PK\3\4"), ("weights/net.tar.gz", b"\x1f\x8b")
    found = files.read(packed(tmp_path / "sent.zip", [("metric.yaml", YAML), ("score.py", CODE), *data]))
    assert dict(data).items() <= found.contents.items()


@pytest.mark.parametrize("name", ["metric.yaml", "score.ply", "size.tar.gz", "size.zip"])
def test_what_is_no_zip_is_told_how_a_program_is_sent(tmp_path, name):
    path = tmp_path / "sent"
    path.write_bytes(YAML)
    with pytest.raises(ProgramError) as refused:
        files.read(path, name)
    assert str(refused.value).startswith(f"{name} ") and "metric.yaml" in str(refused.value)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (b"def score(prediction, reference, params):\n    return 1.0 +\n", "score.py, line 2: invalid syntax."),
        (b"def score(a, b, c):\nreturn 1\n", "score.py, line 2: expected an indented block after function definition on line 1."),
        (b"\xff = 1\n", "score.py, line 1: (unicode error)"),
        (b"a = '\0'\n", "score.py"),
        (b"(" * 5000 + b")" * 5000, "score.py"),
    ],
)
def test_a_program_with_a_syntax_error_is_refused_with_its_line(tmp_path, code, said):
    with pytest.raises(ProgramError) as refused:
        files.read(packed(tmp_path / "sent.zip", [("metric.yaml", YAML), ("score.py", code)]))
    assert str(refused.value).startswith(said)


def test_a_syntax_error_beside_the_entry_is_told_and_not_one_in_a_package_that_came_along(tmp_path):
    files.read(packed(tmp_path / "sent.zip", [("metric.yaml", YAML), ("score.py", CODE), ("package/old.py", b"print 'hello'\n")]))
    with pytest.raises(ProgramError, match=r"helper\.py, line 1: Missing parentheses"):
        files.read(packed(tmp_path / "sent.zip", [("metric.yaml", YAML), ("score.py", CODE), ("helper.py", b"print 'hello'\n")]))
