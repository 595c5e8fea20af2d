"""The list of what a team states of an entry, beside the columns of the database and the doors that are made from it."""

import pytest
from django.db import models

from submissions.api.entries import SubmissionBrief, SubmissionEdit, SubmissionIn
from submissions.client.command import _parser
from submissions.entry_fields import FIELDS, Door, FieldKind, through
from submissions.forms import EntryForm
from submissions.models import Submission

COLUMNS = {
    FieldKind.LINE: models.CharField,
    FieldKind.TEXT: models.TextField,
    FieldKind.LINK: models.URLField,
    FieldKind.COUNT: models.BigIntegerField,
    FieldKind.AMOUNT: models.FloatField,
}


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_has_a_column_of_its_kind_and_limit(name):
    field, column = FIELDS[name], Submission._meta.get_field(name)
    assert type(column) is COLUMNS[field.kind]
    assert column.blank == (not field.required) and column.null == field.kind.is_number
    if field.kind in (FieldKind.LINE, FieldKind.LINK):
        assert column.max_length == field.limit


def test_form_api_and_command_line_have_the_fields_of_their_doors_alone():
    form = [field.name for field in through(Door.FORM)]
    assert list(EntryForm().fields) == form == [bound.name for bound in (*EntryForm().upfront(), *EntryForm().folded())]
    api = {field.name for field in through(Door.API)}
    assert set(SubmissionEdit.model_fields) == api
    for schema in (SubmissionIn, SubmissionBrief):
        assert api == FIELDS.keys() & schema.model_fields.keys()
    given = ["upload", "x", "--server", "S", "--challenge", "C", "--phase", "P", "--method", "M"]
    options = vars(_parser().parse_args(given))
    assert {field.name for field in through(Door.CLIENT)} == FIELDS.keys() & options.keys()


def test_tables_of_imported_results_give_links_alone():
    assert [(field.kind, bool(field.public)) for field in through(Door.RESULTS)] == [(FieldKind.LINK, True)] * 2


def test_the_api_tells_types_and_lengths():
    properties = SubmissionIn.model_json_schema()["properties"]
    assert properties["licence"]["maxLength"] == 80 and properties["licence"]["default"] == ""
    assert {one.get("type") for one in properties["parameters"]["anyOf"]} == {"number", "string", "null"}
    assert SubmissionIn.model_json_schema()["required"] == ["challenge", "phase", "method_name", "file_name", "size"]
    told = SubmissionBrief.model_json_schema()["properties"]
    assert [one["type"] for one in told["parameters"]["anyOf"]] == ["integer", "null"]
    assert [one["type"] for one in told["run_seconds"]["anyOf"]] == ["number", "null"]


@pytest.mark.parametrize(("entered", "kept"), [("38M", 38_000_000), ("", None)])
def test_a_number_is_read_in_the_form_as_people_write_it(entered, kept):
    form = EntryForm({"method_name": "gable", "parameters": entered})
    assert form.is_valid() and form.cleaned_data["parameters"] == kept


def test_a_number_that_cannot_be_read_is_refused_beside_its_field():
    form = EntryForm({"method_name": "gable", "run_seconds": "2 min"})
    assert not form.is_valid() and list(form.errors) == ["run_seconds"]
