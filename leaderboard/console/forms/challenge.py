"""Forms of the console. They check and translate; what they change is a definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from evaluation.rendering.objects import MAX_SEEDS, SIDES, UPS, Drawing
from leaderboard.bundle.definition import IMAGE_FIELDS, PHASE_FIELDS
from leaderboard.bundle.folder import name_fault
from leaderboard.console.forms.fields import Lines, LongText, MomentField, NamedLines, Words, new_study_slug, sized
from leaderboard.stats.labels import LABELS
from leaderboard.stats.mos_table import USUAL, Scale, scale_of
from submissions.formats.inputs import COLUMNS, read_table, write_table
from submissions.formats.render.page_picture import MAX_SIDE
from submissions.forms import UploadForm
from submissions.kinds import FAMILIES, Family
from submissions.models import Announcement, Challenge, ChallengeFile, ChallengePage, Phase, Team
from submissions.models.challenge import LOGO, check_tags
from submissions.models.phase import RESERVED_SLUGS, validate_input_boxes, validate_time_zone

MAX_VOTES_BYTES = 100_000_000
MOMENTS = ("opens_at", "closes_at", "board_at")


class PhaseChoice(forms.ModelChoiceField):
    """A phase by its title; the form names its challenge."""

    def __init__(self, **options: object) -> None:
        super().__init__(Phase.objects.none(), **options)

    def label_from_instance(self, phase: Phase) -> str:
        return phase.title


class NewChallengeForm(forms.ModelForm):
    """The little that a challenge begins with; it is a draft until its visibility is changed."""

    family = forms.ChoiceField(choices=[(family.key, family.title) for family in FAMILIES.values()], label="What teams send")

    class Meta:
        model = Challenge
        fields = ("title", "slug", "summary", "family")
        labels = {"slug": "Address"}
        help_texts = {
            "slug": "The last part of the challenge's address; it stays as it is.",
            "summary": "One line for the list of challenges.",
        }


class SettingsForm(forms.ModelForm):
    """The challenge's texts and who may take part."""

    description = LongText(required=False, rows=14, help_text="Markdown. The task, the inputs and the metrics.")
    rules = LongText(required=False, rows=12, help_text="Markdown. Participants accept one version of the rules.")

    tags = Words(
        required=False,
        validators=[check_tags],
        help_text="Words to filter the list of challenges, separated by commas: indoor, roofs, lidar.",
    )

    merge_until = MomentField(
        required=False, label="Teams merge until", help_text="UTC. After this date only organizers can merge teams. Empty: no date."
    )

    class Meta:
        model = Challenge
        fields = (
            "title",
            "summary",
            "tags",
            "description",
            "rules",
            "rules_version",
            "needs_approval",
            "team_size",
            "merge_until",
            "item_noun",
            "unit_noun",
            "licence",
            "contact",
            "simulated",
        )
        labels = {
            "team_size": "Most members of a team",
            "simulated": "Simulated",
            "needs_approval": "Organizers admit each participant",
            "item_noun": "What an item is called",
            "unit_noun": "What a group of items is called",
            "licence": "Licence of the data",
            "contact": "Where people write to you",
        }
        help_texts = {
            "rules_version": "Raise the version if the rules change in substance. Participants then have to accept them again.",
            "team_size": "Empty: no cap.",
            "needs_approval": "",
            "item_noun": "One noun in the singular, for example house or view; pages form its plural.",
            "unit_noun": "If several items belong together, for example scene or object. Intervals are then over these groups.",
            "licence": "A web address, or its name in one line such as CC-BY-4.0. Empty: no licence is shown.",
            "contact": "An e-mail address or a web address. Everybody who sees the challenge sees it, and raters who need help.",
        }

    def __init__(self, *args: object, instance: Challenge, **options: object) -> None:
        super().__init__(*args, instance=instance, **options)
        self.fields["merge_until"].on_clocks(ZoneInfo("UTC"), instance.merge_until)


class VisibilityForm(forms.ModelForm):
    """Visibility of the challenge: who sees it."""

    admitted_emails = Lines(
        label="Admitted e-mails",
        required=False,
        help_text="One per line. People with such a confirmed address see a private challenge without the link.",
    )

    class Meta:
        model = Challenge
        fields = ("visibility", "admitted_emails")

    def __init__(self, *args: object, instance: Challenge, **options: object) -> None:
        super().__init__(*args, instance=instance, initial={"admitted_emails": "\n".join(instance.admitted_emails)}, **options)

    def clean_admitted_emails(self) -> tuple[str, ...]:
        addresses = tuple(dict.fromkeys(address.lower() for address in self.cleaned_data["admitted_emails"]))
        for address in addresses:
            try:
                validate_email(address)
            except ValidationError:
                raise ValidationError(f"“{address[:80]}” is not a valid e-mail address; write one a line.", "bad_address") from None
        return addresses


