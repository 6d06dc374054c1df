package colonnade.spark.catalog;

import colonnade.planner.Planner;
import colonnade.planner.messages.Queries.Metadata;
import colonnade.planner.messages.Queries.MetadataNames;
import colonnade.planner.messages.Queries.MetadataRows;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A table about a table, such as {@code t.history}. It has few rows, which are read when the table
 * is loaded.
 */
final class MetadataTable implements SupportsRead {
  private final String path;
  private final String kind;
  private final LocalRows rows;

  MetadataTable(String path, String kind) {
    this.path = path;
    this.kind = kind;
    MetadataRows found = Planner.call(new Metadata(path, kind));
    rows = new LocalRows(StructType.fromDDL(found.columns()), found.rows());
  }

  /**
   * Returns the kind of metadata table that a name means, or null. The case of the name counts only
   * where {@code spark.sql.caseSensitive} is set.
   */
  static String kind(String name) {
    String kind = SQLConf.get().caseSensitiveAnalysis() ? name : name.toLowerCase(Locale.ROOT);
    return Planner.call(new MetadataNames()).names().contains(kind) ? kind : null;
  }

  @Override
  public String name() {
    return path + "." + kind;
  }

  @Override
  @SuppressWarnings("deprecation") // the way of older callers to the same columns
  public StructType schema() {
    return rows.readSchema();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return () -> rows;
  }
}
