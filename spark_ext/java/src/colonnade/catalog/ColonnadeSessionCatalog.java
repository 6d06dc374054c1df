package colonnade.catalog;

import colonnade.spark.catalog.SessionCatalog;

/**
 * The catalog that stands in for Spark's own, under the name that users put into {@code
 * spark.sql.catalog.spark_catalog}.
 */
public final class ColonnadeSessionCatalog extends SessionCatalog {}
