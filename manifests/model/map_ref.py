"""The reference to a large map that is stored in pages: where each page is.

Checkpoints and operations hold such references. `checkpoint/paged_map.py` explains the map.
Spec: docs/spec/checkpoint.md#maps
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from colonnade.manifests.model.entries import Count, ObjectIdText
from colonnade.manifests.model.schema import Model

PAGE_LIMIT = 2**20
"""The most pages of a map."""

PageCount = Annotated[int, Field(ge=1, le=PAGE_LIMIT)]


class IntegerArray(Model):
    """An array of 64-bit integers (`arrays/json_arrays.py`)."""

    type: Literal["const", "u8", "u16", "u32", "i64"]
    base: Annotated[str, StringConstraints(pattern=r"^-?[0-9]{1,19}$")] = "0"
    data: str = ""


class Bundle(Model):
    """An object that holds pages of maps, and its length in bytes."""

    object: ObjectIdText
    length: Count


class MapRef(Model):
    """The places of a map's pages. A page of length 0 is empty and not stored."""

    count: Count
    pages: PageCount
    bundles: tuple[Bundle, ...]
    bundle_indexes: IntegerArray
    offsets: IntegerArray
    lengths: IntegerArray
