package colonnade.write;

import colonnade.write.refusals.Refusal;
import java.io.IOException;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Predicate;

/**
 * A condition that every row of a write must meet.
 *
 * @param condition an expression of Spark that is bound to the columns of the rows
 * @param text the condition in readable form
 */
public record RowCheck(Expression condition, String text) implements Serializable {

  /** Returns a writer that refuses rows that do not meet the condition. */
  RowWriter before(RowWriter writer) {
    return new Checked(writer, Predicate.create(condition), text);
  }

  private record Checked(RowWriter writer, BasePredicate met, String text) implements RowWriter {

    @Override
    public void write(InternalRow row, long origin) throws IOException {
      require(row);
      writer.write(row, origin);
    }

    private void require(InternalRow row) {
      if (!met.eval(row)) {
        throw Refusal.invalid(
            "Some of the new rows do not meet the condition " + text + " whose rows they overwrite;"
                + " append them, or widen the condition.");
      }
    }

    @Override
    public Written finish() throws IOException {
      return writer.finish();
    }

    @Override
    public void abort() {
      writer.abort();
    }

    @Override
    public void close() {
      writer.close();
    }
  }
}
