package colonnade.spark.catalog.design;

import colonnade.spark.sink.ColonnadeTable;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * The parts that {@code CREATE TABLE … LIKE} copies from its source. These are the columns and the
 * layout, and between Colonnade tables also the properties and the comment.
 */
public final class TableLike {
  private TableLike() {}

  /**
   * Returns the new table, with the columns and layout that Spark passes on and the properties of
   * the statement.
   */
  public static TableInfo of(TableInfo said, Table source, String provider) {
    Map<String, String> properties = new HashMap<>();
    if (TableDesign.isOurs(provider)) {
      properties.putAll(properties(source));
    }
    properties.putAll(said.properties());
    properties.put(TableCatalog.PROP_PROVIDER, provider);
    return new TableInfo.Builder()
        .withColumns(
            TableDesign.isOurs(provider)
                ? Generated.like(source, said.columns())
                : plain(said.columns()))
        .withPartitions(said.partitions())
        .withConstraints(said.constraints())
        .withProperties(properties)
        .build();
  }

  /** Returns columns without identity, which only Colonnade tables can have. */
  private static Column[] plain(Column[] columns) {
    return Arrays.stream(columns)
        .map(each -> each.identityColumnSpec() == null ? each : column(each, each.dataType()))
        .toArray(Column[]::new);
  }

  /** Returns the format of the new table if the statement names none. */
  public static String provider(Table source) {
    String provider = source.properties().get(TableCatalog.PROP_PROVIDER);
    return provider != null ? provider : SQLConf.get().defaultDataSourceName(); // a view
  }

  /** Returns the properties and the comment. Only a Colonnade table can use them. */
  public static Map<String, String> properties(Table source) {
    return source instanceof ColonnadeTable ours
        ? TableDesign.ofUser(ours.properties())
        : Map.of();
  }

  /**
   * Returns the columns as declared, for a table of a format. Spark's own formats have the
   * partition columns last.
   */
  public static Column[] columns(Table source, String provider) {
    if (TableDesign.isOurs(provider)) {
      return Generated.like(source, columns(source));
    }
    Set<String> last =
        Arrays.stream(source.partitioning())
            .filter(transform -> transform.name().equals("identity"))
            .map(transform -> transform.references()[0].fieldNames()[0])
            .collect(Collectors.toSet());
    return Arrays.stream(plain(columns(source)))
        .sorted(Comparator.comparing(column -> last.contains(column.name())))
        .toArray(Column[]::new);
  }

  /**
   * Returns the declared columns with char and varchar, comments, metadata, NOT NULL and DEFAULT.
   */
  @SuppressWarnings("deprecation") // the only way to the types that Spark stores for other formats
  private static Column[] columns(Table source) {
    if (source instanceof ColonnadeTable) {
      return source.columns();
    }
    StructType declared = CharVarcharUtils.getRawSchema(source.schema());
    Column[] columns = source.columns();
    return IntStream.range(0, columns.length)
        .mapToObj(at -> column(columns[at], declared.fields()[at].dataType()))
        .toArray(Column[]::new);
  }

  private static Column column(Column column, DataType declared) {
    return Column.create(
        column.name(),
        declared,
        column.nullable(),
        column.comment(),
        column.defaultValue(),
        column.metadataInJSON());
  }
}
