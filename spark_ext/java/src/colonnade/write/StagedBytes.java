package colonnade.write;

/** The bytes of variable length that all columns of a task have staged since the last cut. */
final class StagedBytes {
  long total;
}
