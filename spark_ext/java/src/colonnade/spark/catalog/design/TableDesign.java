package colonnade.spark.catalog.design;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Notices;
import colonnade.planner.Planner;
import colonnade.planner.messages.Clauses;
import colonnade.planner.messages.Clauses.Constraint;
import colonnade.planner.messages.Clauses.Default;
import colonnade.planner.messages.Clauses.Design;
import colonnade.planner.messages.Clauses.Identity;
import colonnade.planner.messages.Clauses.Layout;
import colonnade.planner.messages.Clauses.LayoutField;
import colonnade.planner.messages.Writes.RefuseTableOptions;
import colonnade.spark.quirks.statement.Caller;
import colonnade.spark.quirks.statement.RunningStatement;
import colonnade.spark.table.StatedLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;

/**
 * The table that a CREATE or REPLACE statement describes, in the planner's terms.
 *
 * @param schema the declared columns with comments, NOT NULL, char and varchar
 * @param layout the fields of PARTITIONED BY, and the columns of CLUSTER BY or SORTED BY
 * @param constraints the CHECK constraints
 * @param properties the properties that the user has set
 * @param location the LOCATION of the statement, or null
 * @param defaults the defaults of columns, by name
 * @param identities what the identity columns state, by name
 * @param generated the expressions of generated columns
 * @param options the options of the statement, which apply to the rows that it writes
 */
