package colonnade.spark.catalog.design;

import colonnade.planner.ColonnadeException;
import colonnade.planner.messages.Clauses;
import colonnade.spark.quirks.expressions.ReadColumns;
import colonnade.spark.quirks.tables.CheckCondition;
import colonnade.spark.quirks.tables.ContradictingRow;
import colonnade.spark.sink.ColonnadeTable;
import colonnade.spark.table.RowColumn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.catalog.constraints.Check;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.connector.catalog.constraints.PrimaryKey;
import org.apache.spark.sql.types.StructType;

/** Constraints of a statement in the planner's terms. Spark has checked their conditions. */
public final class Constraints {
  private Constraints() {}

  /** Returns the columns of the primary key of a new table, as the property that states it. */
  static Optional<String> primaryKey(Constraint[] constraints) {
    return Arrays.stream(constraints)
        .filter(PrimaryKey.class::isInstance)
        .flatMap(each -> Arrays.stream(((PrimaryKey) each).columns()))
        .map(column -> String.join(".", column.fieldNames()))
        .reduce((before, column) -> before + ", " + column);
  }

  /** Returns the CHECK constraints of a new table with the columns {@code schema}. */
  public static List<Clauses.Constraint> of(Constraint[] constraints, StructType schema) {
    List<Clauses.Constraint> described = new ArrayList<>();
    for (Constraint constraint : constraints) {
      if (!(constraint instanceof PrimaryKey)) {
        described.add(of(constraint, schema));
      }
    }
    return described;
  }

  /** Returns a constraint. Refuses every kind that is not enforced. */
  public static Clauses.Constraint of(Constraint constraint, StructType schema) {
    if (!(constraint instanceof Check check)) {
      throw ColonnadeException.invalid(
          "Constraint " + constraint.name() + " cannot be added: Colonnade tables have CHECK"
              + " constraints and a primary key, no unique or foreign keys. The property primaryKey"
              + " gives a table its primary key.");
    }
    if (!check.enforced()) {
      throw ColonnadeException.invalid(
          "Constraint " + check.name() + " cannot be added as NOT ENFORCED: Colonnade checks every"
              + " row; leave out NOT ENFORCED.");
    }
    Set<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    known.addAll(Arrays.asList(schema.fieldNames()));
    refuseOffered(check, schema);
    refuseVarying(check, schema);
    List<String> reads = List.copyOf(ReadColumns.of(check.predicateSql(), known));
    return new Clauses.Constraint(check.name(), check.predicateSql(), reads);
  }

  /** Refuses a condition on columns that Colonnade offers, because new rows do not have them. */
  private static void refuseOffered(Check check, StructType schema) {
    Set<String> offered =
        RowColumn.beside(schema).stream().map(RowColumn::name).collect(Collectors.toSet());
    for (String name : ReadColumns.of(check.predicateSql(), offered)) {
      throw ColonnadeException.invalid(
          "Constraint %s cannot read %s: rows have this column only when they are read; name"
              + " columns of the table itself.",
          check.name(), name);
    }
  }

  /** Refuses a condition whose answer for a row depends on the session or its time. */
  private static void refuseVarying(Check check, StructType schema) {
    if (new CheckCondition(check.predicateSql(), schema).isOfSession()) {
      throw ColonnadeException.invalid(
          "Constraint %s cannot be CHECK (%s): it depends on the session or its time; use"
              + " another condition.",
          check.name(), check.predicateSql());
    }
  }

  /** Returns the epoch of a table whose rows all meet a constraint; refuses it if one does not. */
  public static long checked(ColonnadeTable table, Constraint constraint) {
    String condition = ((Check) constraint).predicateSql();
    Set<String> columns = ReadColumns.of(condition, Set.of(table.schema().fieldNames()));
    Optional<String> values = ContradictingRow.find(table, condition, columns);
    if (values.isPresent()) {
      throw ColonnadeException.invalid(
          "Constraint %s cannot be added to table %s: CHECK (%s) does not hold for a row with"
              + " %s.",
          constraint.name(),
          table.path(),
          condition,
          values.get().isEmpty() ? "any values" : values.get());
    }
    return table.epoch();
  }
}
