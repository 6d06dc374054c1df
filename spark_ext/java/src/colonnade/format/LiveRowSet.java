package colonnade.format;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * One live RowSet of a table.
 *
 * @param epoch the epoch that added the RowSet
 */
public record LiveRowSet(long id, long epoch, RowSetEntry entry, Amendments amendments) {
  /** Reads a RowSet of a plan. Requires: the driver has validated all values from the log. */
  public static LiveRowSet parse(JsonNode rowset) {
    JsonNode entry = rowset.get("entry");
    return new LiveRowSet(
        rowset.get("id").longValue(),
        rowset.get("epoch").longValue(),
        RowSetEntry.parse(entry),
        Amendments.parse(rowset.path("amendments"), entry));
  }
}
