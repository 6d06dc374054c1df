package colonnade.source;

import colonnade.catalog.ColonnadeCatalog;
import colonnade.catalog.ColonnadeSessionCatalog;
import colonnade.planner.ColonnadeException;
import colonnade.spark.catalog.DataFramePath;
import colonnade.spark.catalog.Warehouse;
import colonnade.spark.catalog.design.StreamedWrites;
import colonnade.spark.quirks.session.OwnCatalog;
import colonnade.spark.sink.ColonnadeTable;
import colonnade.spark.table.ReadOptions;
import colonnade.spark.table.UserPath;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsCatalogOptions;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The data source {@code colonnade}: {@code spark.read.format("colonnade").load(path)} and
 * {@code df.write.format("colonnade").save(path)}. Both go through the catalog of that name, as
 * statements about {@code colonnade.`path`} do. Spark makes one of these for each.
 */
public final class ColonnadeSource implements SupportsCatalogOptions, DataSourceRegister {
  private DataFramePath identifier;

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
    return catalogTable(options.asCaseSensitiveMap()).schema();
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return catalogTable(properties);
  }

  /** A table of Spark's own catalog, by the place among the properties that it stores there. */
  private static ColonnadeTable catalogTable(Map<String, String> properties) {
    String location = properties.get(TableCatalog.PROP_LOCATION);
    String path = properties.getOrDefault("path", location);
    StreamedWrites.refuse();
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
