"""Training `wf_learned`: votes, folds, material, steps that go on where they stopped, and the command from a folder to a metric."""

import csv
import hashlib
import json

import numpy as np
import pytest
import torch
from safetensors.torch import load

from evaluation.__main__ import main
from evaluation.metrics.wireframe.learned import network as kinds
from evaluation.metrics.wireframe.learned.network import Head
from evaluation.metrics.wireframe.pair import Pair
from evaluation.networks import weights
from evaluation.properties.corruptions import KINDS, LEVELS, corrupt
from evaluation.synthetic.houses import houses
from evaluation.training import run_sequence
from evaluation.training.errors import DataError, TrainingError
from evaluation.training.preference import material, training
from evaluation.training.preference.material import Seen, seen, study
from evaluation.training.preference.training import Plan, Training, digest, over_folds, phases, usable
from evaluation.training.preference.votes import Decisions, folds, read
from submissions.kinds import WIREFRAME
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.networks import random_weights

wf_learned = with_defaults("wf_learned")

HEAD = ("study", "rater", "group", "sample", "left", "right", "choice", "swapped", "seconds", "repeat_of", "criterion")


def write_votes(path, rows, head=HEAD):
    """Rows of (rater, sample, left, right, choice[, repeat_of[, criterion]])."""
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(head)
        for rater, sample, left, right, choice, *more in rows:
            repeat_of, criterion = (*more, "", "")[:2]
            table.writerow(["s", rater, "", sample, left, right, choice, "", "", repeat_of, criterion])
    return path


def all_pairs(samples, methods, raters=1):
    """Every rater prefers the method with the larger number, on every pair of every sample."""
    at = [(h, i, j) for _ in range(raters) for h in range(samples) for i in range(methods) for j in range(i)]
    sample, winner, loser = np.array(at).T
    names = [tuple(f"{letter}{n:02}" for n in range(count)) for letter, count in (("h", samples), ("m", methods))]
    return Decisions(*names, sample, winner, loser, raters, len(at), 0, 0)


# --- votes


def test_decisive_first_answers_are_the_examples(tmp_path):
    rows = [
        ("ann", "roof", "b", "a", "left"),
        ("ann", "roof", "a", "b", "left"),
        ("ann", "roof", "a", "c", "tie"),
        ("ben", "roof", "a", "b", "right"),
        ("ben", "hall", "c", "a", "right"),
        ("ben", "hall", "a", "c", "right", "5"),
    ]
    found = read(write_votes(tmp_path / "votes.csv", rows))
    assert (found.samples, found.methods) == (("hall", "roof"), ("a", "b", "c"))
    assert (found.sample.tolist(), found.winner.tolist(), found.loser.tolist()) == ([1, 1, 0], [1, 1, 0], [0, 0, 2])
    assert (found.raters, found.votes, found.equal, found.again) == (2, 6, 1, 2)


def test_one_criterion_is_learnt_and_which_must_be_said_where_it_is_not_plain(tmp_path):
    rows = [("ann", "roof", "b", "a", "left", "", "overall"), ("ann", "roof", "b", "a", "right", "", "edges")]
    file = write_votes(tmp_path / "votes.csv", rows)
    assert read(file).winner.tolist() == [1] and read(file, "edges").winner.tolist() == [0]
    with pytest.raises(DataError, match="holds votes on 'edges', 'overall'; name one"):
        read(file, "beauty")


def test_columns_may_have_other_names_and_faults_are_told_by_line(tmp_path):
    head = [{"choice": "winner", "sample": "house"}.get(name, name) for name in HEAD]
    file = write_votes(tmp_path / "votes.csv", [("ann", "roof", "b", "a", "left")], head)
    assert len(read(file, columns={"choice": "winner", "sample": "house"})) == 1
    with pytest.raises(DataError, match="has no column choice, sample; its columns are study, rater"):
        read(file)
    with pytest.raises(DataError, match="no column colour; what can be named"):
        read(file, columns={"colour": "x"})
    for row, fault in ((("", "r", "a", "b", "tie"), "rater is empty"), (("x", "r", "a", "a", "tie"), "'tie' of 'a' and 'a'")):
        with pytest.raises(DataError, match=rf"line 2: .*{fault}"):
            read(write_votes(tmp_path / "votes.csv", [row]))
    with pytest.raises(DataError, match="holds no votes"):
        read(write_votes(tmp_path / "votes.csv", []))


