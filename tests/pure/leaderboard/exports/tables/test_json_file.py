import json

from leaderboard.exports.tables import json_file
from tests.support.leaderboard.export_tables import TABLE


def test_carries_everything():
    data = json.loads(json_file.write(TABLE))
    assert data["caption"] == {
        "challenge": "Rooflines 2026",
        "phase": "Test phase",
        "snapshot": "7f3a",
        "date": "2026-11-21T01:02Z",
        "address": "https://example.org/s/7f3a",
    }
    assert data["columns"][1] == {"slug": "corner_offset", "title": "Corner offset", "higher_is_better": False, "unit": "m"}
    first = data["rows"][0]
    assert (first["rank"], first["rank_interval"], first["team"]) == (1, [1, 2], "Ridgeline")
    assert first["scores"]["hss"] == {"value": 0.61234, "ci": [0.584, 0.64], "rank": 1, "n": 8}


def test_missing_is_null_and_never_zero_or_nan():
    text = json_file.write(TABLE)
    last = json.loads(text)["rows"][3]
    assert last["scores"]["corner_offset"] == {"value": None, "ci": None, "rank": None, "n": None}
    assert (last["rank"], last["rank_interval"]) == (None, None)
    assert "NaN" not in text
