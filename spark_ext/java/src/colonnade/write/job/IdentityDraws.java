package colonnade.write.job;


/**
 * How many values of identity columns a task asks for, as Python has decided.
 *
 * @param waitingRows the most rows that wait for the first values of a task
 * @param leastAhead the fewest values of a draw for rows that are not known yet
 * @param mostAhead the most values of such a draw
 * @param aheadShare such a draw has the values that the task has used, divided by this number
 */
public record IdentityDraws(int waitingRows, long leastAhead, long mostAhead, long aheadShare) {
  /** Returns the values of a draw for unknown rows, if the task has used {@code taken} values. */
  public long ahead(long taken) {
    return Math.min(Math.max(taken / aheadShare, leastAhead), mostAhead);
  }
}
