package colonnade.spark.table;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** A column that every table offers beside its own; the names are reserved. */
public record RowColumn(String name, String comment) implements MetadataColumn {
  public static final String HANDLER = "_row_handler";
  static final List<RowColumn> ALL =
      List.of(
          new RowColumn("_rowset", "id of the RowSet that holds the row"),
          new RowColumn("_row", "place of the row in its RowSet, from 0"),
          new RowColumn(HANDLER, "names the row in its table: RowSet id << 32 | place"),
          new RowColumn("_epoch", "epoch that added the RowSet"));

  /** Whether {@code column} is one of these. */
  public static boolean isOne(String column) {
    return ALL.stream().anyMatch(each -> each.name.equals(column));
  }

  /**
   * The columns of rows to write. Where a condition is about one of these columns Spark hands all of
   * them on, too, after those of the table.
   */
  public static StructType without(StructType rows) {
    StructField[] own =
        Arrays.stream(rows.fields()).filter(field -> !isOne(field.name())).toArray(StructField[]::new);
    boolean atTheEnd = Arrays.equals(own, Arrays.copyOf(rows.fields(), own.length));
    return atTheEnd ? new StructType(own) : rows;
  }

  @Override
  public DataType dataType() {
    return DataTypes.LongType;
  }

  @Override
  public boolean isNullable() {
    return false;
  }
}
