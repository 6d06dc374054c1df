"""The parameters of a text: `?` by their order, and `:name` by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.literals import Literal, make_literal


class Parameters:
    """The values of the parameters of one text, and which of them the text has named."""

    def __init__(self, text: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> None:
        by_name = isinstance(values, Mapping)
        self._text = text
        self._values: Mapping[str, Any] = (
            dict(values) if by_name else {f"?{at}": each for at, each in enumerate(values)}
        )
        self._used = set[str]()

    def literal(self, name: str) -> Literal:
        """Return the value of a parameter, whose name is `?0` for the first one without a name.

        Raises InvalidInputError for one without a value, and for a value that is no scalar.
        """
        if name not in self._values:
            raise InvalidInputError(
                f"Parameter {_shown(name)} of {self._text!r} has no value; give a list of"
                " the values of each ?, or a dict of those of :name."
            )
        self._used.add(name)
        value = self._values[name]
        if isinstance(value, list | tuple | set | frozenset):
            raise InvalidInputError(
                f"Parameter {_shown(name)} of {self._text!r} is a list; give each of its values a"
                " parameter of its own, such as IN (?, ?)."
            )
        return make_literal(value)

    def require_used(self) -> None:
        """Raise InvalidInputError for a value that no parameter of the text names."""
        unused = [each for each in self._values if each not in self._used]
        if unused:
            raise InvalidInputError(
                f"A value is given for parameter {_shown(unused[0])}, which {self._text!r} does not"
                " have; leave it out."
            )


def _shown(name: object) -> str:
    text = str(name)
    return f"number {int(text[1:]) + 1}" if text.startswith("?") else repr(text)
