"""Addresses of the organizer's console."""

from __future__ import annotations

from django.urls import path

from leaderboard.console.views import (
    audit,
    challenge,
    entries,
    files,
    judge_money,
    judges,
    live,
    metrics,
    news,
    people,
    phases,
    reference,
    regions,
    scoring,
    studies,
    teams,
)

CHALLENGE = "challenges/<slug:challenge>"
PHASE = f"{CHALLENGE}/phases/<slug:phase>"

urlpatterns = [
    path("", challenge.index, name="console"),
    path("new/", challenge.new, name="console_new"),
    path("prompts/", judges.prompt_texts, name="console_prompts"),
    path("judges/", judge_money.of_account, name="console_judge_account"),
    path(f"{CHALLENGE}/", challenge.overview, name="console_challenge"),
    path(f"{CHALLENGE}/settings/", challenge.settings, name="console_settings"),
    path(f"{CHALLENGE}/access/", challenge.access, name="console_access"),
    path(f"{CHALLENGE}/delete/", challenge.delete, name="console_delete"),
    path(f"{CHALLENGE}/bundle.zip", challenge.bundle, name="console_bundle"),
    path(f"{CHALLENGE}/new-phase/", phases.new, name="console_phase_new"),
    path(f"{PHASE}/", phases.edit, name="console_phase"),
    path(f"{PHASE}/metrics/", metrics.metric_list, name="console_metrics"),
    path(f"{PHASE}/metrics/new/<str:key>/", metrics.new, name="console_metric_new"),
    path(f"{PHASE}/metrics/new/<str:key>/evidence/", metrics.evidence, name="console_metric_evidence"),
    path(f"{PHASE}/metrics/edit/<str:metric>/", metrics.edit, name="console_metric"),
    path(f"{PHASE}/reference/", reference.reference, name="console_reference"),
    path(f"{PHASE}/reference/regions/", regions.scenes, name="console_regions"),
    path(f"{PHASE}/reference/regions/<str:scene>/", regions.scene, name="console_scene_regions"),
    path(f"{PHASE}/reference/<int:version>/<path:item>.png", regions.picture, name="console_reference_picture"),
    path(f"{PHASE}/studies/", studies.studies, name="console_studies"),
    path(f"{PHASE}/studies/new/", live.new, name="console_study_new"),
    path(f"{PHASE}/studies/<slug:study>/", live.study, name="console_study"),
    path(f"{PHASE}/studies/<slug:study>/design.json", live.design_file, name="console_study_design"),
    path(f"{PHASE}/studies/<slug:study>/raters.csv", live.raters_file, name="console_raters_file"),
    path(f"{PHASE}/studies/<slug:study>/judges/", judges.judges, name="console_judges"),
    path(f"{PHASE}/studies/<slug:study>/judges/<int:pk>/", judges.judge, name="console_judge"),
    path(f"{PHASE}/studies/<slug:study>/judges/<int:pk>/progress/", judges.judge_progress, name="console_judge_progress"),
    path(f"{PHASE}/studies/<slug:study>/judges/<int:pk>/answers.csv", judges.judge_answers, name="console_judge_answers"),
    path(f"{PHASE}/studies/<slug:study>/judges/<int:pk>/<int:answer>.png", judges.judge_image, name="console_judge_image"),
    path(f"{PHASE}/scoring/", scoring.scoring, name="console_scoring"),
    path(f"{PHASE}/scoring/progress/", scoring.progress, name="console_scoring_progress"),
    path(f"{CHALLENGE}/files/", files.files, name="console_files"),
    path(f"{CHALLENGE}/news/", news.news, name="console_news"),
    path(f"{CHALLENGE}/news/<int:pk>/", news.edit, name="console_news_edit"),
    path(f"{CHALLENGE}/judges/", judge_money.of_challenge, name="console_judge_budget"),
    path(f"{CHALLENGE}/organizers/", people.organizers, name="console_organizers"),
    path(f"{CHALLENGE}/participants/", people.participants, name="console_participants"),
    path(f"{CHALLENGE}/teams/", teams.team_list, name="console_teams"),
    path(f"{CHALLENGE}/teams/<int:pk>/", teams.team, name="console_team"),
    path(f"{CHALLENGE}/entries/", entries.entry_list, name="console_entries"),
    path(f"{CHALLENGE}/entries/<int:pk>/", entries.entry, name="console_entry"),
    path(f"{CHALLENGE}/audit/", audit.audit, name="console_audit"),
]
