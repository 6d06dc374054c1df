package colonnade.spark.catalog.design;

import colonnade.planner.messages.Clauses.Identity;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.IdentityColumnSpec;

/** Identity columns of statements in the planner's terms. */
final class Identities {
  private Identities() {}

  /** Returns what the identity columns state, by name. */
  static Map<String, Identity> of(Column[] columns) {
    Map<String, Identity> found = new HashMap<>();
    for (Column column : columns) {
      IdentityColumnSpec stated = column.identityColumnSpec();
      if (stated != null) {
        found.put(
            column.name(),
            new Identity(
                Long.toString(stated.getStart()),
                Long.toString(stated.getStep()),
                !stated.isAllowExplicitInsert()));
      }
    }
    return found;
  }
}
