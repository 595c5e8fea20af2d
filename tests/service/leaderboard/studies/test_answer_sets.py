"""Answers that are brought in as one set, from file to record: by hand through the command, and what is kept of them."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import shutil
import zipfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from leaderboard.evidence import catalogue, record_file
from leaderboard.models import AnswerSet, Opinion, Rater, Study
from leaderboard.models.analysis import StudyAnalysis
from leaderboard.studies import answer_sets
from leaderboard.studies.analysis import analyse_due
from submissions.models import Phase
from tests.support.factories import PhaseFactory
from tests.support.leaderboard.evidence.published import FOLDERS
from tests.support.leaderboard.evidence.workbooks import bomb, workbook

pytestmark = pytest.mark.django_db
PUBLISHED = (
    *("--authors", "A. Author", "--repository", "https://github.com/example/small", "--commit", "ab" * 20),
    *("--licence", "none", "--published", "2026-02-04"),
)
GSC = (
    *("--wide", "Subject_*", "--groups", "Scene", "--families", "Codec", "--material", "splat videos"),
    *("--column", "item={Scene} path {Trajectory}", "--column", "entry={Codec} {Rate}"),
    *("--metric", "PSNR_Y=psnr-y:higher", "--metric", "PSNR_YUV=psnr-yuv:higher", "--metric", "SSIM=ssim:higher"),
    *("--metric", "MS_SSIM=ms-ssim:higher", "--metric", "LPIPS=lpips:lower", "--metric", "IWSSIM=iw-ssim:higher"),
    *("--metric", "FSIMc=fsimc:higher", "--metric", "VIFp=vif:higher", "--metric", "VMAF=vmaf:higher", "--metric", "ModelSize=size:higher"),
)


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory()


def bring(phase: Phase, slug: str, file: Path, *options: str) -> str:
    """The command's words on a study of this file."""
    out = StringIO()
    address = f"{phase.challenge.slug}/{phase.slug}"
    call_command("study", "import", address, slug, str(file), "--title", "A set", "--question", "How good is it?", *options, stdout=out)
    return out.getvalue()


def computed(slug: str) -> AnswerSet:
    """The set of a study, with its record."""
    assert answer_sets.analyse_due() == 1
    row = AnswerSet.objects.get(study__slug=slug)
    assert row.state == AnswerSet.State.DONE and row.record is not None, row.failure_detail
    return row


def same_figures(row: AnswerSet, name: str) -> bool:
    """True where the figures of each criterion are those that ship with the set."""
    shipped = record_file.of_toml((catalogue.RECORDS / f"{name}.toml").read_text())
    assert row.record is not None
    return not [one for one in record_file.differences(shipped, row.record) if one[0].startswith("criteria.")]


def test_a_published_set_with_its_manifest_comes_to_the_figures_that_ship(phase, data_folder, tmp_path):
    shutil.copytree(data_folder / "evidence" / FOLDERS["icip2020"], tmp_path / "set")
    shutil.copy(catalogue.FOLDER / "icip2020.yaml", tmp_path / "set" / "evidence.yaml")
    bring(phase, "icip2020", tmp_path / "set" / "evidence.yaml")
    row = computed("icip2020")
    assert same_figures(row, "icip2020") and row.record is not None and row.record.reproduction is not None
    assert (row.record.reproduction.same, row.record.reproduction.printed) == (12, 12)


def test_a_published_spreadsheet_described_by_options_comes_to_the_figures_that_ship(phase, data_folder):
    bring(phase, "gsc", data_folder / "evidence" / FOLDERS["gsc"] / "Results.xlsx", *GSC, *PUBLISHED)
    assert same_figures(computed("gsc"), "gsc")


def table(file: Path, head: str, row: Callable[[int, int, int], str | None], items: int = 6, entries: int = 4, raters: int = 7) -> Path:
    """A file with a line of each item, entry and rater that `row` has one for."""
    found = [row(*place) for place in itertools.product(range(items), range(entries), range(raters))]
    file.write_text("\n".join([head, *(line for line in found if line is not None)]) + "\n")
    return file


@pytest.fixture
def scores(tmp_path) -> Path:
    """Scores from 0 to 100 of six items, four entries and seven raters, of whom the last is called Zoe."""
    names = [*(f"Rater {n}" for n in range(6)), "Zoe"]
    return table(
        tmp_path / "scores.csv", "item,entry,rater,score", lambda i, e, r: f"i{i},e{e},{names[r]},{(17 * i + 23 * e + 7 * r + i * e) % 101}"
    )


@pytest.fixture
def values(tmp_path) -> Path:
    return table(
        tmp_path / "values.csv",
        "item,entry,psnr:higher,Ours:lower",
        lambda i, e, r: None if r else f"i{i},e{e},{20 + 3 * e + i},{e * i % 4}",
    )


