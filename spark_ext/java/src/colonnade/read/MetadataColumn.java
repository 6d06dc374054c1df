package colonnade.read;

import colonnade.format.rowset.LiveRowSet;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.StructField;

/** A column that shows the position or the epoch of each row instead of a stored value. */
record MetadataColumn(Kind kind, ColonnadeVector vector) {

  private enum Kind {
    ROWSET("_rowset"), ROW("_row"), ROW_HANDLER("_row_handler"), EPOCH("_epoch");

    private final String columnName;

    Kind(String columnName) {
      this.columnName = columnName;
    }
  }

  static MetadataColumn of(StructField wanted) {
    for (Kind kind : Kind.values()) {
      if (kind.columnName.equalsIgnoreCase(wanted.name())) {
        return new MetadataColumn(kind, new ColonnadeVector(LongType$.MODULE$));
      }
    }
    throw new IllegalArgumentException("Column '" + wanted.name() + "' does not exist.");
  }

  /**
   * Shows {@code count} rows of a RowSet from {@code first} on. If {@code kept} is not null, shows
   * only the rows that it names.
   */
  void show(LiveRowSet rowset, long first, int count, int[] kept) {
    switch (kind) {
      case ROWSET -> vector.setConstant(rowset.id(), 0);
      case EPOCH -> vector.setConstant(rowset.epoch(), 0);
      case ROW -> vector.setPositions(first);
      case ROW_HANDLER -> vector.setPositions(rowset.id() << 32 | first);
    }
    vector.select(0, kept, kept == null ? count : kept.length);
  }
}
