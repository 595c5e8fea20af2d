"""Single results of a set, from its canonical tables."""

from __future__ import annotations

from leaderboard.evidence.results import Result, results

JUDGEMENTS = """item,group,entry,family,criterion,rater,session,score
i1,g,a,p,quality,1,1,4
i1,g,a,p,quality,2,1,5
i1,g,b,p,quality,1,1,2
i1,g,a,p,other,1,1,1
i2,h,a,p,quality,1,1,3
"""
VALUES = "item,entry,psnr-y:higher,psnr:higher\ni1,a,30.5,1\ni1,b,20,2\ni2,a,,3\n"


def test_a_result_has_its_mean_on_the_criterion_and_its_value(tmp_path):
    (tmp_path / "judgements.csv").write_text(JUDGEMENTS)
    assert results(tmp_path, "psnr-y", "quality") == [], "the values are not there yet"
    (tmp_path / "values.csv").write_text(VALUES)
    assert results(tmp_path, "psnr-y", "quality") == [Result("i1", "g", 30.5, 4.5), Result("i1", "g", 20.0, 2.0)]
    assert [one.value for one in results(tmp_path, "psnr", "quality")] == [1.0, 2.0, 3.0]
    assert results(tmp_path / "nothing", "psnr", "quality") == []


def test_published_means_are_taken_as_they_are(tmp_path):
    (tmp_path / "judgements.csv").write_text("item,group,entry,family,criterion,mean,sd,n,se\ni1,g,a,p,quality,3.25,1,9,\n")
    (tmp_path / "values.csv").write_text("item,entry,x:lower\ni1,a,0.5\n")
    assert results(tmp_path, "x", "quality") == [Result("i1", "g", 0.5, 3.25)]