# --- folds


def test_ten_houses_and_27_methods_give_the_folds_of_the_specification():
    decisions, found = all_pairs(10, 27, raters=2), folds(10, 27, 10)
    assert len(decisions) == 2 * 3510 and len(found) == 10
    for number, fold in enumerate(found):
        assert fold.samples == (number,) and len(fold.methods) == 9 and fold.methods[0] == number % 3
        assert fold.unseen(decisions).sum() == 2 * 36 and fold.seen(decisions).sum() == 2 * 9 * 153


def test_no_fold_is_trained_on_what_it_is_judged_by():
    decisions = all_pairs(7, 8)
    for phase in phases(decisions, Plan("x", "y", folds=4))[1:]:
        one, other = phase.examples, phase.unseen
        assert not set(one.sample) & set(other.sample) and len(one) and len(other)
        assert not {*one.winner, *one.loser} & {*other.winner, *other.loser}
    assert [len(folds(*sizes)) for sizes in ((1, 27, 10), (10, 3, 10), (10, 4, 10), (4, 27, 10), (10, 27, 0))] == [0, 0, 10, 4, 0]


# --- steps


@pytest.fixture
def flat():
    """Features in which the better method can be seen."""
    decisions = all_pairs(4, 6)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4, 6, 8)).astype(np.float32) * 0.1
    values[..., 0] += np.arange(6, dtype=np.float32) - 2.5
    return decisions, Seen(values, np.ones((4, 6), dtype=bool))


def trained(decisions, views, folder, plan=None, stops=()):
    plan = plan or Plan("none", digest(decisions, views), epochs=6, folds=4)
    for steps in stops:
        assert not Training(decisions, views, plan, folder, every=3).run(stop_after=steps)
    training = Training(decisions, views, plan, folder)
    assert training.run() and training.done == training.total
    return training


def test_what_can_be_seen_is_learnt_and_judged_on_the_unseen(flat, tmp_path):
    training = trained(*flat, tmp_path, Plan("none", digest(*flat), epochs=20, folds=4))
    found = over_folds(training.results)
    assert found["folds"] == 4 and found["mean"] > 0.9
    losses = training.results["final"]["losses"]
    assert len(losses) == 20 and losses[-1] < 0.5 * losses[0] and losses[0] < 1.5
    fold = training.results["fold 1"]
    assert (fold["samples"], fold["methods"], fold["pairs"], fold["trained_on"]) == (["h00"], ["m00", "m03"], 1, 3 * 6)
    assert over_folds({"final": {}})["mean"] is None


def test_a_run_that_was_stopped_gives_the_same_bytes_and_figures(flat, tmp_path):
    whole, stopped = trained(*flat, tmp_path / "whole"), trained(*flat, tmp_path / "parts", stops=(1, 7, 20))
    assert (tmp_path / "whole/weights.safetensors").read_bytes() == (tmp_path / "parts/weights.safetensors").read_bytes()
    assert whole.results == stopped.results
    other = trained(*flat, tmp_path / "other", Plan("none", digest(*flat), seed=1, epochs=6, folds=0))
    assert other.results["final"] != whole.results["final"]


def test_a_run_on_other_votes_is_not_gone_on_with(flat, tmp_path):
    decisions, views = flat
    trained(decisions, views, tmp_path)
    fewer = decisions.take(np.arange(len(decisions)) > 0)
    with pytest.raises(TrainingError, match="another plan"):
        trained(fewer, views, tmp_path)


