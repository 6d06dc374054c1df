package colonnade.source;

import colonnade.catalog.ColonnadeCatalog;
import colonnade.catalog.ColonnadeSessionCatalog;
import colonnade.planner.ColonnadeException;
import colonnade.spark.catalog.DataFramePath;
import colonnade.spark.catalog.Warehouse;
import colonnade.spark.quirks.session.OwnCatalog;
import colonnade.spark.quirks.statement.Caller;
import colonnade.spark.quirks.writes.StreamSink;
import colonnade.spark.sink.ColonnadeTable;
import colonnade.spark.streams.StreamTable;
import colonnade.spark.table.ReadOptions;
import colonnade.spark.table.UserPath;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsCatalogOptions;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The data source {@code colonnade}: {@code spark.read.format("colonnade").load(path)} and
 * {@code df.write.format("colonnade").save(path)}. Both go through the catalog of that name, as
 * statements about {@code colonnade.`path`} do. Spark makes one of these for each.
 */
public final class ColonnadeSource
    implements SupportsCatalogOptions, DataSourceRegister, StreamSinkProvider {
  private DataFramePath identifier;
  private StreamTable stream;

  @Override
  public String shortName() {
    return "colonnade";
  }

  /** The catalog. A writer asks for it before any rule of the extension runs. */
  @Override
  public String extractCatalog(CaseInsensitiveStringMap options) {
    OwnCatalog.makeKnown();
    return ColonnadeCatalog.NAME;
  }

  @Override
  public Identifier extractIdentifier(CaseInsensitiveStringMap options) {
    String path = options.get("path");
    if (path == null || path.isEmpty()) {
      path = ReadOptions.check(options.asCaseSensitiveMap()).path();
    }
    identifier = new DataFramePath(UserPath.absolute(path), options);
    return identifier;
  }

  /** Asked before a table is loaded to be read, and never before it is written. */
  @Override
  public Optional<String> extractTimeTravelVersion(CaseInsensitiveStringMap options) {
    identifier.isRead();
    if (asksForChanges(options)) {
      return Optional.empty();
    }
    ReadOptions.check(options.asCaseSensitiveMap());
    String version = options.get("versionAsOf");
    return Optional.ofNullable(version != null ? version : options.get("epoch"));
  }

  @Override
  public Optional<String> extractTimeTravelTimestamp(CaseInsensitiveStringMap options) {
    String time = asksForChanges(options) ? null : options.get("timestampAsOf");
    return Optional.ofNullable(time);
  }

  /** Whether this is a read of changes. The planner refuses an epoch or a time beside a range. */
  private static boolean asksForChanges(CaseInsensitiveStringMap options) {
    return ReadOptions.asksForChanges(options.asCaseSensitiveMap());
  }

  /** What Spark's own catalog stores as columns of a table does not matter: the log has them. */
  @Override
  public boolean supportsExternalMetadata() {
    return true;
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    if (Caller.isStreamReader()) {
      String path = options.getOrDefault("path", "");
      String absolute = path.isEmpty() ? path : UserPath.absolute(path);
      stream = StreamTable.load(absolute, options.asCaseSensitiveMap());
      return stream.schema();
    }
    return catalogTable(options.asCaseSensitiveMap()).schema();
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    if (stream != null) {
      return stream;
    }
    if (Caller.isStreamReader()) { // Spark has asked for no columns, because the user gave some.
      throw ColonnadeException.invalid(
          "A stream of a table has the columns of the table; leave out schema(...).");
    }
    // Of a stream that writes to a path, only the sink below learns mode and layout.
    return Caller.isStreamToPath() ? new NoTable("of a stream") : catalogTable(properties);
  }

  /** A table that no stream can be written to, so that Spark asks for a sink. */
  private record NoTable(String name) implements Table {
    @Override
    public Column[] columns() {
      return new Column[0];
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of();
    }
  }

  @Override
  public StreamSink createSink(
      SQLContext context,
      scala.collection.immutable.Map<String, String> parameters,
      Seq<String> partitionColumns,
      OutputMode mode) {
    return StreamSink.ofPath(
        CollectionConverters.asJava(parameters),
        CollectionConverters.asJava(partitionColumns),
        mode);
  }

  /** A table of Spark's own catalog, by the place among the properties that it stores there. */
  private static ColonnadeTable catalogTable(Map<String, String> properties) {
    String location = properties.get(TableCatalog.PROP_LOCATION);
    String path = properties.getOrDefault("path", location);
    if (path == null) {
      throw ColonnadeException.invalid(
          "Spark's own catalog cannot create a Colonnade table by itself: start Spark with --conf"
              + " spark.sql.catalog.spark_catalog="
              + ColonnadeSessionCatalog.class.getName()
              + ", which colonnade.configure() and enable() set, name the table as in"
              + " colonnade.db.t, or give the LOCATION of an existing table.");
    }
    return ColonnadeTable.load(Warehouse.localPath(path), ReadOptions.namingState(properties))
        .withoutFunctions();
  }
}
