"""Permissions at the addresses of the organizers' console; how a line is read stands in `routes_table.py`."""

from __future__ import annotations

CONSOLE = """
GET    /console/                                    lyyyyyyy
GET    /console/prompts/                            lyyyyyyy
POST   /console/prompts/                            lnnnnyyy
GET    /console/judges/                             lnnnnyyy
POST   /console/judges/                             lnnnnyyy
GET    /console/new/                                lnnnnnny
POST   /console/new/                                lnnnnnny
GET    /console/challenges/{c}/                     lnnnnyny
POST   /console/challenges/{c}/                     lnnnnyny
GET    /console/challenges/{private}/               lxxxxyxy
GET    /console/challenges/{draft}/                 lxxxxyxy
GET    /console/challenges/nothing/                 lxxxxxxx
GET    /console/challenges/{c}/settings/            lnnnnyny
POST   /console/challenges/{c}/settings/            lnnnnyny
GET    /console/challenges/{private}/settings/      lxxxxyxy
GET    /console/challenges/{c}/metric-challenges/   lnnnnyny
POST   /console/challenges/{c}/metric-challenges/   lnnnnyny
GET    /console/challenges/{private}/metric-challenges/ lxxxxyxy
GET    /console/challenges/{c}/metric-challenges/{contest}/ lnnnnyny
POST   /console/challenges/{c}/metric-challenges/{contest}/ lnnnnxnx
GET    /console/challenges/{private}/metric-challenges/{private_contest}/ lxxxxyxy
GET    /console/challenges/{c}/metric-challenges/{private_contest}/ lnnnnxnx
GET    /console/challenges/{c}/programs/            lnnnnyny
POST   /console/challenges/{c}/programs/            lnnnnxnx
GET    /console/challenges/{private}/programs/      lxxxxyxy
GET    /console/challenges/{c}/programs/{program}/  lnnnnyny
GET    /console/challenges/{c}/programs/{program}/program.zip lnnnnyny
GET    /console/challenges/{private}/programs/{program}/ lxxxxxxx
GET    /console/challenges/{c}/pages/               lnnnnyny
POST   /console/challenges/{c}/pages/               lnnnnxnx
GET    /console/challenges/{c}/pages/faq/           lnnnnyny
POST   /console/challenges/{c}/pages/faq/           lnnnnyny
GET    /console/challenges/{c}/pages/nothing/       lnnnnxnx
GET    /console/challenges/{private}/pages/faq/     lxxxxyxy
POST   /console/challenges/{c}/markdown/            lnnnnyny
POST   /console/challenges/{private}/markdown/      lxxxxyxy
GET    /console/challenges/{c}/access/              lnnnnyny
POST   /console/challenges/{c}/access/              lnnnnyny
GET    /console/challenges/{private}/access/        lxxxxyxy
GET    /console/challenges/{c}/delete/              lnnnnyny
POST   /console/challenges/{c}/delete/              lnnnnyny
POST   /console/challenges/{draft}/delete/          lxxxxyxy
GET    /console/challenges/{c}/bundle.zip           lnnnnyny
GET    /console/challenges/{c}/workers/             lnnnnyny
POST   /console/challenges/{c}/workers/             lnnnnxnx
GET    /console/challenges/{private}/workers/       lxxxxyxy
GET    /console/challenges/{c}/costs/               lnnnnyny
POST   /console/challenges/{c}/costs/               lnnnnyny
GET    /console/challenges/{private}/costs/         lxxxxyxy
GET    /console/challenges/{c}/new-phase/           lnnnnyny
POST   /console/challenges/{c}/new-phase/           lnnnnyny
GET    /console/challenges/{c}/phases/{p}/          lnnnnyny
POST   /console/challenges/{c}/phases/{p}/          lnnnnyny
GET    /console/challenges/{private}/phases/{p}/    lxxxxxxx
GET    /console/challenges/{c}/phases/{p}/metrics/  lnnnnyny
POST   /console/challenges/{c}/phases/{p}/metrics/  lnnnnyny
GET    /console/challenges/{c}/phases/{p}/metrics/new/hss/ lnnnnyny
POST   /console/challenges/{c}/phases/{p}/metrics/new/hss/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/metrics/new/hss/evidence/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/metrics/edit/hss/ lnnnnyny
POST   /console/challenges/{c}/phases/{p}/metrics/edit/hss/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/reference/ lnnnnyny
POST   /console/challenges/{c}/phases/{p}/reference/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/reference/regions/ lnnnnxnx
GET    /console/challenges/{renders}/phases/{rp}/reference/regions/ lnnnnyny
GET    /console/challenges/{renders}/phases/{rp}/reference/regions/garden/ lnnnnyny
POST   /console/challenges/{renders}/phases/{rp}/reference/regions/garden/ lnnnnyny
GET    /console/challenges/{renders}/phases/{rp}/reference/regions/nothing/ lnnnnxnx
GET    /console/challenges/{renders}/phases/{rp}/reference/1/{view}.png lnnnnyny
GET    /console/challenges/{renders}/phases/{rp}/reference/2/{view}.png lnnnnxnx
GET    /console/challenges/{private}/phases/{pp}/reference/regions/ lxxxxxxx
GET    /console/challenges/{c}/phases/{p}/baselines/ lnnnnyny
POST   /console/challenges/{c}/phases/{p}/baselines/ lnnnnyny
GET    /console/challenges/{private}/phases/{p}/baselines/ lxxxxxxx
GET    /console/challenges/{c}/phases/{p}/studies/  lnnnnyny
POST   /console/challenges/{c}/phases/{p}/studies/  lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/new/ lnnnnyny
POST   /console/challenges/{c}/phases/{p}/studies/new/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/live/ lnnnnyny
POST   /console/challenges/{c}/phases/{p}/studies/live/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/inner/ lnnnnxnx
GET    /console/challenges/{c}/phases/{p}/studies/live/raters.csv lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/live/design.json lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/live/practice.csv lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/live/preview/ lnnnnyny
POST   /console/challenges/{c}/phases/{p}/studies/live/preview/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/live/preview/questions/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/live/preview/next lnnnnyny
POST   /console/challenges/{c}/phases/{p}/studies/live/preview/answer lnnnnyny
POST   /console/challenges/{c}/phases/{p}/studies/live/preview/undo lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/live/preview/scenes/preview-0/scene.json lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/live/preview/scenes/preview-0/left.mesh lnnnnxnx
GET    /console/challenges/{c}/phases/{p}/studies/inner/preview/ lnnnnxnx
GET    /console/challenges/{private}/phases/{pp}/studies/live/preview/ lxxxxxxx
GET    /console/challenges/{private}/phases/{pp}/studies/live/ lxxxxxxx
GET    /console/challenges/{c}/phases/{p}/studies/inner/judges/ lnnnnyny
POST   /console/challenges/{c}/phases/{p}/studies/inner/judges/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/nothing/judges/ lnnnnxnx
GET    /console/challenges/{private}/phases/{pp}/studies/open/judges/ lxxxxyxy
GET    /console/challenges/{c}/phases/{p}/studies/inner/judges/{judge}/ lnnnnyny
POST   /console/challenges/{c}/phases/{p}/studies/inner/judges/{judge}/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/inner/judges/{judge}/progress/ lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/inner/judges/{judge}/answers.csv lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/inner/judges/{judge}/1.png lnnnnyny
GET    /console/challenges/{c}/phases/{p}/studies/inner/judges/{judge}/99.png lnnnnxnx
GET    /console/challenges/{c}/phases/{p}/studies/open/judges/{judge}/ lnnnnxnx
GET    /console/challenges/{c}/phases/{p}/studies/open/judges/{judge}/answers.csv lnnnnxnx
GET    /console/challenges/{c}/phases/{p}/scoring/  lnnnnyny
POST   /console/challenges/{c}/phases/{p}/scoring/  lnnnnyny
GET    /console/challenges/{c}/phases/{p}/scoring/progress/ lnnnnyny
GET    /console/challenges/{c}/files/               lnnnnyny
POST   /console/challenges/{c}/files/               lnnnnyny
GET    /console/challenges/{c}/news/                lnnnnyny
POST   /console/challenges/{c}/news/                lnnnnyny
GET    /console/challenges/{c}/news/{news}/         lnnnnyny
POST   /console/challenges/{c}/news/{news}/         lnnnnyny
GET    /console/challenges/{private}/news/{news}/   lxxxxxxx
GET    /console/challenges/{c}/judges/              lnnnnyny
POST   /console/challenges/{c}/judges/              lnnnnyny
GET    /console/challenges/{private}/judges/        lxxxxyxy
GET    /console/challenges/{c}/organizers/          lnnnnyny
POST   /console/challenges/{c}/organizers/          lnnnnyny
GET    /console/challenges/{c}/participants/        lnnnnyny
POST   /console/challenges/{c}/participants/        lnnnnyny
GET    /console/challenges/{c}/teams/               lnnnnyny
GET    /console/challenges/{c}/teams/{team}/        lnnnnyny
POST   /console/challenges/{c}/teams/{team}/        lnnnnyny
GET    /console/challenges/{private}/teams/{team}/  lxxxxxxx
GET    /console/challenges/{c}/entries/             lnnnnyny
GET    /console/challenges/{c}/entries/{e}/         lnnnnyny
POST   /console/challenges/{c}/entries/{e}/         lnnnnyny
GET    /console/challenges/{private}/entries/{e}/   lxxxxxxx
POST   /console/challenges/{private}/entries/{e}/   lxxxxxxx
GET    /console/challenges/{c}/audit/               lnnnnyny
GET    /console/challenges/{private}/audit/         lxxxxyxy
"""

