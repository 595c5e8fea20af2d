import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.serializers.json
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import submissions.models.phase


class Migration(migrations.Migration):
    replaces = [
        ("submissions", "0001_initial"),
        ("submissions", "0002_phase_images"),
        ("submissions", "0003_made_as"),
        ("submissions", "0004_results"),
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False, help_text="Designates whether the user can log into this admin site.", verbose_name="staff status"
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                (
                    "notify_by_email",
                    models.BooleanField(default=True, help_text="Send an e-mail when an entry is scored, rejected or has failed."),
                ),
                ("time_zone", models.CharField(blank=True, help_text="IANA name; empty: as the browser says.", max_length=64)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80)),
                ("hint", models.CharField(help_text="The key's first characters, to tell keys apart.", max_length=12)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="api_tokens", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="Challenge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "slug",
                    models.CharField(
                        max_length=63,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[a-z0-9][a-z0-9-]{0,62}\\Z", "Use lower-case letters, digits and hyphens, at most 63."
                            )
                        ],
                    ),
                ),
                ("title", models.CharField(max_length=120)),
                ("summary", models.CharField(blank=True, max_length=240)),
                ("description", models.TextField(blank=True, help_text="Markdown.")),
                ("rules", models.TextField(blank=True, help_text="Markdown. Participants accept a version of them.")),
                ("rules_version", models.CharField(default="1", max_length=20)),
                ("family", models.CharField(default="wireframe", max_length=20)),
                (
                    "visibility",
                    models.CharField(
                        choices=[("draft", "Draft: organizers only"), ("private", "Private: by link or list"), ("public", "Public")],
                        default="draft",
                        max_length=10,
                    ),
                ),
                ("access_key", models.CharField(blank=True, help_text="Opens a private challenge by link.", max_length=64)),
                ("admitted_emails", models.JSONField(blank=True, default=list, help_text="Lower-case e-mails that may see a private one.")),
                ("needs_approval", models.BooleanField(default=False, help_text="An organizer admits each participant.")),
                ("team_size", models.PositiveSmallIntegerField(blank=True, help_text="Most members; empty: no cap.", null=True)),
                ("made_up", models.BooleanField(default=False, help_text="Data and entries are made up; pages say so.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("organizers", models.ManyToManyField(blank=True, related_name="organized", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("action", models.CharField(max_length=60)),
                ("target", models.CharField(max_length=200)),
                ("detail", models.JSONField(default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "challenge",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="audit", to="submissions.challenge"),
                ),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "ordering": ["-at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="Announcement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.CharField(max_length=160)),
                ("body", models.TextField(blank=True, help_text="Markdown.")),
                ("published_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "challenge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="announcements", to="submissions.challenge"
                    ),
                ),
            ],
            options={
                "ordering": ["-published_at"],
            },
        ),
        migrations.CreateModel(
            name="Phase",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "slug",
                    models.CharField(
                        max_length=63,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[a-z0-9][a-z0-9-]{0,62}\\Z", "Use lower-case letters, digits and hyphens, at most 63."
                            )
                        ],
                    ),
                ),
                ("title", models.CharField(max_length=120)),
                ("description", models.TextField(blank=True, help_text="Markdown.")),
                ("position", models.PositiveSmallIntegerField(default=0)),
                ("opens_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("closes_at", models.DateTimeField(blank=True, null=True)),
                ("time_zone", models.CharField(default="UTC", max_length=64, validators=[submissions.models.phase.validate_time_zone])),
                ("limit_per_day", models.PositiveIntegerField(blank=True, null=True)),
                ("limit_total", models.PositiveIntegerField(blank=True, null=True)),
                ("limit_at_once", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "board",
                    models.CharField(
                        choices=[("live", "Live"), ("hidden", "Hidden until a date"), ("frozen", "Frozen from a date on")],
                        default="live",
                        max_length=10,
                    ),
                ),
                ("board_at", models.DateTimeField(blank=True, help_text="Hidden until, or frozen from, this moment.", null=True)),
                (
                    "entries",
                    models.CharField(
                        choices=[
                            ("all", "All entries"),
                            ("latest", "The team's latest"),
                            ("best", "The team's best by the primary metric"),
                            ("chosen", "The entry the team chose"),
                        ],
                        default="best",
                        max_length=10,
                    ),
                ),
                (
                    "ranking",
                    models.CharField(
                        choices=[
                            ("primary", "The primary metric"),
                            ("mean_rank", "Mean rank"),
                            ("median_rank", "Median rank"),
                            ("borda", "Borda count"),
                            ("weighted", "Weighted mean rank"),
                        ],
                        default="primary",
                        max_length=12,
                    ),
                ),
                (
                    "withhold_scores",
                    models.BooleanField(default=False, help_text="Teams do not see their own scores while the board is hidden."),
                ),
                ("withhold_items", models.BooleanField(default=False, help_text="Teams do not see per-item values.")),
                (
                    "reference_access",
                    models.CharField(
                        choices=[("hidden", "Organizers only"), ("participants", "Participants"), ("public", "Everybody")],
                        default="hidden",
                        max_length=14,
                    ),
                ),
                (
                    "missing",
                    models.CharField(
                        choices=[("reject", "Reject the entry"), ("worst", "Give them the worst value")], default="reject", max_length=10
                    ),
                ),
                ("size_factor", models.PositiveSmallIntegerField(default=10, help_text="Most vertices and edges, times the reference's.")),
                ("max_archive_bytes", models.PositiveBigIntegerField(default=500000000)),
                ("unit", models.CharField(default="m", max_length=16)),
                ("unit_scale", models.FloatField(default=1.0, help_text="Metres per unit.")),
                ("manifest_data", models.JSONField(blank=True, default=dict, editable=False)),
                ("board_revision", models.PositiveBigIntegerField(default=0, editable=False)),
                (
                    "challenge",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="phases", to="submissions.challenge"),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        help_text="A team needs a scored entry there first.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="children",
                        to="submissions.phase",
                    ),
                ),
                (
                    "background",
                    models.CharField(
                        default="#ffffff",
                        max_length=7,
                        validators=[django.core.validators.RegexValidator("\\A#[0-9a-fA-F]{6}\\Z", "Write a colour as #rrggbb.")],
                    ),
                ),
                (
                    "resize",
                    models.CharField(
                        choices=[("none", "Refuse the file"), ("reference", "Resize it to the reference")], default="none", max_length=10
                    ),
                ),
                ("results_source", models.CharField(blank=True, help_text="Where a table of results was imported from.", max_length=240)),
                ("results_url", models.URLField(blank=True)),
            ],
            options={
                "ordering": ["position", "opens_at", "id"],
                "constraints": [models.UniqueConstraint(fields=("challenge", "slug"), name="phase_slug_once")],
            },
        ),
        migrations.CreateModel(
            name="ChallengeFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("input", "Input"), ("example", "Example entry")], default="input", max_length=10)),
                ("name", models.CharField(max_length=160)),
                ("title", models.CharField(blank=True, max_length=160)),
                ("key", models.CharField(max_length=255)),
                ("size", models.PositiveBigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "challenge",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="files", to="submissions.challenge"),
                ),
                (
                    "phase",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="files", to="submissions.phase"
                    ),
                ),
            ],
            options={
                "ordering": ["kind", "name"],
                "constraints": [models.UniqueConstraint(fields=("challenge", "phase", "kind", "name"), name="file_once")],
            },
        ),
        migrations.CreateModel(
            name="Team",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80)),
                ("invite_hash", models.CharField(blank=True, help_text="Hash of the link that lets people join.", max_length=64)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "challenge",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="teams", to="submissions.challenge"),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(models.F("challenge"), django.db.models.functions.text.Lower("name"), name="team_name_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_leader", models.BooleanField(default=False)),
                ("joined_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("challenge", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="submissions.challenge")),
                (
                    "user",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to=settings.AUTH_USER_MODEL),
                ),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="submissions.team")),
            ],
            options={
                "ordering": ["joined_at"],
                "constraints": [models.UniqueConstraint(fields=("challenge", "user"), name="one_team_per_person")],
            },
        ),
        migrations.AddField(
            model_name="team",
            name="members",
            field=models.ManyToManyField(related_name="teams", through="submissions.Membership", to=settings.AUTH_USER_MODEL),
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(db_index=True, editable=False, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=120)),
                ("number", models.PositiveIntegerField(help_text="Counts up within the challenge.")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("uploading", "Uploading"),
                            ("received", "Received"),
                            ("claimed", "Claimed by a worker"),
                            ("validating", "Checking files"),
                            ("rejected", "Rejected"),
                            ("scoring", "Scoring"),
                            ("scored", "Scored"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        db_index=True,
                        default="uploading",
                        max_length=12,
                    ),
                ),
                ("method_name", models.CharField(max_length=80)),
                ("description", models.TextField(blank=True)),
                ("paper_url", models.URLField(blank=True)),
                ("code_url", models.URLField(blank=True)),
                ("is_baseline", models.BooleanField(default=False)),
                ("is_verified", models.BooleanField(default=False)),
                ("is_chosen", models.BooleanField(default=False, help_text="The team's choice, where the phase ranks chosen entries.")),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ("received_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                ("hidden_at", models.DateTimeField(blank=True, null=True)),
                ("hidden_reason", models.CharField(blank=True, max_length=240)),
                ("disqualified_at", models.DateTimeField(blank=True, null=True)),
                ("disqualified_reason", models.CharField(blank=True, max_length=240)),
                ("file_name", models.CharField(max_length=160)),
                ("file_key", models.CharField(blank=True, max_length=255)),
                ("size", models.PositiveBigIntegerField(default=0)),
                ("sha256", models.CharField(blank=True, db_index=True, max_length=64)),
                ("upload_expires_at", models.DateTimeField(blank=True, null=True)),
                ("upload_data", models.JSONField(blank=True, default=dict)),
                ("artifact_key", models.CharField(blank=True, max_length=255)),
                ("missing_items", models.JSONField(blank=True, default=list)),
                ("problems", models.JSONField(blank=True, default=list)),
                ("n_problems", models.PositiveIntegerField(default=0)),
                ("warnings", models.JSONField(blank=True, default=list)),
                ("failure", models.CharField(blank=True, max_length=400)),
                ("failure_detail", models.TextField(blank=True)),
                ("notified_at", models.DateTimeField(blank=True, null=True)),
                (
                    "phase",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="submissions", to="submissions.phase"),
                ),
                (
                    "uploaded_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="submissions", to="submissions.team")),
                ("made_as", models.CharField(blank=True, editable=False, max_length=80)),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(fields=["phase", "team", "status"], name="submissions_phase_i_bd9a3c_idx"),
                    models.Index(fields=["status", "received_at"], name="submissions_status_db9cb6_idx"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("phase", "number"), name="number_once_per_phase"),
                    models.UniqueConstraint(
                        condition=models.Q(("made_as", ""), _negated=True), fields=("phase", "made_as"), name="made_once_per_phase"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExtraTries",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("amount", models.PositiveSmallIntegerField()),
                ("reason", models.CharField(max_length=240)),
                ("granted_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "granted_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "phase",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="extra_tries", to="submissions.phase"),
                ),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="extra_tries", to="submissions.team")),
            ],
            options={
                "verbose_name_plural": "extra tries",
            },
        ),
        migrations.CreateModel(
            name="TeamInvite",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.EmailField(max_length=254)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "invited_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="invites", to="submissions.team")),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="Participation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "admission",
                    models.CharField(
                        choices=[("pending", "Waiting for an organizer"), ("admitted", "Admitted"), ("declined", "Declined")],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("rules_version", models.CharField(blank=True, max_length=20)),
                ("rules_accepted_at", models.DateTimeField(blank=True, null=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "challenge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="participations", to="submissions.challenge"
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="participations", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["created_at"],
                "constraints": [models.UniqueConstraint(fields=("challenge", "user"), name="participates_once")],
            },
        ),
    ]
