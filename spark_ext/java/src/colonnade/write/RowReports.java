package colonnade.write;

import colonnade.format.rowset.JsonRecords;
import colonnade.format.rowset.RowNumbers;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;

/** Reports the rows that a query finds, as tasks report deleted rows. */
public final class RowReports {
  private RowReports() {}

  /** Runs a query whose only column is row handlers. Returns the report of each of its tasks. */
  public static List<String> of(Dataset<Row> handlers) {
    MapPartitionsFunction<Row, String> report = rows -> List.of(report(rows)).iterator();
    return handlers.mapPartitions(report, Encoders.STRING()).collectAsList();
  }

  private static String report(Iterator<Row> handlers) {
    RowNumbers found = new RowNumbers();
    handlers.forEachRemaining(row -> found.add(row.getLong(0)));
    byte[] json = JsonRecords.write(TaskReport.of(RowWriter.Written.NOTHING, found));
    return new String(json, StandardCharsets.UTF_8);
  }
}
