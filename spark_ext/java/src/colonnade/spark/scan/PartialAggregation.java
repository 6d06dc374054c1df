package colonnade.spark.scan;

import colonnade.planner.messages.Queries.ColumnSummary;
import colonnade.planner.messages.Queries.PlannedScan;
import colonnade.read.aggregates.AggregatingReaderFactory;
import colonnade.read.aggregates.TaskAggregate;
import colonnade.read.aggregates.TaskAggregate.Function;
import colonnade.spark.table.PartitionKeys;
import colonnade.spark.table.TableAtEpoch;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.expressions.aggregate.Avg;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportPartitioning;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.partitioning.Partitioning;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Aggregates over a whole table. Each task computes a partial result over its own rows.
 * Spark combines the partial results and does not process the rows one by one.
 */
record PartialAggregation(
    String description, StructType readSchema, List<TaskAggregate> aggregates, ColonnadeBatch tasks)
    implements SupportsReportStatistics, SupportsReportPartitioning, Batch {

  /** For decimals with fewer digits, Spark computes averages in doubles. */
  private static final int EXACT_AVERAGE_DIGITS = 12;

  /** The cost of one part of a sum, as a number of rows. */
  private static final BigDecimal ROWS_A_PART = BigDecimal.valueOf(4);

  /**
   * Returns the aggregation by tasks. Returns nothing if Spark would not compute exactly the same
   * from the partial results as from the rows.
   */
  static Optional<PartialAggregation> of(TableAtEpoch table, Aggregation aggregation) {
    StructType columns = new StructType();
    StructType results = new StructType();
    List<TaskAggregate> aggregates = new ArrayList<>();
    for (AggregateCall call : AggregateCall.of(aggregation, table.schema())) {
      StructField column = call.column();
      if (column != null && columns.getFieldIndex(column.name()).isEmpty()) {
        columns = columns.add(column);
      }
      TaskAggregate share =
          column == null
              ? TaskAggregate.COUNT_ROWS
              : new TaskAggregate(
                  call.function(), columns.fieldIndex(column.name()), column.dataType());
      if (!share.isExact()) {
        return Optional.empty();
      }
      aggregates.add(share);
      results = results.add(call.text(), share.resultType());
    }
    StructField[] fields = columns.fields();
    ScanRequest request =
        new ScanRequest(table.view(), table.schema(), columns, List.of(), null, null);
    ColonnadeBatch tasks = new ColonnadeBatch(request, PartitionKeys.NONE, false);
    // Spark adds up the counts of tasks. Without tasks the sum would be NULL instead of 0.
    if (aggregates.isEmpty()
        || tasks.plan().tasks().isEmpty()
        || !aggregates.stream().allMatch(share -> isShort(share, fields, tasks.plan()))) {
      return Optional.empty();
    }
    String description = table.describe() + ", in each task " + results.simpleString();
    return Optional.of(new PartialAggregation(description, results, aggregates, tasks));
  }

  /**
   * Whether a partial result has fewer parts than a task has rows. A decimal sum that exceeds its
   * type has several parts.
   */
  private static boolean isShort(TaskAggregate share, StructField[] columns, PlannedScan plan) {
    if (share.function() != Function.SUM || !(share.type() instanceof DecimalType type)) {
      return true;
    }
    ColumnSummary known = plan.columns().get(columns[share.column()].name());
    if (known == null) {
      return true;
    }
    LogColumn bounds = new LogColumn(known, type);
    BigDecimal limit = BigDecimal.TEN.pow(type.precision() - type.scale());
    return Stream.of(bounds.min(), bounds.max())
        .flatMap(Optional::stream)
        .map(bound -> ((Decimal) bound).toJavaBigDecimal().abs().multiply(ROWS_A_PART))
        .allMatch(bound -> bound.compareTo(limit) < 0);
  }

  /**
   * Whether each average equals a sum divided by a count, which Spark then requests instead. For
   * other types Spark averages in doubles, where the sum would be rounded differently or overflow.
   */
  static boolean keepsAverages(Aggregation aggregation, StructType schema) {
    return Arrays.stream(aggregation.aggregateExpressions())
        .filter(Avg.class::isInstance)
        .map(average -> AggregateCall.column(average.children()[0], schema))
        .allMatch(column -> column != null && keepsAverage(column));
  }

  private static boolean keepsAverage(StructField column) {
    return column.dataType() instanceof DecimalType decimal
        ? decimal.precision() >= EXACT_AVERAGE_DIGITS
        : column.dataType() instanceof DoubleType || column.dataType() instanceof FloatType;
  }

  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return ColumnarSupportMode.UNSUPPORTED;
  }

  /** Estimates one row for each task. */
  @Override
  public Statistics estimateStatistics() {
    long rows = tasks.plan().tasks().size();
    return new Statistics() {
      @Override
      public OptionalLong numRows() {
        return OptionalLong.of(rows);
      }

      @Override
      public OptionalLong sizeInBytes() {
        return OptionalLong.of(rows * readSchema.defaultSize());
      }
    };
  }

  @Override
  public Partitioning outputPartitioning() {
    return tasks.partitioning();
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public InputPartition[] planInputPartitions() {
    return tasks.planInputPartitions();
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new AggregatingReaderFactory(tasks.createReaderFactory(), aggregates);
  }
}