class PhaseForm(forms.ModelForm):
    """Everything of a phase but its metrics, reference and files. Moments are on the phase's own clocks."""

    description = LongText(required=False, help_text="Markdown.")
    opens_at = MomentField(label="Opens")
    closes_at = MomentField(label="Closes", required=False, help_text="Empty: it stays open.")
    parent = PhaseChoice(
        label="After phase", required=False, empty_label="none", help_text="Teams need a scored entry in that phase first."
    )
    board_at = MomentField(
        label="Leaderboard from or until", required=False, help_text="When a hidden leaderboard becomes public, or a live one freezes."
    )

    GROUPS = (
        ("Phase", ("title", "slug", "description", "parent")),
        ("When", ("time_zone", "opens_at", "closes_at")),
        ("How many entries", ("limit_per_day", "limit_total", "limit_at_once")),
        ("Board", ("board", "board_at", "entries", "ranking", "withhold_scores", "withhold_items")),
        (
            "Reference and files",
            ("reference_access", "missing", "size_factor", "max_archive_bytes", "unit", "unit_scale", *IMAGE_FIELDS),
        ),
        ("Inputs", ("input_boxes",)),
    )

    class Meta:
        model = Phase
        fields = ("slug", *PHASE_FIELDS)
        labels = {
            "slug": "Address",
            "limit_per_day": "A day",
            "limit_total": "In all",
            "limit_at_once": "At once",
            "board": "Leaderboard is",
            "entries": "What counts",
            "ranking": "Ranked by",
            "missing": "Missing items",
            "reference_access": "Who sees the reference",
            "size_factor": "Size limit",
            "max_archive_bytes": "Largest archive",
            "withhold_scores": "Withhold scores",
            "withhold_items": "Withhold values per item",
            "unit_scale": "Unit in metres",
            "background": "Background",
            "resize": "Images of another size",
            "input_boxes": "Boxes of the inputs",
        }
        help_texts = {
            "slug": "The last part of the phase's address; it stays as it is.",
            "limit_per_day": "Empty: no limit. Days are the phase's own.",
            "limit_total": "Empty: no limit.",
            "limit_at_once": "In progress at the same time. Empty: no limit.",
            "size_factor": "An item may have this many times the size of the reference's largest.",
            "max_archive_bytes": "Bytes.",
            "background": "#rrggbb; transparent images are laid on it.",
            "input_boxes": f"One line per item, {','.join(COLUMNS)}; points and unit are optional. Uploads are compared with it before "
            "they are scored. The page “Files” can compute it from the inputs.",
            "unit": "Of the coordinates: m, cm, unitless, …",
            "time_zone": "An IANA name such as Europe/Prague; all dates here are in it.",
        }

    def __init__(self, *args: object, instance: Phase, **options: object) -> None:
        super().__init__(*args, instance=instance, **options)
        later = [instance.pk] if instance.pk else []  # the phase and those that come after it, none of which can come before it
        for pk in later:  # grows while it is walked
            later += instance.challenge.phases.filter(parent_id=pk).exclude(pk__in=later).values_list("pk", flat=True)
        self.fields["parent"].queryset = instance.challenge.phases.exclude(pk__in=later)
        for name in MOMENTS:
            self.fields[name].on_clocks(instance.zone, getattr(instance, name))
        if instance.pk:
            del self.fields["slug"]
        for name in ("input_boxes",) if instance.challenge.kind.images else IMAGE_FIELDS:
            del self.fields[name]
        self.fields["size_factor"].min_value = 1

    def groups(self) -> Iterator[tuple[str, list[forms.BoundField]]]:
        for legend, names in self.GROUPS:
            yield legend, [self[name] for name in names if name in self.fields]

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"]
        if slug in RESERVED_SLUGS:
            raise ValidationError(f"“{slug}” is the address of one of the challenge's own pages; choose another.", "reserved")
        if self.instance.challenge.phases.filter(slug=slug).exists():
            raise ValidationError(f"There is a phase “{slug}” in this challenge already; choose another address.", "taken")
        return slug

    def clean_input_boxes(self) -> str:
        """The table as the service writes it, for any line ends of the browser."""
        validate_input_boxes(self.cleaned_data["input_boxes"])
        inputs = read_table(self.cleaned_data["input_boxes"])
        return write_table(inputs) if inputs else ""

    def clean_time_zone(self) -> str:
        validate_time_zone(self.cleaned_data["time_zone"])
        for name in MOMENTS:  # which are cleaned after it
            self.fields[name].zone = ZoneInfo(self.cleaned_data["time_zone"])
        return self.cleaned_data["time_zone"]

    def clean_unit_scale(self) -> float:
        scale = self.cleaned_data["unit_scale"]
        if scale <= 0:
            raise ValidationError("Write how many metres one unit is, a number above 0.", "not_positive")
        return scale

    def values(self) -> dict[str, Any]:
        """The cleaned values as a definition has them."""
        values = {name: self.cleaned_data.get(name, getattr(self.instance, name)) for name in PHASE_FIELDS}
        parent = values["parent"]
        return {**values, "parent": parent.slug if parent else None}


