"""What people enter about an entry, and what of it is refused."""

from __future__ import annotations

import pytest

from submissions.errors import Refused
from submissions.models.entry_texts import checked_texts


@pytest.mark.parametrize("name", ["\u200b", "ridge\u202eten", "ridge\nnet", "ridge\x07net", "ridge\ufeffnet"])
def test_a_method_name_without_looks_of_its_own_is_refused(name):
    """A blank link, a name that turns the row round, one that looks like another's."""
    with pytest.raises(Refused) as refused:
        checked_texts(method_name=name)
    assert refused.value.code == "method_name"


@pytest.mark.parametrize("name", ["gable-net v3 (ours)", "Dächer ±5 %", "屋根", "pc→edges"])
def test_names_of_all_scripts_are_taken(name):
    assert checked_texts(method_name=f" {name} ") == {"method_name": name}
