"""The names of the Spark settings that are Colonnade's, and what they hold; imports nothing."""

from __future__ import annotations

CATALOG = "spark.sql.catalog.colonnade"
CATALOG_CLASS = "colonnade.catalog.ColonnadeCatalog"
SESSION_CATALOG = "spark.sql.catalog.spark_catalog"
SESSION_CATALOG_CLASS = "colonnade.catalog.ColonnadeSessionCatalog"
EXTENSIONS = "spark.sql.extensions"
EXTENSION_CLASS = "colonnade.catalog.SessionExtension"
TRANSACTION = "spark.colonnade.transaction"
"""Names the transaction that a session is in; set and unset by the jar."""
PYTHON = "spark.colonnade.python"
PYTHON_PATH = "spark.colonnade.pythonPath"
