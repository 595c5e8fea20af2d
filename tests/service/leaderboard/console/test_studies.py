"""The console's page of studies: what an organizer brings in, shows and removes."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from leaderboard.models import Study
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.live import artifacts
from submissions.models import AuditEntry
from tests.support.leaderboard.evidence.workbooks import workbook
from tests.support.pages import faults

pytestmark = pytest.mark.django_db
THEIRS = "worker,prompt,left,right,winner\n1,p,A,B,left\n2,p,B,A,tie\n"


@pytest.fixture
def address(phase, people, client) -> str:
    client.force_login(people.organizer)
    return reverse("console_studies", args=[phase.challenge.slug, phase.slug])


def filled(text: str = THEIRS, **more) -> dict:
    columns = "choice=winner\nrater=worker\nsample=prompt"
    about = {"kind": "pairs", "title": "Which is better?", "slug": "theirs", "question": "Which of the two is better?", "columns": columns}
    return about | {"act": "import", "file": SimpleUploadedFile("theirs.csv", text.encode())} | more


def test_votes_come_in_under_other_columns_and_are_shown_when_published(address, phase, client):
    assert "Which is better?" in client.post(address, filled(), follow=True).content.decode()
    study = Study.objects.get()
    assert (study.slug, study.is_public, study.study_votes.count()) == ("theirs", False, 2)
    client.post(address, {"act": "publish", "study": study.pk})
    client.logout()
    assert client.get(reverse("study", args=[phase.challenge.slug, phase.slug, "theirs"])).status_code == 200
    assert [entry.action for entry in AuditEntry.objects.filter(action__startswith="study.").order_by("id")] == [
        "study.import",
        "study.publish",
    ]


def test_a_file_of_another_program_comes_in_with_its_own_separators_and_choices(address, phase, client):
    text = "worker;prompt;left;right;winner;;\n1;p;A;B;1;;\n2;p;A;B;2;;\n3;p;A;B;nobody;;\n4;p;A;B;model_a;;\n5;p;A;B;TIE;;\n;;;;;;\n"
    client.post(address, filled(text, values="left=1\nright=2\ntie=nobody"))
    assert [vote.choice for vote in Study.objects.get().votes()] == ["left", "right", "tie", "left", "tie"]
    assert faults(client.post(address, filled(text, slug="other", values="left 1"))) == {"values": ["not_of_the_form"]}
    of_scores = client.post(address, filled(text, slug="other", kind="opinions", values="left=1"))
    assert faults(of_scores) == {"values": ["only_of_pairs"]}


def test_a_method_with_too_few_votes_is_listed_apart(address, phase, client):
    rows = [
        f"r{rater},{item},{a},{b},{'right' if (rater + item) % 7 == 0 else 'left'}"
        for rater in range(7)
        for item in range(7)
        for a, b in (("A", "B"), ("B", "C"))
    ]
    text = "\n".join(["worker,prompt,left,right,winner", *rows, "r0,0,newcomer,A,left"]) + "\n"
    client.post(address, filled(text, is_public="on"))
    analyse_due()
    page = client.get(reverse("study", args=[phase.challenge.slug, phase.slug, "theirs"])).content.decode()
    table = page[page.index('<table class="prefer">') :]
    order = [table.index(text) for text in (">A<", ">B<", ">C<", "to have a place:", "newcomer")]
    assert order == sorted(order)


def labels(text: str) -> dict:
    return {"labels": SimpleUploadedFile("labels.csv", text.encode())}


def test_labels_say_which_methods_are_no_entries_and_nothing_is_made_for_them(address, phase, client):
    said = "method,label\nA,team\nB,corruption\nelsewhere,empty\n"
    client.post(address, filled(is_public="on", **labels(said)))
    study = Study.objects.get()
    assert study.damaged == {"B"} and study.labels() == {"A": "team", "B": "corruption"}
    assert artifacts.make_due() == 0 and not artifacts.waiting().exists()
    client.post(
        address,
        filled(slug="scores", title="Scores", columns="", kind="opinions", **labels("method,label\nC,reference\n"))
        | {"file": SimpleUploadedFile("scores.csv", b"rater,entry,score\n1,C,5\n1,D,2\n")},
    )
    assert Study.objects.get(slug="scores").damaged == {"C"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("method,label\nB,ruin\n", "labels.csv: line 2: label is &#x27;ruin&#x27;; it must be one of team, baseline"),
        ("who,what\nB,team\n", "labels.csv must have the columns method and label."),
        ("method,label\nb,team\n", "The labels name none of the methods; these are A, B: write them as they are there."),
    ],
)
def test_labels_that_cannot_be_used_are_said_beside_their_field_and_nothing_comes_in(address, client, text, sentence):
    page = client.post(address, filled(**labels(text))).content.decode()
    assert sentence in page.partition('name="labels"')[2].partition('name="title"')[0] + page.partition('name="labels"')[0][-600:]
    assert not Study.objects.exists()


def test_a_study_can_be_hidden_again_and_removed_with_its_votes(address, client):
    client.post(address, filled(is_public="on"))
    study = Study.objects.get()
    assert study.is_public
    client.post(address, {"act": "hide", "study": study.pk})
    study.refresh_from_db()
    assert not study.is_public
    client.post(address, {"act": "remove", "study": study.pk})
    assert not Study.objects.exists()
    detail = AuditEntry.objects.get(action="study.remove").detail
    assert (detail["votes"], detail["scores"]) == (2, 0)


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (filled("worker,prompt,left,right,winner\n1,p,A,A,left\n"), "theirs.csv: line 2: &#x27;A&#x27; stands on both sides"),
        (filled(columns="choice=winner"), "theirs.csv has no column rater; its columns are worker, prompt, left, right, winner"),
        (filled(columns="choice"), "“choice” is not of the form COLUMN=NAME"),
        (filled(slug="No Slug"), "Enter a valid"),
        (filled("worker,prompt\n") | {"file": SimpleUploadedFile("votes.csv", b"\xff\xfe\x00")}, "votes.csv is not a CSV file in UTF-8"),
    ],
)
def test_what_cannot_be_brought_in_is_said_beside_its_field_and_nothing_is_lost(address, client, sent, sentence):
    page = client.post(address, sent)
    assert page.status_code == 200 and sentence in page.content.decode()
    assert page.context["form"]["question"].value() == sent["question"] and not Study.objects.exists()


def test_an_address_is_taken_once(address, client):
    client.post(address, filled())
    assert faults(client.post(address, filled())) == {"slug": ["taken"]}


def test_a_study_of_another_phase_is_not_found(address, client):
    assert client.post(address, {"act": "remove", "study": 12345}).status_code == 404
    assert client.post(address, {"act": "anything"}).status_code == 404


def test_opinion_scores_come_in_and_out_as_they_were(address, phase, client, tmp_path):
    head = "study,rater,group,sample,entry,criterion,score,seconds,order,at,step,viewport_width,viewport_height,device,invitation\n"
    first = "theirs,rater 1,a,h,A,overall,5,2.5,3,2026-11-22T14:05:09+00:00,2,1280,800,touch,link 4: for Anna Schmidt\n"
    text = f"{head}{first}theirs,rater 2,b,h,B,overall,1,,,,,,,,\n"
    client.post(address, filled(text, kind="opinions", columns=""))
    study = Study.objects.get()
    assert (study.kind, study.opinions.count(), study.study_votes.count()) == ("opinions", 2, 0)
    sent = client.get(reverse("study_votes", args=[phase.challenge.slug, phase.slug, "theirs"]))
    stored = text.replace("link 4: for Anna Schmidt", "link 1")  # what a link is called may be a rater's name
    assert b"".join(sent.streaming_content).decode("utf-8-sig").replace("\r\n", "\n") == stored
    target = tmp_path / "scores.csv"
    place = f"{phase.challenge.slug}/{phase.slug}"
    call_command("study", "export", place, "theirs", str(target))
    call_command("study", "import", place, "again", str(target), "--opinions", "--title", "T", "--question", "Q?")
    again = Study.objects.get(slug="again")
    assert [(r.rater, r.entry, r.score, r.order) for r in again.ratings()] == [("rater 1", "A", 5.0, "3"), ("rater 2", "B", 1.0, "")]


def test_ratings_on_another_scale_are_a_usual_study(address, client):
    head = "rater,entry,score\n"
    client.post(address, filled(f"{head}1,A,72.5\n1,B,8\n", kind="opinions", columns="", scale="0:100"))
    study = Study.objects.get()
    assert study.scale == (0.0, 100.0) and [one.score for one in study.ratings()] == [72.5, 8.0]
    again = client.post(address, filled(f"{head}1,A,7\n", kind="opinions", columns="", scale="5", slug="again"))
    assert faults(again) == {"scale": ["bad_scale"]} and Study.objects.count() == 1


def test_a_score_that_nobody_can_give_is_not_taken(address, client):
    head = "rater,entry,score\n"
    for score in ("6", "4.5"):
        found = client.post(address, filled(f"{head}1,A,{score}\n", kind="opinions", columns="")).content.decode()
        assert "from 1 to 5" in found
    assert not Study.objects.exists()


class TestSets:
    """A set of answers that comes in by the form, with the reader of published sets."""

    HEAD = "item,entry,rater,score\n"
    SCORES = HEAD + "".join(f"i{i},e{e},Ann {r},{(17 * i + 23 * e + 7 * r) % 101}\n" for i in range(5) for e in range(3) for r in range(3))

    def sent(self, text: str | bytes = SCORES, name: str = "all.csv", values: str = "", **more: str) -> dict:
        data = text if isinstance(text, bytes) else text.encode()
        about = {"title": "A set", "slug": "brought", "question": "How good?", "layout": "scores", "scale": "0:100", "better": "higher"}
        said = {f"set-{key}": value for key, value in (about | {"material": "meshes"} | more).items()}
        files = {"set-answers": SimpleUploadedFile(name, data)}
        return said | files | ({"set-values": SimpleUploadedFile("values.csv", values.encode())} if values else {}) | {"act": "import_set"}

    def test_scores_on_another_scale_with_values_come_in(self, address, client, phase):
        values = "item,entry,psnr:higher\n" + "".join(f"i{i},e{e},{20 + i + e}\n" for i in range(5) for e in range(3))
        page = client.post(address, self.sent(values=values, source="our lab"), follow=True).content.decode()
        assert "45 scores of 3 raters" in page and "1 metrics." in page
        study = Study.objects.get()
        assert (study.slug, study.source, study.is_public, study.from_results) == ("brought", "our lab", False, True)
        assert b"Ann" not in bytes(study.answer_set.packed)

    def test_a_spreadsheet_comes_in(self, address, client, tmp_path):
        rows: list[list[object]] = [["item", "entry", *(f"Subject_{n}" for n in range(3))]]
        rows += [[f"i{i}", f"e{e}", 1, 2 + e, 10 - i] for i in range(3) for e in range(3)]
        file = workbook(tmp_path / "all.xlsx", rows).read_bytes()
        page = client.post(
            address, self.sent(file, "all.xlsx", layout="wide", wide="Subject_*", scale="0:10"), follow=True
        ).content.decode()
        assert "27 scores of 3 raters" in page

    def test_a_manifest_takes_the_place_of_the_form(self, address, client, phase):
        text = self.SCORES.replace("Ann 2", "Bo").encode()
        manifest = f"""evidence: 1
