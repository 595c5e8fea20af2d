"""Permissions at every address of the service: the tables that `test_routes.py` walks; the console's is in
`routes_console.py`.

A line is a method, an address with names in braces (see `routes_scene.py`), and one letter for
each of the eight people in the order of PEOPLE:

    y  allowed (done, shown, or answered that the request itself is wrong or comes too late)
    l  asked to log in            n  forbidden, of a thing they may know of
    x  not found: even its being there is not theirs to know

What stands in no line must be refused to everybody, for every method.
"""

from __future__ import annotations

import re

PEOPLE = ("anonymous", "stranger", "owner", "mate", "other", "organizer", "other_organizer", "staff")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

PAGES = """
GET    /                                            yyyyyyyy
GET    /challenges/                                 yyyyyyyy
GET    /metrics/                                    yyyyyyyy
GET    /metrics/hss/                                yyyyyyyy
GET    /metrics/nothing/                            xxxxxxxx
GET    /metric-challenges/                          yyyyyyyy
GET    /metric-challenges/{contest}/                yyyyyyyy
POST   /metric-challenges/{contest}/                lyyyyyyy
GET    /metric-challenges/999999/                   xxxxxxxx
GET    /metric-challenges/{private_contest}/        xxxxxyxy
GET    /metrics/{c}/own_lengths/                    yyyyyyyy
GET    /metrics/{c}/own_lengths/program.zip         yyyyyyyy
GET    /metrics/{private}/own_lengths/              xxxxxyxy
GET    /metrics/papers/osim/                        yyyyyyyy
GET    /metrics/papers/nothing/                     xxxxxxxx
GET    /evidence/                                   yyyyyyyy
GET    /evidence/gsc/                               yyyyyyyy
GET    /evidence/nothing/                           xxxxxxxx
GET    /studies/                                    yyyyyyyy
GET    /docs/                                       yyyyyyyy
GET    /search/?q=hss                               yyyyyyyy
GET    /status/                                     yyyyyyyy
GET    /favicon.ico                                 yyyyyyyy
GET    /robots.txt                                  yyyyyyyy
GET    /sitemap.xml                                 yyyyyyyy
GET    /card.png                                    yyyyyyyy
GET    /client/plumbline-0-py3-none-any.whl          xxxxxxxx
GET    /docs/ranking/                               yyyyyyyy
GET    /docs/nothing/                               xxxxxxxx
GET    /-/health                                    yyyyyyyy
GET    /-/ready                                     yyyyyyyy
GET    /-/metrics                                   yyyyyyyy

GET    /trials/1/                                                                yyyyyyyy
GET    /acceptance-tests/{acceptance_test}/                                      yyyyyyyy
GET    /acceptance-tests/{acceptance_test_open}/                                 yyyyyyyy
GET    /acceptance-tests/{acceptance_test_masked}/                               yyyyyyyy
GET    /acceptance-tests/{acceptance_test_private}/                              xxxxxyxy
GET    /acceptance-tests/999999/                                                 xxxxxxxx
GET    /acceptance-tests/{acceptance_test}/pictures/0/clean.webp                 nnnnnyny
GET    /acceptance-tests/{acceptance_test_open}/pictures/0/clean.webp            yyyyyyyy
GET    /acceptance-tests/{acceptance_test_masked}/pictures/0/clean.webp          nnnnnyny
GET    /acceptance-tests/{acceptance_test_private}/pictures/0/clean.webp         xxxxxyxy
GET    /acceptance-tests/{acceptance_test_open}/pictures/0/nothing.webp          xxxxxxxx
GET    /acceptance-tests/{acceptance_test_open}/pictures/7/clean.webp            xxxxxxxx

GET    /challenges/{c}/                             yyyyyyyy
GET    /challenges/{private}/                       xxxxxyxy
GET    /challenges/{draft}/                         xxxxxyxy
GET    /challenges/nothing/                         xxxxxxxx
GET    /challenges/{c}/rules/                       yyyyyyyy
GET    /challenges/{private}/rules/                 xxxxxyxy
GET    /challenges/{c}/pages/faq/                   yyyyyyyy
GET    /challenges/{c}/pages/nothing/               xxxxxxxx
GET    /challenges/{private}/pages/faq/             xxxxxyxy
GET    /challenges/{draft}/pages/faq/               xxxxxyxy
GET    /challenges/{c}/pictures/logo.png            yyyyyyyy
GET    /challenges/{c}/pictures/nothing.png         xxxxxxxx
GET    /challenges/{private}/pictures/logo.png      xxxxxyxy
GET    /challenges/{c}/card.png                     yyyyyyyy
GET    /challenges/{private}/card.png               xxxxxxxx
GET    /challenges/{c}/data/                        yyyyyyyy
GET    /challenges/{private}/data/                  xxxxxyxy
POST   /challenges/{c}/join/                        lyyyyyyy
POST   /challenges/{private}/join/                  lxxxxyxy
POST   /challenges/{draft}/join/                    lxxxxnxn
GET    /challenges/{private}/access/{key}/          yyyyyyyy
POST   /challenges/{private}/access/{key}/          yyyyyyyy
GET    /challenges/{private}/access/wrong/          xxxxxyxy
POST   /challenges/{private}/access/wrong/          xxxxxyxy
GET    /challenges/{draft}/access/{key}/            xxxxxyxy
POST   /challenges/{draft}/access/{key}/            xxxxxyxy
GET    /challenges/{c}/files/{file}/                nnyyyyny
GET    /challenges/{c}/files/{coming_file}/         nnnnnyny
GET    /challenges/{private}/files/{private_file}/  xxxxxyxy
GET    /challenges/{c}/files/{private_file}/        xxxxxxxx
GET    /challenges/{c}/{p}/manifest.json            yyyyyyyy
GET    /challenges/{c}/{coming}/manifest.json       xxxxxyxy
GET    /challenges/{private}/{pp}/manifest.json     xxxxxyxy
GET    /challenges/{c}/{p}/starter-kit.zip          nnyyyyny
GET    /challenges/{c}/{coming}/starter-kit.zip     nnnnnyny
GET    /challenges/{private}/{pp}/starter-kit.zip   xxxxxyxy
GET    /challenges/{c}/{p}/reference.zip            nnnnnyny
GET    /challenges/{c}/{open}/reference.zip         yyyyyyyy
GET    /challenges/{c}/{coming}/reference.zip       nnnnnyny
GET    /challenges/{private}/{pp}/reference.zip     xxxxxyxy

GET    /challenges/{c}/{p}/upload/                  yyyyyyyy
GET    /challenges/{private}/{pp}/upload/           xxxxxyxy
POST   /challenges/{c}/{p}/upload/                  nnyyynnn
POST   /challenges/{private}/{pp}/upload/           xxxxxnxn

GET    /challenges/{c}/team/                        lyyyyyyy
GET    /challenges/{private}/team/                  lxxxxyxy
POST   /challenges/{c}/team/create/                 lyyyyyyy
POST   /challenges/{private}/team/create/           lxxxxyxy
POST   /challenges/{c}/team/rename/                 lxynyxxx
POST   /challenges/{c}/team/invite/                 lxynyxxx
POST   /challenges/{c}/team/withdraw-invite/        lxynxxxx
POST   /challenges/{c}/team/link/                   lxynyxxx
POST   /challenges/{c}/team/end-link/               lxynyxxx
POST   /challenges/{c}/team/lead/                   lxynxxxx
POST   /challenges/{c}/team/remove/                 lxynxxxx
POST   /challenges/{c}/team/leave/                  lxyyyxxx
POST   /challenges/{c}/team/merge/                  lxynyxxx
POST   /challenges/{c}/team/merge/answer/           lxynxxxx
GET    /teams/join/{join}/                          yyyyyyyy
POST   /teams/join/{join}/                          yyyyyyyy
GET    /teams/join/{private_join}/                  yyyyyyyy
POST   /teams/join/{private_join}/                  yxxxxyxy
GET    /teams/join/wrong/                           xxxxxxxx
POST   /teams/join/wrong/                           xxxxxxxx

GET    /account/                                    lyyyyyyy
POST   /account/                                    lyyyyyyy
GET    /account/tokens/                             lyyyyyyy
POST   /account/tokens/                             lyyyyyyy
POST   /account/tokens/{token}/revoke/              lxyxxxxx

GET    /teams/{team}/                               yyyyyyyy
GET    /teams/{insiders}/                           xxxxxyxy
GET    /teams/999999/                               xxxxxxxx
GET    /teams/{team}/methods/method-e/              yyyyyyyy
GET    /teams/{team}/methods/method-hidden/         xxyyxyxy
GET    /teams/{team}/methods/method-masked/         xxyyxyxy
GET    /teams/{insiders}/methods/method-private/    xxxxxyxy
GET    /teams/{team}/methods/nothing/               xxxxxxxx
GET    /users/owner/                                yyyyyyyy
GET    /users/other/                                xxxxyxxx
GET    /users/nothing/                              xxxxxxxx

GET    /challenges/{c}/{p}/                         yyyyyyyy
GET    /challenges/{c}/{masked}/                    yyyyyyyy
GET    /challenges/{private}/{pp}/                  xxxxxyxy
GET    /challenges/{c}/{p}/card.png                 yyyyyyyy
GET    /challenges/{c}/{p}/embed/                   yyyyyyyy
GET    /challenges/{c}/{masked}/embed/              xxxxxxxx
GET    /challenges/{private}/{pp}/embed/            xxxxxxxx
GET    /oembed                                      xxxxxxxx
GET    /oembed?url=http://testserver/challenges/{c}/{p}/ yyyyyyyy
GET    /oembed?url=http://testserver/challenges/{private}/{pp}/ xxxxxxxx
GET    /challenges/{c}/{masked}/card.png            xxxxxxxx
GET    /challenges/{c}/{p}/compare/card.png?a={e}&b={e2} yyyyyyyy
GET    /challenges/{c}/{p}/compare/card.png?a={e}&b={hidden} xxxxxxxx
GET    /challenges/{c}/{p}/compare/card.png         xxxxxxxx
GET    /challenges/{private}/{pp}/compare/card.png  xxxxxxxx
GET    /challenges/{c}/{p}/people/open/card.png     yyyyyyyy
GET    /challenges/{c}/{p}/people/inner/card.png    xxxxxxxx
GET    /entries/{e}/card.png                        yyyyyyyy
GET    /entries/{hidden}/card.png                   xxxxxxxx
GET    /entries/{private_e}/card.png                xxxxxxxx
GET    /metrics/hss/card.png                        yyyyyyyy
GET    /metrics/nothing/card.png                    xxxxxxxx
GET    /challenges/{private}/{pp}/card.png          xxxxxxxx
GET    /challenges/{c}/{p}/feed.atom                yyyyyyyy
GET    /challenges/{c}/{masked}/feed.atom           xxxxxxxx
GET    /challenges/{private}/{pp}/feed.atom         xxxxxxxx
GET    /challenges/{c}/news.atom                    yyyyyyyy
GET    /challenges/{private}/news.atom              xxxxxxxx
GET    /challenges/{c}/dates.ics                    yyyyyyyy
GET    /challenges/{draft}/dates.ics                xxxxxxxx
GET    /challenges/{c}/croissant.json               yyyyyyyy
GET    /challenges/{private}/croissant.json         xxxxxxxx
GET    /challenges/{draft}/croissant.json           xxxxxxxx
GET    /challenges/{c}/citation.cff                 yyyyyyyy
GET    /challenges/{c}/citation.bib                 yyyyyyyy
GET    /challenges/{private}/citation.bib           xxxxxxxx
GET    /challenges/{draft}/{dp}/                    xxxxxyxy
GET    /challenges/{c}/nothing/                     xxxxxxxx
GET    /challenges/{c}/{p}/snapshots/{digest}/      yyyyyyyy
GET    /challenges/{c}/{p}/snapshots/{inner}/       xxxxxyxy
GET    /challenges/{c}/{p}/snapshots/{digest}/content.json yyyyyyyy
GET    /challenges/{c}/{p}/snapshots/{inner}/content.json xxxxxyxy
GET    /challenges/{c}/{masked}/snapshots/{digest}/ yyyyyxyx
GET    /challenges/{c}/{p}/snapshots/{digest}.csv   yyyyyyyy
GET    /challenges/{c}/{p}/snapshots/{inner}.json   xxxxxyxy
GET    /challenges/{c}/{masked}/snapshots/{masked_digest}.csv xxxxxyxy
GET    /challenges/{c}/{p}/snapshots/{digest}.cff   yyyyyyyy
GET    /challenges/{c}/{p}/snapshots/{inner}.cff    xxxxxxxx
GET    /challenges/{c}/{masked}/snapshots/{masked_digest}.bib xxxxxxxx
GET    /challenges/{c}/{p}/snapshots/{digest}.crate.zip yyyyyyyy
GET    /challenges/{c}/{p}/snapshots/{inner}.crate.zip xxxxxxxx
GET    /challenges/{c}/{masked}/snapshots/{masked_digest}.crate.zip xxxxxxxx
GET    /challenges/{private}/{pp}/snapshots/{digest}/ xxxxxxxx
GET    /challenges/{c}/{p}/entries/                 yyyyyyyy
GET    /challenges/{private}/{pp}/entries/          xxxxxyxy
GET    /challenges/{c}/{p}/compare/                 yyyyyyyy
GET    /challenges/{c}/{p}/compare/?a={e}&b={e2}    yyyyyyyy
GET    /challenges/{c}/{p}/compare/?a={e}&b={hidden} xxyyxyxy
GET    /challenges/{c}/{p}/compare/?a={e}&b={e2}&with={hidden} xxyyxyxy
GET    /challenges/{private}/{pp}/compare/          xxxxxyxy
GET    /challenges/{c}/{p}/charts/                  yyyyyyyy
GET    /challenges/{c}/{p}/history/                 yyyyyyyy
GET    /challenges/{c}/{masked}/charts/             yyyyyyyy
GET    /challenges/{c}/{masked}/history/            yyyyyyyy
GET    /challenges/{private}/{pp}/charts/           xxxxxyxy
GET    /challenges/{private}/{pp}/history/          xxxxxyxy
GET    /challenges/{c}/{p}/choosing-metrics/        yyyyyyyy
GET    /challenges/{c}/{masked}/choosing-metrics/   yyyyyyyy
GET    /challenges/{private}/{pp}/choosing-metrics/ xxxxxyxy
GET    /challenges/{c}/{p}/people/                  yyyyyyyy
GET    /challenges/{c}/{masked}/people/             yyyyyyyy
GET    /challenges/{private}/{pp}/people/           xxxxxyxy
GET    /challenges/{c}/{p}/people/open/             yyyyyyyy
GET    /challenges/{c}/{p}/people/open/analysis.json yyyyyyyy
GET    /challenges/{c}/{p}/people/open/votes.csv    xxxxxyxy
GET    /challenges/{c}/{p}/people/open/judges.csv   xxxxxyxy
GET    /challenges/{c}/{p}/people/inner/            xxxxxyxy
GET    /challenges/{c}/{p}/people/inner/analysis.json xxxxxyxy
GET    /challenges/{c}/{p}/people/inner/votes.csv   xxxxxyxy
GET    /challenges/{c}/{p}/people/inner/judges.csv  xxxxxyxy
GET    /challenges/{c}/{masked}/people/open/        yyyyyyyy
GET    /challenges/{c}/{masked}/people/open/analysis.json xxxxxyxy
GET    /challenges/{c}/{masked}/people/open/votes.csv xxxxxyxy
GET    /challenges/{c}/{masked}/people/open/judges.csv xxxxxyxy
GET    /challenges/{private}/{pp}/people/open/      xxxxxyxy
GET    /challenges/{private}/{pp}/people/open/analysis.json xxxxxyxy
GET    /challenges/{private}/{pp}/people/open/votes.csv xxxxxyxy
GET    /challenges/{private}/{pp}/people/open/judges.csv xxxxxyxy
"""