class TestBrought:
    def test_scores_are_kept_as_they_were_given_and_raters_as_numbers(self, phase, scores, values):
        said = bring(phase, "people", scores, "--scale", "0:100", "--scores", str(values), "--source", "our lab")
        assert [part for part in ("168 scores", "7 raters", "24 stimuli", "4 entries", "6 items", "2 metrics") if part not in said] == []
        row = AnswerSet.objects.get(study__slug="people")
        assert row.study.kind == Study.Kind.OPINIONS and row.study.from_results and not row.study.is_public
        assert sorted(row.study.entries.values_list("label", flat=True)) == ["e0", "e1", "e2", "e3"]
        assert not Rater.objects.exists() and not Opinion.objects.exists()
        archive = zipfile.ZipFile(io.BytesIO(bytes(row.packed)))
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
        assert sorted(texts) == ["evidence.yaml", "judgements.csv", "values.csv"]
        assert not [name for name, text in texts.items() if "Zoe" in text or "Rater 1" in text]
        given = [line.split(",")[-1] for line in texts["judgements.csv"].splitlines()[1:]]
        assert sorted(map(int, given)) == sorted(int(line.split(",")[-1]) for line in scores.read_text().splitlines()[1:])

    def test_the_record_is_that_of_a_published_set(self, phase, scores, values):
        bring(phase, "people", scores, "--scale", "0:100", "--scores", str(values), *PUBLISHED)
        record = computed("people").record
        assert record is not None
        assert (record.authors, record.licence.stated, record.published) == ("A. Author", "none", "2026-02-04")
        figures = record.criteria["quality"]
        assert set(figures.metrics) == {"psnr", "Ours", "constant", "coin"} and figures.answers == 168
        assert record.files[0].sha256 == hashlib.sha256(scores.read_bytes()).hexdigest()

    def test_it_is_computed_again_for_another_version_of_the_statistics_alone(self, phase, scores, values, monkeypatch):
        bring(phase, "people", scores, "--scale", "0:100", "--scores", str(values))
        computed("people")
        assert AnswerSet.request_outdated() == 0 and answer_sets.analyse_due() == 0
        monkeypatch.setattr("leaderboard.models.answer_set.STATISTICS", 1_000)
        assert AnswerSet.request_outdated() == 1 and answer_sets.analyse_due() == 1

    def test_a_record_of_an_older_format_is_not_read_and_is_computed_anew(self, phase, scores, values, client):
        bring(phase, "people", scores, "--scale", "0:100", "--scores", str(values), "--public")
        row = computed("people")
        AnswerSet.objects.update(content=row.content | {"evidence": 0}, wanted="0.0/")
        page = reverse("study", args=[phase.challenge.slug, phase.slug, "people"])
        assert "Being computed" in client.get(page).content.decode()
        assert AnswerSet.request_outdated() == 1 and answer_sets.analyse_due() == 1
        assert "Being computed" not in client.get(page).content.decode()

    def test_a_slug_that_is_taken_is_refused(self, phase, scores):
        bring(phase, "people", scores, "--scale", "0:100", *PUBLISHED)
        with pytest.raises(CommandError, match="There is a study 'people' in this phase already"):
            bring(phase, "people", scores, "--scale", "0:100", *PUBLISHED)
        assert AnswerSet.objects.count() == 1

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (
                ("--scale", "0:50", "--better", "higher"),
                r"scores.csv, row \d+, score: \d+ lies outside 0 to 50. Is the scale another one\?",
            ),
            (("--scale", "0:100", "--authors", "A"), "--repository: Say where it was published"),
            (("--scale", "0:100", "--means", "--pairs"), "A file holds one kind of answers: give one of --wide, --means and --pairs."),
            (("--scale", "0:100", "--opinions", "--better", "lower"), "--opinions and --value are about CSV files of scores and of votes"),
            (("--scale", "0:100", "--metric", "PSNR"), "--metrics: PSNR: say whether higher or lower is better."),
            (("--scale", "0:100", "--scores", "nowhere.csv"), "nowhere.csv"),
        ],
    )
    def test_what_is_refused_says_why_and_nothing_is_changed(self, phase, scores, options, sentence):
        with pytest.raises(CommandError, match=sentence) as refused:
            bring(phase, "people", scores, *options)
        assert "Nothing was changed." in str(refused.value) or {"--means", "--opinions"} & {*options}
        assert not Study.objects.exists()

    def test_a_table_of_groups(self, phase, scores, tmp_path):
        (tmp_path / "groups.csv").write_text("item,group\n" + "".join(f"i{n},g{n // 2}\n" for n in range(6)))
        assert "6 items of 3 groups" in bring(phase, "people", scores, "--scale", "0:100", "--groups", str(tmp_path / "groups.csv"))
        (tmp_path / "groups.csv").write_text("item,group\ni0,a\ni0,b\n")
        with pytest.raises(CommandError, match="row 3: i0 needs one group, and only one"):
            bring(phase, "again", scores, "--scale", "0:100", "--groups", str(tmp_path / "groups.csv"))


