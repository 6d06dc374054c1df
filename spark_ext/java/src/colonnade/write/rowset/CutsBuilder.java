package colonnade.write.rowset;

import colonnade.format.rowset.Cuts;
import java.util.ArrayList;
import java.util.List;

/** Collects the cuts of a RowSet that is being written. */
public final class CutsBuilder {
  private final int regular;
  private final Cuts known;
  private final List<Long> ends = new ArrayList<>();

  /** Creates a builder. {@code regular} is the distance between cuts unless rows are wide. */
  public CutsBuilder(int regular) {
    this(regular, null);
  }

  /** Creates a builder for cuts that are known; {@link #add} must repeat them. */
  public CutsBuilder(int regular, Cuts known) {
    this.regular = regular;
    this.known = known;
  }

  /** Adds a cut after the next {@code rows} rows. */
  void add(int rows) {
    ends.add(rows() + rows);
  }

  /** Returns the number of rows before the last cut. */
  long rows() {
    return ends.isEmpty() ? 0 : ends.get(ends.size() - 1);
  }

  /**
   * Returns the cuts so far, as one distance if they all have the same. Requires: at least one cut.
   */
  Cuts build() {
    if (known != null) {
      return known;
    }
    if (!isRegular()) {
      return new Cuts(0, List.copyOf(ends));
    }
    return Cuts.every(ends.size() == 1 ? regular : ends.get(0));
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
