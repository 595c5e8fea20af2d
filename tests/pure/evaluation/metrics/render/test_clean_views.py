from evaluation.metrics.render.clean_views import subset, working_size


def test_a_longer_side_is_brought_to_the_working_size():
    assert working_size(1920, 1080) == (960, 540) and working_size(700, 1000) == (672, 960) and working_size(960, 20) == (960, 20)


def test_a_hundred_views_are_taken_by_a_uniform_stride():
    assert subset(100) == list(range(100)) and subset(200) == list(range(0, 200, 2))
    assert len(set(subset(150))) == 100 and subset(150)[-1] == 148
