"""Regions of interest marked in the console: a new version of the reference with other regions, and nothing else changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.http import QueryDict

from evaluation.models import EvaluationBatch, PhaseMetric, Reference
from leaderboard.console.forms.regions import MAX_REGIONS, RegionsForm
from submissions import throttling
from submissions.formats.render.views import Roi
from submissions.kinds import RENDER, same
from submissions.models import Phase
from tests.support.factories import give_reference
from tests.support.leaderboard.console.acts import latest, upload
from tests.support.pictures import HEIGHT, WIDTH, views
from tests.support.scenes import zipped

PSNR = ({"slug": "psnr", "key": "psnr", "is_primary": True},)
SQUARE = Roi(8.0, 20.0, 32.0, 44.0, "square")  # in each of `views`


@pytest.fixture
def phase(challenge):
    """A phase of renders that is scored: two views of a garden with a region each, and two of a hall without any."""
    challenge.family = "render"
    challenge.save()
    phase = Phase.objects.create(challenge=challenge, slug="final", title="Final", reference_access="public")
    bare = {name: replace(view, rois=()) for name, view in views(2, "hall", masked=True).items()}
    give_reference(phase, views(2) | bare, PSNR)
    return phase


@pytest.fixture
def path(at):
    return at("phases/final/reference/regions/garden/")


def sent(*views_sent, version=1, act="save") -> dict[str, object]:
    """Form that a browser sends: for each view a list of rows (x1, y1, x2, y2, label)."""
    values = {"version": version, "act": act}
    for view, rows in enumerate(views_sent):
        for row, entered in enumerate(rows):
            values |= {f"{name}-{view}-{row}": value for name, value in zip(("x1", "y1", "x2", "y2", "label"), entered, strict=True)}
    return values


KEPT = (8, 20, 32, 44, "square")


def test_the_page_lists_the_views_of_a_scene_with_their_boxes(desk, phase, path, at):
    text = desk.get(path).content.decode()
    assert text.count('<g data-box="0"><rect class="under" x="8.0" y="20.0" width="24.0" height="24.0"/>') == 2
    assert 'name="x2-1-0" value="32"' in text and 'name="label-1-1" value=""' in text  # a blank row for those who type
    assert 'action="' not in text.partition("<main")[2] and f"{at('phases/final/reference/')}1/garden/view_2.png" in text
    index = desk.get(at("phases/final/reference/regions/")).content.decode()
    assert "regions/garden/" in index and "regions/hall/" in index and index.count('<span class="tag warn">none</span>') == 1
    assert "reference/regions/" in desk.get(at("phases/final/reference/")).content.decode()


def test_saving_makes_a_new_version_in_which_nothing_but_the_regions_is_different(desk, phase, path, people):
    seen = desk.post(path, sent([(1, 2, 30.5, 40, " lamp "), KEPT], []), follow=True).context
    assert (seen["newest"].version, seen["in_force"].version, seen["is_scored"]) == (2, 1, True)
    first, second = phase.references.order_by("version")
    before, after = first.items(), second.items()
    assert after["garden/view_1"].rois == (Roi(1.0, 2.0, 30.5, 40.0, "lamp"), SQUARE) and after["garden/view_2"].rois == ()
    assert before["garden/view_1"].rois == (SQUARE,) == before["garden/view_2"].rois  # the old version stays
    assert list(before) == list(after)
    assert [(name, view) for name, view in before.items() if not same(replace(after[name], rois=view.rois), view)] == []
    assert (second.item_ids, second.groups, second.bounds, second.prompts) == (first.item_ids, first.groups, first.bounds, first.prompts)
    assert (second.created_by, second.note) == (people.organizer, "Regions marked in garden")
    assert EvaluationBatch.latest(phase).reference == first
    entry = latest(phase.challenge)
    assert (entry.action, entry.actor, entry.detail["after"]["version"]) == ("reference.regions", people.organizer, 2)


def test_before_anything_is_scored_the_new_version_is_in_force_at_once(desk, challenge, at):
    challenge.family = "render"
    challenge.save()
    phase = Phase.objects.create(challenge=challenge, slug="final", title="Final")
    Reference.add(phase, views(1))
    seen = desk.post(at("phases/final/reference/regions/garden/"), sent([]), follow=True).context
    assert (seen["in_force"].version, seen["is_scored"]) == (2, False)
    assert phase.references.get(version=2).items()["garden/view_1"].rois == ()


def test_saving_what_stands_there_keeps_no_new_version(desk, phase, path):
    desk.post(path, sent([KEPT], [KEPT]))
    assert phase.references.count() == 1


def test_rows_are_added_and_deleted_without_a_script_and_nothing_is_saved(desk, phase, path):
    rows = [KEPT, (1, 2, 3, 4, "lamp")]
    text = desk.post(path, sent(rows, [], act="add-0")).content.decode()
    assert 'value="lamp"' in text and 'name="label-0-3" value=""' in text
    text = desk.post(path, sent(rows, [], act="delete-0-0")).content.decode()
    assert 'name="label-0-1" value="lamp"' in text and "square" not in text
    assert phase.references.count() == 1
    assert desk.post(path, sent(rows, act="explode")).status_code == 404


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((30, 2, 30, 40, "lamp"), "x1 < x2"),
        ((3, 40, 30, 4, "lamp"), "x1 < x2"),
        ((3, 4, WIDTH + 0.5, 40, "lamp"), f"x from 0 to {WIDTH} and y from 0 to {HEIGHT}"),
        ((-1, 4, 30, 40, "lamp"), "This region leaves the picture"),
        ((3, 4, 30, 40, "  "), "This region needs a label"),
        ((3, 4, 30, 40, "l" * 81), "a label of at most 80 characters"),
        ((3, 4, 30, 40, "la\u202emp"), "invisible characters"),
        ((3, 4, 30, 40, "la\0mp"), "invisible characters"),
        ((3, 4, 30, "", "lamp"), "needs a number for each"),
        (("nan", 4, 30, 40, "lamp"), "needs a number for each"),
        ((3, 4, "inf", 40, "lamp"), "needs a number for each"),
        ((3, 4, "1e999", 40, "lamp"), "needs a number for each"),
        ((3, 4, "3_0", 40, "lamp"), "needs a number for each"),
        ((3, 4, "٣٠", 40, "lamp"), "needs a number for each"),
        ((3, 4, 1e7, 40, "lamp"), "needs four numbers of at most 1,000,000"),
    ],
)
def test_what_cannot_be_a_region_is_said_beside_its_row(row, words):
    entered = QueryDict(mutable=True)
    entered.update({name: str(value) for name, value in sent([(5, 6, 7, 8, "drawn"), row]).items()})
    form = RegionsForm({"garden/view_1": (WIDTH, HEIGHT)}, {"garden/view_1": ()}, 1, entered)
    assert not form.is_valid() and words in form.views[0].rows[1].fault and not form.views[0].rows[0].fault


def test_a_form_that_is_refused_comes_back_filled_and_keeps_nothing(desk, phase, path):
    answer = desk.post(path, sent([(5, 6, 7, 8, "drawn"), ("<script>", 4, 30, 40, "<b>lamp</b>")], [KEPT]))
    text = answer.content.decode()
    assert answer.context["form"].fault and "<b>lamp" not in text and "<script>" not in text
    assert 'value="drawn"' in text and 'name="x1-0-0" value="5"' in text and phase.references.count() == 1


def test_more_regions_than_a_view_may_have_are_refused_with_all_of_them(desk, phase, path):
    rows = [(n, 1, n + 2, 9, f"post {n}") for n in range(MAX_REGIONS + 1)]
    answer = desk.post(path, sent(rows, []))
    text = answer.content.decode()
    assert answer.context["form"].views[0].fault
    assert [n for n in range(MAX_REGIONS + 1) if f'value="post {n}"' not in text] == [] and phase.references.count() == 1


def test_what_a_reference_holds_already_may_stay_however_it_came_there(desk, phase, path):
    outside, many = Roi(-1 / 3, 1.0, 500.0, 9.0, ""), tuple(Roi(n, 1.0, n + 2.0, 9.0, "post") for n in range(MAX_REGIONS + 1))
    items = phase.references.get().items()
    items["garden/view_1"] = replace(items["garden/view_1"], rois=(outside,))
    items["garden/view_2"] = replace(items["garden/view_2"], rois=many)
    Reference.add(phase, items)
    text = desk.get(path).content.decode()
    assert 'name="label-1-0"' not in text
    form = [(repr(outside.x1), 1, 500, 9, ""), (1, 2, 3, 4, "lamp")]
    desk.post(path, sent(form, version=2))
    kept = phase.references.get(version=3).items()
    assert kept["garden/view_1"].rois == (outside, Roi(1.0, 2.0, 3.0, 4.0, "lamp")) and kept["garden/view_2"].rois == many


def test_of_two_who_save_the_second_gets_a_sentence_and_loses_nothing(desk, phase, path, people):
    desk.post(path, sent([KEPT], [(1, 2, 3, 4, "theirs")]))
    mine = sent([KEPT, (5, 6, 7, 8, "mine")], [KEPT])
    answer = desk.post(path, mine)
    text = answer.content.decode()
    assert [view.newer for view in answer.context["form"].views] == [None, (Roi(1.0, 2.0, 3.0, 4.0, "theirs"),)]
    assert 'value="mine"' in text and "theirs (1, 2, 3, 4)" in text
    assert 'name="version" value="2"' in text and phase.references.count() == 2
    desk.post(path, {**mine, "version": 2})
    kept = phase.references.get(version=3).items()
    assert kept["garden/view_1"].rois == (SQUARE, Roi(5.0, 6.0, 7.0, 8.0, "mine")) and kept["garden/view_2"].rois == (SQUARE,)


def test_a_form_over_a_reference_that_was_replaced_by_other_views_stays_filled_and_cannot_be_saved(desk, phase, path):
    Reference.add(phase, views(1, "cellar"))
    for _ in range(2):
        answer = desk.post(path, sent([(5, 6, 7, 8, "mine")], []))
        text = answer.content.decode()
        assert answer.context["form"].fault and 'value="mine"' in text and 'name="version" value="1"' in text
    assert phase.references.count() == 2 and desk.get(path).status_code == 404


def test_saving_too_often_is_refused_with_the_form_filled(desk, phase, path, monkeypatch):
    monkeypatch.setattr(throttling, "REGIONS_RATE", throttling.Rate(1, 3600))
    desk.post(path, sent([(1, 2, 3, 4, "lamp")], []))
    answer = desk.post(path, sent([(5, 6, 7, 8, "mine")], [], version=2))
    assert answer.context["form"].fault and 'value="mine"' in answer.content.decode() and phase.references.count() == 2


def test_pictures_and_pages_are_for_organizers_whatever_others_may_see(client, desk, phase, path, at, people):
    picture = at("phases/final/reference/1/garden/view_1.png")
    answer = desk.get(picture)
    assert answer["Content-Type"] == "image/png" and answer.content == phase.references.get().items()["garden/view_1"].image.png
    assert desk.get(picture, headers={"if-none-match": answer["ETag"]}).status_code == 304
    for nothing in ("1/garden/view_9.png", "9/garden/view_1.png", "1/../secret.png"):
        assert desk.get(at(f"phases/final/reference/{nothing}")).status_code == 404
    client.force_login(people.owner)
    assert {client.get(address).status_code for address in (picture, path, at("phases/final/reference/regions/"))} == {403}
    assert client.post(path, sent([])).status_code == 403 and phase.references.count() == 1


def test_many_views_stand_on_pages_and_saving_one_leaves_the_others(desk, challenge, at):
    challenge.family = "render"
    challenge.save()
    phase = Phase.objects.create(challenge=challenge, slug="final", title="Final")
    Reference.add(phase, views(9))
    path = f"{at('phases/final/reference/regions/garden/')}?page=2"
    assert desk.get(path).content.decode().count("data-view=") == 1
    answer = desk.post(path, sent([]))
    assert answer.url == path
    kept = phase.references.get(version=2).items()
    assert [name for name, view in kept.items() if not view.rois] == ["garden/view_9"]


def test_the_metric_that_needs_regions_leads_to_the_page(desk, phase, at):
    form = desk.get(at("phases/final/metrics/new/osim_rois/")).content.decode()
    assert "reference/regions/" in form
    assert "reference/regions/" not in desk.get(at("phases/final/metrics/new/psnr/")).content.decode().partition("<main")[2]


def test_the_warning_about_scenes_without_regions_leads_to_the_page(desk, phase, at):
    PhaseMetric.objects.create(phase=phase, slug="marked", key="osim_rois")
    file = zipped(dict(RENDER.files(phase.references.get().items())))
    answer = desk.post(at("phases/final/reference/"), upload(file), follow=True).content.decode()
    assert "hall/rois.json" in answer
    assert f'<a href="{at("phases/final/reference/regions/")}">' in answer.partition("hall/rois.json")[2]
