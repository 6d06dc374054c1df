"""Hadoop's settings that lead to HDFS over HTTP, as a storage option. Pure.

Spark's tasks reach HDFS by Hadoop's own protocol, and Python over WebHDFS. Hadoop's settings name
the addresses for both protocols.
Guide: docs/stores.md
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

PREFIXES = (
    *("dfs.nameservices", "dfs.ha.namenodes.", "dfs.http.policy"),
    *("dfs.namenode.http-address", "dfs.namenode.https-address", "dfs.namenode.rpc-address"),
    *("fs.defaultFS", "hadoop.security.authentication"),
)
"""What the names of these settings begin with."""

URL = re.compile(r"hdfs://([^/?]*)", re.IGNORECASE)


def options_of(url: str, settings: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the storage options that Hadoop's settings mean for a URL of HDFS.

    In the store itself, given options take precedence over the settings.
    """
    del url
    own = {name: text for name, text in settings.items() if name.startswith(PREFIXES)}
    return {"hadoop_settings": own} if own and "hadoop_settings" not in given else {}
