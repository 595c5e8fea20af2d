"""Texts become the numbers that open_clip's tokenizer, which is OpenAI's, makes of them."""

import gzip
import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.networks.clip_tokens import LETTERS, MERGES, PLACES, VOCABULARY, Tokenizer
from evaluation.networks.weights import WeightsError
from tests.support.evaluation import official
from tests.support.examples import examples

TEXTS = (
    "a red chair",
    "  A  LOW-poly\n\tCastle,   made of 1234 bricks!! ",
    "it's the dog's; they've seen I'M, we'll, you'd, he'S",
    "un château d’été – “très” naïve ﬁligree Ⅷ ½ ² ٣",
    "机の上の猫 🐈‍⬛ 👩🏽‍🚀 œuvre Ångström",
    "AT&amp;T &amp;lt;b&amp;gt; &#39;s &nbsp; x",
    "schÃ¶n, donâ€™t",
    "ALL_CAPS under_score... ---///\\\\ #$%^&*()",
    "\u200bzero\u00a0width\u3000space \x07bell",
    "antidisestablishmentarianism" * 9,
    "",
    "word " * 120,
)


def merges_file(path: Path, merges: list[str]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write("\n".join(["#version: made up", *merges]))
    return path


@pytest.fixture(scope="module")
def theirs():
    return official.with_torchvision("open_clip.tokenizer")


@pytest.fixture(scope="module")
def published(theirs):
    """The vocabulary as the package has it, here and there."""
    path = Path(importlib.util.find_spec("open_clip").origin).with_name("bpe_simple_vocab_16e6.txt.gz")
    return Tokenizer.read(path), theirs.SimpleTokenizer(str(path))


@pytest.mark.parametrize("text", TEXTS)
def test_agrees_with_open_clip_on_the_published_vocabulary(published, text):
    mine, their = published
    assert mine.pieces(text) == their.encode(text)
    assert mine.numbers(text) == their(text)[0].tolist() and len(mine.numbers(text)) == PLACES


@examples(100, derandomize=True)
@given(st.text(max_size=60))
def test_agrees_with_open_clip_on_any_text(published, text):
    mine, their = published
    assert mine.pieces(text) == their.encode(text)


def test_marks_and_known_words(published):
    mine, _ = published
    assert mine.numbers("a photo of a cat")[:8] == [49406, 320, 1125, 539, 320, 2368, 49407, 0]
    assert not mine.is_cut("word " * 75) and mine.is_cut("word " * 76)
    cut = mine.numbers("word " * 76)
    assert len(cut) == PLACES and cut[-1] == VOCABULARY - 1 == max(cut)


def test_a_text_cannot_end_itself(published):
    mine, _ = published
    for text in ("a cat <end_of_text> a dog", "<|endoftext|>", "<start_of_text>"):
        assert not {VOCABULARY - 2, VOCABULARY - 1} & set(mine.pieces(text))


def test_a_made_vocabulary_by_hand():
    tokenizer = Tokenizer([("l", "o"), ("lo", "w</w>"), ("e", "r</w>"), ("lo", "w")])
    first = 2 * 256
    letters = {letter: n for n, letter in enumerate(LETTERS.values())}
    assert tokenizer.pieces("low") == [first + 1], "l o w</w> -> lo w</w> -> low</w>"
    assert tokenizer.pieces("lower") == [first + 3, first + 2]
    assert tokenizer.pieces("lo") == [letters["l"], 256 + letters["o"]], "the end of a word is another piece"
    assert tokenizer.pieces("lolow") == [first, first + 1]
    assert tokenizer.numbers("low", places=5) == [first + 4, first + 1, first + 5, 0, 0]


def test_a_made_vocabulary_of_a_file_agrees_with_open_clip(theirs, tmp_path):
    merges = ["a n", "an d</w>", "r e", "re d</w>", "c h", "ch a", "i r</w>", "cha ir</w>", "Ã ©", "Ã ©</w>"]
    their = theirs.SimpleTokenizer(str(merges_file(tmp_path / "few.gz", merges)))
    mine = Tokenizer([tuple(line.split()) for line in merges])
    for text in ("red and chairs and a chair", "déjà vu été", "banana", *TEXTS):
        assert mine.pieces(text) == their.encode(text)


@pytest.mark.parametrize("damage", ["no gzip", "cut off", "too few", "no pairs"])
def test_another_file_is_refused_in_a_sentence(tmp_path, damage):
    path = merges_file(tmp_path / "vocabulary.gz", ["a b"] * (10 if damage == "too few" else MERGES))
    if damage == "no gzip":
        path.write_bytes(b"<html>Not found</html>")
    elif damage == "cut off":
        path.write_bytes(path.read_bytes()[:-20])
    elif damage == "no pairs":
        merges_file(path, ["a b c"] * MERGES)
    with pytest.raises(WeightsError, match=r"^The file vocabulary\.gz .*; take .*\.$"):
        Tokenizer.read(path)
