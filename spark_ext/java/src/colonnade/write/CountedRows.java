package colonnade.write;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;

/** Counts the rows that a query finds, by RowSet. */
public final class CountedRows {
  private CountedRows() {}

  /** Runs a query whose only column is row handlers. */
  public static Map<Long, Long> of(JavaRDD<InternalRow> handlers) {
    FlatMapFunction<Iterator<InternalRow>, HashMap<Long, Long>> count =
        rows -> List.of(counted(rows)).iterator();
    Map<Long, Long> all = new HashMap<>();
    for (Map<Long, Long> task : handlers.mapPartitions(count).collect()) {
      task.forEach((rowset, rows) -> all.merge(rowset, rows, Long::sum));
    }
    return all;
  }

  private static HashMap<Long, Long> counted(Iterator<InternalRow> handlers) {
    HashMap<Long, Long> counts = new HashMap<>();
    long rowset = -1;
    long rows = 0;
    while (handlers.hasNext()) {
      long own = handlers.next().getLong(0) >>> 32;
      if (own != rowset) {
        counts.merge(rowset, rows, Long::sum);
        rowset = own;
        rows = 0;
      }
      rows++;
    }
    counts.merge(rowset, rows, Long::sum);
    counts.remove(-1L);
    return counts;
  }
}
