package colonnade.source;

import colonnade.catalog.SessionExtension;
import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Procedures.Description;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * {@code spark.read.format("colonnade_doctor").load()}: rows (name, value) about this jar and its
 * planner. A data source, because that is the one door that every kind of Spark session has. With
 * the option {@code enable}, the session gets the extension, too, if it was made before the jar was
 * there.
 */
public final class DoctorSource implements TableProvider, DataSourceRegister {
  private static final StructType SCHEMA =
      new StructType().add("name", DataTypes.StringType).add("value", DataTypes.StringType);

  @Override
  public String shortName() {
    return "colonnade_doctor";
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
    if (options.containsKey("enable")) {
      SessionExtension.use();
    }
    return new Facts();
  }

  private static Map<String, String> facts() {
    Map<String, String> facts = new TreeMap<>();
    facts.put("jar", Planner.VERSION);
    facts.put("extension", Boolean.toString(SessionExtension.isInUse()));
    facts.put("workers.python", workersPython());
    try {
      Description planner = Planner.describe();
      facts.put("planner.version", planner.version());
      facts.put("planner.protocol", Long.toString(planner.protocol()));
      facts.put("planner.pid", Long.toString(planner.pid()));
      facts.put("planner.python", planner.python());
      facts.put("planner.log", Planner.log());
    } catch (ColonnadeException error) {
      facts.put("planner.error", error.getMessage());
    }
    return facts;
  }

  /** The Python that a Spark Connect server starts for workers, as its planner chooses it. */
  private static String workersPython() {
    return Stream.of("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
        .map(System::getenv)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse("python3");
  }

  private record Facts() implements SupportsRead {
    @Override
    public String name() {
      return "colonnade_doctor";
    }

    @Override
    @Deprecated
    public StructType schema() {
      return SCHEMA;
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () -> new FactsScan(facts());
    }
  }

  private record FactsScan(Map<String, String> facts) implements LocalScan {
    @Override
    public StructType readSchema() {
      return SCHEMA;
    }

    @Override
    public InternalRow[] rows() {
      return facts.entrySet().stream()
          .map(fact -> new Object[] {text(fact.getKey()), text(fact.getValue())})
          .map(GenericInternalRow::new)
          .toArray(InternalRow[]::new);
    }

    private static UTF8String text(String value) {
      return UTF8String.fromString(value);
    }
  }
}