def test_the_first_step_is_adamw_on_the_loss_of_the_first_batch(flat, tmp_path):
    """By torch's plain AdamW on the same batch, dropout off by a head without it."""
    decisions, views = flat
    training = Training(decisions, views, Plan("none", "x", epochs=1, folds=0), tmp_path)
    torch.manual_seed(0)
    head = Head(8)
    training.model.layers[3].p = head.layers[3].p = 0.0
    training.run(stop_after=1)
    rows = training._order[:16]
    x = torch.from_numpy(views.features)
    margin = head(x[decisions.sample[rows], decisions.winner[rows]]) - head(x[decisions.sample[rows], decisions.loser[rows]])
    optimiser = torch.optim.AdamW(head.parameters(), lr=1e-3, weight_decay=1e-2)
    torch.nn.functional.binary_cross_entropy_with_logits(margin, torch.ones(16)).backward()
    optimiser.step()
    for mine, expected in zip(training.model.parameters(), head.parameters(), strict=True):
        assert torch.allclose(mine, expected, atol=1e-6)


def test_votes_on_what_cannot_be_seen_are_left_out(flat):
    decisions, views = flat
    known = views.known.copy()
    known[:, 5] = known[0] = False
    kept = usable(decisions, Seen(views.features, known))
    assert 5 not in kept.winner and 0 not in kept.sample and len(kept) == 3 * 10
    with pytest.raises(DataError, match="No decisive vote is about two entries with files"):
        usable(decisions, Seen(views.features, np.zeros_like(known)))


