package colonnade.source;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The data source {@code colonnade}: {@code spark.read.format("colonnade").load(path)}. */
public final class ColonnadeSource implements TableProvider, DataSourceRegister {
  @Override
  public String shortName() {
    return "colonnade";
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return load(options.asCaseSensitiveMap()).schema();
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return load(properties);
  }

  private static ColonnadeTable load(Map<String, String> options) {
    return ColonnadeTable.load(ReadOptions.check(options).path(), ReadOptions.namingState(options));
  }
}