class NewsForm(forms.ModelForm):
    """An announcement, published when it is saved."""

    body = LongText(required=False, rows=6, help_text="Markdown.")

    class Meta:
        model = Announcement
        fields = ("title", "body")


class PageForm(forms.ModelForm):
    """A page of the challenge beside its overview and rules."""

    body = LongText(required=False, rows=14, label="Text", help_text="Markdown.")

    class Meta:
        model = ChallengePage
        fields = ("title", "slug", "body")
        labels = {"slug": "Address"}
        help_texts = {
            "title": "The tab of the page: FAQ, Prizes, Sponsors.",
            "slug": "The last part of the page's address; it stays as it is.",
        }

    def __init__(self, challenge: Challenge, *args: object, **options: object) -> None:
        super().__init__(*args, **options)
        self.challenge = challenge
        if self.instance.pk:
            del self.fields["slug"]

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"]
        if self.challenge.pages.filter(slug=slug).exists():
            raise ValidationError(f"There is a page “{slug}” in this challenge already; choose another address.", "taken")
        return slug


class BaselineForm(UploadForm):
    """A baseline of the organizers and its file."""

    as_it_is = forms.BooleanField(
        required=False,
        label="Score it as it is",
        help_text="Score the upload also if it does not fit the inputs, for example in another unit.",
    )


class StudyForm(forms.Form):
    """Imported votes and their description."""

    kind = forms.ChoiceField(choices=(("pairs", "Votes on pairs"), ("opinions", "Opinion scores")), label="What it holds")
    scale = forms.CharField(max_length=60, required=False, initial="1:5", help_text="Of opinion scores: its two ends, such as 0:100.")
    file = forms.FileField(label="File", help_text="CSV in UTF-8 with a head line; cells separated by commas, semicolons or tabs.")
    labels = forms.FileField(
        required=False, help_text=f"CSV with the columns method and label: {', '.join(LABELS)}. Without this file every method is an entry."
    )
    title = forms.CharField(max_length=120)
    slug = forms.SlugField(max_length=63, label="Address", help_text="Small letters, digits and hyphens; it is part of the page's address.")
    question = forms.CharField(max_length=400, help_text="What the raters were asked.")
    source = forms.CharField(max_length=400, required=False, help_text="Who collected the votes, and under which licence.")
    columns = NamedLines(
        "COLUMN=NAME",
        "write the service's column, =, and the file's",
        required=False,
        rows=3,
        help_text="Only where the file's columns have other names: one COLUMN=NAME a line, such as “choice=winner”.",
    )
    values = NamedLines(
        "SIDE=TEXT",
        "write left, right or tie, =, and the file's text",
        required=False,
        rows=3,
        label="Choices",
        help_text="Of votes, only where the file names a choice in its own way: one SIDE=TEXT a line, such as “left=1” or “tie=nobody”."
        " Left, right and tie, model_a and model_b, the winner’s name and common words for a tie are understood without it.",
    )
    is_public = forms.BooleanField(required=False, label="Show it to everybody who can see the leaderboard")

    def __init__(self, phase: Phase, *args: object) -> None:
        super().__init__(*args)
        self.phase = phase

    def clean_slug(self) -> str:
        return new_study_slug(self.phase, self.cleaned_data["slug"])

    def clean_scale(self) -> Scale:
        text = self.cleaned_data["scale"]
        try:
            return scale_of(text) if text else USUAL
        except ValueError as error:
            raise ValidationError(str(error), "bad_scale") from None

    def clean_values(self) -> list[tuple[str, str]]:
        pairs = self.cleaned_data["values"]
        if pairs and self.cleaned_data.get("kind") == "opinions":
            raise ValidationError("Opinion scores have no choices; leave it empty.", "only_of_pairs")
        return [(side.strip(), text.strip()) for side, text in pairs]

    def clean_file(self) -> object:
        return sized(self.cleaned_data["file"], MAX_VOTES_BYTES, "split it")

    def clean_labels(self) -> object:
        return sized(self.cleaned_data["labels"], MAX_VOTES_BYTES, "split it")


