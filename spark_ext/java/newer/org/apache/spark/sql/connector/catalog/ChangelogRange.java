package org.apache.spark.sql.connector.catalog;

import java.util.Optional;

/** What the jar needs of Spark 4.2 and later, for a compiler that has Spark 4.1. Not in the jar. */
public sealed interface ChangelogRange {
  boolean startingBoundInclusive();

  boolean endingBoundInclusive();

  record VersionRange(
      String startingVersion,
      Optional<String> endingVersion,
      boolean startingBoundInclusive,
      boolean endingBoundInclusive)
      implements ChangelogRange {}

  record TimestampRange(
      long startingTimestamp,
      Optional<Long> endingTimestamp,
      boolean startingBoundInclusive,
      boolean endingBoundInclusive)
      implements ChangelogRange {}

  record UnboundedRange() implements ChangelogRange {
    @Override
    public boolean startingBoundInclusive() {
      return true;
    }

    @Override
    public boolean endingBoundInclusive() {
      return true;
    }
  }
}
