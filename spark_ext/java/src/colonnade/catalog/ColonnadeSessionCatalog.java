package colonnade.catalog;

import colonnade.spark.catalog.SessionCatalog;

/**
 * The catalog that replaces Spark's own. Users set {@code spark.sql.catalog.spark_catalog} to this
 * name.
 */
public final class ColonnadeSessionCatalog extends SessionCatalog {}
