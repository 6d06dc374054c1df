package colonnade.write.staged;

/** The bytes of variable length that all columns of a task have staged since the last cut. */
public final class StagedBytes {
  public long total;
}
