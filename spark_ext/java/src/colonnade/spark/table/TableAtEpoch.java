package colonnade.spark.table;

import colonnade.planner.messages.Clauses.Identity;
import colonnade.planner.messages.Clauses.UserColumns;
import colonnade.planner.messages.Queries.LoadedTable;
import colonnade.planner.messages.Views.NamedView;
import colonnade.planner.messages.Views.RowsToWrite;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

  /** The property that a table with a primary key shows. */
  private static final String PRIMARY_KEY = "primaryKey";

  private final TableForm form;
  private final StructType schema;

  protected TableAtEpoch(TableForm form) {
    this.form = form;
    this.schema = (StructType) DataType.fromJson(form.loaded().columns());
  }

  /** The form of this table. */
  protected TableForm form() {
    return form;
  }

  /** Whether this is the target of a DELETE. */
  public boolean isDeletedFrom() {
    return form.deletedFrom();
  }

  /**
   * Returns this table with the columns and types that the rows of a statement need. The statement
   * adds them to the table in the epoch of its rows.
   *
   * @param options those of the write
   */
  public abstract TableAtEpoch forRows(RowsToWrite rows, Map<String, String> options);

  /**
   * Returns this table for rows that have only the columns that a user gave. If these rows do not
   * merge with rows of the table by their keys, returns this table itself.
   *
   * @param names the columns that the user gave
   * @param options those of the write
   */
  public abstract TableAtEpoch forUserColumns(List<String> names, Map<String, String> options);

  /** Whether the table has a primary key. */
  public boolean hasPrimaryKey() {
    return loaded().properties().containsKey(PRIMARY_KEY);
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
  public UserColumns userColumns() {
    return form.userColumns();
  }

  /** Where the table is. */
  public String path() {
    return loaded().path();
  }

  /** The epoch that is read. */
  public long epoch() {
    return view().epoch();
  }

  /** What the planner says of the table. */
  public LoadedTable loaded() {
    return form.loaded();
  }

  /** What names this view in every request to the planner. */
  @Override
  public NamedView view() {
    return form.view();
  }

  /** The number of tasks, where each reads whole RowSets. Requires: this is such a table. */
  public int wholeTasks() {
    return view().whole().intValue();
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
    return view().database() + "." + view().table();
  }

  @Override
  public String version() {
    // Spark must not load it anew
    boolean fixed = isDeletedFrom() || view().evolving() != null || userColumns() != null;
    return fixed ? null : Long.toString(epoch());
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
        new MetadataBuilder().withMetadata(field.metadata()).remove("comment").build().json();
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
    String sql = loaded().defaults().get(column);
    return sql == null ? null : new ColumnDefaultValue(sql, Expressions.literal(null));
  }

  /** The names of the static columns. */
  public List<String> statics() {
    return loaded().statics();
  }

  /** The names of the columns of the partition key, to which static values belong. */
  public List<String> partitionKey() {
    return loaded().partitionKey();
  }

  /** Whether some columns get their values from the table. */
  protected boolean hasIdentities() {
    return !loaded().identities().isEmpty();
  }

  /** Returns what an identity column states; null for another column. */
  private IdentityColumnSpec identity(String column) {
    Identity stated = loaded().identities().get(column);
    return stated == null
        ? null
        : new IdentityColumnSpec(
            Long.parseLong(stated.start()), Long.parseLong(stated.step()), !stated.always());
  }

  @Override
  public String tableName() {
    return loaded().name();
  }

  @Override
  public StructType declared() {
    return schema;
  }

  /** The generated columns, which a rule of the session computes in the rows of each statement. */
  @Override
  public List<GeneratedColumn> generated() {
    return loaded().generated().stream().map(GeneratedColumn::of).toList();
  }

  /** The constraints, which Spark checks for the rows of each statement. */
  @Override
  public Constraint[] constraints() {
    return loaded().constraints().stream()
        .map(
            each ->
                Constraint.check(each.name())
                    .predicateSql(each.condition())
                    .enforced(true)
                    .validationStatus(Constraint.ValidationStatus.VALID)
                    .build())
        .toArray(Constraint[]::new);
  }

  @Override
  public MetadataColumn[] metadataColumns() {
    return RowColumn.beside(schema).toArray(MetadataColumn[]::new);
  }

  @Override
  public Map<String, String> properties() {
    Map<String, String> properties = new LinkedHashMap<>(loaded().properties());
    properties.putAll(sortKey().properties());
    properties.putAll(form.catalogProperties());
    properties.put(TableCatalog.PROP_PROVIDER, "colonnade");
    properties.put(TableCatalog.PROP_LOCATION, path());
    if (loaded().comment() != null) {
      properties.put(TableCatalog.PROP_COMMENT, loaded().comment());
    }
    return properties;
  }

  /** The sort key, where Spark says it: CLUSTER BY and PARTITIONED BY exclude each other. */
  private SortKey sortKey() {
    return SortKey.of(loaded().sortKey(), layout().isEmpty());
  }

  @Override
  public PartitionLayout layout() {
    return PartitionLayout.of(loaded().partitioning(), form.callable());
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
        && loaded().equals(table.loaded())
        && Objects.equals(userColumns(), table.userColumns())
        && isDeletedFrom() == table.isDeletedFrom();
  }

  @Override
  public int hashCode() {
    return view().hashCode();
  }

  /** What Spark shows in plans and in some errors. */
  @Override
  public String toString() {
    return path();
  }
}
