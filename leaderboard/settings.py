"""Every setting of the service, read once from the environment, typed, with a default that
works on one machine without any server (the embedded profile).

A variable is documented beside the line that reads it and in deploy/env.example; wrong
combinations are reported by the system checks in `leaderboard/checks.py`.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

import dj_database_url

from leaderboard.environment import BUCKET, PREFIX, Environment

env = Environment(prefix="PLUMBLINE_")
BASE_DIR = Path(__file__).resolve().parent.parent


def _secret_key(home: Path) -> str:
    """The key of this installation: made once, kept readable by its owner only."""
    path = home / "secret_key"
    try:
        if not path.exists():
            home.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_text(secrets.token_urlsafe(50))
        return path.read_text().strip()
    except OSError as error:
        env.refuse("HOME", home, f"a folder that this process can use ({error.strerror})", "/var/lib/plumbline")
        return ""


# --- where things are -------------------------------------------------------------------
HOME = env.folder("HOME", BASE_DIR / "var")  # database, files and queue of the embedded profile
SITE_URL = env.web_address("SITE_URL", "http://127.0.0.1:8000", "https://boards.example.org")  # used in e-mails and exports
DEBUG = env.flag("DEBUG", False)
SECRET_KEY = env.text("SECRET_KEY", "") or (_secret_key(HOME) if not env.wrong else "")
# Earlier secret keys: links, sessions and sealed keys that were made with them stay valid. Run `manage.py rotate_secret_key` before you
# remove one.
SECRET_KEY_FALLBACKS = env.texts("SECRET_KEY_FALLBACKS")
SECRET_KEY_GIVEN = bool(env.text("SECRET_KEY", ""))
ALLOWED_HOSTS = env.hosts("HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.origins("TRUSTED_ORIGINS", [])
BEHIND_PROXY = env.flag("BEHIND_PROXY", False)  # trust X-Forwarded-Proto and -For
HTTPS = SITE_URL.startswith("https://")
HTTPS_REDIRECT = env.flag("HTTPS_REDIRECT", False)  # answer http:// with the way to https://, where the proxy does not do that itself
HSTS_SUBDOMAINS = env.flag("HSTS_SUBDOMAINS", False)  # browsers ask every host below this one by https:// too, for a year
HSTS_PRELOAD = env.flag("HSTS_PRELOAD", False)  # this host may stand on the browsers' own list; hard to take back

# --- database ---------------------------------------------------------------------------
DATABASE_URL = env.postgres("DATABASE_URL")  # postgres://user:password@host:5432/name
STATEMENT_SECONDS = env.decimal("STATEMENT_SECONDS", 30.0, least=1, most=86400)  # a web request waits so long for one answer of PostgreSQL
if DATABASE_URL:
    DATABASES = {"default": dj_database_url.parse(DATABASE_URL, conn_max_age=60, conn_health_checks=True)}
    # Of each address of the host; an address of the database may say another (?connect_timeout=).
    DATABASES["default"]["OPTIONS"] = {"connect_timeout": 5, **DATABASES["default"].get("OPTIONS", {})}
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(env.file("SQLITE", HOME / "plumbline.sqlite3")),
            "OPTIONS": {
                # Writers queue at BEGIN instead of failing at their first write.
                "transaction_mode": "IMMEDIATE",
                "timeout": 30,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
            },
            # Tests use a file too: worker processes must see what the test wrote.
            "TEST": {"NAME": HOME / "test.sqlite3"},
        }
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Redis, where one is used ------------------------------------------------------------
# Every key begins with it, so that several installations may use one server. Two that share a secret key must set it.
_OWN = hmac.new(SECRET_KEY.encode(), b"redis", "sha256").hexdigest()[:10]
REDIS_PREFIX = env.matching("REDIS_PREFIX", "", PREFIX, "a name of letters, digits, - and _", "plumbline-boards") or f"plumbline-{_OWN}"

# --- queue ------------------------------------------------------------------------------
BROKER_URL = env.redis("BROKER_URL", "redis://host:6379/0")  # redis://host:6379/0 ; empty: a folder below HOME
LEASE_SECONDS = env.decimal("LEASE_SECONDS", 30.0, least=1, most=86400)  # a claimed row is claimable again after this
HEARTBEAT_SECONDS = env.decimal("HEARTBEAT_SECONDS", 5.0, least=0.1, most=3600)  # a live worker renews its lease this often
SWEEP_SECONDS = env.decimal("SWEEP_SECONDS", 10.0, least=0.1, most=3600)  # how often the sweeper looks for work left behind
MAX_ATTEMPTS = env.integer("MAX_ATTEMPTS", 3, least=1, most=1000)  # that fail by the entry's own doing; then it fails, with a reason
MAX_LOSSES = env.integer("MAX_LOSSES", 12, least=1, most=1000)  # workers lost with an entry; then it fails, and the operator is told
LOSS_SECONDS = env.decimal(
    "LOSS_SECONDS", 10.0, least=0.1, most=3600
)  # work waits so long after a loss; doubled each time, at most 60 times it
MACHINE = env.text("MACHINE", "")  # a name for this machine; empty: told by host name and boot
PART_SAMPLES = env.integer("PART_SAMPLES", 25, least=1)  # samples in one part of an evaluation
PART_SECONDS = env.decimal("PART_SECONDS", 120.0, least=1)  # of what slow metrics declare for a part; heavier samples stand alone
GPU_WORKERS = env.flag("GPU_WORKERS", False)  # metrics with networks are left to workers of the queue gpu
VISIBLE_CARDS = os.environ.get("CUDA_VISIBLE_DEVICES")  # graphics cards of jobs, where workers of a machine share them out; else all
CHILD_MEMORY_MB = env.integer("CHILD_MEMORY_MB", 3072, least=256)  # address space of one scoring child
CHILD_SECONDS = env.integer("CHILD_SECONDS", 600, least=1)  # processor time of a validation, or of PART_SAMPLES samples
READ_SECONDS = env.integer("READ_SECONDS", 60, least=1)  # of reading an organizer's reference, while their browser waits

# --- files ------------------------------------------------------------------------------
S3_BUCKET = env.matching("S3_BUCKET", "", BUCKET, "the name of a bucket", "plumbline")  # empty: files live below HOME
S3_ENDPOINT = env.web_address("S3_ENDPOINT", "", "http://s3:9000")  # for servers other than AWS
S3_PUBLIC_ENDPOINT = env.web_address("S3_PUBLIC_ENDPOINT", "", "https://files.example.org") or S3_ENDPOINT  # as browsers reach it
S3_REGION = env.text("S3_REGION", "us-east-1")
S3_ACCESS_KEY = env.text("S3_ACCESS_KEY", "")
S3_SECRET_KEY = env.text("S3_SECRET_KEY", "")
UPLOAD_PART_BYTES = env.integer("UPLOAD_PART_BYTES", 8 * 1024 * 1024, least=1024)
UPLOAD_HOURS = env.decimal("UPLOAD_HOURS", 6.0, least=0.01, most=24 * 365)  # a reserved upload may take this long
UPLOAD_IDLE_MINUTES = env.decimal("UPLOAD_IDLE_MINUTES", 3.0, least=0.1, most=525_600)  # of silence; then it holds no place
UPLOAD_MAX_BYTES = env.integer("UPLOAD_MAX_BYTES", 500_000_000, least=1)  # the most any phase may allow
KEEP_REJECTED_DAYS = env.decimal("KEEP_REJECTED_DAYS", 7.0, most=36500)  # then a rejected entry's file is removed
KEEP_REJECTED_BYTES = env.integer("KEEP_REJECTED_BYTES", 2_000_000_000)  # of one team's rejected entries, the newest
KEEP_SNAPSHOT_DAYS = env.decimal("KEEP_SNAPSHOT_DAYS", 30.0, most=36500)  # then a ranking that was a passing one is removed
KEEP_DRAWN_DAYS = env.decimal("KEEP_DRAWN_DAYS", 30.0, most=36500)  # then what a 3D view was sent goes; it is made again when asked for
LINK_SECONDS = env.integer("LINK_SECONDS", 600, least=1, most=604_800)  # life of a signed download link
PACKAGE = env.folder("PACKAGE", HOME / "package").absolute()  # the package of participants, which this server makes and serves
WEIGHTS = env.folder("WEIGHTS", HOME / "weights").absolute()  # fetched weights of networks; one folder for all processes
EVIDENCE_DIR = env.folder("EVIDENCE_DIR", HOME / "evidence").absolute()  # published sets of answers that were fetched, for its owner alone
EVIDENCE_RECORDS = env.texts("EVIDENCE_RECORDS")  # names of published sets whose figures are shown; empty: all; none: no set
FREE_BYTES = env.integer("FREE_BYTES", 2_000_000_000, least=0)  # room below HOME without which the service says that it is not ready
CACHE_BYTES = env.integer("CACHE_BYTES", 5_000_000_000)  # local copies of objects in S3, below HOME
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# --- who may do what ----------------------------------------------------------------------
CREATE_CHALLENGES = env.choice("CREATE_CHALLENGES", "staff", ["staff", "anyone"])  # staff | anyone
STAFF_SECOND_FACTOR = env.flag("STAFF_SECOND_FACTOR", False)  # staff must use a second factor
API_RATE = env.rate("API_RATE", "1200/m")  # calls of the API by one person, all their programs together
API_RATE_ANONYMOUS = env.rate("API_RATE_ANONYMOUS", "300/m")  # by one address
UPLOAD_RATE = env.rate("UPLOAD_RATE", "60/h")  # reservations by one person; quota is the phase's affair
REFERENCE_RATE = env.rate("REFERENCE_RATE", "20/h")  # references read for one person, which busies a web process
PAGES_AT_ONCE = env.integer("PAGES_AT_ONCE", 6, least=1)  # boards, comparisons, charts of one person or address in one web process
TOKEN_RATE = env.rate("TOKEN_RATE", "20/h")  # new API tokens of one person
METRICS_TOKEN = env.text("METRICS_TOKEN", "")  # needed to read /metrics; empty: this machine only

# --- judge models: any endpoint that speaks the OpenAI chat-completions protocol ------------------
JUDGE_URL = env.web_address("JUDGE_URL", "", "https://api.openai.com/v1")  # such as https://api.openai.com/v1 ; empty: no judge
JUDGE_KEY = env.text("JUDGE_KEY", "")  # sent to that address only, shown nowhere
JUDGE_MODEL = env.text("JUDGE_MODEL", "")
JUDGE_TIMEOUT = env.decimal("JUDGE_TIMEOUT", 120.0, least=0.1, most=86400)  # seconds of one request
JUDGE_RATE = env.decimal("JUDGE_RATE", 60.0)  # most requests a minute of one worker; 0: as the endpoint allows
JUDGE_PARALLEL = env.integer("JUDGE_PARALLEL", 4, least=1, most=1000)  # requests under way at once
JUDGE_MAX_TOKENS = env.integer("JUDGE_MAX_TOKENS", 4096, least=1)  # of one text
JUDGE_IMAGE_TOKENS = env.integer("JUDGE_IMAGE_TOKENS", 50_000, least=1)  # the most that the endpoint counts for one image
JUDGE_PRICE_IN = env.price("JUDGE_PRICE_IN")  # per million tokens of questions to JUDGE_MODEL; empty: costs are not counted
JUDGE_PRICE_OUT = env.price("JUDGE_PRICE_OUT")  # per million tokens of its answers
JUDGE_PRICES = env.prices("JUDGE_PRICES")  # of further models: NAME=IN/OUT,…
JUDGE_CURRENCY = env.text("JUDGE_CURRENCY", "USD")
JUDGE_CHALLENGE_BUDGET = env.price("JUDGE_CHALLENGE_BUDGET")  # of a challenge in a calendar month (UTC); empty: no limit
JUDGE_ACCOUNT_BUDGET = env.price("JUDGE_ACCOUNT_BUDGET")  # of the runs that one account starts in a calendar month (UTC); empty: no limit
JUDGE_KEY_URLS = env.web_addresses("JUDGE_KEY_URLS")  # where organizers' own keys may be sent besides JUDGE_URL

# --- Django -------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.sitemaps",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "django_htmx",
    "ninja",
    "csp",
    "leaderboard",
    "evaluation",
    "submissions",
]
MIDDLEWARE = [
    "leaderboard.service.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "leaderboard.service.middleware.CompressionMiddleware",  # behind the static files, which are compressed once, when collected
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "leaderboard.service.middleware.PrivatePagesMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "leaderboard.service.middleware.RefusalMiddleware",
    "leaderboard.service.middleware.ApiMethodMiddleware",
    "leaderboard.service.middleware.StaffSecondFactorMiddleware",
    "leaderboard.service.middleware.FiguresMiddleware",
]
ROOT_URLCONF = "leaderboard.urls"
WSGI_APPLICATION = "leaderboard.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # Ours before the apps', so that the account pages look like the house.
        "DIRS": [BASE_DIR / "leaderboard" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "/static/"
STATIC_ROOT = env.folder("STATIC_ROOT", HOME / "static")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},  # unused: see storage.py
    "staticfiles": {"BACKEND": "leaderboard.service.static_files.HashedStorage"},
}
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "leaderboard.charts.plotly_files.PlotlyFinder",
]
WHITENOISE_USE_FINDERS = True  # files that were not collected are there all the same
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- accounts -----------------------------------------------------------------------------
AUTH_USER_MODEL = "submissions.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_REDIRECT_URL = "/"
LOGIN_URL = "account_login"
ACCOUNT_LOGIN_METHODS = {"email", "username"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*", "password2*"]
ACCOUNT_ADAPTER = "submissions.accounts.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "submissions.forms.NamedLoginForm",
    "signup": "submissions.forms.SteadySignupForm",
    "change_password": "submissions.forms.PasswordForm",
    "reset_password_from_key": "submissions.forms.ForgottenPasswordForm",
}
ACCOUNT_EMAIL_VERIFICATION = env.choice("EMAIL_VERIFICATION", "mandatory", ["mandatory", "optional", "none"])  # mandatory | optional | none
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = ACCOUNT_EMAIL_VERIFICATION == "mandatory"  # allauth knows no other
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Plumbline] "
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True  # who is locked out on a new device gets in by a reset
# Per address; of failed log-ins also per account and address, and per account over all addresses: see `submissions.accounts`.
ACCOUNT_RATE_LIMITS = {
    "login": env.account_rates("LOGIN_RATE", "30/m/ip"),
    "login_failed": env.account_rates("LOGIN_FAILED_RATE", "10/m/ip,5/5m/key"),
    "login_of_account": env.account_rates("LOGIN_ACCOUNT_RATE", "50/h/key"),
    "signup": env.account_rates("SIGNUP_RATE", "20/m/ip"),
    "reset_password": env.account_rates("RESET_PASSWORD_RATE", "20/m/ip,5/m/key"),
}
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if BEHIND_PROXY else 0
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Plumbline"
MFA_TOTP_TOLERANCE = 1  # a clock may be half a minute off
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS, SECURE_HSTS_PRELOAD = HSTS_SUBDOMAINS, HSTS_PRELOAD
SECURE_SSL_REDIRECT = HTTPS_REDIRECT
SECURE_REDIRECT_EXEMPT = [r"^-/"]  # what watches the service asks it beside the proxy
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
X_FRAME_OPTIONS = "DENY"

CACHE_URL = env.redis("CACHE_URL", "redis://host:6379/1")  # redis://host:6379/1 ; empty: the database
# Rate limits must be shared by all web processes, so process memory will not do.
_DATABASE_CACHE = {
    "BACKEND": "leaderboard.service.cache.CountingDatabaseCache",
    "LOCATION": "plumbline_cache",
    "OPTIONS": {"MAX_ENTRIES": 100_000},  # with the default of 300, limits would be forgotten
}
_REDIS_CACHE = {
    "BACKEND": "leaderboard.service.cache.SteadyRedisCache",
    "LOCATION": CACHE_URL,
    "KEY_PREFIX": REDIS_PREFIX,
    "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
}
CACHES = {"default": _REDIS_CACHE, "database": _DATABASE_CACHE} if CACHE_URL else {"default": _DATABASE_CACHE}

# --- e-mail -------------------------------------------------------------------------------
# PLUMBLINE_EMAIL_URL, such as smtp://user:password@host:587/?tls=True ; by default the console.
_EMAIL = env.mailer("EMAIL_URL", "console://")
EMAIL_BACKEND = _EMAIL["EMAIL_BACKEND"]
EMAIL_HOST, EMAIL_PORT = _EMAIL["EMAIL_HOST"], _EMAIL["EMAIL_PORT"]
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _EMAIL["EMAIL_HOST_USER"], _EMAIL["EMAIL_HOST_PASSWORD"]
EMAIL_USE_TLS, EMAIL_USE_SSL = _EMAIL["EMAIL_USE_TLS"], _EMAIL["EMAIL_USE_SSL"]
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.sender("EMAIL_FROM", "Plumbline <plumbline@localhost>")

# --- content security policy ----------------------------------------------------------------
_SELF = "'self'"
_S3_ORIGIN = [S3_PUBLIC_ENDPOINT] if S3_PUBLIC_ENDPOINT else (["https://*.amazonaws.com"] if S3_BUCKET else [])
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [_SELF],
        "script-src": [_SELF],
        # Bar positions and Plotly's own rules are inline styles; they carry no code.
        "style-src": [_SELF, "'unsafe-inline'"],
        "img-src": [_SELF, "data:", "blob:", *_S3_ORIGIN],
        "connect-src": [_SELF, *_S3_ORIGIN],
        "font-src": [_SELF, "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": [_SELF],
        "frame-ancestors": ["'none'"],
    }
}

LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"])
LOG_FORMAT = env.choice("LOG_FORMAT", "text", ["text", "json"])  # of a line: for people, or one JSON object
LOGGING_CONFIG = "leaderboard.service.logs.configure"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "leaderboard.service.logs.formatter", "kind": LOG_FORMAT}},
    "filters": {"brief": {"()": "leaderboard.service.logs.brief_refusals"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["brief"]}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "httpx": {"level": "WARNING"},  # the demo's client would print every part it sends
        "celery": {"level": "WARNING"},  # nudges are no work: what they led to has a line of its own
    },
}

env.end_if_wrong()
