package colonnade.spark.catalog.design;

import colonnade.planner.ColonnadeException;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;

/**
 * What only Colonnade tables have in {@code spark_catalog}. Spark's catalog would drop it from a table
 * of another format.
 */
public final class OwnFeatures {
  private OwnFeatures() {}

  /** Returns the capabilities of a catalog with such tables. */
  public static Set<TableCatalogCapability> with(Set<TableCatalogCapability> others) {
    Set<TableCatalogCapability> all = new TreeSet<>(others);
    all.add(TableCatalogCapability.SUPPORT_TABLE_CONSTRAINT);
    all.add(TableCatalogCapability.SUPPORTS_CREATE_TABLE_WITH_IDENTITY_COLUMNS);
    all.add(TableCatalogCapability.SUPPORTS_CREATE_TABLE_WITH_GENERATED_COLUMNS);
    return all;
  }

  /** Refuses a new table of another format that states them. */
  public static void refuse(TableInfo info) {
    refuse(info.constraints().length > 0, "constraints");
    refuse(!Identities.of(info.columns()).isEmpty(), "identity columns");
    refuse(
        Arrays.stream(info.columns()).anyMatch(each -> each.generationExpression() != null),
        "generated columns");
  }

  /** Refuses to alter them in a table of another format. */
  public static void refuse(TableChange... changes) {
    boolean alters =
        Stream.of(changes)
            .anyMatch(
                each ->
                    each instanceof TableChange.AddConstraint
                        || each instanceof TableChange.DropConstraint);
    refuse(alters, "constraints");
  }

  private static void refuse(boolean states, String what) {
    if (states) {
      throw ColonnadeException.invalid(
          "In spark_catalog only Colonnade tables can have %s.", what);
    }
  }
}
