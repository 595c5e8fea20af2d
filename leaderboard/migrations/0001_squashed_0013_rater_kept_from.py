import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import leaderboard.models.question


class Migration(migrations.Migration):
    replaces = [
        ("leaderboard", "0001_initial"),
        ("leaderboard", "0002_initial"),
        ("leaderboard", "0003_snapshot_lead"),
        ("leaderboard", "0004_studies"),
        ("leaderboard", "0005_rating"),
        ("leaderboard", "0006_rater_left_at"),
        ("leaderboard", "0007_study_results"),
        ("leaderboard", "0008_judges"),
        ("leaderboard", "0009_question_tally"),
        ("leaderboard", "0010_snapshot_opened"),
        ("leaderboard", "0011_rater_tallies"),
        ("leaderboard", "0012_fill_tallies"),
        ("leaderboard", "0013_rater_kept_from"),
    ]

    initial = True

    dependencies = [
        ("evaluation", "0001_squashed_0011_part_scored"),
        ("submissions", "0001_squashed_0004_results"),
    ]

    operations = [
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("audience", models.CharField(choices=[("public", "Public"), ("organizers", "Organizers")], max_length=10)),
                ("digest", models.CharField(help_text="SHA-256 of the payload and its phase; its address.", max_length=64)),
                ("revision", models.PositiveBigIntegerField(help_text="Phase.board_revision it was made from.")),
                ("n_entries", models.PositiveIntegerField()),
                ("n_teams", models.PositiveIntegerField()),
                ("payload", models.BinaryField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "batch",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="evaluation.evaluationbatch"),
                ),
                ("phase", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="snapshots", to="submissions.phase")),
                ("lead", models.JSONField(default=dict, help_text="Who is first, for lists of challenges; empty where nobody is.")),
                (
                    "opened_at",
                    models.DateTimeField(help_text="When somebody first opened it by its address; it stays for good then.", null=True),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [models.Index(fields=["phase", "audience", "-created_at"], name="leaderboard_phase_i_2209ac_idx")],
                "constraints": [models.UniqueConstraint(fields=("phase", "audience", "digest"), name="snapshot_once")],
            },
        ),
        migrations.CreateModel(
            name="Study",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=63)),
                ("title", models.CharField(max_length=120)),
                ("question", models.CharField(help_text="What raters were asked, in a sentence.", max_length=400)),
                (
                    "source",
                    models.CharField(blank=True, help_text="Who collected the judgements, where they came from elsewhere.", max_length=400),
                ),
                ("made_up", models.BooleanField(default=False)),
                ("is_public", models.BooleanField(default=False, help_text="Shown to all who may see the board.")),
                ("revision", models.PositiveBigIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("phase", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="studies", to="submissions.phase")),
                (
                    "access",
                    models.CharField(
                        choices=[("listed", "Accounts on the list"), ("invited", "Whoever has an invitation link"), ("open", "Everybody")],
                        default="invited",
                        max_length=8,
                    ),
                ),
                ("break_every", models.PositiveSmallIntegerField(default=350, help_text="A break is suggested after so many answers.")),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("closes_at", models.DateTimeField(blank=True, null=True)),
                ("consent", models.TextField(blank=True, help_text="Markdown. What raters agree to before they begin.")),
                ("counted", models.CharField(blank=True, editable=False, max_length=60)),
                ("counted_at", models.DateTimeField(editable=False, null=True)),
                ("criteria", models.JSONField(blank=True, default=list)),
                (
                    "gold_share",
                    models.FloatField(default=0.0, help_text="At least this share of the questions is on pairs of known order."),
                ),
                ("groups", models.JSONField(blank=True, default=list)),
                ("key", models.CharField(blank=True, editable=False, max_length=40, null=True, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("pairs", "Pairs: which of two entries is better"),
                            ("opinions", "Opinion scores: one entry, from 1 to 5"),
                        ],
                        default="pairs",
                        max_length=8,
                    ),
                ),
                ("most_raters", models.PositiveIntegerField(blank=True, help_text="Empty: no limit.", null=True)),
                ("opens_at", models.DateTimeField(blank=True, null=True)),
                (
                    "plan",
                    models.CharField(
                        choices=[
                            ("exhaustive", "Everything, in random order"),
                            ("balanced", "Balanced: every entry and pair equally often"),
                            ("informative", "Informative: pairs whose outcome is least certain"),
                        ],
                        default="exhaustive",
                        max_length=12,
                    ),
                ),
                ("questions_per_rater", models.PositiveIntegerField(blank=True, help_text="Empty: all of them.", null=True)),
                (
                    "reference",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="evaluation.reference"
                    ),
                ),
                ("repeat_share", models.FloatField(default=0.05, help_text="Questions asked again, half of them with their sides turned.")),
                ("seed", models.PositiveIntegerField(default=0)),
                (
                    "state",
                    models.CharField(choices=[("draft", "Draft"), ("open", "Open"), ("closed", "Closed")], default="closed", max_length=6),
                ),
                ("from_results", models.BooleanField(default=False, editable=False)),
                (
                    "screens_raters",
                    models.BooleanField(default=False, help_text="Leave out raters whose scores hardly go with the others'."),
                ),
            ],
            options={
                "verbose_name_plural": "studies",
                "ordering": ["-created_at", "-id"],
                "constraints": [models.UniqueConstraint(fields=("phase", "slug"), name="study_slug_once")],
            },
        ),
        migrations.CreateModel(
            name="StudyAnalysis",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(db_index=True, editable=False, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=120)),
                ("criterion", models.CharField(blank=True, max_length=60)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Being computed"), ("done", "Computed"), ("failed", "Failed")],
                        db_index=True,
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("wanted", models.CharField(max_length=80)),
                ("made_of", models.CharField(blank=True, max_length=80)),
                ("content", models.JSONField(null=True)),
                ("failure", models.CharField(blank=True, max_length=400)),
                ("failure_detail", models.TextField(blank=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="analyses", to="leaderboard.study")),
            ],
            options={
                "verbose_name_plural": "study analyses",
                "constraints": [models.UniqueConstraint(fields=("study", "criterion"), name="study_analysis_once")],
            },
        ),
        migrations.CreateModel(
            name="StudyEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("label", models.CharField(max_length=200)),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="entries", to="leaderboard.study")),
                (
                    "submission",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="submissions.submission"
                    ),
                ),
                ("artifact", models.CharField(blank=True, max_length=40)),
                ("gold_kind", models.CharField(blank=True, max_length=40)),
                ("gold_order", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("left_out_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("study", "label"), name="study_entry_once")],
            },
        ),
        migrations.CreateModel(
            name="StudyInvitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("note", models.CharField(blank=True, help_text="Whom it is for; organizers see it.", max_length=120)),
                ("group", models.CharField(blank=True, max_length=60)),
                ("most_uses", models.PositiveIntegerField(blank=True, help_text="Empty: no limit.", null=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "made_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="leaderboard.study"),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="Rater",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=120)),
                ("group", models.CharField(blank=True, max_length=60)),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="raters", to="leaderboard.study")),
                ("answered_last", models.DateTimeField(blank=True, null=True)),
                ("is_counted", models.BooleanField(default=True)),
                ("joined_at", models.DateTimeField(blank=True, null=True)),
                ("key_hash", models.CharField(blank=True, max_length=64)),
                ("kind", models.CharField(choices=[("person", "Person"), ("judge", "Judge model")], default="person", max_length=8)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                ("sitting_answers", models.PositiveIntegerField(default=0)),
                ("sitting_from", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "invitation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="raters",
                        to="leaderboard.studyinvitation",
                    ),
                ),
                ("left_at", models.DateTimeField(blank=True, null=True)),
                ("kept_from", models.ManyToManyField(blank=True, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("study", "name"), name="study_rater_once"),
                    models.UniqueConstraint(fields=("study", "user"), name="study_rater_of_account_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("key_hash", ""), _negated=True), fields=("key_hash",), name="study_rater_key_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="StudySample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=240)),
                ("order", models.PositiveIntegerField(default=0)),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="samples", to="leaderboard.study")),
            ],
            options={
                "ordering": ["order", "id"],
                "constraints": [models.UniqueConstraint(fields=("study", "name"), name="study_sample_once")],
            },
        ),
        migrations.CreateModel(
            name="Question",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("swapped", models.BooleanField(default=False)),
                ("is_gold", models.BooleanField(default=False)),
                ("token", models.CharField(default=leaderboard.models.question.new_token, max_length=40, unique=True)),
                ("shown_at", models.DateTimeField(null=True)),
                ("answered_at", models.DateTimeField(null=True)),
                ("reopened_at", models.DateTimeField(null=True)),
                ("left", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.studyentry")),
                ("rater", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="questions", to="leaderboard.rater")),
                (
                    "repeat_of",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="leaderboard.question"),
                ),
                (
                    "right",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.studyentry"
                    ),
                ),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="questions", to="leaderboard.study")),
                ("sample", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.studysample")),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("answered_at__isnull", True)), fields=["rater", "number"], name="question_open"),
                    models.Index(fields=["rater", "answered_at"], name="leaderboard_rater_i_8cefcb_idx"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("rater", "number"), name="question_number_once"),
                    models.CheckConstraint(
                        condition=models.Q(("right__isnull", True), models.Q(("left", models.F("right")), _negated=True), _connector="OR"),
                        name="question_between_two",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="StudyVote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sample", models.CharField(blank=True, max_length=240)),
                ("choice", models.CharField(choices=[("left", "Left"), ("right", "Right"), ("tie", "Equal")], max_length=5)),
                ("swapped", models.CharField(blank=True, max_length=8)),
                ("seconds", models.FloatField(null=True)),
                ("repeat_of", models.CharField(blank=True, max_length=40)),
                ("criterion", models.CharField(blank=True, max_length=60)),
                ("left", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.studyentry")),
                ("rater", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="votes", to="leaderboard.rater")),
                ("right", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.studyentry")),
                (
                    "study",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="study_votes", to="leaderboard.study"),
                ),
                ("given_at", models.DateTimeField(null=True)),
                (
                    "question",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="votes", to="leaderboard.question"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["study", "criterion"], name="leaderboard_study_i_b48576_idx")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("left", models.F("right")), _negated=True), name="study_vote_between_two"),
                    models.CheckConstraint(condition=models.Q(("choice__in", ["left", "right", "tie"])), name="study_vote_choice"),
                    models.UniqueConstraint(fields=("question", "criterion"), name="study_vote_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Opinion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sample", models.CharField(blank=True, max_length=240)),
                ("criterion", models.CharField(blank=True, max_length=60)),
                ("score", models.PositiveSmallIntegerField()),
                ("seconds", models.FloatField(null=True)),
                ("given_at", models.DateTimeField(null=True)),
                ("entry", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.studyentry")),
                ("rater", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="opinions", to="leaderboard.rater")),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="opinions", to="leaderboard.study")),
                (
                    "question",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="opinions",
                        to="leaderboard.question",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["study", "criterion", "entry"], name="leaderboard_study_i_d8deca_idx")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("score__gte", 1), ("score__lte", 5)), name="opinion_from_1_to_5"),
                    models.UniqueConstraint(fields=("question", "criterion"), name="opinion_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="JudgeRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(db_index=True, editable=False, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=120)),
                ("model", models.CharField(max_length=120)),
                ("endpoint", models.CharField(blank=True, max_length=300)),
                (
                    "form",
                    models.CharField(
                        choices=[("objects", "Objects side by side"), ("wireframes", "Wireframes over their reference")], max_length=10
                    ),
                ),
                ("plan", models.CharField(max_length=40)),
                ("rows", models.JSONField()),
                ("seed", models.PositiveIntegerField(default=0)),
                ("choices", models.PositiveSmallIntegerField(default=3)),
                ("budget", models.PositiveIntegerField()),
                ("most_cost", models.FloatField(blank=True, null=True)),
                ("version", models.PositiveSmallIntegerField()),
                ("anchor", models.CharField(blank=True, max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("planned", "Planned"),
                            ("asking", "Asking"),
                            ("paused", "Paused"),
                            ("done", "Done"),
                            ("spent", "Budget used up"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        db_index=True,
                        default="planned",
                        max_length=9,
                    ),
                ),
                ("n_planned", models.PositiveIntegerField(default=0)),
                ("n_skipped", models.PositiveIntegerField(default=0)),
                ("n_answered", models.PositiveIntegerField(default=0)),
                ("n_failed", models.PositiveIntegerField(default=0)),
                ("n_unparsed", models.PositiveIntegerField(default=0)),
                ("requests", models.PositiveIntegerField(default=0)),
                ("images", models.PositiveIntegerField(default=0)),
                ("tokens_in", models.PositiveBigIntegerField(default=0)),
                ("tokens_out", models.PositiveBigIntegerField(default=0)),
                ("cost", models.FloatField(default=0.0)),
                ("n_uncosted", models.PositiveIntegerField(default=0)),
                ("result", models.JSONField(null=True)),
                ("failure", models.CharField(blank=True, max_length=400)),
                ("failure_detail", models.TextField(blank=True)),
                ("fruitless", models.PositiveSmallIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "base",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="newcomers",
                        to="leaderboard.judgerun",
                    ),
                ),
                (
                    "made_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "newcomer",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.studyentry"
                    ),
                ),
                (
                    "rater",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="judge_runs", to="leaderboard.rater"),
                ),
                (
                    "study",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="judge_runs", to="leaderboard.study"),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="JudgeAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("row", models.PositiveSmallIntegerField()),
                ("sample", models.CharField(max_length=240)),
                ("repeats", models.PositiveSmallIntegerField(default=1)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "To be asked"), ("answered", "Answered"), ("failed", "No answer")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("said", models.JSONField(default=list)),
                ("in_round", models.PositiveSmallIntegerField(default=0)),
                ("rounds", models.PositiveSmallIntegerField(default=0)),
                ("faults", models.PositiveSmallIntegerField(default=0)),
                ("n_unparsed", models.PositiveIntegerField(default=0)),
                ("requests", models.PositiveIntegerField(default=0)),
                ("images", models.PositiveIntegerField(default=0)),
                ("tokens_in", models.PositiveIntegerField(null=True)),
                ("tokens_out", models.PositiveIntegerField(null=True)),
                ("cost", models.FloatField(null=True)),
                ("seconds", models.FloatField(default=0.0)),
                ("failure", models.CharField(blank=True, max_length=400)),
                ("answered_at", models.DateTimeField(null=True)),
                ("left", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.studyentry")),
                ("right", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.studyentry")),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="answers", to="leaderboard.judgerun")),
            ],
            options={
                "ordering": ["number"],
                "indexes": [models.Index(fields=["run", "state", "faults", "number"], name="leaderboard_run_id_20cfb5_idx")],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "number"), name="judge_answer_once"),
                    models.CheckConstraint(condition=models.Q(("left", models.F("right")), _negated=True), name="judge_answer_between_two"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Tally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("asked", models.BinaryField(default=bytes)),
                ("said", models.BinaryField(default=bytes)),
                ("rater", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="tally", to="leaderboard.rater")),
            ],
            options={
                "verbose_name_plural": "tallies",
            },
        ),
    ]
