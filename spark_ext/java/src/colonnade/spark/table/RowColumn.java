package colonnade.spark.table;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * A column that tables offer beside their own.
 *
 * <p>A table that has a column of the same name, in any case, does not offer this one: its own
 * column hides it. The name {@link #HANDLER} is reserved, because Spark finds rows to change by it.
 */
public record RowColumn(String name, String comment) implements MetadataColumn {
  public static final String HANDLER = "_row_handler";
  private static final List<RowColumn> ALL =
      List.of(
          new RowColumn("_rowset", "id of the RowSet that holds the row"),
          new RowColumn("_row", "place of the row in its RowSet, from 0"),
          new RowColumn(HANDLER, "names the row in its table: RowSet id << 32 | place"),
          new RowColumn("_epoch", "epoch that added the RowSet"));

  /** The metadata columns that a table with these columns offers. */
  public static List<RowColumn> beside(StructType columns) {
    List<String> taken = List.of(columns.fieldNames());
    return ALL.stream()
        .filter(each -> taken.stream().noneMatch(each.name::equalsIgnoreCase))
        .toList();
  }

  /**
   * The columns of rows to write. Where a condition is about one of these columns Spark hands all
   * of them on, too, after those of the table.
   *
   * @param table the columns of the table itself
   */
  public static StructType without(StructType rows, StructType table) {
    Set<String> offered = beside(table).stream().map(RowColumn::name).collect(Collectors.toSet());
    StructField[] own =
        Arrays.stream(rows.fields())
            .filter(field -> !offered.contains(field.name()))
            .toArray(StructField[]::new);
    boolean atTheEnd = Arrays.equals(own, Arrays.copyOf(rows.fields(), own.length));
    return atTheEnd ? new StructType(own) : rows;
  }

  /** Whether Spark finds this column by a name. */
  public boolean isCalled(String given) {
    return name.equalsIgnoreCase(given);
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
