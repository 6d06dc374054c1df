"""Render the report as one HTML page that refers to no other file; pure."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from colonnade.manifests.sizes import share_text, size_text
from colonnade.manifests.version import VERSION
from colonnade.tableformat.table.report import charts
from colonnade.tableformat.table.report.chart_data import ReportFacts

LATEST = 30
"""The last epochs, at most this many, are listed one by one."""


def render(report: ReportFacts) -> str:
    """Render the page; names of tables and users are escaped.

    Raises ImportError if jinja2 is not installed.
    """
    try:
        jinja2: Any = import_module("jinja2")
    except ModuleNotFoundError as error:
        raise ImportError("A report needs jinja2: install jinja2, or colonnade[cli].") from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["size"] = size_text
    environment.globals.update(charts=charts, share=share_text, version=VERSION)
    latest = [*reversed(report.steps)][:LATEST]
    groups = sum(len(page.plan.groups) for page in report.tables)
    template = environment.get_template("page.html")
    path = report.table or report.database.path
    page: str = template.render(report=report, path=path, latest=latest, groups=groups)
    return page