# An entry in each of its states. What the board shows is seen by all; what it does not show, by
# the team and the organizers.
ENTRIES = """
GET    /entries/{e}/                                yyyyyyyy
GET    /entries/{busy}/                             xxyyxyxy
GET    /entries/{hidden}/                           xxyyxyxy
GET    /entries/{withdrawn}/                        xxyyxyxy
GET    /entries/{disqualified}/                     yyyyyyyy
GET    /entries/{rejected}/                         xxyyxyxy
GET    /entries/{masked_e}/                         xxyyxyxy
GET    /entries/{open_e}/                           yyyyyyyy
GET    /entries/{private_e}/                        xxxxxyxy
GET    /entries/{e}/badge.svg                       yyyyyyyy
GET    /entries/{hidden}/badge.svg                  xxxxxxxx
GET    /entries/{masked_e}/badge.svg                xxxxxxxx
GET    /entries/{private_e}/badge.svg               xxxxxxxx
GET    /entries/{e}/progress/                       yyyyyyyy
GET    /entries/{busy}/progress/                    xxyyxyxy
GET    /entries/{hidden}/progress/                  xxyyxyxy
GET    /entries/{masked_e}/progress/                xxyyxyxy
GET    /entries/{e}/items/{item}/                   yyyyyyyy
GET    /entries/{hidden}/items/{item}/              xxyyxyxy
GET    /entries/{masked_e}/items/{item}/            xxnnxyxy
GET    /entries/{open_e}/items/{item}/              yyyyyyyy
GET    /entries/{private_e}/items/{item}/           xxxxxyxy
GET    /entries/{e}/geometry/{item}.json            nnnnnyny
GET    /entries/{hidden}/geometry/{item}.json       xxnnxyxy
GET    /entries/{masked_e}/geometry/{item}.json     xxnnxyxy
GET    /entries/{open_e}/geometry/{item}.json       yyyyyyyy
GET    /entries/{private_e}/geometry/{item}.json    xxxxxyxy
GET    /entries/{mesh_e}/geometry/{mesh}.json       nnnnnxnx
GET    /entries/{e}/geometry/{item}.mesh            nnnnnxnx
GET    /entries/{mesh_e}/geometry/{mesh}.mesh       nnnnnyny
GET    /entries/{mesh_hidden}/geometry/{mesh}.mesh  xxnnxyxy
GET    /entries/{mesh_open}/geometry/{mesh}.mesh    yyyyyyyy
GET    /entries/{mesh_open}/geometry/{mesh}.json    xxxxxxxx
GET    /entries/{mesh_open}/geometry/nothing.mesh   xxxxxxxx
GET    /entries/{mesh_e}/items/{mesh}/              yyyyyyyy
GET    /entries/{mesh_open}/items/{mesh}/           yyyyyyyy
GET    /entries/{render_e}/items/{view}/            yyyyyyyy
GET    /entries/{render_hidden}/items/{view}/       xxyyxyxy
GET    /entries/{render_e}/scenes/garden/           yyyyyyyy
GET    /entries/{render_hidden}/scenes/garden/      xxyyxyxy
GET    /entries/{render_open}/scenes/garden/        yyyyyyyy
GET    /entries/{render_open}/scenes/nothing/       xxxxxxxx
GET    /entries/{mesh_open}/scenes/{mesh}/          xxxxxxxx
GET    /entries/{render_e}/scenes/garden/progress/  nnyynyny
GET    /entries/{render_hidden}/scenes/garden/progress/ xxyyxyxy
GET    /entries/{render_open}/scenes/garden/progress/ yyyyyyyy
GET    /entries/{render_e}/thumbnail.webp            nnyynyny
GET    /entries/{render_hidden}/thumbnail.webp       xxyyxyxy
GET    /entries/{render_open}/thumbnail.webp         yyyyyyyy
GET    /entries/{mesh_e}/thumbnail.webp              nnyynyny
GET    /entries/{mesh_hidden}/thumbnail.webp         xxyyxyxy
GET    /entries/{open_e}/thumbnail.webp              yyyyyyyy
GET    /entries/{private_e}/thumbnail.webp           xxxxxyxy
GET    /entries/{e}/posters/{item}.webp              nnyynyny
GET    /entries/{mesh_e}/posters/{mesh}.webp         nnyynyny
GET    /entries/{mesh_hidden}/posters/{mesh}.webp    xxyyxyxy
GET    /entries/{mesh_open}/posters/{mesh}.webp      yyyyyyyy
GET    /entries/{mesh_open}/posters/nothing.webp     xxxxxxxx
GET    /entries/{render_open}/posters/{view}.webp    yyyyyyyy
GET    /entries/{render_e}/pictures/{view}/render.webp nnyynyny
GET    /entries/{render_e}/pictures/{view}/render.small.webp nnyynyny
GET    /entries/{render_e}/pictures/{view}/reference.webp nnnnnyny
GET    /entries/{render_e}/pictures/{view}/error.small.webp nnnnnyny
GET    /entries/{render_hidden}/pictures/{view}/render.webp xxyyxyxy
GET    /entries/{render_hidden}/pictures/{view}/reference.webp xxnnxyxy
GET    /entries/{render_open}/pictures/{view}/reference.webp yyyyyyyy
GET    /entries/{render_open}/pictures/{view}/nothing.webp xxxxxxxx
GET    /entries/{render_open}/pictures/nothing/render.webp xxxxxxxx
GET    /entries/{e}/file/                           nnyynyny
GET    /entries/{busy}/file/                        xxyyxyxy
GET    /entries/{hidden}/file/                      xxyyxyxy
GET    /entries/{masked_e}/file/                    xxyyxyxy
GET    /entries/{open_e}/file/                      nnyynyny
GET    /entries/{private_e}/file/                   xxxxxyxy
POST   /entries/{e}/cancel/                         nnyynnnn
POST   /entries/{busy}/cancel/                      xxyyxnxn
POST   /entries/{private_e}/cancel/                 xxxxxnxn
POST   /entries/{e}/withdraw/                       nnyynnnn
POST   /entries/{hidden}/withdraw/                  xxyyxnxn
POST   /entries/{e}/choose/                         nnyynnnn
POST   /entries/{hidden}/choose/                    xxyyxnxn
POST   /entries/{e}/edit/                           nnyynnnn
POST   /entries/{hidden}/edit/                      xxyyxnxn
POST   /entries/{e}/confirm/                        nnyynnnn
POST   /entries/{hidden}/confirm/                   xxyyxnxn
POST   /entries/{private_e}/confirm/                xxxxxnxn
POST   /entries/{e}/retry/                          nnyynyny
POST   /entries/{hidden}/retry/                     xxyyxyxy
POST   /entries/{private_e}/retry/                  xxxxxyxy
"""

