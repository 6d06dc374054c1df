"""Commands that get an option from a wrapper around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature
from typing import Any


def with_option(
    run: Callable[..., None], others: Iterable[Parameter], name: str, option: Any, default: Any
) -> Callable[..., None]:
    """Return `run`, as the command line sees it: with the parameters `others` and one more option.

    It is given by its name in Python, and declared as typer wants it.
    """
    added = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=option)
    parameters = [*others, added]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run
