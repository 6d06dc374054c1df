package colonnade.catalog;

import colonnade.planner.ColonnadeException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;

/**
 * The table that a CREATE or REPLACE statement describes, in the planner's words.
 *
 * @param schema columns with comments, NOT NULL, char and varchar as they were declared
 * @param clusterBy columns of CLUSTER BY
 * @param properties those of the user
 * @param location of the statement, or null
 * @param options of the statement, which concern the rows that it writes
 */
record TableDesign(
    StructType schema,
    List<String> clusterBy,
    Map<String, String> properties,
    String comment,
    String location,
    Set<String> options) {
  static final String PROVIDER = "colonnade";

  private static final String CLUSTER_BY = "cluster_by";
  private static final String OPTION = TableCatalog.OPTION_PREFIX;
  private static final String HIVE = "hive.";
  private static final Set<String> NOT_OURS =
      Set.of(
          TableCatalog.PROP_LOCATION,
          TableCatalog.PROP_IS_MANAGED_LOCATION,
          TableCatalog.PROP_EXTERNAL,
          TableCatalog.PROP_TABLE_TYPE,
          TableCatalog.PROP_COMMENT,
          TableCatalog.PROP_PROVIDER,
          TableCatalog.PROP_OWNER);

  /** What carries out SQL texts: sessions, Spark Connect, and {@code spark-sql}. */
  private static final Set<String> STATEMENTS =
      Set.of(
          "org.apache.spark.sql.classic.SparkSession.sql",
          "org.apache.spark.sql.connect.planner.SparkConnectPlanner.handleSqlCommand",
          "org.apache.spark.sql.hive.thriftserver.SparkSQLDriver.run");

  /** Reads a statement. Refuses what no Colonnade table can have. */
  static TableDesign of(TableInfo info) {
    Map<String, String> given = info.properties();
    refuseOther(given.getOrDefault(TableCatalog.PROP_PROVIDER, PROVIDER));
    refuseHive(given.keySet());
    Map<String, String> properties = new HashMap<>(given);
    properties.keySet().removeIf(key -> given.containsKey(OPTION + key) || key.startsWith(OPTION));
    properties.keySet().removeAll(NOT_OURS);
    return new TableDesign(
        info.schema(),
        clusterBy(info.partitions()),
        properties,
        given.get(TableCatalog.PROP_COMMENT),
        given.get(TableCatalog.PROP_LOCATION),
        options(given.keySet()));
  }

  /** The path is one for those who call {@code spark.catalog.createTable}. */
  private static Set<String> options(Set<String> properties) {
    return properties.stream()
        .filter(key -> key.startsWith(OPTION) && !key.equals(OPTION + "path"))
        .map(key -> key.substring(OPTION.length()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Refuses options where no rows are written: a table keeps none. */
  void requireNoOptions() {
    if (!options.isEmpty()) {
      throw refusal(
          "A table keeps no options, here " + String.join(", ", options) + "; give them to each"
              + " read or write.");
    }
  }

  private static void refuseOther(String provider) {
    boolean unsaid =
        provider.equalsIgnoreCase(SQLConf.get().defaultDataSourceName()) && !isStatement();
    if (!provider.equalsIgnoreCase(PROVIDER) && !unsaid) {
      throw refusal(
          "This catalog holds Colonnade tables only, none of " + provider + "; leave out USING.");
    }
  }

  /** STORED AS and ROW FORMAT reach catalogs as options of these names. */
  private static void refuseHive(Set<String> properties) {
    if (properties.stream().anyMatch(key -> key.startsWith(HIVE))) {
      throw refusal(
          "A Colonnade table has no file format to choose; leave out STORED AS and ROW FORMAT.");
    }
  }

  /**
   * Whether a SQL text is carried out and not {@code df.write.saveAsTable}, say: where no format
   * was chosen, such methods name Spark's default one, and nothing that they pass on tells it from
   * one that a statement chose.
   */
  private static boolean isStatement() {
    return StackWalker.getInstance()
        .walk(frames -> frames.map(TableDesign::method).anyMatch(STATEMENTS::contains));
  }

  private static String method(StackWalker.StackFrame frame) {
    return frame.getClassName() + "." + frame.getMethodName();
  }

  private static List<String> clusterBy(Transform[] partitions) {
    List<String> columns = new ArrayList<>();
    for (Transform transform : partitions) {
      // SHOW CREATE TABLE of some versions writes it as PARTITIONED BY (cluster_by(...)).
      if (!transform.name().equals(CLUSTER_BY)) {
        throw refusal(
            "Colonnade has no partitions, here " + transform + "; use CLUSTER BY, whose columns"
                + " become the sort key.");
      }
      for (NamedReference reference : transform.references()) {
        columns.add(String.join(".", reference.fieldNames()));
      }
    }
    return columns;
  }

  private static RuntimeException refusal(String sentence) {
    return ColonnadeException.unchecked("COLONNADE_INVALID_INPUT", sentence);
  }

  /** As the planner takes it; with {@code replace}, a table that may be there is replaced. */
  Map<String, Object> forPlanner(boolean replace) {
    Map<String, Object> design = new HashMap<>();
    design.put("schema", schema.json());
    design.put("cluster_by", clusterBy);
    design.put("properties", properties);
    design.put("comment", comment);
    design.put("replace", replace);
    return design;
  }
}
