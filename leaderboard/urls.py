"""Every address of the service."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.decorators.http import require_safe

from leaderboard.api.service import api
from leaderboard.service import health
from leaderboard.views.api_docs import api_docs

# Staff log in like everybody: with the second factor and under the same limits.
admin.site.login = secure_admin_login(admin.site.login)

# Programs are answered in problem details, whatever happened.
handler400 = "leaderboard.api.service.handle_bad_request"
handler404 = "leaderboard.api.service.handle_not_found"
handler500 = "leaderboard.api.service.handle_server_error"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("api/v1/docs", require_safe(api_docs), name="api_docs"),
    path("api/v1/", api.urls),
    path("console/", include("leaderboard.console.urls")),
    path("-/health", health.health, name="health"),
    path("-/ready", health.ready, name="ready"),
    path("-/metrics", health.metrics, name="service_metrics"),
    path("rate/", include("leaderboard.studies.live.urls")),
    path("", include("leaderboard.views.urls")),
    path("", include("submissions.urls")),
]
