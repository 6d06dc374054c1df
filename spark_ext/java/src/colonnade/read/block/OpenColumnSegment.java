package colonnade.read.block;

import colonnade.encodings.Encodings;
import colonnade.format.Malformed;
import colonnade.format.Slice;
import colonnade.format.TableField;
import colonnade.format.rowset.BlockEntry;
import colonnade.format.rowset.ColumnSegment;
import colonnade.format.rowset.Footer;
import colonnade.format.rowset.SparseIndex;
import colonnade.format.rowset.Statistics;
import colonnade.read.block.RowSetSource.Extent;
import colonnade.read.vector.Adapt;
import colonnade.store.StoreException;
import com.github.luben.zstd.ZstdDecompressCtx;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The blocks of one column of an open RowSet. Stretch i is the rows between two neighbouring cuts.
 * It has the blocks from {@code atCut[i]} up to, but not including, {@code atCut[i + 1]}.
 *
 * @param wanted the column of the table
 * @param column the column as the RowSet has it; it differs if the column's type has widened since
 */
public record OpenColumnSegment(TableField wanted, TableField column, RowSetSource source,
    String name, String location, long offset, long filterOffset, SparseIndex index,
    int[] atCut) {

  /** Loads the index of a column; returns null if the RowSet does not have the column. */
  public static OpenColumnSegment open(
      TableField wanted, Footer footer, RowSetSource source, long[] cuts) throws IOException {
    ColumnSegment found = footer.columns().get(wanted.id());
    if (found == null) {
      return null;
    }
    String name = source.columnSegmentName(wanted.id());
    String location = source.locate(name);
    TableField column = wanted.stored(found.type());
    if (column == null) {
      throw damaged(
          wanted,
          location,
          "the footer states the type '" + found.type() + "', which is not its type",
          null);
    }
    SparseIndex index;
    try {
      index = index(column, found, footer, source);
    } catch (Malformed error) {
      throw damaged(column, location, error.getMessage(), error);
    }
    for (BlockEntry entry : index.entries()) {
      if (!Encodings.isKnown(entry.encoding())) {
        throw StoreException.unsupported(
            "Column '" + column.name() + "' (id " + column.id() + ") in " + location
                + " holds the encoding '" + entry.encoding()
                + "', which this version does not know: upgrade Colonnade.");
      }
    }
    int blocks = index.entries().size();
    if (index.firstRows()[blocks] != footer.rows()
        || index.offsets()[blocks] != found.length()
        || index.filterOffsets()[blocks] != found.filterLength()) {
      throw damaged(
          column, location, "its index describes other rows or bytes than the footer", null);
    }
    int[] atCut = new int[cuts.length];
    for (int i = 0; i < cuts.length; i++) {
      atCut[i] = Arrays.binarySearch(index.firstRows(), cuts[i]);
      if (atCut[i] < 0) {
        throw damaged(column, location, "a block lies across a cut", null);
      }
    }
    return new OpenColumnSegment(
        wanted, column, source, name, location, found.offset(), found.filterOffset(), index,
        atCut);
  }

  private static SparseIndex index(
      TableField column, ColumnSegment found, Footer footer, RowSetSource source)
      throws IOException, Malformed {
    ColumnSegment.Extent extent = found.index();
    if ((extent == null) == (found.block() == null)) {
      throw new Malformed("the footer must name either an index or a block");
    }
    if (extent == null) {
      return SparseIndex.of(List.of(found.entry(footer.rows(), column)));
    }
    String name = source.indexName(column.id());
    Slice data = source.read(name, List.of(new Extent(extent.offset(), extent.length()))).get(0);
    if (data.crc32c() != extent.crc32c()) {
      throw new Malformed("the index in " + source.locate(name) + " is damaged");
    }
    try (ZstdDecompressCtx zstd = new ZstdDecompressCtx()) {
      return SparseIndexReader.decode(data, column.order(), found.hasFilters(), zstd);
    } catch (Malformed error) {
      throw new Malformed("the index in " + source.locate(name) + ": " + error.getMessage(), error);
    }
  }

  public static IOException damaged(
      TableField column, String location, String problem, Malformed cause) {
    return StoreException.corruption(
        "Column '" + column.name() + "' (id " + column.id() + ") in " + location + " is damaged: "
            + problem + ".",
        cause);
  }

  /** Returns the error for a damaged block. It names the block's number and rows. */
  public IOException damaged(int block, Malformed cause) {
    long[] rows = index.firstRows();
    String problem =
        "block " + block + " (rows " + rows[block] + " to " + (rows[block + 1] - 1) + "): "
            + cause.getMessage();
    return damaged(column, location, problem, cause);
  }

  /** Returns the position in the object of the blocks of a stretch. */
  public Extent extent(int cut) {
    long start = index.offsets()[atCut[cut]];
    return new Extent(offset + start, index.offsets()[atCut[cut + 1]] - start);
  }

  /** Whether at least one block has a Bloom filter. */
  public boolean hasFilters() {
    return filterLength(0, atCut.length - 1) > 0;
  }

  /** Returns the number of bytes of the Bloom filters of a stretch. */
  public long filterLength(int cut) {
    return filterLength(cut, cut + 1);
  }

  private long filterLength(int cut, int end) {
    return index.filterOffsets()[atCut[end]] - index.filterOffsets()[atCut[cut]];
  }

  /**
   * Reads the Bloom filters of stretches. Requires: {@code cuts} ascends. Returns for each stretch
   * one filter for each block, or null for a block without a filter.
   */
  public Map<Integer, List<byte[]>> filters(List<Integer> cuts) throws IOException {
    List<Extent> extents =
        cuts.stream()
            .map(cut -> new Extent(
                filterOffset + index.filterOffsets()[atCut[cut]], filterLength(cut)))
            .toList();
    List<Slice> data = source.read(source.indexName(column.id()), extents);
    Map<Integer, List<byte[]>> found = new HashMap<>();
    for (int i = 0; i < data.size(); i++) {
      int cut = cuts.get(i);
      List<byte[]> filters = new ArrayList<>();
      int at = 0;
      for (int block = atCut[cut]; block < atCut[cut + 1]; block++) {
        int length = (int) index.entries().get(block).filterLength();
        filters.add(length == 0 ? null : verified(block, data.get(i).part(at, length)));
        at += length;
      }
      found.put(cut, filters);
    }
    return found;
  }

  private byte[] verified(int block, Slice filter) throws IOException {
    if (filter.crc32c() != index.entries().get(block).filterCrc32c()) {
      String name = source.locate(source.indexName(column.id()));
      throw damaged(
          column,
          location,
          "block " + block + ": its Bloom filter in " + name + " does not match its checksum",
          null);
    }
    int end = filter.offset() + filter.length();
    return Arrays.copyOfRange(filter.array(), filter.offset(), end);
  }

  /**
   * Returns the statistics of a stretch of {@code rows} rows, or null if they are unknown. {@code
   * segment} is null if the RowSet does not have the column.
   */
  public static Statistics statistics(
      OpenColumnSegment segment, TableField wanted, int cut, long rows) {
    return segment == null
        ? Adapt.absentStatistics(wanted, rows)
        : Adapt.statistics(Statistics.merge(segment.entries(cut)), segment.column, wanted);
  }

  private List<BlockEntry> entries(int cut) {
    return index.entries().subList(atCut[cut], atCut[cut + 1]);
  }
}
