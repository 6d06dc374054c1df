package colonnade.catalog;

import colonnade.spark.catalog.DatabaseCatalog;

/** The catalog {@code colonnade}, under the name that users put into {@code spark.sql.catalog}. */
public final class ColonnadeCatalog extends DatabaseCatalog {}
