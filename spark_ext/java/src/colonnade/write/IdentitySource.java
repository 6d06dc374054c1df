package colonnade.write;

import java.io.Serializable;

/** Where the tasks of a job get values of identity columns. Sent to executors with the writer. */
public interface IdentitySource extends Serializable {

  /** Values of a column: {@code first}, and {@code count - 1} more at the distance of its step. */
  record Values(long first, long count) {}

  /**
   * Returns at least one and at most {@code count} values that no other task of any job gets.
   *
   * @param column the id of the column
   * @param beyond the farthest value that the rows of this task bring; null if they bring none
   * @throws org.apache.spark.sql.AnalysisException naming the column, if its type has no more
   */
  Values draw(int column, long count, Long beyond);

  /** Tells the farthest value of a column that the rows of this task brought. */
  void given(int column, long farthest);
}
