"""Forms of live studies: how one is made, who may rate, and what may be changed while it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np
from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils import timezone

from leaderboard.console.forms.fields import Lines, LongText, MomentField, new_study_slug, say_clock
from leaderboard.kinds import KINDS
from leaderboard.models import Study
from leaderboard.models.study import MAX_VOTES
from leaderboard.stats import screening
from leaderboard.stats.planning import MAX_LOOKS
from leaderboard.stats.screening import Rules
from leaderboard.studies.live import campaign, panel, rater_setup
from leaderboard.studies.live.artifacts import CORRUPTIONS, NOTHING, Artifact, available
from leaderboard.studies.live.campaign import Design
from leaderboard.studies.live.criteria import OPINIONS, PAIRS, Criterion, ready_made
from leaderboard.studies.live.design_matrix import gold_pairs
from submissions.models import Phase, Submission

MAX_PRACTICE, MAX_QUOTA = 20, 100_000
SHARES = {"repeat_percent": "repeat_share", "gold_percent": "gold_share", "common_percent": "common_share"}
UNKNOWN = (
    "With a link, or if everybody can take part, raters need no account. We do not know the teams of raters without an account, so they "
    "may get questions about their own entries. If that matters, allow only accounts on the list."
)
SKILL = (
    "A judge model may replace a rater if it agrees with people about as often as another rater does. A judge model may be .1 "
    "worse than a crowd, .15 worse than skilled people, .2 worse than experts. You cannot change this after the study has opened."
)
COVARIATES = (
    "People's preferences are then corrected for this, and also shown without the correction. You cannot change this after the study has "
    "opened."
)

PANEL = (
    "Parameters that a panel adds to the address, one per line, such as PROLIFIC_PID, STUDY_ID and SESSION_ID. We store them with each "
    "rater. The first parameter identifies the rater: each value can take part once. Raters without it need an account on the list."
)
RATER_GROUPS = (
    "One per line, such as experts or designers. Raters choose their group, unless their invitation sets it. “experts: 12” "
    "limits a group to 12 "
    "raters."
)
REFUSES = (
    "Raters of these studies cannot take part. We recognize them by their account or their panel number, and not if they have neither."
)
SETUP = "Asked once, before the questions. Stored with the rater, exported, and deleted when the rater leaves."
MIN_WIDTH = "Width of the window in pixels, such as 900, which excludes phones. Empty: any."
PRACTICE = (
    "Asked first, pairs of known order before others, with feedback on the known order. The answers do not count as votes and are exported "
    "separately."
)
RULES = (
    "A rule is part of the registered design: you cannot change it after the study has opened. Results are shown with and without it. "
    "Empty: no such rule."
)
COMPLETION = "An address that begins with https://, or a code. Raters see it when they have answered everything."


def covariate_choices(family: str) -> list[tuple[str, str]]:
    """Covariates that a study of this family can take account of, in words; only files of meshes may have colours."""
    size = (Study.Covariate.SIZE.value, f"Size: how many times the {KINDS[family].measure} double")
    texture = (Study.Covariate.TEXTURE.value, "Texture: whether an entry has colours")
    return [size, texture] if KINDS[family].coloured else [size]


class EntryChoices(forms.ModelMultipleChoiceField):
    """Entries of the phase, ticked."""

    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, entry: Submission) -> str:
        return entry_name(entry)


class EntryChoice(forms.ModelChoiceField):
    def label_from_instance(self, entry: Submission) -> str:
        return entry_name(entry)


def entry_name(entry: Submission) -> str:
    return f"{entry.method_name} · {entry.team.name} (#{entry.number})"


class ScreeningFields(forms.Form):
    """Rules that leave raters out of what is computed, each with its threshold."""

    screen_fast = forms.FloatField(
        min_value=0,
        max_value=100,
        required=False,
        label="Leave out raters who are too fast, %",
        help_text=f"Raters with more than this share of at least 10 answers in less than {screening.FAST:g} s. {RULES}",
    )
    screen_gold = forms.FloatField(
        min_value=0,
        max_value=100,
        required=False,
        label="Leave out raters who fail known pairs, %",
        help_text="Raters who get more than this share of at least 10 pairs of known order wrong. Empty: no such rule.",
    )
    screen_scores = forms.ChoiceField(
        required=False,
        label="Leave out raters whose scores disagree with the others’",
        choices=[
            ("", "no such rule"),
            ("others", "r below 0.3 with the mean of the others"),
            ("bt500", "ITU-R BT.500"),
            ("inconsistency", "more than twice as inconsistent as the median (ITU-T P.910)"),
        ],
    )

    def show_rules(self, rules: Rules) -> None:
        """Begin with these rules."""
        for key in screening.OF_PAIRS:
            if key in rules:
                self.initial[f"screen_{key}"] = f"{100 * rules[key]['share']:g}"
        self.initial["screen_scores"] = next((key for key in screening.ONE_OF if key in rules), "")

    def rules(self, kind: str) -> Rules:
        """The rules of a form that is valid, for a study of that kind."""
        data, rules = self.cleaned_data, {}
        for key in screening.OF_PAIRS:
            if data.get(f"screen_{key}") is not None and (key == "fast" or kind == PAIRS):
                rules[key] = screening.DEFAULTS[key] | {"share": data[f"screen_{key}"] / 100}
        if kind == OPINIONS and data.get("screen_scores"):
            rules[data["screen_scores"]] = dict(screening.DEFAULTS[data["screen_scores"]])
        return rules


class PlanFields(forms.Form):
    """Plan of a study: which questions a rater is asked, how many, and when the study ends by itself; fixed once it has opened."""

    plan = forms.ChoiceField(choices=Study.Plan.choices, initial=Study.Plan.BALANCED, widget=forms.RadioSelect, label="Which questions")
    questions_per_rater = forms.IntegerField(
        min_value=1, required=False, label="Questions per rater", help_text="Empty: all. Repeats are additional."
    )
    repeat_percent = forms.FloatField(
        min_value=0,
        max_value=50,
        initial=5,
        label="Repeats, %",
        help_text="Pairs asked again later, half of them with swapped sides.",
    )
    gold_percent = forms.FloatField(
        min_value=0, max_value=50, initial=0, label="Pairs of known order, %", help_text="At least this share of a rater's questions."
    )
    common_percent = forms.FloatField(
        min_value=0,
        max_value=50,
        initial=10,
        label="Questions common to all, %",
        help_text="The same for every rater, so that agreement between raters can be measured.",
    )
    answers_per_question = forms.IntegerField(
        min_value=1,
        max_value=50,
        initial=2,
        label="Raters a question",
        help_text="Questions with fewer raters come before new ones. Not used if pairs are chosen adaptively.",
    )
    planned_looks = forms.IntegerField(
        min_value=0,
        max_value=MAX_LOOKS,
        required=False,
        label="Interim analyses of first place",
        help_text="How often we test, while the study runs, whether first place is settled. The study then ends. If empty, "
        "the study ends when you close it.",
    )
    planned_answers = forms.IntegerField(
        min_value=1,
        max_value=MAX_VOTES,
        required=False,
        label="Ends after this many votes",
        help_text="Votes that count, without repeats and known pairs. At this number the last analysis is made, and the study "
        "ends, settled or not.",
    )

    def show_plan(self, study: Study) -> None:
        """Begin with the plan of this study; a draft without a pair of known order has no share of them."""
        for name in ("plan", "questions_per_rater", "answers_per_question", "planned_answers"):
            self.initial[name] = getattr(study, name)
        self.initial["planned_looks"] = study.planned_looks or None
        if study.kind == OPINIONS:  # which have no pairs to choose from
            self.fields["plan"].choices = [one for one in Study.Plan.choices if one[0] not in (Study.Plan.INFORMATIVE, Study.Plan.FIRST)]
        self.initial |= {name: float(f"{100 * getattr(study, share):.6g}") for name, share in SHARES.items()}

    def check_plan(self, data: dict[str, Any], kind: str) -> None:
        """Check the plan against the `kind` of answer, empty while the form does not say; each fault is reported at its field."""
        if kind == OPINIONS:
            data |= {"planned_looks": 0, "planned_answers": None}
            if data.get("plan") in (Study.Plan.INFORMATIVE, Study.Plan.FIRST):
                sentence = "Opinion scores have no pairs to choose from; ask everything, or balanced."
                self.add_error("plan", ValidationError(sentence, "only_of_pairs"))
        badly = self.errors.keys() & {"planned_looks", "planned_answers"}
        if bool(data.get("planned_looks")) != bool(data.get("planned_answers")) and not badly:
            missing = "planned_answers" if data.get("planned_looks") else "planned_looks"
            sentence = "Looks are spaced equally up to the number of answers at which the study ends; give both numbers, or neither."
            self.add_error(missing, ValidationError(sentence, "both_or_neither"))


SETUP_CHOICES = [
    (rater_setup.SCREEN, "How large their screen and window are (measured)"),
    *((one.key, one.text) for one in rater_setup.QUESTIONS),
]


class StudyFields(ScreeningFields, PlanFields):
    """The fields of a study in the order in which its forms have them."""

    # What is asked for one kind of study alone; the page hides it while the other one is chosen.
    ONLY = {"criteria_opinions": OPINIONS, "screen_scores": OPINIONS} | dict.fromkeys(
        (
            "criteria_pairs",
            "repeat_percent",
            "gold_percent",
            "gold_better",
            "gold_worse",
            "rater_skill",
            "covariates",
            "planned_looks",
            "planned_answers",
            "screen_gold",
        ),
        PAIRS,
    )
    GROUPS = (
        (
            "What is asked",
            ("title", "slug", "question", "kind", "criteria_pairs", "criteria_opinions", "own_criteria", "shuffles_criteria"),
        ),
        ("About what", ("entries", "corruptions", "empty", "n_samples", "sample_names", "discloses")),
        (
            "How much of it",
            (
                "plan",
                "questions_per_rater",
                "common_percent",
                "answers_per_question",
                "repeat_percent",
                "gold_percent",
                "gold_better",
                "gold_worse",
                "planned_looks",
                "planned_answers",
                "practice_questions",
                "break_every",
            ),
        ),
        ("Whose answers count", ("screen_fast", "screen_gold", "screen_scores")),
        (
            "Of whom",
            (
                "access",
                "most_raters",
                "rater_skill",
                "covariates",
                "groups",
                "refuses_raters_of",
                "setup_questions",
                "min_width",
                "consent",
                "panel_parameters",
                "completion",
                "opens_at",
                "closes_at",
                "is_public",
            ),
        ),
    )

    covariates = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple, label="Correct for", help_text=COVARIATES)
    groups = Lines(required=False, rows=3, help_text=RATER_GROUPS)
    practice_questions = forms.IntegerField(
        min_value=0, max_value=MAX_PRACTICE, required=False, label="Questions for practice", help_text=PRACTICE
    )
    refuses_raters_of = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Exclude raters of", help_text=REFUSES
    )
    setup_questions = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, choices=SETUP_CHOICES, label="Ask about screen and eyesight", help_text=SETUP
    )
    min_width = forms.IntegerField(min_value=200, max_value=10_000, required=False, label="Minimum width", help_text=MIN_WIDTH)
    panel_parameters = Lines(required=False, rows=3, label="Panel parameters", help_text=PANEL)
    completion = forms.CharField(max_length=300, required=False, label="After the last question", help_text=COMPLETION)

    def offer_other_studies(self, phase: Phase, own: Study | None = None) -> None:
        """Offer the challenge's other studies that people rate here, as `Study.refuses_raters_of` names them; no field without any."""
        rows = Study.objects.filter(phase__challenge=phase.challenge_id, key__isnull=False).select_related("phase")
        if choices := [(f"{one.phase.slug}/{one.slug}", one.title) for one in rows if own is None or one.pk != own.pk]:
            self.fields["refuses_raters_of"].choices = choices
        else:
            del self.fields["refuses_raters_of"]

    def clean_groups(self) -> list[str]:
        """The groups named line by line; those with a number behind a colon may have so many raters, which are the `group_quotas`."""
        quotas: dict[str, int] = {}
        names = []
        for line in self.cleaned_data["groups"]:
            name, colon, number = (part.strip() for part in line.rpartition(":"))
            if colon and name and number.isascii() and number.isdecimal():
                if not 0 < int(number) <= MAX_QUOTA:
                    raise ValidationError(f"“{line[:60]}” names no number of raters from 1 to {MAX_QUOTA:,}.", "bad_quota")
                quotas[name] = int(number)
            names.append(name if name in quotas else line)
        distinct = list(dict.fromkeys(names))
        for name in distinct:
            if len(name) > 60:
                raise ValidationError(f"“{name[:40]}…” is too long for a group's name; use at most 60 characters.", "too_long")
        self.cleaned_data["group_quotas"] = quotas
        return distinct

    def clean_practice_questions(self) -> int:
        return self.cleaned_data["practice_questions"] or 0

    def clean_panel_parameters(self) -> list[str]:
        names = self.cleaned_data["panel_parameters"]
        try:
            panel.check_names(names)
        except ValueError as error:
            raise ValidationError(str(error), "bad_parameter") from None
        return list(names)

    def clean_completion(self) -> str:
        text = self.cleaned_data["completion"]
        if "://" in text:
            if not text.startswith("https://"):
                raise ValidationError("The address must begin with https://.", "not_https")
            URLValidator(schemes=["https"], message="This is not an address; copy it from your panel, or write a code.")(text)
        return text

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.get("opens_at") and data.get("closes_at") and data["closes_at"] <= data["opens_at"]:
            self.add_error("closes_at", ValidationError("The study closes before it opens; choose a later moment.", "ends_first"))
        return data

    def columns(self, kind: str) -> dict[str, Any]:
        """The columns of a study of that kind that a valid form sets."""
        data = self.cleaned_data
        values = {column.name: data[column.name] for column in Study._meta.fields if column.name in data}
        values |= {share: data[name] / 100 for name, share in SHARES.items() if name in data}
        if "planned_looks" in data:
            values["planned_looks"] = data["planned_looks"] or 0
        return values | ({"screening": self.rules(kind)} if "screen_fast" in self.fields else {})

    def groups_of_fields(self) -> Iterator[tuple[str, list[tuple[forms.BoundField, str]]]]:
        """Each legend with its fields, and the kind of study that a field is for; empty for both."""
        for legend, names in self.GROUPS:
            if fields := [(self[name], self.ONLY.get(name, "")) for name in names if name in self.fields]:
                yield legend, fields