class FileForm(forms.Form):
    """A file for participants, or a picture of the challenge's texts."""

    file = forms.FileField(label="File")
    title = forms.CharField(max_length=160, required=False, help_text="What it is, in a few words.")
    kind = forms.ChoiceField(
        choices=ChallengeFile.Kind.choices,
        help_text=f"A picture is a PNG, JPEG or WebP. It is shown at most {MAX_SIDE:,} pixels wide. One called {LOGO}.png, {LOGO}.jpg or "
        f"{LOGO}.webp is the challenge's logo.",
    )
    phase = PhaseChoice(required=False, empty_label="All phases")

    def __init__(self, challenge: Challenge, *args: object) -> None:
        super().__init__(*args)
        self.fields["phase"].queryset = challenge.phases.all()

    def clean_file(self) -> object:
        file = self.cleaned_data["file"]
        if name_fault(file.name):
            sentence = "This file name cannot be offered for download; rename the file to something short and plain."
            raise ValidationError(sentence, "file_name")
        return sized(file, settings.UPLOAD_MAX_BYTES)

    def clean(self) -> dict[str, object]:
        data = super().clean()
        if data.get("kind") == ChallengeFile.Kind.PICTURE and data.get("phase"):
            self.add_error("phase", ValidationError("A picture is of the whole challenge; choose all phases.", "whole_challenge"))
        return data


class ReferenceForm(forms.Form):
    """A new version of the reference."""

    file = forms.FileField()
    note = forms.CharField(max_length=240, required=False, help_text="What is new in this version.")
    groups = Lines(
        required=False, rows=4, help_text="Only where items belong together: one item and its group a line, such as “house_01 north”."
    )
    views = forms.ChoiceField(
        required=False,
        choices=(("", "The file holds the views"), ("turntable", "Draw 24 views around each mesh"), ("266", "Draw 266 views of each mesh")),
        help_text="Of meshes of generated objects. 266 views (every 15 degrees, above and below) take minutes: use challenge.yaml.",
    )
    size = forms.IntegerField(
        initial=Drawing.size, min_value=SIDES[0], max_value=SIDES[1], help_text="Side of the drawn views in pixels.", required=False
    )
    up = forms.ChoiceField(choices=[(axis, axis) for axis in UPS], required=False, help_text="The axis of the meshes that points up.")
    seeds = forms.IntegerField(
        initial=Drawing.seeds, min_value=1, max_value=MAX_SEEDS, help_text="How many seeds of each prompt an entry sends.", required=False
    )

    def __init__(self, family: Family, *args: object) -> None:
        super().__init__(*args)
        file = self.fields["file"]
        file.label = family.title
        file.help_text = f"A .zip with one file per item ({family.wanted(family.formats)}); the file's name is the item's."
        if family.grouped:
            file.help_text = "A .zip with a folder per scene: its views, and where there are any masks/, clean/, rois.json and views.json."
            del self.fields["groups"]
            file.help_text += " Or, to have the views drawn, a mesh for each prompt of generated objects, and prompts.json."
        else:
            for name in ("views", "size", "up", "seeds"):
                del self.fields[name]
        file.widget.attrs["accept"] = family.accept

    def drawing(self) -> Drawing | None:
        """The drawing of views of meshes; None where the file has the views itself."""
        given = {name: self.cleaned_data.get(name) for name in ("views", "size", "up", "seeds")}
        return Drawing(**{name: value for name, value in given.items() if value}) if given["views"] else None

    def clean_file(self) -> object:
        return sized(self.cleaned_data["file"], settings.UPLOAD_MAX_BYTES)

    def clean_groups(self) -> dict[str, str]:
        pairs = [line.split(None, 1) for line in self.cleaned_data["groups"]]
        for pair in pairs:
            if len(pair) != 2 or len(pair[1]) > 120:
                sentence = f"“{' '.join(pair)[:80]}” is not an item and a group; write both on one line, with a space between."
                raise ValidationError(sentence, "not_of_the_form")
        return dict(pairs)


class ReasonForm(forms.Form):
    """Reason why an organizer does something to somebody's entry."""

    reason = forms.CharField(max_length=240)


class GrantForm(forms.Form):
    """More uploads for one team."""

    phase = PhaseChoice(empty_label=None)
    amount = forms.IntegerField(min_value=1, max_value=1000, initial=1, label="How many more")
    reason = forms.CharField(max_length=240)

    def __init__(self, team: Team, *args: object) -> None:
        super().__init__(*args)
        self.fields["phase"].queryset = team.challenge.phases.filter(results_source="")
