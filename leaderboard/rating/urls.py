"""Addresses of the rating pages, below /rate/."""

from __future__ import annotations

from django.urls import path

from leaderboard.views import rate, rate_files

urlpatterns = [
    path("join/<str:token>/", rate.join_by_link, name="rate_join_link"),
    path("<str:key>/", rate.page, name="rate"),
    path("<str:key>/join/", rate.join_openly, name="rate_join"),
    path("<str:key>/as/<str:own>/", rate.come_back, name="rate_as"),
    path("<str:key>/leave/", rate.leave, name="rate_leave"),
    path("<str:key>/next", rate.next_question, name="rate_next"),
    path("<str:key>/answer", rate.answer, name="rate_answer"),
    path("<str:key>/undo", rate.undo, name="rate_undo"),
    path("<str:key>/scenes/<str:token>/scene.json", rate_files.scene, name="rate_scene"),
    path("<str:key>/scenes/<str:token>/<str:name>", rate_files.scene_file, name="rate_file"),
]