class NewStudyForm(StudyFields):
    """A live study: what is asked, about which entries on which samples, in which order, and of whom."""

    title = forms.CharField(max_length=120, help_text="Raters see it.")
    slug = forms.SlugField(max_length=63, label="Address", help_text="Small letters, digits and hyphens. It is part of the page's address.")
    question = forms.CharField(max_length=400, help_text="What raters are asked, in a sentence.")
    kind = forms.ChoiceField(choices=Study.Kind.choices, widget=forms.RadioSelect, initial=PAIRS, label="What they answer")
    criteria_pairs = forms.MultipleChoiceField(label="Criteria of pairs", required=False, widget=forms.CheckboxSelectMultiple)
    criteria_opinions = forms.MultipleChoiceField(label="Criteria of opinion scores", required=False, widget=forms.CheckboxSelectMultiple)
    own_criteria = Lines(label="Your own criteria", required=False, rows=2, help_text="One per line: a name, a colon, and what to look at.")
    entries = EntryChoices(Submission.objects.none(), label="Entries")
    corruptions = forms.BooleanField(
        required=False,
        label="Add the twelve corruptions of the reference",
        help_text="Damaged copies, made and scored here. The lightest and the heaviest damage of a kind are pairs of known order.",
    )
    empty = forms.BooleanField(required=False, label="Add an empty entry")
    gold_better = EntryChoice(Submission.objects.none(), required=False, label="Known to be better", empty_label="none")
    gold_worse = EntryChoice(Submission.objects.none(), required=False, label="Known to be worse", empty_label="none")
    n_samples = forms.IntegerField(
        min_value=1, required=False, label="Number of items", help_text="Drawn at random from the reference. Empty: all of them."
    )
    sample_names = Lines(label="Or these items", required=False, rows=3, help_text="One per line, with the names of the reference.")
    break_every = forms.IntegerField(min_value=10, max_value=5000, initial=350, label="Break after", help_text="Answers; a suggestion.")
    rater_skill = forms.ChoiceField(
        choices=Study.RaterSkill.choices,
        initial=Study.RaterSkill.CROWD,
        required=False,
        label="Raters are",
        help_text=SKILL,
    )
    access = forms.ChoiceField(
        choices=Study.Access.choices,
        initial=Study.Access.INVITED,
        widget=forms.RadioSelect,
        label="Who may rate",
        help_text=f"Accounts on the list can always take part. {UNKNOWN}",
    )
    most_raters = forms.IntegerField(min_value=1, required=False, label="Maximum number of raters", help_text="Empty: no limit.")
    shuffles_criteria = forms.BooleanField(
        required=False,
        initial=True,
        label="Ask several criteria in an order drawn for each rater",
        help_text="The same for all questions of a rater.",
    )
    consent = LongText(
        required=False, rows=4, label="What raters agree to", help_text="Markdown. The page always says what we store and how to leave."
    )
    opens_at = MomentField(label="Opens", required=False, help_text="Empty: as soon as you open it.")
    closes_at = MomentField(label="Closes", required=False, help_text="Empty: when you close it.")
    is_public = forms.BooleanField(
        required=False, label="Show results to everybody who can see the leaderboard", help_text="Also while it runs. Better afterwards."
    )
    discloses = forms.BooleanField(required=False, label="Raters may see the reference of these items")

    def __init__(self, phase: Phase, *args: object) -> None:
        super().__init__(*args)
        self.phase, self.family = phase, phase.challenge.family
        say_clock(self, phase, opens_at=None, closes_at=None)
        entries = Submission.objects.filter(phase=phase).eligible().select_related("team").order_by("method_name", "pk")
        for name in ("entries", "gold_better", "gold_worse"):
            self.fields[name].queryset = entries
        self.initial["entries"] = [entry.pk for entry in entries]
        for kind in (PAIRS, OPINIONS):
            ready = ready_made(kind, self.family)
            self.fields[f"criteria_{kind}"].choices = [(one.key, f"{one.title}: {one.text}") for one in ready]
            self.initial[f"criteria_{kind}"] = [ready[0].key] if kind == PAIRS else [one.key for one in ready]
        self.fields["covariates"].choices = covariate_choices(self.family)
        self.offer_other_studies(phase)
        made = available(self.family)
        if not any(one in CORRUPTIONS for one in made):
            del self.fields["corruptions"]
        if NOTHING not in made:
            del self.fields["empty"]
        if not campaign.hides_reference(phase):
            del self.fields["discloses"]
        else:
            running = " It accepts entries now, and their teams could be among the raters." if phase.takes_uploads() else ""
            self.fields[
                "discloses"
            ].help_text = f"The reference of this phase is not public.{running} The audit log records who allowed it."

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"].lower()
        if slug == "new":
            raise ValidationError("“new” is the address of this form; choose another one.", "reserved")
        return new_study_slug(self.phase, slug)

    def clean_own_criteria(self) -> list[Criterion]:
        criteria = []
        for line in self.cleaned_data["own_criteria"]:
            title, _, text = (part.strip() for part in line.partition(":"))
            key = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:60]
            if not key or not text or len(title) > 60 or len(text) > 400:
                sentence = f"“{line[:60]}” is not of the form “name: what to look at”; write both, with a colon between."
                raise ValidationError(sentence, "not_of_the_form")
            criteria.append(Criterion(key, title, text))
        return criteria

    def clean(self) -> dict[str, object]:
        data = super().clean()
        kind = data.get("kind")
        if kind and "own_criteria" in data:
            picked = set(data.get(f"criteria_{kind}", ()))
            chosen = [one for one in ready_made(kind, self.family) if one.key in picked] + data["own_criteria"]
            keys = [one.key for one in chosen]
            if not chosen:
                self.add_error(f"criteria_{kind}", ValidationError("Choose at least one criterion, or write your own.", "required"))
            if len(set(keys)) < len(keys):
                self.add_error("own_criteria", ValidationError("Two criteria have the same name; give each its own.", "same_name"))
            data["criteria"] = chosen
        if kind == OPINIONS:
            data |= {"gold_percent": 0, "gold_better": None, "gold_worse": None, "rater_skill": "", "covariates": []}
        self.check_plan(data, kind or "")
        gold = (data.get("gold_better"), data.get("gold_worse"))
        if any(gold) and (not all(gold) or gold[0] == gold[1] or not set(gold) <= set(data.get("entries") or ())):
            sentence = "A pair of known order is two different ones of the entries above; choose both, or neither."
            self.add_error("gold_worse", ValidationError(sentence, "no_pair"))
        if data.get("n_samples") and data.get("sample_names"):
            self.add_error("sample_names", ValidationError("Give a number of items or their names, not both.", "number_or_names"))
        return data

    def design(self) -> Design:
        """Return what `campaign.make` takes, of a form that is valid."""
        data = self.cleaned_data
        values = self.columns(data["kind"])
        values["rater_skill"] = data["rater_skill"] or Study.RaterSkill.CROWD
        values["criteria"] = [one.to_dict() for one in data["criteria"]]
        made: list[Artifact] = [*(CORRUPTIONS if data.get("corruptions") else ()), *([NOTHING] if data.get("empty") else ())]
        gold = (data["gold_better"], data["gold_worse"]) if data.get("gold_better") else None
        # The samples that are named; or so many, drawn by chance, where there are more.
        samples, n, there = list(data["sample_names"]), data["n_samples"], campaign.groups_of(self.phase)
        if n is not None and n < len(there):
            samples = [there[k] for k in np.sort(np.random.default_rng().choice(len(there), n, replace=False))]
        return Design(values, list(data["entries"]), made, samples, gold, bool(data.get("discloses")))


