"""The names and values of Colonnade's Spark settings; this module imports nothing."""

from __future__ import annotations

CATALOG = "spark.sql.catalog.colonnade"
CATALOG_CLASS = "colonnade.catalog.ColonnadeCatalog"
SESSION_CATALOG = "spark.sql.catalog.spark_catalog"
SESSION_CATALOG_CLASS = "colonnade.catalog.ColonnadeSessionCatalog"
EXTENSIONS = "spark.sql.extensions"
EXTENSION_CLASS = "colonnade.catalog.SessionExtension"
TRANSACTION = "spark.colonnade.transaction"
"""The id of the session's open transaction; the jar sets and unsets it."""
PYTHON = "spark.colonnade.python"
PYTHON_PATH = "spark.colonnade.pythonPath"
STORAGE = "spark.colonnade.storage."
"""The prefix of options of the store, which SQL statements use, too."""
