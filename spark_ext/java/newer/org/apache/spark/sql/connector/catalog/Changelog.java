package org.apache.spark.sql.connector.catalog;

import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** What the jar needs of Spark 4.2 and later, for a compiler that has Spark 4.1. Not in the jar. */
public interface Changelog {
  String name();

  Column[] columns();

  boolean containsCarryoverRows();

  boolean containsIntermediateChanges();

  boolean representsUpdateAsDeleteAndInsert();

  ScanBuilder newScanBuilder(CaseInsensitiveStringMap options);
}