# A study for those on its list, of whom the owner has joined and the mate has not yet; and a draft.
RATING = """
GET    /rate/join/{rate_link}/                      yyyyyyyy
POST   /rate/join/{rate_link}/                      yyyyyyyy
GET    /rate/join/wrong/                            xxxxxxxx
POST   /rate/join/wrong/                            xxxxxxxx
GET    /rate/{rate}/                                yyyyyyyy
GET    /rate/{rate}/join/                           nnyynnnn
POST   /rate/{rate}/join/                           nnyynnnn
GET    /rate/{rate}/as/{rate_own}/                  yyyyyyyy
GET    /rate/{rate}/as/wrong/                       xxxxxxxx
GET    /rate/{rate}/leave/                          yyyyyyyy
POST   /rate/{rate}/leave/                          yyyyyyyy
GET    /rate/{rate}/next                            nnynnnnn
POST   /rate/{rate}/answer                          nnynnnnn
POST   /rate/{rate}/undo                            nnynnnnn
GET    /rate/{rate}/scenes/{rate_question}/scene.json  xxyxxxxx
GET    /rate/{rate}/scenes/{rate_question}/left.mesh   xxxxxxxx
GET    /rate/{rate}/scenes/wrong/scene.json         xxxxxxxx
GET    /rate/{unborn}/scenes/{rate_question}/scene.json  xxxxxxxx
GET    /rate/{unborn}/                              xxxxxxxx
GET    /rate/{unborn}/join/                         xxxxxxxx
POST   /rate/{unborn}/join/                         xxxxxxxx
GET    /rate/{unborn}/leave/                        xxxxxxxx
GET    /rate/{unborn}/next                          xxxxxxxx
POST   /rate/{unborn}/answer                        xxxxxxxx
"""

