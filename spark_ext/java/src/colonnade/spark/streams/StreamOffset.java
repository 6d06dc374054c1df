package colonnade.spark.streams;

import org.apache.spark.sql.connector.read.streaming.Offset;

/** How far a stream has read, in the planner's JSON. Offsets with the same text are equal. */
final class StreamOffset extends Offset {
  /**
   * Where a stream is that has no checkpoint. The planner says where it begins. Spark stores it
   * nowhere, so no text means it.
   */
  static final StreamOffset BEGINNING = new StreamOffset("{}");

  private final String json;

  StreamOffset(String json) {
    this.json = json;
  }

  /** Returns what the planner takes as a start: null for the beginning. */
  static String start(Offset offset) {
    return offset == BEGINNING ? null : offset.json();
  }

  @Override
  public String json() {
    return json;
  }
}
