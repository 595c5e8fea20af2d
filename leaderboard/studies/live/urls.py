"""Addresses of the rating pages, below /rate/."""

from __future__ import annotations

from django.urls import path

from leaderboard.studies.live import views

urlpatterns = [
    path("join/<slug:token>/", views.join_by_link, name="rate_join_link"),
    path("<slug:key>/", views.page, name="rate"),
    path("<slug:key>/join/", views.join_openly, name="rate_join"),
    path("<slug:key>/as/<slug:own>/", views.come_back, name="rate_as"),
    path("<slug:key>/leave/", views.leave, name="rate_leave"),
    path("<slug:key>/next", views.next_question, name="rate_next"),
    path("<slug:key>/answer", views.answer, name="rate_answer"),
    path("<slug:key>/undo", views.undo, name="rate_undo"),
    path("<slug:key>/scenes/<slug:token>/scene.json", views.scene, name="rate_scene"),
    path("<slug:key>/scenes/<slug:token>/<str:name>", views.scene_file, name="rate_file"),
]
