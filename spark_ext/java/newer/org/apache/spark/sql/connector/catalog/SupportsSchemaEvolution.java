package org.apache.spark.sql.connector.catalog;

/** What the jar needs of Spark 4.2 and later, for a compiler that has Spark 4.1. Not in the jar. */
public interface SupportsSchemaEvolution extends Table {
  boolean supportsColumnChange(TableChange.ColumnChange change);
}
