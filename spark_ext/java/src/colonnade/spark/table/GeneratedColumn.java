package colonnade.spark.table;

import colonnade.planner.messages.Clauses.Generated;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * A column that follows from other columns of its row.
 *
 * @param column its name
 * @param sql the expression
 * @param reads the names of the columns that the expression reads
 * @param timeZone the session time zone that the expression is evaluated in
 */
public record GeneratedColumn(String column, String sql, List<String> reads, String timeZone) {
  /** The key of columns of rows to write whose values Spark computes. Tables do not store it. */
  private static final String COMPUTED = "__colonnade_computed";

  /** The key of the time zone in a column that {@code CREATE TABLE … LIKE} copies. */
  private static final String TIME_ZONE = "__colonnade_time_zone";

  /** A table whose rows have generated columns. */
  public interface Owner {
    /** Returns the name of the table, for messages. */
    String tableName();

    /** Returns the columns as declared, with char and varchar. */
    StructType declared();

    /** Returns the generated columns. */
    List<GeneratedColumn> generated();
  }

  /** Reads a generated column of a table. */
  static GeneratedColumn of(Generated loaded) {
    return new GeneratedColumn(
        loaded.column(), loaded.sql(), loaded.reads(), loaded.timeZone());
  }

  /** Reads a column of a new table; {@code zone} is the time zone of the session. */
  public static GeneratedColumn of(Column declared, List<String> reads, String zone) {
    String json = declared.metadataInJSON();
    Metadata metadata = json == null ? Metadata.empty() : Metadata.fromJson(json);
    String kept = metadata.contains(TIME_ZONE) ? metadata.getString(TIME_ZONE) : zone;
    return new GeneratedColumn(declared.name(), declared.generationExpression(), reads, kept);
  }

  /** Returns this column as one to declare in a new table. */
  public Column declared(Column plain) {
    String json = plain.metadataInJSON();
    Metadata metadata =
        new MetadataBuilder()
            .withMetadata(json == null ? Metadata.empty() : Metadata.fromJson(json))
            .putString(TIME_ZONE, timeZone)
            .build();
    return Column.create(
        plain.name(), plain.dataType(), plain.nullable(), plain.comment(), sql, metadata.json());
  }

  /** Returns the column in the planner's terms. */
  public Generated described() {
    return new Generated(column, sql, reads, timeZone);
  }

  /** Returns the metadata of a column of rows to write, with the mark that Spark computes it. */
  public static Metadata computed(Metadata given) {
    return new MetadataBuilder().withMetadata(given).putBoolean(COMPUTED, true).build();
  }

  /** Whether the metadata of a column of rows to write has the mark. */
  public static boolean isComputed(Metadata given) {
    return given.contains(COMPUTED);
  }

  /** Returns the names of the columns of rows to write that Spark computes. */
  public static List<String> computedIn(StructType rows) {
    return Stream.of(rows.fields())
        .filter(field -> isComputed(field.metadata()))
        .map(StructField::name)
        .toList();
  }
}