# What its forms send.
BODIES: dict[str, dict] = {
    "/console/prompts/": {"act": "ask"},
    "/console/challenges/{c}/phases/{p}/studies/inner/judges/{judge}/": {"act": "cancel"},
    "/console/judges/": {"act": "remove"},
    "/console/challenges/{c}/judges/": {"act": "remove"},
    "/console/challenges/{c}/": {"act": "move", "slug": "{p}", "to": "later"},
    "/console/challenges/{c}/phases/{p}/metrics/": {"act": "primary", "slug": "hss"},
    "/console/challenges/{c}/phases/{p}/scoring/": {"act": "reevaluate"},
    "/console/challenges/{renders}/phases/{rp}/reference/regions/garden/": {"act": "save", "version": "1"},
    "/console/challenges/{c}/phases/{p}/studies/": {"act": "hide", "study": "{study}"},
    "/console/challenges/{c}/phases/{p}/studies/live/": {"act": "close"},
    "/console/challenges/{c}/phases/{p}/studies/live/preview/": {"agree": "yes"},
    "/console/challenges/{c}/files/": {"act": "remove", "file": "{file}"},
    "/console/challenges/{c}/organizers/": {"act": "add", "name": "stranger"},
    "/console/challenges/{c}/participants/": {"act": "declined", "participation": "{participation}"},
    "/console/challenges/{c}/entries/{e}/": {"act": "hide", "reason": "looked at again"},
}
