package colonnade.catalog;

import colonnade.spark.catalog.DatabaseCatalog;
import colonnade.spark.quirks.session.OwnCatalog;

/** The catalog {@code colonnade}, under the name that users put into {@code spark.sql.catalog}. */
public final class ColonnadeCatalog extends DatabaseCatalog {
  /** The first part of the names of its tables. */
  public static final String NAME = OwnCatalog.NAME;
}
