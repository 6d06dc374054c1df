"""What the site has besides docs/: README as its first page, and the files that pages link to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = re.compile(r"\]\(\.\./(examples/[^)#]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """Add README, and every file outside of docs/ that a page names."""
    readme = (ROOT / "README.md").read_text("utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=readme))
    linked = {name for page in files.documentation_pages() for name in named_by(page)}
    for name in sorted(linked):
        # A suffix that browsers show instead of running or downloading it.
        files.append(
            File.generated(config, f"{name}.txt", content=(ROOT / name).read_text("utf-8"))
        )
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Lead such links to the copies."""
    return OUTSIDE.sub(r"](\1.txt)", markdown)


def named_by(page: File) -> list[str]:
    """The files outside of docs/ that a page links to."""
    return OUTSIDE.findall(page.content_string)