# Nobody here has a second factor yet, so there is none to end and no code to show.
ACCOUNTS = """
GET    /accounts/login/                             yyyyyyyy
POST   /accounts/login/                             yyyyyyyy
GET    /accounts/logout/                            yyyyyyyy
POST   /accounts/logout/                            yyyyyyyy
GET    /accounts/inactive/                          yyyyyyyy
GET    /accounts/signup/                            yyyyyyyy
POST   /accounts/signup/                            yyyyyyyy
GET    /accounts/reauthenticate/                    lyyyyyyy
POST   /accounts/reauthenticate/                    lyyyyyyy
GET    /accounts/email/                             lyyyyyyy
POST   /accounts/email/                             lyyyyyyy
GET    /accounts/confirm-email/                     lyyyyyyy
POST   /accounts/confirm-email/                     lyyyyyyy
GET    /accounts/password/change/                   lyyyyyyy
POST   /accounts/password/change/                   lyyyyyyy
GET    /accounts/password/set/                      lyyyyyyy
POST   /accounts/password/set/                      lyyyyyyy
GET    /accounts/password/reset/                    yyyyyyyy
POST   /accounts/password/reset/                    yyyyyyyy
GET    /accounts/password/reset/done/               yyyyyyyy
GET    /accounts/password/reset/key/1-wrong/        yyyyyyyy
POST   /accounts/password/reset/key/1-wrong/        yyyyyyyy
GET    /accounts/password/reset/key/done/           yyyyyyyy
GET    /accounts/login/code/confirm/                lyyyyyyy
POST   /accounts/login/code/confirm/                lyyyyyyy
GET    /accounts/2fa/                               lyyyyyyy
GET    /accounts/2fa/authenticate/                  lyyyyyyy
POST   /accounts/2fa/authenticate/                  lyyyyyyy
GET    /accounts/2fa/reauthenticate/                lyyyyyyy
POST   /accounts/2fa/reauthenticate/                lyyyyyyy
GET    /accounts/2fa/totp/activate/                 lyyyyyyy
POST   /accounts/2fa/totp/activate/                 lyyyyyyy
GET    /accounts/2fa/totp/deactivate/               lxxxxxxx
POST   /accounts/2fa/totp/deactivate/               lxxxxxxx
GET    /accounts/2fa/recovery-codes/                lxxxxxxx
GET    /accounts/2fa/recovery-codes/generate/       lyyyyyyy
POST   /accounts/2fa/recovery-codes/generate/       lyyyyyyy
GET    /accounts/2fa/recovery-codes/download/       lxxxxxxx
"""

