"""Addresses of what participants do: join, form a team, upload, fetch files."""

from __future__ import annotations

from django.urls import path

from submissions.views import account, challenge, entries, files, team, tokens, upload

urlpatterns: list = [
    path("account/", account.account, name="account"),
    path("account/tokens/", tokens.tokens, name="tokens"),
    path("account/tokens/<int:pk>/revoke/", tokens.revoke_token, name="token_revoke"),
    path("teams/join/<str:token>/", team.team_join, name="team_join"),
    path("challenges/<slug:challenge>/", challenge.overview, name="challenge"),
    path("challenges/<slug:challenge>/rules/", challenge.rules, name="rules"),
    path("challenges/<slug:challenge>/pages/<slug:page>/", challenge.page, name="challenge_page"),
    path("challenges/<slug:challenge>/pictures/<str:name>", challenge.picture, name="challenge_picture"),
    path("challenges/<slug:challenge>/join/", challenge.join, name="join"),
    path("challenges/<slug:challenge>/access/<str:key>/", challenge.access, name="access"),
    path("challenges/<slug:challenge>/data/", files.data, name="data"),
    path("challenges/<slug:challenge>/files/<int:pk>/", files.challenge_file, name="challenge_file"),
    path("challenges/<slug:challenge>/team/", team.team, name="team"),
    path("challenges/<slug:challenge>/team/create/", team.create, name="team_create"),
    path("challenges/<slug:challenge>/team/rename/", team.rename, name="team_rename"),
    path("challenges/<slug:challenge>/team/invite/", team.invite, name="team_invite"),
    path("challenges/<slug:challenge>/team/withdraw-invite/", team.withdraw_invite, name="team_withdraw_invite"),
    path("challenges/<slug:challenge>/team/link/", team.make_link, name="team_make_link"),
    path("challenges/<slug:challenge>/team/end-link/", team.end_link, name="team_end_link"),
    path("challenges/<slug:challenge>/team/lead/", team.lead, name="team_lead"),
    path("challenges/<slug:challenge>/team/remove/", team.remove, name="team_remove"),
    path("challenges/<slug:challenge>/team/leave/", team.leave, name="team_leave"),
    path("challenges/<slug:challenge>/team/merge/", team.merge, name="team_merge"),
    path("challenges/<slug:challenge>/team/merge/answer/", team.answer_merge, name="team_answer_merge"),
    path("challenges/<slug:challenge>/<slug:phase>/manifest.json", files.manifest, name="manifest"),
    path("challenges/<slug:challenge>/<slug:phase>/upload/", upload.upload, name="upload"),
    path("entries/<int:pk>/file/", entries.entry_file, name="entry_file"),
    path("entries/<int:pk>/cancel/", entries.cancel, name="entry_cancel"),
    path("entries/<int:pk>/confirm/", entries.confirm, name="entry_confirm"),
    path("entries/<int:pk>/withdraw/", entries.withdraw, name="entry_withdraw"),
    path("entries/<int:pk>/choose/", entries.choose, name="entry_choose"),
    path("entries/<int:pk>/retry/", entries.retry, name="entry_retry"),
    path("entries/<int:pk>/edit/", entries.edit, name="entry_edit"),
]
