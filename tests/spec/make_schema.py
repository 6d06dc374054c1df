"""Make `docs/spec/schema.json` anew, after a model of a stored JSON object has changed.

`python -m tests.spec.make_schema` does so. The file is a JSON Schema of every sealed object: its
`$defs` are the models with which readers check what they have read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from colonnade.manifests.arrays.entry_segment import EntrySegmentBody
from colonnade.manifests.checkpoint.anchor_list import AnchorListBody
from colonnade.manifests.checkpoint.epoch_names import EpochNamesBody
from colonnade.manifests.checkpoint.paged_map import Page
from colonnade.manifests.checkpoint.root import Hint, Root, TableRecord
from colonnade.manifests.checkpoint.segment_names import SegmentNamesBody
from colonnade.manifests.model.epoch import Epoch, FreedBlock
from colonnade.manifests.model.schema import Model
from colonnade.tableformat.rowset.footer import Footer

PATH = Path(__file__).parents[2] / "docs" / "spec" / "schema.json"

SEALED: tuple[type[Model], ...] = (
    *(Epoch, FreedBlock, Hint, Root, EntrySegmentBody, AnchorListBody, Page, SegmentNamesBody),
    *(EpochNamesBody, Footer),
)
"""Every kind of sealed object. The body of each is of exactly one kind."""


class _Generator(GenerateJsonSchema):
    """Leaves out titles, which only repeat names, and says which keys are numbers."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def literal_schema(self, schema: Any) -> Any:
        made = super().literal_schema(schema)
        if "const" in made:
            made.pop("enum", None)  # which older versions of pydantic state, too
        return made

    def nullable_schema(self, schema: Any) -> Any:
        """What is None in Python has no key, and no key is null."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> Any:
        stated = schema.get("default", ...) is not None
        return super().default_schema(schema) if stated else self.generate_inner(schema["schema"])

    def tuple_schema(self, schema: Any) -> Any:
        made = super().tuple_schema(schema)
        if schema["items_schema"][0]["type"] == "nullable":  # elements of lists may be null
            made["items"] = {"anyOf": [made["items"], {"type": "null"}]}
        return made

    def dict_schema(self, schema: Any) -> Any:
        made = super().dict_schema(schema)
        if schema["keys_schema"]["type"] == "int":
            made["propertyNames"] = {"pattern": "^(0|[1-9][0-9]*)$"}
        return made


def json_schema() -> dict[str, Any]:
    """Return the schema of all sealed objects."""
    models: tuple[type[Model], ...] = (*SEALED, TableRecord)
    for model in models:
        model.model_rebuild()
    refs, made = models_json_schema(
        [(model, "validation") for model in models],
        title="The body of a sealed JSON object of Colonnade",
        schema_generator=_Generator,
    )
    record = refs[TableRecord, "validation"]
    made["$defs"]["Page"]["properties"]["entries"]["additionalProperties"] = {
        "anyOf": [record, {"type": "string"}, {"minimum": 0, "type": "integer"}],
        "description": "A table by its id, the id of a table by its name, or the last batch of an"
        " application.",
    }
    for each in made["$defs"].values():
        _require_constants(each)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **made,
        "oneOf": [refs[model, "validation"] for model in SEALED],
    }


def _require_constants(model: dict[str, Any]) -> None:
    """Require what tells the kind of an object, which every writer states."""
    stated = model["properties"]
    kinds = [name for name, value in stated.items() if {"const", "default"} <= value.keys()]
    if required := {**dict.fromkeys(kinds), **dict.fromkeys(model.get("required", ()))}:
        model["required"] = [*required]


def write() -> None:
    """Make the file."""
    PATH.write_text(json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    write()
