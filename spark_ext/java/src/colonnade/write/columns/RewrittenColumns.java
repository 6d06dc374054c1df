package colonnade.write.columns;

import java.util.ArrayList;
import java.util.List;

/**
 * What the tasks of {@link ColumnRewrite} return.
 *
 * @param reports the reports of the tasks for the planner
 * @param wide the ids of RowSets whose new values are too wide for their cuts. Nothing was written of
 *     them, so their changed rows must move
 */
public record RewrittenColumns(List<String> reports, List<Long> wide) {
  /** Sorts the texts of tasks. The driver can read texts from a task, but not classes of this jar. */
  static RewrittenColumns of(List<String> texts) {
    List<String> reports = new ArrayList<>();
    List<Long> wide = new ArrayList<>();
    for (String text : texts) {
      if (text.startsWith("[")) {
        reports.add(text);
      } else {
        wide.add(Long.parseLong(text));
      }
    }
    return new RewrittenColumns(reports, wide);
  }
}
