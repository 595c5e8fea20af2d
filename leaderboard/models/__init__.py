"""Models of what the world sees: immutable rankings, and what people found. One module per noun; this is the list of them."""

from leaderboard.models.analysis import StudyAnalysis
from leaderboard.models.answer_set import AnswerSet
from leaderboard.models.entry import StudyEntry, StudySample
from leaderboard.models.interim_analysis import InterimAnalysis
from leaderboard.models.joint_analysis import JointAnalysis
from leaderboard.models.judge import JudgeAnswer, JudgeRun
from leaderboard.models.judge_budget import JudgeBudget
from leaderboard.models.judge_key import JudgeKey
from leaderboard.models.metric_challenge import MetricChallenge, MetricEntry, ProgramValues
from leaderboard.models.question import Opinion, PracticeQuestion, Question, StudyVote
from leaderboard.models.rater import Rater, StudyInvitation, Tally
from leaderboard.models.snapshot import EarlierForm, Snapshot, read_board
from leaderboard.models.study import Study

__all__ = [
    "AnswerSet",
    "EarlierForm",
    "InterimAnalysis",
    "JointAnalysis",
    "JudgeAnswer",
    "JudgeBudget",
    "JudgeKey",
    "JudgeRun",
    "MetricChallenge",
    "MetricEntry",
    "Opinion",
    "PracticeQuestion",
    "ProgramValues",
    "Question",
    "Rater",
    "Snapshot",
    "Study",
    "StudyAnalysis",
    "StudyEntry",
    "StudyInvitation",
    "StudySample",
    "StudyVote",
    "Tally",
    "read_board",
]