# Asked twice: with the browser's session, and with a token.
API = """
GET    /api/v1/                                     xxxxxxxx
GET    /api/v1/openapi.json                         yyyyyyyy
GET    /api/v1/docs                                 yyyyyyyy
GET    /api/v1/nothing/here                         xxxxxxxx
GET    /api/v1/challenges                           yyyyyyyy
GET    /api/v1/challenges/{c}                       yyyyyyyy
GET    /api/v1/challenges/{private}                 xxxxxyxy
GET    /api/v1/challenges/{draft}                   xxxxxyxy
GET    /api/v1/challenges/{c}/rules                 yyyyyyyy
GET    /api/v1/challenges/{private}/rules           xxxxxyxy
GET    /api/v1/challenges/{c}/announcements         yyyyyyyy
GET    /api/v1/challenges/{private}/announcements   xxxxxyxy
GET    /api/v1/challenges/{c}/phases/{p}            yyyyyyyy
GET    /api/v1/challenges/{private}/phases/{pp}     xxxxxyxy
GET    /api/v1/challenges/{c}/phases/{p}/manifest   yyyyyyyy
GET    /api/v1/challenges/{c}/phases/{coming}/manifest xxxxxyxy
GET    /api/v1/challenges/{private}/phases/{pp}/manifest xxxxxyxy
GET    /api/v1/challenges/{c}/files                 yyyyyyyy
GET    /api/v1/challenges/{private}/files           xxxxxyxy
GET    /api/v1/challenges/{c}/files/{file}          xxyyyyxy
GET    /api/v1/challenges/{c}/files/{coming_file}   xxxxxyxy
GET    /api/v1/challenges/{private}/files/{private_file} xxxxxyxy
GET    /api/v1/challenges/{c}/participation         lyyyyyyy
GET    /api/v1/challenges/{private}/participation   lxxxxyxy
POST   /api/v1/challenges/{c}/join                  lyyyyyyy
POST   /api/v1/challenges/{private}/join            lxxxxyxy
POST   /api/v1/challenges/{draft}/join              lxxxxnxn
GET    /api/v1/challenges/{c}/team                  lxyyyxxx
POST   /api/v1/challenges/{c}/team                  lyyyyyyy
POST   /api/v1/challenges/{private}/team            lxxxxyxy
PATCH  /api/v1/challenges/{c}/team                  lxynyxxx
POST   /api/v1/challenges/{c}/team/invites          lxynyxxx
POST   /api/v1/challenges/{c}/team/link             lxynyxxx
DELETE /api/v1/challenges/{c}/team/link             lxynyxxx
POST   /api/v1/challenges/{c}/team/leave            lxyyyxxx
POST   /api/v1/challenges/{c}/team/remove           lxynxxxx
GET    /api/v1/challenges/{c}/team/merges           lxynyxxx
POST   /api/v1/challenges/{c}/team/merges           lxynyxxx
POST   /api/v1/challenges/{c}/team/merges/{merge}/agree lxynxxxx
DELETE /api/v1/challenges/{c}/team/merges/{merge}   lxynyxxx
POST   /api/v1/teams/join                           lyyyyyyy
GET    /api/v1/worker                               llllllll
POST   /api/v1/worker/claim                         llllllll
POST   /api/v1/worker/parts/1/beat                  llllllll
POST   /api/v1/worker/parts/1/result                llllllll
POST   /api/v1/worker/parts/1/giveup                llllllll
GET    /api/v1/worker/inputs/unsigned               yyyyyyyy
GET    /api/v1/worker/weights/unsigned              yyyyyyyy
GET    /api/v1/me                                   lyyyyyyy
GET    /api/v1/tokens                               lyyyyyyy
DELETE /api/v1/tokens/{token}                       lxyxxxxx
GET    /api/v1/submissions                          lyyyyyyy
POST   /api/v1/submissions                          lnyyynnn
GET    /api/v1/submissions/{e}                      yyyyyyyy
GET    /api/v1/submissions/{busy}                   xxyyxyxy
GET    /api/v1/submissions/{hidden}                 xxyyxyxy
GET    /api/v1/submissions/{withdrawn}              xxyyxyxy
GET    /api/v1/submissions/{disqualified}           xxyyxyxy
GET    /api/v1/submissions/{rejected}               xxyyxyxy
GET    /api/v1/submissions/{masked_e}               xxyyxyxy
GET    /api/v1/submissions/{private_e}              xxxxxyxy
PATCH  /api/v1/submissions/{e}                      lnyynnnn
PATCH  /api/v1/submissions/{hidden}                 lxyyxnxn
PUT    /api/v1/submissions/{uploading}/parts/1      lxyyxnxn
PUT    /api/v1/submissions/{private_e}/parts/1      lxxxxnxn
POST   /api/v1/submissions/{uploading}/resume       lxyyxnxn
POST   /api/v1/submissions/{uploading}/pause        lxyyxnxn
POST   /api/v1/submissions/{uploading}/complete     lxyyxnxn
POST   /api/v1/submissions/{busy}/cancel            lxyyxnxn
POST   /api/v1/submissions/{e}/withdraw             lnyynnnn
POST   /api/v1/submissions/{hidden}/withdraw        lxyyxnxn
POST   /api/v1/submissions/{e}/choose               lnyynnnn
POST   /api/v1/submissions/{e}/confirm              lnyynnnn
POST   /api/v1/submissions/{hidden}/confirm         lxyyxnxn
POST   /api/v1/submissions/{private_e}/confirm      lxxxxnxn
POST   /api/v1/submissions/{e}/retry                lnyynyny
POST   /api/v1/submissions/{hidden}/retry           lxyyxyxy
GET    /api/v1/submissions/{e}/file                 lnyynyny
GET    /api/v1/submissions/{hidden}/file            lxyyxyxy
GET    /api/v1/submissions/{private_e}/file         lxxxxyxy
GET    /api/v1/submissions/{e}/items?metric=hss     yyyyyyyy
GET    /api/v1/submissions/{hidden}/items?metric=hss xxyyxyxy
GET    /api/v1/submissions/{masked_e}/items?metric=hss xxnnxyxy
GET    /api/v1/challenges/{c}/phases/{p}/board      yyyyyyyy
GET    /api/v1/challenges/{c}/phases/{masked}/board nnnnnyny
GET    /api/v1/challenges/{private}/phases/{pp}/board xxxxxyxy
GET    /api/v1/challenges/{c}/phases/{p}/agreement  yyyyyyyy
GET    /api/v1/challenges/{c}/phases/{masked}/agreement nnnnnyny
GET    /api/v1/challenges/{private}/phases/{pp}/agreement xxxxxyxy
GET    /api/v1/challenges/{c}/phases/{p}/studies    yyyyyyyy
GET    /api/v1/challenges/{c}/phases/{masked}/studies nnnnnyny
GET    /api/v1/challenges/{private}/phases/{pp}/studies xxxxxyxy
GET    /api/v1/challenges/{c}/phases/{p}/studies/open yyyyyyyy
GET    /api/v1/challenges/{c}/phases/{p}/studies/inner xxxxxyxy
GET    /api/v1/challenges/{c}/phases/{masked}/studies/open nnnnnyny
GET    /api/v1/challenges/{private}/phases/{pp}/studies/open xxxxxyxy
GET    /api/v1/challenges/{c}/phases/{p}/snapshots  yyyyyyyy
GET    /api/v1/challenges/{c}/phases/{masked}/snapshots nnnnnyny
GET    /api/v1/challenges/{c}/phases/{p}/snapshots/{digest} yyyyyyyy
GET    /api/v1/challenges/{c}/phases/{p}/snapshots/{inner} xxxxxyxy
GET    /api/v1/challenges/{c}/phases/{p}/snapshots/{digest}/rows yyyyyyyy
GET    /api/v1/challenges/{c}/phases/{p}/snapshots/{inner}/rows xxxxxyxy
GET    /api/v1/metrics                              yyyyyyyy
GET    /api/v1/metrics/hss                          yyyyyyyy
GET    /api/v1/evidence/                            yyyyyyyy
GET    /api/v1/evidence/gsc/                        yyyyyyyy
GET    /api/v1/evidence/nothing/                    xxxxxxxx
GET    /api/v1/published-metrics/                   yyyyyyyy
GET    /api/v1/metrics/{c}/own_lengths              yyyyyyyy
GET    /api/v1/metrics/{private}/own_lengths        xxxxxyxy
GET    /api/v1/challenges/{c}/programs              lnnnnyny
POST   /api/v1/challenges/{c}/programs              lyyyyyyy
GET    /api/v1/challenges/{private}/programs        lxxxxyxy
GET    /api/v1/challenges/{c}/programs/{program}    lnnnnyny
GET    /api/v1/challenges/{c}/programs/999999       lnnnnxnx
"""