# --- from a folder to a metric


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The folder of a made-up study: two houses, four damages and one that leaves a house out, liked in the order of their names."""
    folder = tmp_path_factory.mktemp("study")
    references = houses(2)
    methods = {f"{kind}_{level}": (kind, level) for kind in KINDS[:2] for level in LEVELS[:2]}
    entries = {name: {k: corrupt(v, *damage, sample_id=k) for k, v in references.items()} for name, damage in methods.items()}
    entries["lazy"] = {"house_01": references["house_01"]}
    files = {"references": references} | {f"entries/{n:03}": items for n, items in enumerate(entries.values(), start=1)}
    for where, items in files.items():
        (folder / where).mkdir(parents=True)
        for name, data in WIREFRAME.files(items):
            (folder / where / name).write_bytes(data)
    labels = [*entries, "from elsewhere"]
    said = [{"label": label, "folder": f"entries/{n:03}" if n <= 5 else ""} for n, label in enumerate(labels, start=1)]
    (folder / "study.json").write_text(json.dumps({"family": "wireframe", "simulated": True, "title": "Two houses", "entries": said}))
    rows = [("ann", h, a, b, "right") for h in references for n, b in enumerate(labels) for a in labels[:n]]
    write_votes(folder / "votes.csv", rows)
    return folder


def test_a_folder_is_seen_view_by_view_and_kept(exported, tmp_path, monkeypatch):
    calls = []
    of = kinds.Features.of
    monkeypatch.setattr(kinds.Features, "of", lambda self, images: calls.append(1) or of(self, images))
    random_weights.learned_shelf(monkeypatch, tmp_path / "shelf")
    small, about = kinds.KNOWN[random_weights.STAND_IN], study(exported)
    decisions = read(about.votes)
    found = seen(about, decisions, small, tmp_path)
    assert found.features.shape == (2, 6, 4480) and found.known.tolist() == [[True, True, False, True, True, True]] * 2
    assert len(calls) == 10 and not found.features[:, 2].any() and about.simulated
    lazy = decisions.methods.index("lazy")
    assert not np.array_equal(*found.features[:, lazy]), "one house as it is, the other left out"
    again = seen(about, decisions, small, tmp_path)
    assert len(calls) == 10 and again.digest == found.digest


def test_the_command_trains_weights_that_the_metric_then_uses(exported, tmp_path, monkeypatch, capsys):
    shelf = random_weights.learned_shelf(monkeypatch, tmp_path / "shelf")
    out = tmp_path / "out"
    command = ["train", "wireframe-preference", "--votes", str(exported), "--out", str(out), "--name", "mine", "--epochs", "2"]
    assert main(command) == 0
    printed = capsys.readouterr()
    assert "30 votes of 1 raters" in printed.err and "from elsewhere" in printed.err
    assert "fold 1: accuracy" in printed.out and "accuracy over 2 folds" in printed.out
    card = json.loads((out / "mine.json").read_text())
    data = (out / "mine.safetensors").read_bytes()
    assert card["sha256"] == hashlib.sha256(data).hexdigest() and card["simulated"] and "are simulated" in card["statement"]
    assert card["data"]["decisions"] == 20 and card["data"]["title"] == "Two houses" and card["features"]["name"] == random_weights.STAND_IN
    text = (out / "mine.md").read_text()
    assert card["sha256"] in text and "reward hacking" in text and "| mean ± sd |" in text and "are simulated" in text
    assert {name: tuple(value.shape) for name, value in load(data).items()} == {
        name: tuple(value.shape) for name, value in Head(4480).state_dict().items()
    }

    (shelf / "wf_learned").mkdir(parents=True)
    for suffix in ("json", "safetensors"):
        (shelf / "wf_learned" / f"mine.{suffix}").write_bytes((out / f"mine.{suffix}").read_bytes())
    assert weights.trained()[0].name == "mine"
    house = houses(1)["house_01"]
    assert wf_learned(Pair.of(corrupt(house, "deform", "low"), house), "mine").value is not None

    before = data
    assert main(command) == 0 and (out / "mine.safetensors").read_bytes() == before, "a run that is done is done"
    assert main([*command, "--epochs", "3"]) == 2 and "another plan" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "device"), [((), "cpu"), (("--device", "cuda"), "cuda")])
def test_it_trains_on_the_device_that_is_asked_for(exported, tmp_path, monkeypatch, capsys, options, device):
    def made(*given, device, **more):
        raise TrainingError(f"on {device}")

    random_weights.learned_shelf(monkeypatch, tmp_path / "shelf")
    monkeypatch.setattr(run_sequence, "require", lambda name: name)
    monkeypatch.setattr(training, "Training", made)
    assert main(["train", "wireframe-preference", "--votes", str(exported), "--out", str(tmp_path / "out"), *options]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"on {device}"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--criterion", "edges"], "name one of them with --criterion"),
        (["--references", "/nowhere"], "There are no references at /nowhere"),
        (["--name", "../x"], "'../x' cannot be a name"),
        (["--column", "choice"], "not of the form COLUMN=NAME"),
        (["--epochs", "0"], "Epochs and threads must be at least 1"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(exported, tmp_path, monkeypatch, capsys, more, sentence):
    random_weights.learned_shelf(monkeypatch, tmp_path / "shelf")
    assert main(["train", "wireframe-preference", "--votes", str(exported), "--out", str(tmp_path / "out"), *more]) == 2
    assert sentence in capsys.readouterr().err


def test_without_dinov2_it_says_which_weights_it_needs(exported, tmp_path, monkeypatch, capsys):
    random_weights.shelf(monkeypatch, tmp_path)
    assert main(["train", "wireframe-preference", "--votes", str(exported), "--out", str(tmp_path / "out")]) == 2
    said = "wf_learned is trained on features of “dinov2-vitb14”, whose weights are not here; get them with: python -m evaluation fetch"
    assert capsys.readouterr().err.strip() == f"{said} dinov2-vitb14"


def test_a_study_of_something_else_and_a_description_that_is_none_are_refused(exported, tmp_path):
    for name in ("references", "entries"):
        (tmp_path / name).mkdir()
    write_votes(tmp_path / "votes.csv", [("ann", "x", "a", "b", "left")])
    for text, sentence in (
        ('{"family": "mesh"}', "a study of mesh entries"),
        ('{"made_up": true}', "called simulated now"),
        ("{", "is not JSON"),
        ("[]", "must be an object"),
    ):
        (tmp_path / material.DESCRIPTION).write_text(text)
        with pytest.raises(DataError, match=sentence):
            study(tmp_path)
    assert set(study(exported / "votes.csv").entries) == {"001", "002", "003", "004", "005"}
