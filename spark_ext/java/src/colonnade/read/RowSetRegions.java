package colonnade.read;

import colonnade.format.Malformed;
import colonnade.format.Region;
import colonnade.format.Regions;
import colonnade.format.TableField;
import colonnade.format.rowset.DeletionVector;
import colonnade.format.rowset.LiveRowSet;
import colonnade.read.block.OpenColumnSegment;
import colonnade.read.plan.RowSetScan;
import colonnade.store.StoreException;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.roaringbitmap.RoaringBitmap;

/**
 * The regions of one RowSet: those that hide rows, and those that mask values of a column. They go
 * by stored values, so a mask changes nothing about which rows are hidden.
 */
final class RowSetRegions {
  private final Regions hidden;
  /** The regions that mask values, by column id. */
  private final Map<Integer, List<Region>> masks = new HashMap<>();
  /** The rows of the masks. Columns with equal regions share one. */
  private final Map<List<Region>, RegionRows> rows = new HashMap<>();

  private final String url;
  private final LiveRowSet rowset;
  private Function<TableField, OpenColumnSegment> segments;
  private long[] cuts;

  /**
   * Takes the regions that concern some columns.
   *
   * @param url the store of the RowSet
   */
  RowSetRegions(String url, RowSetScan scan, List<TableField> columns) {
    this.url = url;
    rowset = scan.rowset();
    hidden = scan.hidden();
    for (TableField column : columns) {
      List<Region> own = scan.masks().get(column.id());
      if (own != null) {
        masks.put(column.id(), own);
      }
    }
  }

  /** Returns the columns by whose values rows are inside. */
  Set<TableField> columns() {
    Set<TableField> columns = new LinkedHashSet<>(hidden.columns());
    masks.values().forEach(each -> columns.addAll(RegionRows.columns(each)));
    return columns;
  }

  /**
   * Makes the columns known to all later calls. A column that the RowSet lacks is null.
   *
   * @throws IOException if a bound of a mask is damaged
   */
  void open(Function<TableField, OpenColumnSegment> segments, long[] cuts) throws IOException {
    this.segments = segments;
    this.cuts = cuts;
    for (List<Region> each : masks.values()) {
      if (!rows.containsKey(each)) {
        rows.put(each, rows(each));
      }
    }
  }

  private RegionRows rows(List<Region> regions) throws IOException {
    try {
      return new RegionRows(regions, segments, cuts);
    } catch (Malformed error) {
      throw StoreException.corruption(
          "A region of RowSet " + rowset.entry().object() + " is damaged: " + error.getMessage()
              + ".",
          error);
    }
  }

  /** Returns whether values of a column may be masked in a stretch. */
  boolean mayMask(int column, int cut) {
    List<Region> mask = masks.get(column);
    return mask != null && rows.get(mask).mayMeet(cut);
  }

  /**
   * Adds to the deleted rows, which may be null, the hidden rows of some stretches.
   *
   * @throws IOException if a bound of a region is damaged
   */
  DeletionVector hide(DeletionVector deleted, int[] stretches) throws IOException {
    if (hidden.isEmpty()) {
      return deleted;
    }
    RoaringBitmap found =
        HiddenRowCache.OF_PROCESS.find(
            url, rowset, hidden, stretches, open -> rows(hidden.parse()).find(open));
    return deleted == null ? DeletionVector.of(found) : deleted.with(found);
  }

  /**
   * Returns the masked rows of some stretches by column. The element of a column without any is
   * null.
   */
  RoaringBitmap[] masked(List<TableField> columns, int[] stretches) throws IOException {
    Map<List<Region>, RoaringBitmap> known = new HashMap<>();
    RoaringBitmap[] masked = new RoaringBitmap[columns.size()];
    for (int i = 0; i < masked.length; i++) {
      List<Region> mask = masks.get(columns.get(i).id());
      if (mask != null && !known.containsKey(mask)) {
        known.put(mask, rows.get(mask).find(stretches));
      }
      masked[i] = known.get(mask);
    }
    return masked;
  }
}
