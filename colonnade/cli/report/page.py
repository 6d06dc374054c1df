"""Render the report as one HTML page that refers to no other file; pure."""

from __future__ import annotations

import jinja2

from colonnade.cli.output import share
from colonnade.cli.report import charts
from colonnade.cli.report.facts import ReportFacts
from colonnade.manifests.sizes import size_text
from colonnade.manifests.version import VERSION

LATEST = 30
"""The last epochs, at most this many, are listed one by one."""


def render(report: ReportFacts) -> str:
    """Render the page; names of tables and users are escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("colonnade.cli.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["size"] = size_text
    environment.globals.update(charts=charts, share=share, version=VERSION)
    latest = [*reversed(report.steps)][:LATEST]
    groups = sum(len(page.plan.groups) for page in report.tables)
    template = environment.get_template("page.html")
    page: str = template.render(report=report, latest=latest, groups=groups)
    return page