public record TableDesign(
    StructType schema,
    Layout layout,
    List<Constraint> constraints,
    Map<String, String> properties,
    String comment,
    String location,
    Map<String, Default> defaults,
    Map<String, Identity> identities,
    List<Clauses.Generated> generated,
    Map<String, String> options) {
  public static final String PROVIDER = "colonnade";

  private static final String CLUSTER_BY = "cluster_by";
  private static final String PRIMARY_KEY = "primaryKey";
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

  /** Whether a provider is Colonnade, in any case. */
  public static boolean isOurs(String provider) {
    return PROVIDER.equalsIgnoreCase(provider);
  }

  /** Returns the comment and the properties of a table that its user has set. */
  static Map<String, String> ofUser(Map<String, String> properties) {
    Map<String, String> given = new HashMap<>(properties);
    given.keySet().removeIf(key -> NOT_OURS.contains(key) && !key.equals(TableCatalog.PROP_COMMENT));
    return given;
  }

  /** Reads a statement. Refuses features that Colonnade tables do not have. */
  public static TableDesign of(TableInfo info) {
    Map<String, String> given = info.properties();
    refuseOther(given.getOrDefault(TableCatalog.PROP_PROVIDER, PROVIDER));
    refuseHive(given.keySet());
    refuseNowhere(given);
    Map<String, String> properties = new HashMap<>(given);
    properties.keySet().removeIf(key -> given.containsKey(OPTION + key) || key.startsWith(OPTION));
    properties.keySet().removeAll(NOT_OURS);
    Constraints.primaryKey(info.constraints())
        .ifPresent(columns -> statePrimaryKey(properties, columns));
    return new TableDesign(
        info.schema(),
        layout(info.partitions()),
        Constraints.of(info.constraints(), info.schema()),
        properties,
        given.get(TableCatalog.PROP_COMMENT),
        given.get(TableCatalog.PROP_LOCATION),
        ofStatement(() -> Defaults.of(info.columns())),
        ofStatement(() -> Identities.of(info.columns())),
        Generated.of(info.columns(), info.schema()),
        options(given));
  }

  /** Returns a layout in the planner's terms. */
  public static Layout layout(Transform... given) {
    return new Layout(partitioning(given), clusterBy(given));
  }

  /** Adds the primary key of a statement to the properties, where the planner reads it. */
  private static void statePrimaryKey(Map<String, String> properties, String columns) {
    if (properties.putIfAbsent(PRIMARY_KEY, columns) != null) {
      throw ColonnadeException.invalid(
          "Give either PRIMARY KEY or the property " + PRIMARY_KEY + ", not both.");
    }
  }

  /** Users of {@code spark.catalog.createTable} pass the path as an option. */
  private static Map<String, String> options(Map<String, String> properties) {
    Map<String, String> options = new TreeMap<>();
    properties.forEach(
        (key, value) -> {
          if (key.startsWith(OPTION) && !key.equals(OPTION + "path")) {
            options.put(key.substring(OPTION.length()), value);
          }
        });
    return options;
  }

  /** Refuses options if the statement writes no rows, because a table does not keep them. */
  public void requireNoOptions() {
    if (!options.isEmpty()) {
      Planner.call(new RefuseTableOptions(options));
    }
  }

  /**
   * Refuses another format than Spark's default one. Spark names that one where the user of {@code
   * df.write.saveAsTable} has named none, so it counts as no choice, in SQL too.
   */
  private static void refuseOther(String provider) {
    if (provider.equalsIgnoreCase(PROVIDER)) {
      return;
    }
    if (provider.equalsIgnoreCase(SQLConf.get().defaultDataSourceName())) {
      if (Caller.isStatement()) {
        Notices.tell(
            "This catalog holds only Colonnade tables, so USING " + provider + " has no effect; leave"
                + " it out.");
      }
    } else {
      throw ColonnadeException.invalid(
          "This catalog holds only Colonnade tables, not tables of " + provider + "; leave out"
              + " USING.");
    }
  }

  /** Spark passes STORED AS and ROW FORMAT to catalogs as options with these names. */
  private static void refuseHive(Set<String> properties) {
    if (properties.stream().anyMatch(key -> key.startsWith(HIVE))) {
      throw ColonnadeException.invalid(
          "The file format of a Colonnade table cannot be chosen; leave out STORED AS and ROW"
              + " FORMAT.");
    }
  }

  private static void refuseNowhere(Map<String, String> properties) {
    if (properties.containsKey(TableCatalog.PROP_EXTERNAL)
        && !properties.containsKey(TableCatalog.PROP_LOCATION)) {
      throw ColonnadeException.invalid("An EXTERNAL table needs a LOCATION; leave out EXTERNAL.");
    }
  }

  /**
   * Returns what the columns of the statement declare. Columns of a query carry declarations of the
   * tables that it reads; these do not count.
   */
  private static <T> Map<String, T> ofStatement(Supplier<Map<String, T>> declared) {
    return RunningStatement.createsFromQuery() ? Map.of() : declared.get();
  }

  private static List<List<String>> clusterBy(Transform[] given) {
    return Arrays.stream(given)
        .flatMap(TableDesign::orderedBy)
        .map(reference -> List.of(reference.fieldNames()))
        .toList();
  }

  private static Stream<NamedReference> orderedBy(Transform transform) {
    // Some versions of Spark show CLUSTER BY in SHOW CREATE TABLE as PARTITIONED BY
    // (cluster_by(...)).
    return transform.name().equals(CLUSTER_BY)
        ? Arrays.stream(transform.references())
        : StatedLayout.order(transform);
  }

  private static List<LayoutField> partitioning(Transform[] given) {
    return Arrays.stream(given)
        .filter(transform -> !transform.name().equals(CLUSTER_BY))
        .map(StatedLayout::withoutOrder)
        .map(TableDesign::partitionField)
        .toList();
  }

  /**
   * Returns a transform in the planner's terms. The planner checks that the transform exists and
   * fits the column.
   */
  private static LayoutField partitionField(Transform transform) {
    List<List<String>> columns = new ArrayList<>();
    List<Long> arguments = new ArrayList<>();
    for (Expression argument : transform.arguments()) {
      if (argument instanceof NamedReference reference) {
        columns.add(List.of(reference.fieldNames()));
      } else if (argument instanceof Literal<?> literal) {
        arguments.add(wholeNumber(literal, transform));
      }
    }
    if (columns.size() != 1 || arguments.size() > 1) {
      throw refusal(transform);
    }
    Long argument = arguments.isEmpty() ? null : arguments.get(0);
    return new LayoutField(transform.name(), columns.get(0), argument);
  }

  private static Long wholeNumber(Literal<?> literal, Transform transform) {
    Object value = literal.value();
    if (value instanceof Byte
        || value instanceof Short
        || value instanceof Integer
        || value instanceof Long) {
      return ((Number) value).longValue();
    }
    throw refusal(transform);
  }

  private static RuntimeException refusal(Transform transform) {
    return ColonnadeException.invalid(
        "A partition transform takes one column and at most one whole number, as in bucket(16, id),"
            + " not "
            + transform.describe() + ".");
  }

  /** Returns the message for the planner. With {@code replace}, an existing table is replaced. */
  public Design forPlanner(boolean replace) {
    return new Design(
        schema.json(), layout, constraints, properties, comment, defaults, identities, generated,
        replace, SQLConf.get().caseSensitiveAnalysis());
  }
}
