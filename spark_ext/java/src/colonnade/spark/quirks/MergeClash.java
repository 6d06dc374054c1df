package colonnade.spark.quirks;

import colonnade.planner.ColonnadeException;
import colonnade.spark.table.TableAtEpoch;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The column for which Spark cannot tell how a {@code MERGE WITH SCHEMA EVOLUTION} is to change its
 * table. Spark itself shows both lists of columns, in an error that is not of its analysis.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code SparkException} where one of two types is nested, and on 4.1
 * also where one of them is void.
 */
final class MergeClash {
  private record Clash(String column, DataType own, DataType given) {}

  private MergeClash() {}

  /**
   * Returns the refusal of a statement whose analysis has failed; nothing if its table and its source
   * do not clash.
   */
  static Optional<ColonnadeException> refusal(
      LogicalPlan plan, MergeIntoTable merge, TableAtEpoch table) {
    return source(plan, merge)
        .flatMap(
            each ->
                clash("", table.schema(), each, false)
                    .or(() -> clash("", table.schema(), each, true)))
        .map(clash -> refusal(table, clash));
  }

  /** Returns the columns of the source; nothing if Spark cannot analyze it. */
  private static Optional<StructType> source(LogicalPlan plan, MergeIntoTable merge) {
    LogicalPlan source = merge.sourceTable();
    try {
      return Optional.of(
          EvolvingWrites.analyzed(
                  plan instanceof WithCTE with ? new WithCTE(source, with.cteDefs()) : source)
              .schema());
    } catch (Exception error) {
      if (error instanceof AnalysisException) {
        return Optional.empty();
      }
      throw error;
    }
  }

  /**
   * Returns the first column or field that is nested in one type and not in the other.
   *
   * @param voids whether a void column counts as nested
   */
  private static Optional<Clash> clash(String path, DataType own, DataType given, boolean voids) {
    if (own instanceof StructType mine && given instanceof StructType other) {
      return Arrays.stream(mine.fields())
          .map(field -> clash(path, field, other, voids))
          .flatMap(Optional::stream)
          .findFirst();
    }
    if (own instanceof ArrayType mine && given instanceof ArrayType other) {
      return clash(path + ".element", mine.elementType(), other.elementType(), voids);
    }
    if (own instanceof MapType mine && given instanceof MapType other) {
      return clash(path + ".key", mine.keyType(), other.keyType(), voids)
          .or(() -> clash(path + ".value", mine.valueType(), other.valueType(), voids));
    }
    boolean clashes = !Objects.equals(kind(own, voids), kind(given, voids));
    return clashes ? Optional.of(new Clash(path, own, given)) : Optional.empty();
  }

  private static Optional<Clash> clash(
      String path, StructField field, StructType given, boolean voids) {
    String name = path.isEmpty() ? field.name() : path + "." + field.name();
    return Arrays.stream(given.fields())
        .filter(each -> each.name().equalsIgnoreCase(field.name()))
        .findFirst()
        .flatMap(each -> clash(name, field.dataType(), each.dataType(), voids));
  }

  /** Returns the class of a type that counts as nested, or null. */
  private static Class<?> kind(DataType type, boolean voids) {
    boolean counts =
        type instanceof StructType
            || type instanceof ArrayType
            || type instanceof MapType
            || voids && type instanceof NullType;
    return counts ? type.getClass() : null;
  }

  private static ColonnadeException refusal(TableAtEpoch table, Clash clash) {
    String advice =
        clash.own instanceof NullType
            ? "give it a type by ALTER TABLE first"
            : "cast the column of the source to the type of the table";
    return new ColonnadeException(
        "COLONNADE_INVALID_INPUT",
        String.format(
            "Column '%s' of table %s is %s, and this MERGE cannot give it the type %s; %s.",
            clash.column,
            table.path(),
            clash.own.catalogString(),
            clash.given.catalogString(),
            advice));
  }
}