class TestRatingsOfKnownRaters:
    """Ratings on another scale, without other options: a study like those from 1 to 5."""

    @pytest.mark.parametrize("options", [("--scale", "0:100"), ("--scale", "0:100", "--opinions")])
    def test_they_are_rows_of_a_usual_study(self, phase, scores, client, options):
        said = bring(phase, "people", scores, "--column", "sample=item", *options, "--public")
        study = Study.objects.get()
        assert (study.raters.count(), study.entries.count()) == (7, 4) and "168 scores" in said and not AnswerSet.objects.exists()
        assert (study.kind, study.scale, study.from_results) == (Study.Kind.OPINIONS, (0.0, 100.0), False)
        given = [float(line.split(",")[-1]) for line in scores.read_text().splitlines()[1:]]
        assert [one.score for one in study.ratings()] == given
        assert analyse_due() == 1
        summary = StudyAnalysis.main_summary(study, [])
        assert summary is not None and summary.scale == (0.0, 100.0)
        of_first = [score for n, score in enumerate(given) if n // 7 % 4 == 0]
        first = next(line for line in summary.ranked if line.method == "e0")
        assert first.mos[0] == pytest.approx(sum(of_first) / len(of_first)) and first.normalised == pytest.approx(first.mos[0] / 100)
        page = client.get(reverse("study", args=[phase.challenge.slug, phase.slug, "people"])).content.decode()
        assert "from 0 to 100" in page and "from 1 to 5" not in page and "of 5" not in page

    def test_fractions_are_kept(self, phase, tmp_path):
        file = tmp_path / "fine.csv"
        file.write_text("rater,entry,score\n1,a,-1.25\n1,b,3\n")
        bring(phase, "people", file, "--scale=-3:3")
        assert [one.score for one in Study.objects.get().ratings()] == [-1.25, 3.0]

    @pytest.mark.parametrize(
        ("scale", "sentence"),
        [
            ("0:50", r"line \d+: score is '\d+'; it must be a number from 0 to 50\. Is the scale another one\?"),
            ("0:50", r"Is the scale another one\?\n81 more scores are not from 0 to 50\.\nNothing was changed"),
            ("100:0", "“100:0” is no scale; write its two ends, such as 0:100."),
            ("0:inf", "“0:inf” is no scale"),
            ("a:b", "“a:b” is no scale"),
        ],
    )
    def test_another_scale_is_refused(self, phase, scores, scale, sentence):
        with pytest.raises(CommandError, match=sentence):
            bring(phase, "people", scores, "--scale", scale)
        assert not Study.objects.exists()


class TestSpreadsheets:
    def test_are_read_in_the_limited_process(self, phase, tmp_path):
        rows: list[list[object]] = [["item", "entry", "rater", "score"]]
        rows += [[f"i{i}", f"e{e}", f"r{r}", (i + e + r) % 11] for i, e, r in itertools.product(range(3), range(3), range(3))]
        assert "27 scores of 3 raters" in bring(phase, "people", workbook(tmp_path / "all.xlsx", rows), "--scale", "0:10")

    def test_one_that_unpacks_to_a_gigabyte_is_refused_in_a_sentence(self, phase, tmp_path):
        with pytest.raises(CommandError, match=r"bomb\.xlsx: is 1\.06 MB and unpacks to more than 268 MB, which is not read"):
            bring(phase, "people", bomb(tmp_path / "bomb.xlsx"))


class TestPages:
    @pytest.fixture
    def study(self, phase, scores, values) -> Study:
        bring(phase, "people", scores, "--scale", "0:100", "--scores", str(values), "--public", *PUBLISHED)
        return Study.objects.get(slug="people")

    def get(self, client: Client, study: Study, name: str, **more: str) -> HttpResponse:
        return client.get(reverse(name, args=[study.phase.challenge.slug, study.phase.slug, study.slug]), **more)

    def test_the_page_shows_the_source_once_the_record_is_computed(self, client, study):
        assert "Being computed" in self.get(client, study, "study").content.decode()
        computed("people")
        page = self.get(client, study, "study").content.decode()
        for said in ("A. Author", "https://github.com/example/small", "abababababab", "none stated", "2026-02-04", "0 to 100"):
            assert said in page

    def test_the_figures_as_json_are_the_record(self, client, study):
        record = computed("people").record
        assert record is not None
        shown = json.loads(self.get(client, study, "study_json").content)
        assert shown["record"]["criteria"]["quality"]["answers"] == 168
        told = client.get(f"/api/v1/challenges/{study.phase.challenge.slug}/phases/{study.phase.slug}/studies/people").json()
        assert told["record"] == shown["record"] and told["analyses"] == {}

    def test_the_tables_are_for_organizers(self, client, study, people):
        assert self.get(client, study, "study_votes").status_code == 404
        study.phase.challenge.organizers.add(people.organizer)
        client.force_login(people.organizer)
        archive = zipfile.ZipFile(io.BytesIO(self.get(client, study, "study_votes").content))
        assert "judgements.csv" in archive.namelist()

    def test_the_list_of_studies_names_it(self, client, study):
        address = reverse("studies", args=[study.phase.challenge.slug, study.phase.slug])
        assert "being computed" in client.get(address).content.decode()
        computed("people")
        assert "A set" in client.get(address).content.decode()
