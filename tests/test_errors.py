"""The error tree: every class pickles, says what to do by its place, and has one stable kind."""

import pickle

import pytest

import colonnade
import colonnade.manifests.errors as errors

KINDS = {
    "ColonnadeError": "ERROR",
    "InvalidInputError": "INVALID_INPUT",
    "RepeatedMatchError": "INVALID_INPUT",
    "NotFoundError": "NOT_FOUND",
    "AlreadyExistsError": "ALREADY_EXISTS",
    "ConflictError": "CONFLICT",
    "ColumnConflictError": "CONFLICT",
    "CommitUnknownError": "COMMIT_UNKNOWN",
    "UnsupportedFormatError": "UNSUPPORTED_FORMAT",
    "CorruptionError": "CORRUPTION",
    "MissingObjectError": "CORRUPTION",
    "StoreError": "STORE",
}
CLASSES = {
    name: cls
    for name, cls in vars(errors).items()
    if isinstance(cls, type) and issubclass(cls, errors.ColonnadeError)
}


def test_kinds_are_stable_and_complete() -> None:
    assert {name: cls.kind for name, cls in CLASSES.items()} == KINDS


@pytest.mark.parametrize("name", KINDS)
def test_a_user_can_catch_each_error_by_a_name_of_colonnade(name: str) -> None:
    assert getattr(colonnade, name) is CLASSES[name]
    assert name in colonnade.__all__


@pytest.mark.parametrize("name", KINDS)
def test_an_error_survives_the_way_from_an_executor(name: str) -> None:
    error = CLASSES[name]("Column 'a' is missing.")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == again.message == "Column 'a' is missing."
    assert again.code == f"COLONNADE_{KINDS[name]}"


def test_a_store_error_keeps_whether_trying_again_can_help() -> None:
    assert pickle.loads(pickle.dumps(errors.StoreError("Busy.", retryable=True))).retryable


def test_a_missing_object_is_still_known_after_the_way_from_an_executor() -> None:
    error = errors.MissingObjectError("It is missing.", "a" * 32)
    assert pickle.loads(pickle.dumps(error)).object == "a" * 32


def test_bad_input_is_a_value_error_for_those_who_catch_that() -> None:
    assert issubclass(errors.InvalidInputError, ValueError)
