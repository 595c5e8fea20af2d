"""What the world sees: immutable rankings, and what people found. One module per noun; this is the list of them."""

from leaderboard.models.snapshot import Snapshot, decode
from leaderboard.models.study import Rater, Study, StudyAnalysis, StudyEntry, StudyVote

__all__ = ["Rater", "Snapshot", "Study", "StudyAnalysis", "StudyEntry", "StudyVote", "decode"]
