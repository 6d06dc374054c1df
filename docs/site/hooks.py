"""What the site has besides docs/: README as its first page, and the files that pages link to.

No page of it may load anything from a network, so that it can be read without one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import Abort
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = re.compile(r"\]\(\.\./(examples/[^)#]+)\)")
FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source|object|embed)\b[^>]*\s(?:src|href|data)=[\"']?((?:https?:)?//[^\s\"'>]+)"
    r"|(?:@import\s+|url\()[\s\"']*((?:https?:)?//[^\s\"')]+)"
)


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


def on_post_build(config: Any) -> None:
    """Fail if a page or a style sheet loads something from a network."""
    site = Path(config["site_dir"])
    fetched = sorted(
        f"{file.relative_to(site)} loads {''.join(found.groups(''))}"
        for kind in ("html", "css")
        for file in site.rglob(f"*.{kind}")
        for found in FETCHED.finditer(file.read_text("utf-8"))
    )
    if fetched:
        raise Abort("The site must be readable without a network:\n" + "\n".join(fetched[:20]))
