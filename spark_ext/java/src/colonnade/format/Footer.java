package colonnade.format;

import colonnade.read.BlockEntry;
import colonnade.read.Segment;
import colonnade.read.SparseIndex;
import colonnade.read.Statistics;
import colonnade.store.StoreException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * Where every segment and index of a RowSet lies, by column id.
 *
 * <p>Spec: docs/spec/rowset.md#footer
 */
public record Footer(long rows, JsonNode cuts, Map<Integer, Segment> columns) {
  /** No footer is larger, in bytes. */
  public static final long LIMIT = 1L << 30;

  private static final long COUNT_LIMIT = (1L << 53) - 1;
  private static final long ROWS_LIMIT = (1L << 32) - 1;

  /** Some bytes of an object, with their checksum. */
  public record Extent(long offset, long length, long crc32c) {}

  /**
   * The Bloom filters of the blocks of a column, in the object of its index. Their checksums are in
   * the index; that of the only one is here.
   */
  public record Filters(long offset, long length, Long crc32c) {
    public static final Filters NONE = new Filters(0, 0, 0L);
  }

  /** One column of a RowSet: exactly one of {@code index} and {@code block} is there. */
  public record Segment(
      long offset, long length, long decoded, Extent index, JsonObject block, Filters filters,
      JsonObject bounds) {

    /** The index row of the lone block, whose rows and bounds are those of the segment. */
    public BlockEntry entry(long rows, StoredField.Order order) throws IOException, Malformed {
      if (filters.crc32c() == null || !SparseIndex.isFilterLength(filters.length())) {
        throw new Malformed("what the footer says of its Bloom filter cannot be");
      }
      Object low = Statistics.bound(order, bounds.node().get("min"));
      Object high = Statistics.bound(order, bounds.node().get("max"));
      boolean known = low != null && high != null;
      Statistics statistics =
          new Statistics(
              bounds.has("nulls") ? bounds.integer("nulls", 0, COUNT_LIMIT) : 0,
              bounds.has("nans") ? bounds.integer("nans", 0, COUNT_LIMIT) : 0,
              known ? low : null,
              known ? high : null,
              bounds.flag("exact", true));
      return new BlockEntry(
          rows,
          length,
          decoded,
          block.integer("crc32c", 0, ROWS_LIMIT),
          block.text("encoding"),
          block.has("base") ? block.integer("base", Long.MIN_VALUE, Long.MAX_VALUE) : null,
          statistics,
          filters.length(),
          filters.crc32c());
    }
  }

  /** Reads a footer whose length and checksum were compared with the log. */
  public static Footer decode(Slice data, String location) throws IOException {
    JsonObject body =
        JsonObject.unseal(data, location).only(Set.of("format_version", "rows", "cuts", "columns"));
    JsonNode version = body.node().get("format_version");
    if (version != null && !(version.isIntegralNumber() && isKnown(version.longValue()))) {
      throw StoreException.unsupported(
          location + " holds format version " + version
              + ", which this version does not know: upgrade Colonnade.");
    }
    long rows = body.integer("rows", 1, ROWS_LIMIT);
    JsonObject segments = body.object("columns");
    Map<Integer, Segment> columns = new HashMap<>();
    for (Iterator<String> keys = segments.node().fieldNames(); keys.hasNext(); ) {
      String key = keys.next();
      if (!key.matches("[1-9][0-9]{0,9}") || Long.parseLong(key) > Integer.MAX_VALUE) {
        throw segments.malformed(key, "Input should be the id of a column");
      }
      Segment segment = segment(segments.object(key));
      if (segment.filters() != Filters.NONE && (version == null || version.longValue() < 3)) {
        throw segments.malformed(key, "Bloom filters came with format version 3");
      }
      columns.put(Integer.parseInt(key), segment);
    }
    return new Footer(rows, body.node().path("cuts"), columns);
  }

  /** Version 1 lacks the encoding {@code lengths}, version 2 Bloom filters. */
  private static boolean isKnown(long version) {
    return version >= 1 && version <= 3;
  }

  private static Segment segment(JsonObject json) throws IOException {
    json.only(Set.of("offset", "length", "decoded", "index", "block", "filters", "statistics"));
    JsonObject bounds =
        json.object("statistics").only(Set.of("min", "max", "nulls", "nans", "exact"));
    Extent index = null;
    if (json.has("index")) {
      JsonObject extent = json.object("index").only(Set.of("offset", "length", "crc32c"));
      index =
          new Extent(
              extent.integer("offset", 0, COUNT_LIMIT),
              extent.integer("length", 0, COUNT_LIMIT),
              extent.integer("crc32c", 0, ROWS_LIMIT));
    }
    JsonObject block =
        json.has("block")
            ? json.object("block").only(Set.of("crc32c", "encoding", "base"))
            : null;
    return new Segment(
        json.integer("offset", 0, COUNT_LIMIT),
        json.integer("length", 0, COUNT_LIMIT),
        json.integer("decoded", 0, COUNT_LIMIT),
        index,
        block,
        json.has("filters") ? filters(json.object("filters")) : Filters.NONE,
        bounds);
  }

  private static Filters filters(JsonObject json) throws IOException {
    json.only(Set.of("offset", "length", "crc32c"));
    return new Filters(
        json.integer("offset", 0, COUNT_LIMIT),
        json.integer("length", 0, COUNT_LIMIT),
        json.has("crc32c") ? json.integer("crc32c", 0, ROWS_LIMIT) : null);
  }
}
