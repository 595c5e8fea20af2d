"""The form of one metric: its typed parameters, with the registry's ranges."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from django import forms
from django.core.exceptions import ValidationError

from evaluation.metrics import registry
from evaluation.metrics.registry import MetricSpec, Param
from evaluation.networks import weights
from leaderboard.bundle.definition import MetricDef

SLUG = re.compile(r"[a-z0-9][a-z0-9_@-]{0,62}")
PREFIX = "param_"


class MetricForm(forms.Form):
    """A column of a phase. `taken` are the slugs of the others."""

    slug = forms.CharField(
        max_length=63, label="Column", help_text="Names the column in addresses and exports: small letters, digits, _ @ -."
    )
    title = forms.CharField(max_length=80, required=False, help_text="Empty: the metric's own.")
    weight = forms.FloatField(min_value=0, initial=1.0, help_text="In the weighted mean rank.")
    is_primary = forms.BooleanField(required=False, label="Primary", help_text="The best entry of a team is the best by this metric.")
    in_ranking = forms.BooleanField(required=False, initial=True, label="Counts for the overall rank")

    def __init__(self, spec: MetricSpec, taken: set[str], *args: object, metric: MetricDef | None = None) -> None:
        self.spec, self.taken, self.metric = spec, taken, metric
        given = metric.params if metric else {}
        initial = {f"{PREFIX}{name}": value for name, value in spec.every_param(registry.resolve_params(spec.key, given)).items()}
        if metric is None:
            # Weights that were trained on this server, where none ship or are published.
            for param in spec.params:
                for name in param.options if param.network in weights.TRAINED_WITH else ():
                    if not weights.refusal(spec, registry.resolve_params(spec.key, {param.name: name})):
                        initial[f"{PREFIX}{param.name}"] = name
                        break
            initial |= {"slug": free_slug(spec.key, taken), "weight": 1.0, "in_ranking": not spec.warning}
            initial["is_primary"] = not taken and not spec.primary_refusal
        else:
            initial |= {name: getattr(metric, name) for name in ("slug", "title", "weight", "is_primary", "in_ranking")}
        super().__init__(*args, initial=initial)
        if metric is not None:
            del self.fields["slug"]
        # A primary metric stays primary until another one is made primary.
        self.fields["is_primary"].disabled = bool(spec.primary_refusal) or (metric is not None and metric.is_primary)
        if spec.primary_refusal:
            self.fields["is_primary"].help_text = spec.primary_refusal
        for param in spec.params:
            self.fields[f"{PREFIX}{param.name}"] = field_of(param)

    def own(self) -> Iterator[forms.BoundField]:
        return (self[name] for name in self.fields if not name.startswith(PREFIX))

    def parameters(self) -> Iterator[forms.BoundField]:
        return (self[name] for name in self.fields if name.startswith(PREFIX))

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"]
        if not SLUG.fullmatch(slug):
            raise ValidationError("Use small letters, digits, _, @ and -, beginning with a letter or digit.", "bad_slug")
        if slug in self.taken:
            raise ValidationError(f"There is a column “{slug}” in this phase already; choose another.", "taken")
        return slug

    def clean(self) -> dict[str, object]:
        data = super().clean()
        for param in self.spec.params:
            name = f"{PREFIX}{param.name}"
            if name in data:
                try:
                    registry.resolve_params(self.spec.key, {param.name: data[name]})
                except registry.ParamError as error:
                    self.add_error(name, ValidationError(str(error), "bad_parameter"))
        params = self.entered()
        refusal = weights.refusal(self.spec, params) if params is not None else ""
        if refusal:
            raise ValidationError(refusal, "no_weights")
        return data

    def entered(self) -> dict[str, object] | None:
        """All parameters of the form, or the column's if nothing was sent; None while one of them is invalid."""
        if not self.is_bound:
            return registry.resolve_params(self.spec.key, {param.name: self.initial[f"{PREFIX}{param.name}"] for param in self.spec.params})
        if any(name.startswith(PREFIX) for name in self.errors):
            return None
        return registry.resolve_params(
            self.spec.key, {param.name: self.cleaned_data[f"{PREFIX}{param.name}"] for param in self.spec.params}
        )

    def definition(self) -> MetricDef:
        """The column as entered. A parameter is kept where it was given before or is not the default."""
        data = self.cleaned_data
        typed = self.entered()
        assert typed is not None  # the form is valid
        given = self.metric.params if self.metric else {}
        typed = self.spec.every_param(typed)
        params = {param.name: typed[param.name] for param in self.spec.params if param.name in given or typed[param.name] != param.default}
        slug = self.metric.slug if self.metric else data["slug"]
        return MetricDef(slug, self.spec.key, data["title"], params, data["weight"], data["is_primary"], data["in_ranking"])


def free_slug(key: str, taken: Collection[str]) -> str:
    """The metric's name for a new column, with a number if others have it."""
    name = key.rpartition("/")[2]
    return name if name not in taken else next(f"{name}-{n}" for n in range(2, 1000) if f"{name}-{n}" not in taken)


def field_of(param: Param) -> forms.Field:
    """The form field of a parameter; its help names the range, the unit and the default."""
    options: dict[str, object] = {"label": param.name, "help_text": f"{param.doc} {range_of(param)}", "required": param.default is not None}
    if param.kind == "choice":
        return forms.ChoiceField(choices=[(choice, choice) for choice in param.options], **options)
    if param.kind == "bool":
        return forms.BooleanField(**{**options, "required": False})
    kind = forms.IntegerField if param.kind == "int" else forms.FloatField
    field = kind(min_value=None if param.positive else param.low, max_value=param.high, **options)
    field.widget.attrs["step"] = "1" if param.kind == "int" else "any"
    return field


def range_of(param: Param) -> str:
    """Range of a parameter, such as `More than 0 m; default 0.5.`"""
    if param.kind in ("bool", "choice"):
        return f"Default: {param.default}."
    low = "more than 0" if param.positive else f"at least {param.low:g}" if param.low is not None else ""
    high = f"at most {param.high:,}" if param.high is not None else ""
    span = " and ".join(word for word in (low, high) if word) or "any number"
    default = "off (empty)" if param.default is None else f"{param.default:,}"
    return f"{span.capitalize()}{f' {param.unit}' if param.unit else ''}; default: {default}."
