"""Run the example notebook as Jupyter would, and write what its cells show.

`python -m tests.examples.notebook` runs it and stores the outputs. It needs no Jupyter.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[2] / "examples" / "rides.ipynb"


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with what its cells print and show, run in the working directory."""
    names: dict[str, Any] = {}
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            cell = {**cell, "execution_count": number, "outputs": _outputs(cell, number, names)}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(cell: dict[str, Any], number: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse("".join(cell["source"]))
    shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, NOTEBOOK.name, "exec"), names)
        value = None
        if isinstance(shown, ast.Expr):
            value = eval(compile(ast.Expression(shown.value), NOTEBOOK.name, "eval"), names)
        data = {} if value is None else _data(value)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if data:
        result = {"output_type": "execute_result", "execution_count": number, "metadata": {}}
        found.append({**result, "data": data})
    return found


def _data(value: Any) -> dict[str, str]:
    data = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_()
    return {kind: text.replace(os.getcwd(), ".") for kind, text in data.items()}


def main() -> None:
    """Run the notebook in an empty folder, and store it with its outputs."""
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        done = executed(notebook)
    NOTEBOOK.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