class RunningStudyForm(StudyFields, forms.ModelForm):
    """Settings of a study that may be changed at any time. Before it opens, its plan and the analysis of its answers may be changed too;
    its questions stay."""

    consent = LongText(required=False, rows=3, label="What raters agree to")
    opens_at = MomentField(label="Opens", required=False)
    closes_at = MomentField(label="Closes", required=False)

    class Meta:
        model = Study
        fields = (
            "title",
            "question",
            "rater_skill",
            "covariates",
            "practice_questions",
            "access",
            "most_raters",
            "groups",
            "refuses_raters_of",
            "setup_questions",
            "min_width",
            "consent",
            "panel_parameters",
            "completion",
            "break_every",
            "opens_at",
            "closes_at",
        )
        labels = {"access": "Who may rate", "break_every": "Break after", "rater_skill": "Raters are"}
        help_texts = {"access": UNKNOWN, "rater_skill": SKILL}

    def __init__(self, *args: object, instance: Study, **options: object) -> None:
        super().__init__(*args, instance=instance, **options)
        self.fields["covariates"].choices = covariate_choices(instance.phase.challenge.family)
        self.fields["rater_skill"].required = False
        is_draft, pairs = instance.state == Study.State.DRAFT, instance.kind == Study.Kind.PAIRS
        has_gold = is_draft and pairs and bool(gold_pairs(list(instance.entries.all())))
        for name, stays in (
            *((name, is_draft) for name in ("question", "plan", "questions_per_rater", "common_percent", "answers_per_question")),
            *((name, is_draft and pairs) for name in ("repeat_percent", "planned_looks", "planned_answers")),
            *((name, is_draft and pairs) for name in ("rater_skill", "covariates", "screen_gold")),
            *((name, is_draft) for name in ("practice_questions", "screen_fast")),
            ("gold_percent", has_gold),
            ("screen_scores", is_draft and not pairs),
        ):
            if not stays:
                del self.fields[name]
        self.show_rules(instance.screening)
        if is_draft:
            self.fields["question"].required = False
            self.show_plan(instance)
        self.offer_other_studies(instance.phase, instance)
        quotas = instance.group_quotas
        self.initial["groups"] = "\n".join(f"{name}: {quotas[name]}" if name in quotas else name for name in instance.groups)
        self.initial["panel_parameters"] = "\n".join(instance.panel_parameters)
        say_clock(self, instance.phase, opens_at=instance.opens_at, closes_at=instance.closes_at)

    def clean_rater_skill(self) -> str:
        return self.cleaned_data["rater_skill"] or self.instance.rater_skill

    def clean_question(self) -> str:
        return self.cleaned_data["question"] or self.instance.question

    def clean(self) -> dict[str, object]:
        data = super().clean()
        if "plan" in self.fields:
            self.check_plan(data, self.instance.kind)
        return data


class PayForm(forms.Form):
    """Cost of an hour of a rater, for what a study will cost."""

    pay = forms.FloatField(min_value=0, max_value=10_000, required=False, label="Pay an hour")


class InvitationForm(forms.Form):
    """A link to send."""

    note = forms.CharField(max_length=120, required=False, label="For whom", help_text="Only you see it.")
    group = forms.CharField(max_length=60, required=False, help_text="Empty: they choose it themselves.")
    most_uses = forms.IntegerField(min_value=1, required=False, label="Number of uses", help_text="Empty: no limit.")
    expires_at = MomentField(label="Until", required=False)

    def __init__(self, phase: Phase, *args: object) -> None:
        super().__init__(*args)
        say_clock(self, phase, expires_at=None)

    def clean_expires_at(self) -> datetime | None:
        at: datetime | None = self.cleaned_data["expires_at"]
        if at is not None and at <= timezone.now():
            raise ValidationError("This moment has passed, so nobody could join by the link; choose a later one.", "over")
        return at