# Pages of a library, which redirect or take PUT as POST before they look at the method: there, a
# method in no line must give nobody more than the listed ones.
FOREIGN = ("/accounts/",)

# What the forms and the programs send; an address not named here is sent nothing.
BODIES: dict[str, dict] = {
    "/challenges/{c}/join/": {"accept": "yes", "version": "1"},
    "/challenges/{private}/join/": {"accept": "yes", "version": "1"},
    "/challenges/{c}/team/create/": {"name": "Newly founded"},
    "/challenges/{c}/team/rename/": {"name": "Renamed"},
    "/challenges/{c}/team/invite/": {"email": "grace@example.org"},
    "/challenges/{c}/team/withdraw-invite/": {"invite": "{invite}"},
    "/challenges/{c}/team/lead/": {"member": "{mate}", "how": "share"},
    "/challenges/{c}/team/remove/": {"member": "{mate}"},
    "/challenges/{c}/team/merge/": {"name": "{other_team_name}"},
    "/challenges/{c}/team/merge/answer/": {"merge": "{merge}", "how": "decline"},
    "/teams/join/{join}/": {"accept": "yes", "version": "1"},
    "/teams/join/{private_join}/": {"accept": "yes", "version": "1"},
    "/rate/join/{rate_link}/": {"agree": "yes"},
    "/rate/{rate}/join/": {"agree": "yes"},
    "/rate/{rate}/leave/": {"act": "withdraw"},
    "/api/v1/challenges/{c}/join": {"rules_version": "1"},
    "/api/v1/challenges/{private}/join": {"rules_version": "1"},
    "/api/v1/challenges/{draft}/join": {"rules_version": "1"},
    "/api/v1/challenges/{c}/team": {"name": "Named by program"},
    "/api/v1/challenges/{private}/team": {"name": "Named by program"},
    "/api/v1/challenges/{c}/team/invites": {"email": "grace@example.org"},
    "/api/v1/challenges/{c}/team/remove": {"username": "mate"},
    "/api/v1/challenges/{c}/team/merges": {"name": "{other_team_name}"},
    "/api/v1/teams/join": {"token": "{join}"},
    "/api/v1/submissions": {"challenge": "{c}", "phase": "{p}", "method_name": "m", "file_name": "e.zip", "size": 10, "sha256": "0" * 64},
    "/api/v1/submissions/{e}": {"method_name": "Renamed"},
    "/api/v1/submissions/{hidden}": {"method_name": "Renamed"},
}

# Words that stand somewhere in the service, and who may come upon them anywhere at all, apart from
# the pages that show something to whoever holds the link to it.
GIVEN = re.compile(r"\{(key|join|private_join)\}")
SECRETS = """
method-busy        --yy-y-y
method-hidden      --yy-y-y
study-inner        -----y-y
method-withdrawn   --yy-y-y
method-masked      --yy-y-y
method-private     -----y-y
Private-title      -----y-y
Draft-title        -----y-y
0.7654             -----y-y
"""