name: theirs
title: Their scores
authors: A. Author
source: {{repository: https://github.com/example/theirs, commit: {"ab" * 20}}}
licence: {{stated: none}}
material: meshes
published: "2026-02-04"
files: [{{id: all, path: data/all.csv, sha256: {hashlib.sha256(text).hexdigest()}, bytes: {len(text)}}}]
judgements: [{{file: all, item: item, entry: entry, rater: rater, score: score, scale: [0, 100], better: higher, raters: columns}}]
labels: [{{entries: [e0], label: reference}}]
""".encode()

        def post(given: bytes, *files: bytes) -> Any:
            about = {"set-title": "A set", "set-slug": "brought", "set-question": "How good?", "set-layout": "scores", "set-scale": "1:5"}
            about |= {"set-better": "higher", "set-material": "pictures", "act": "import_set"}
            sent = {
                "set-manifest": SimpleUploadedFile("mine.yaml", given),
                "set-files": [SimpleUploadedFile("all.csv", one) for one in files],
            }
            return client.post(address, about | sent, follow=True)

        for given, files, field, sentence in (
            (manifest, [], "files", "all.csv is not beside evidence.yaml."),
            (manifest, [text + b"i9,e1,Bo,3\n"], "files", "is not the file of the catalogue"),
            (manifest.replace(b"[0, 100]", b"[0, 50]"), [text], "files", "lies outside 0 to 50"),
            (manifest.replace(b"authors: A. Author\n", b""), [text], "manifest", "authors"),
        ):
            errors = post(given, *files).context["set_form"].errors
            assert sentence in " ".join(errors[field]), errors
        assert not Study.objects.exists()
        assert "45 scores of 3 raters" in post(manifest, text).content.decode()
        study = Study.objects.get()
        assert study.source == "A. Author" and set(study.damaged) == {"e0"} and b"Bo" not in bytes(study.answer_set.packed)

    def test_neither_answers_nor_a_manifest_is_said_beside_the_answers(self, address, client):
        said = self.sent()
        del said["set-answers"]
        assert faults(client.post(address, said), "set_form") == {"answers": ["required"]}

    @pytest.mark.parametrize(
        ("more", "field", "sentence"),
        [
            ({"labels": "e0"}, "labels", "“e0” is not of the form ENTRY=LABEL"),
            ({"labels": "e0=broken"}, "labels", "a label is one of"),
            ({"scale": "0:50"}, "answers", "lies outside 0 to 50. Is the scale another one?"),
            ({"scale": "50:0"}, "scale", "expected the lower end first"),
            ({"layout": "wide", "wide": "obs*"}, "answers", "all.csv has no column like obs*."),
            ({"metrics": "PSNR"}, "metrics", "PSNR: say whether higher or lower is better."),
            ({"authors": "A. Author"}, "repository", "Say where it was published"),
            ({"authors": "A", "repository": "https://example.org/x", "licence": "MIT", "published": "2026"}, "commit", "A branch changes."),
            ({"columns": "item"}, "columns", "“item” is not of the form COLUMN=NAME"),
            ({"slug": "No Slug"}, "slug", "Enter a valid"),
            ({"name": "all.docx"}, "answers", "all.docx is no table that is read here"),
        ],
    )
    def test_what_is_wrong_is_said_beside_its_field(self, address, client, more, field, sentence):
        response = client.post(address, self.sent(**more))
        assert response.status_code == 200 and not Study.objects.exists()
        assert sentence in " ".join(response.context["set_form"].errors[field])
