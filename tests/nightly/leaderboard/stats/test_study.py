"""The analysis of real votes."""

import json

from leaderboard.stats import __main__ as command


def test_real_votes_give_a_plausible_order(data_folder, capsys):
    columns = ["--column", "choice=winner", "--column", "rater=worker", "--column", "sample=prompt"]
    assert command.main([str(data_folder / "votes" / "llmfao.csv"), *columns, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["criteria"][""]
    assert found["votes"] == 8931 and len(found["methods"]) == 59
    assert found["scales"][0]["method"] == "GPT 4"
    assert 0 < found["people"]["alpha"] < 1
