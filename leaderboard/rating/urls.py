"""Addresses of the rating pages, below /rate/."""

from __future__ import annotations

from django.urls import path

from leaderboard.views import rate, rate_files

urlpatterns = [
    path("join/<slug:token>/", rate.join_by_link, name="rate_join_link"),
    path("<slug:key>/", rate.page, name="rate"),
    path("<slug:key>/join/", rate.join_openly, name="rate_join"),
    path("<slug:key>/as/<slug:own>/", rate.come_back, name="rate_as"),
    path("<slug:key>/leave/", rate.leave, name="rate_leave"),
    path("<slug:key>/next", rate.next_question, name="rate_next"),
    path("<slug:key>/answer", rate.answer, name="rate_answer"),
    path("<slug:key>/undo", rate.undo, name="rate_undo"),
    path("<slug:key>/scenes/<slug:token>/scene.json", rate_files.scene, name="rate_scene"),
    path("<slug:key>/scenes/<slug:token>/<str:name>", rate_files.scene_file, name="rate_file"),
]
