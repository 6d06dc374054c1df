package colonnade.spark.words;

import java.util.Optional;

/** Statements of Delta Lake that Colonnade does not have, and what to do instead. */
final class ForeignWords {
  private static final String REORG =
      "Colonnade has no REORG TABLE: OPTIMIZE %s FULL removes its deleted rows.";

  private static final String GENERATE =
      "Table %s has no Parquet files that GENERATE could list: other engines read it as Arrow, which"
          + " colonnade.open gives them.";

  static final String CONVERT =
      "Colonnade converts no table in its place: copy it by CREATE TABLE t USING colonnade AS"
          + " SELECT, or by the command colonnade import.";

  private static final String LEAVE =
      "Table %s cannot be converted in its place: copy it by CREATE TABLE t USING delta AS SELECT.";

  private static final String CLONE =
      "Table %s cannot be cloned: CREATE TABLE t AS SELECT copies its rows, and CALL"
          + " colonnade.system.tag keeps its present state.";

  private ForeignWords() {}

  /** Returns the sentence for a statement about a table of Colonnade; nothing for another text. */
  static Optional<String> advice(Tokens in) {
    if (in.skip("REORG", "TABLE")) {
      return about(in, REORG);
    } else if (in.skip("GENERATE")) {
      return !in.name().isEmpty() && in.skip("FOR", "TABLE") ? about(in, GENERATE) : none();
    } else if (in.skip("CONVERT", "TO")) {
      return in.skip("COLONNADE") ? Optional.of(CONVERT) : in.name().isEmpty() ? none() : about(in, LEAVE);
    }
    return createsTable(in) ? clone(in) : none();
  }

  private static Optional<String> none() {
    return Optional.empty();
  }

  private static Optional<String> about(Tokens in, String sentence) {
    return Maintenance.table(in).map(table -> sentence.formatted(table.name()));
  }

  private static boolean createsTable(Tokens in) {
    in.skip("CREATE", "OR");
    boolean creates = in.skip("CREATE", "TABLE") || in.skip("REPLACE", "TABLE");
    in.skip("IF", "NOT", "EXISTS");
    return creates;
  }

  /** Either table may be one of Colonnade. */
  private static Optional<String> clone(Tokens in) {
    Optional<String> target = about(in, CLONE);
    in.skip("SHALLOW");
    in.skip("DEEP");
    return in.skip("CLONE") ? about(in, CLONE).or(() -> target) : none();
  }
}
