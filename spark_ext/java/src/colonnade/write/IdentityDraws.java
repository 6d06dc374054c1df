package colonnade.write;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * How many values of identity columns a task asks for, as Python has decided.
 *
 * @param waitingRows the most rows that wait for the first values of a task
 * @param leastAhead the fewest values of a draw for rows that are not known yet
 * @param mostAhead the most values of such a draw
 * @param aheadShare such a draw has the values that the task has used, divided by this number
 */
record IdentityDraws(int waitingRows, long leastAhead, long mostAhead, long aheadShare) {
  static IdentityDraws parse(JsonNode draws) {
    return new IdentityDraws(
        draws.get("waiting_rows").intValue(),
        draws.get("least_ahead").longValue(),
        draws.get("most_ahead").longValue(),
        draws.get("ahead_share").longValue());
  }

  /** Returns the values of a draw for unknown rows, if the task has used {@code taken} values. */
  long ahead(long taken) {
    return Math.min(Math.max(taken / aheadShare, leastAhead), mostAhead);
  }
}
