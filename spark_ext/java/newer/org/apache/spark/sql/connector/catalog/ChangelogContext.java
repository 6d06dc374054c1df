package org.apache.spark.sql.connector.catalog;

/** What the jar needs of Spark 4.2 and later, for a compiler that has Spark 4.1. Not in the jar. */
public class ChangelogContext {
  public enum DeduplicationMode {
    NONE,
    DROP_CARRYOVERS,
    NET_CHANGES
  }

  private final ChangelogRange range;
  private final DeduplicationMode deduplicationMode;
  private final boolean computeUpdates;

  public ChangelogContext(
      ChangelogRange range, DeduplicationMode deduplicationMode, boolean computeUpdates) {
    this.range = range;
    this.deduplicationMode = deduplicationMode;
    this.computeUpdates = computeUpdates;
  }

  public ChangelogRange range() {
    return range;
  }

  public DeduplicationMode deduplicationMode() {
    return deduplicationMode;
  }

  public boolean computeUpdates() {
    return computeUpdates;
  }
}
