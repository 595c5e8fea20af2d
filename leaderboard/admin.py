"""Boards and studies as operators look at them."""

from __future__ import annotations

from leaderboard import models
from submissions.admin import look

look(
    models.Snapshot,
    "short phase audience revision n_entries n_teams created_at opened_at",
    search="digest phase__slug phase__challenge__slug",
    filters="audience",
    hidden="payload",
    show_full_result_count=False,
)
look(models.EarlierForm, "digest snapshot changed_at", search="digest", hidden="payload")
look(
    models.Study,
    "title phase slug kind state simulated is_public revision created_at",
    search="slug title phase__slug phase__challenge__slug",
    filters="state kind is_public simulated",
)
look(models.StudyEntry, "label study submission artifact left_out_at", search="label study__slug")
look(models.StudySample, "name study order", search="name study__slug")
look(
    models.StudyInvitation,
    "note study group most_uses expires_at withdrawn_at made_by created_at",
    search="note study__slug",
    hidden="token_hash",
)
look(
    models.Question,
    "study rater number sample left right is_gold shown_at answered_at",
    search="study__slug rater__name sample__name",
    hidden="token",
    show_full_result_count=False,
)
look(
    models.PracticeQuestion,
    "study rater number sample left right is_gold answered_at",
    search="study__slug rater__name sample__name",
    hidden="token",
)
look(models.Opinion, "study rater sample entry criterion score", search="study__slug rater__name sample", show_full_result_count=False)
look(
    models.Rater,
    "name kind group study joined_at removed_at withdrawn is_counted",
    search="name group study__slug",
    filters="kind",
    hidden="key_hash kept_from",
)
look(models.Tally, "rater", search="rater__study__slug rater__name")
look(
    models.StudyVote,
    "study rater sample left choice right criterion",
    search="study__slug rater__name sample",
    filters="choice",
    show_full_result_count=False,
)
look(models.InterimAnalysis, "study number answers raters samples entry made_at", search="study__slug entry")
look(
    models.StudyAnalysis,
    "study criterion state made_of wanted attempts losses worker finished_at",
    search="study__slug criterion",
    filters="state",
    hidden="content",
)
look(
    models.JointAnalysis,
    "members state made_of wanted attempts losses worker finished_at",
    search="members",
    filters="state",
    hidden="content",
)
look(
    models.AnswerSet,
    "study state made_of wanted attempts losses worker finished_at",
    search="study__slug study__title",
    filters="state",
    hidden="packed content reproduction",
)
look(
    models.JudgeRun,
    "rater study plan state n_answered n_planned requests budget cost worker created_at",
    search="model study__slug study__title",
    filters="state form",
    hidden="result",
)
look(models.JudgeBudget, "challenge account limit month spent reserved set_by set_at", search="challenge__slug account__username")
look(models.JudgeKey, "challenge account url last_four put_in_by put_in_at", search="challenge__slug account__username", hidden="sealed")
look(
    models.JudgeAnswer,
    "run_id number sample left right state rounds requests tokens_in tokens_out cost",
    search="sample left__label right__label",
    filters="state",
    show_full_result_count=False,
)
look(models.ProgramValues, "program study state total finished_at failure", search="program__key study__slug failure", filters="state")
look(models.MetricChallenge, "title study opens_at closes_at limit_per_day limit_total standings_at", search="title study__slug")
look(models.MetricEntry, "pk contest user program created_at", search="contest__title user__username program__key")
