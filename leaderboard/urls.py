"""Every address of the service."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from leaderboard import health
from leaderboard.api import api

# Staff log in like everybody: with the second factor and under the same limits.
admin.site.login = secure_admin_login(admin.site.login)

# Programs are answered in problem details, whatever happened.
handler400 = "leaderboard.api.handle_bad_request"
handler404 = "leaderboard.api.handle_not_found"
handler500 = "leaderboard.api.handle_server_error"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("api/v1/", api.urls),
    path("console/", include("leaderboard.console.urls")),
    path("-/health", health.health, name="health"),
    path("-/ready", health.ready, name="ready"),
    path("-/metrics", health.metrics, name="service_metrics"),
    path("rate/", include("leaderboard.rating.urls")),
    path("", include("leaderboard.pages")),
    path("", include("submissions.urls")),
]
