package colonnade.format;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The row numbers that no block of a RowSet lies across: where each stretch of rows ends. */
public final class Cuts {
  private final int regular;
  private final List<Long> ends = new ArrayList<>();

  /** {@code regular} is the distance that cuts have unless rows are wide. */
  public Cuts(int regular) {
    this.regular = regular;
  }

  public void add(int rows) {
    ends.add(rows() + rows);
  }

  /** Rows before the last cut. */
  public long rows() {
    return ends.isEmpty() ? 0 : ends.get(ends.size() - 1);
  }

  /** Write the field of the footer and the entry: one distance where cuts are regular. */
  void write(JsonGenerator json) throws IOException {
    if (isRegular()) {
      json.writeNumberField("cuts", ends.size() == 1 ? regular : ends.get(0));
      return;
    }
    json.writeArrayFieldStart("cuts");
    for (long end : ends) {
      json.writeNumber(end);
    }
    json.writeEndArray();
  }

  private boolean isRegular() {
    long distance = ends.get(0);
    for (int i = 1; i < ends.size() - 1; i++) {
      if (ends.get(i) != distance * (i + 1)) {
        return false;
      }
    }
    return rows() <= distance * ends.size();
  }
}
