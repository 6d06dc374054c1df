package colonnade.read.vector;

import colonnade.format.rowset.LiveRowSet;
import com.fasterxml.jackson.databind.JsonNode;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A column that shows the position or the epoch of each row instead of a stored value, or the change
 * that all rows of a task share.
 */
public record MetadataColumn(Kind kind, ColonnadeVector vector) {

  private enum Kind {
    ROWSET("_rowset"), ROW("_row"), ROW_HANDLER("_row_handler"), EPOCH("_epoch"), CHANGE(null);

    private final String columnName;

    Kind(String columnName) {
      this.columnName = columnName;
    }
  }

  /**
   * Returns the column of a name.
   *
   * @param change what the rows of the task are in a change feed: {@code {"type", "version",
   *     "micros"}}; missing in any other task
   */
  public static MetadataColumn of(StructField wanted, JsonNode change) {
    ColonnadeVector shared = new ColonnadeVector(wanted.dataType());
    if (setShared(wanted.name(), change, shared)) {
      return new MetadataColumn(Kind.CHANGE, shared);
    }
    for (Kind kind : Kind.values()) {
      if (wanted.name().equalsIgnoreCase(kind.columnName)) {
        return new MetadataColumn(kind, new ColonnadeVector(LongType$.MODULE$));
      }
    }
    throw new IllegalArgumentException("Column '" + wanted.name() + "' does not exist.");
  }

  /** Makes a vector show what a change says in each row. Returns false for any other column. */
  private static boolean setShared(String name, JsonNode change, ColonnadeVector vector) {
    if (change.isMissingNode()) {
      return false;
    }
    switch (name) {
      case "_change_type" ->
          vector.setConstant(UTF8String.fromString(change.get("type").textValue()));
      case "_commit_version" -> vector.setConstant(change.get("version").longValue(), 0);
      case "_commit_timestamp" -> vector.setConstant(change.get("micros").longValue(), 0);
      default -> {
        return false;
      }
    }
    return true;
  }

  /**
   * Shows {@code count} rows of a RowSet from {@code first} on. If {@code kept} is not null, shows
   * only the rows that it names.
   */
  public void show(LiveRowSet rowset, long first, int count, int[] kept) {
    switch (kind) {
      case ROWSET -> vector.setConstant(rowset.id(), 0);
      case EPOCH -> vector.setConstant(rowset.epoch(), 0);
      case ROW -> vector.setPositions(first);
      case ROW_HANDLER -> vector.setPositions(rowset.id() << 32 | first);
      case CHANGE -> {}
    }
    vector.select(0, kept, kept == null ? count : kept.length);
  }
}
