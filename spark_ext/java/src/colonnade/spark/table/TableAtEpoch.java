package colonnade.spark.table;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.ColumnDefaultValue;
import org.apache.spark.sql.connector.catalog.IdentityColumnSpec;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * One table at one epoch. A query that uses it several times reads that epoch each time.
 *
 * <p>Loaded through a catalog without an epoch or a time, it has a {@link #version}: Spark then
 * loads it anew when it plans a query, once for all uses of the table in it.
 */
public abstract class TableAtEpoch
    implements SupportsMetadataColumns, ListsPartitions, GeneratedColumn.Owner {
  /** The metadata column that names each row. */
  public static final String ROW_HANDLER = RowColumn.HANDLER;

  /** The key of the ids of the RowSets to read, where these are not all. */
  protected static final String ROWSETS = "rowsets";

  /** The key of the rows that the columns of the table are for, where it does not have them yet. */
  protected static final String EVOLVING = "evolving";

  /** The key of the columns that the rows of an append were given, where they merge by their keys. */
  protected static final String GIVEN = "given";

  /** The key of the constraints. */
  protected static final String CONSTRAINTS = "constraints";

  /** The key of the number of tasks, where each reads whole RowSets. */
  protected static final String WHOLE = "whole";

  /** The key of the time of the query. */
  protected static final String NOW = "now";

  /** The key of the time at which values expire, where all stored rows are read. */
  protected static final String VALUES_AT = "values_at";

  private static final String COMMENT = "comment";

  /** The property that a table with a primary key shows. */
  private static final String PRIMARY_KEY = "primaryKey";

  private final JsonNode loaded;
  private final boolean callable;
  private final boolean deletedFrom;
  private final Map<String, String> catalogProperties;
  private final StructType schema;

  /**
   * @param loaded the reply of the planner's operation {@code load}
   * @param callable whether the table's catalog knows the partition transforms as functions
   * @param deletedFrom whether this is the target of a DELETE
   * @param catalogProperties the properties that only the table's catalog knows
   */
  protected TableAtEpoch(
      JsonNode loaded, boolean callable, boolean deletedFrom, Map<String, String> catalogProperties) {
    this.loaded = loaded;
    this.callable = callable;
    this.deletedFrom = deletedFrom;
    this.catalogProperties = catalogProperties;
    this.schema = (StructType) DataType.fromJson(loaded.get("schema").asText());
  }

  /** Whether this is the target of a DELETE. */
  public boolean isDeletedFrom() {
    return deletedFrom;
  }

  /** Whether the table's catalog knows the partition transforms as functions. */
  protected boolean isCallable() {
    return callable;
  }

  /** The properties that only the table's catalog knows. */
  protected Map<String, String> catalogProperties() {
    return catalogProperties;
  }

  /**
   * Returns this table with the columns and types that the rows of a statement need. The statement
   * adds them to the table in the epoch of its rows.
   *
   * @param rows what the planner's operation {@code columns_for_rows} takes as {@code rows}
   * @param options those of the write
   */
  public abstract TableAtEpoch forRows(Map<String, Object> rows, Map<String, String> options);

  /**
   * Returns this table for rows that have only the columns that a user gave. If these rows do not
   * merge with rows of the table by their keys, returns this table itself.
   *
   * @param names the columns that the user gave
   * @param options those of the write
   */
  public abstract TableAtEpoch forGiven(List<String> names, Map<String, String> options);

  /** Whether the table has a primary key. */
  public boolean hasPrimaryKey() {
    return loaded.path("properties").has(PRIMARY_KEY);
  }

  /**
   * Returns this table for the rows of a MERGE that finds its rows by the primary key. If it has to
   * join, returns this table itself.
   *
   * @param keys the columns that the MERGE compares
   * @param names the columns that it sets, keys and all
   * @param bytes what its source reads
   * @param options those of the write
   */
  public abstract TableAtEpoch forMerge(
      List<String> keys, List<String> names, long bytes, Map<String, String> options);

  /** What the planner says of the columns that a user gave; null if the rows do not merge. */
  public JsonNode given() {
    return loaded.get(GIVEN);
  }

  /** The rows that the columns of the table are for; null if the table has these columns. */
  public JsonNode evolving() {
    return loaded.get(EVOLVING);
  }

  /** Where the table is. */
  public String path() {
    return loaded.get("path").asText();
  }

  /** The epoch that is read. */
  public long epoch() {
    return loaded.get("epoch").asLong();
  }

  /** The time of the query in ms since 1970, which says what has expired; null if nothing can. */
  public Long now() {
    return loaded.hasNonNull(NOW) ? loaded.get(NOW).asLong() : null;
  }

  /** The reply of the planner's operation {@code load}. */
  public JsonNode loaded() {
    return loaded;
  }

  /** What names this state in every request to the planner. */
  public Map<String, Object> state() {
    Map<String, Object> named = new HashMap<>();
    for (String key : List.of("url", "options", "database", "id")) {
      named.put(key, loaded.get(key).asText());
    }
    named.put("epoch", epoch());
    for (String key : List.of("schema_epoch", NOW, VALUES_AT)) {
      if (loaded.hasNonNull(key)) {
        named.put(key, loaded.get(key).asLong());
      }
    }
    for (String key : List.of(ROWSETS, WHOLE, EVOLVING)) {
      if (loaded.has(key)) {
        named.put(key, loaded.get(key));
      }
    }
    return named;
  }

  /** The number of tasks, where each reads whole RowSets. Requires: this is such a table. */
  public int wholeTasks() {
    return loaded.get(WHOLE).intValue();
  }

  /** What is read, for plans that people look at. */
  public String describe() {
    return "epoch " + epoch();
  }

  @Override
  public String name() {
    return path();
  }

  @Override
  public String id() {
    return loaded.get("database").asText() + "." + loaded.get("id").asText();
  }

  @Override
  public String version() {
    // Spark must not load it anew
    boolean fixed = deletedFrom || evolving() != null || given() != null;
    return fixed ? null : loaded.get("epoch").asText();
  }

  @Override
  @SuppressWarnings("deprecation") // the way of older callers to the same columns
  public StructType schema() {
    return schema;
  }

  @Override
  public Column[] columns() {
    return columns(schema);
  }

  /** Returns these columns of the table, in whatever form of their types. */
  protected Column[] columns(StructType form) {
    return Stream.of(form.fields()).map(this::column).toArray(Column[]::new);
  }

  private Column column(StructField field) {
    String metadata =
        new MetadataBuilder().withMetadata(field.metadata()).remove(COMMENT).build().json();
    String comment = field.getComment().isDefined() ? field.getComment().get() : null;
    IdentityColumnSpec identity = identity(field.name());
    if (identity != null) {
      return Column.create(
          field.name(), field.dataType(), field.nullable(), comment, identity, metadata);
    }
    return Column.create(
        field.name(),
        field.dataType(),
        field.nullable(),
        comment,
        defaultValue(field.name()),
        metadata);
  }

  /** Returns the current default of a column, or null. Readers fill earlier rows, not Spark. */
  private ColumnDefaultValue defaultValue(String column) {
    JsonNode sql = loaded.path("defaults").path(column);
    return sql.isTextual()
        ? new ColumnDefaultValue(sql.textValue(), Expressions.literal(null))
        : null;
  }

  /** The names of the static columns. */
  public List<String> statics() {
    return texts("statics");
  }

  /** The names of the columns of the partition key, to which static values belong. */
  public List<String> partitionKey() {
    return texts("partition_key");
  }

  private List<String> texts(String key) {
    List<String> texts = new ArrayList<>();
    loaded.path(key).forEach(each -> texts.add(each.textValue()));
    return texts;
  }

  /** Whether some columns get their values from the table. */
  protected boolean hasIdentities() {
    return !loaded.path("identities").isEmpty();
  }

  /** Returns what an identity column states; null for another column. */
  private IdentityColumnSpec identity(String column) {
    JsonNode stated = loaded.path("identities").path(column);
    return stated.isMissingNode()
        ? null
        : new IdentityColumnSpec(
            Long.parseLong(stated.get("start").textValue()),
            Long.parseLong(stated.get("step").textValue()),
            !stated.get("always").booleanValue());
  }

  @Override
  public String tableName() {
    return loaded.get("table").asText();
  }

  @Override
  public StructType declared() {
    return schema;
  }

  /** The generated columns, which a rule of the session computes in the rows of each statement. */
  @Override
  public List<GeneratedColumn> generated() {
    return GeneratedColumn.of(loaded.get("generated"));
  }

  /** The constraints, which Spark checks for the rows of each statement. */
  @Override
  public Constraint[] constraints() {
    List<Constraint> constraints = new ArrayList<>();
    for (JsonNode each : loaded.get(CONSTRAINTS)) {
      constraints.add(
          Constraint.check(each.get("name").asText())
              .predicateSql(each.get("condition").asText())
              .enforced(true)
              .validationStatus(Constraint.ValidationStatus.VALID)
              .build());
    }
    return constraints.toArray(Constraint[]::new);
  }

  @Override
  public MetadataColumn[] metadataColumns() {
    return RowColumn.beside(schema).toArray(MetadataColumn[]::new);
  }

  @Override
  public Map<String, String> properties() {
    Map<String, String> properties = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : loaded.get("properties").properties()) {
      properties.put(entry.getKey(), entry.getValue().asText());
    }
    properties.putAll(sortKey().properties());
    properties.putAll(catalogProperties);
    properties.put(TableCatalog.PROP_PROVIDER, "colonnade");
    properties.put(TableCatalog.PROP_LOCATION, path());
    if (loaded.hasNonNull(COMMENT)) {
      properties.put(TableCatalog.PROP_COMMENT, loaded.get(COMMENT).asText());
    }
    return properties;
  }

  /** The sort key, where Spark says it: CLUSTER BY and PARTITIONED BY exclude each other. */
  private SortKey sortKey() {
    return SortKey.of(loaded, layout().isEmpty());
  }

  @Override
  public PartitionLayout layout() {
    return PartitionLayout.of(loaded.get("partitioning"), callable);
  }

  @Override
  public Transform[] partitioning() {
    PartitionLayout layout = layout();
    return layout.isEmpty() ? sortKey().partitioning() : layout.transforms();
  }

  /** Whether both are one table at one epoch: Spark keeps the old one of two that are equal. */
  @Override
  public boolean equals(Object other) {
    return other instanceof TableAtEpoch table
        && loaded.equals(table.loaded)
        && deletedFrom == table.deletedFrom;
  }

  @Override
  public int hashCode() {
    return state().hashCode();
  }

  /** What Spark shows in plans and in some errors. */
  @Override
  public String toString() {
    return path();
  }
}
