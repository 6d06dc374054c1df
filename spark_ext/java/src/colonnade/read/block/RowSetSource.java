package colonnade.read.block;

import colonnade.format.Slice;
import colonnade.format.rowset.Footer;
import colonnade.format.rowset.ObjectNames;
import colonnade.format.rowset.RowSetEntry;
import colonnade.store.ByteRun;
import colonnade.store.ByteSource;
import colonnade.store.StoreException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;

/**
 * Reads the bytes of one RowSet, regardless of its place. Every range is given as object, offset
 * and length.
 *
 * <p>Each failed check throws an error that names the object. Spec: docs/spec/rowset.md#places
 */
public final class RowSetSource {
  /** The most bytes that one read of neighbouring extents may have. */
  private static final long JOINED_LIMIT = 1L << 28;

  /** The most bytes between two extents that cost less than another round trip. */
  private static final long GAP_BYTES = 256L << 10;

  /** A RowSet of at most as many bytes is read at once, if each read costs a round trip. */
  private static final long WHOLE_BYTES = 1L << 20;

  /** The most bytes before a footer that are read with it. */
  private static final long MOST_TAIL_BYTES = 2L << 20;

  /** The fewest bytes that a column takes in most footers. */
  private static final long COLUMN_BYTES = 256;

  private final ByteSource store;
  private final ObjectNames names;
  private final RowSetEntry entry;
  private byte[] inline;

  /** The end of a packed RowSet, once it was read with the footer. */
  private Slice tail;
  private long tailStart;

  public RowSetSource(ByteSource store, String prefix, RowSetEntry entry) {
    this.store = store;
    this.names = new ObjectNames(prefix, entry.object());
    this.entry = entry;
  }

  /** A range of bytes in an object. */
  public record Extent(long offset, long length) {}

  public String columnSegmentName(int column) {
    return entry.isDirectory() ? names.columnSegment(column) : names.packed();
  }

  String indexName(int column) {
    return entry.isDirectory() ? names.index(column) : names.packed();
  }

  /** Whether each read costs a round trip. */
  public boolean isRemote() {
    return store.isRemote() && !entry.isInline();
  }

  /** Returns the name of an object for error messages. */
  public String locate(String name) {
    return entry.isInline()
        ? "RowSet " + entry.object() + " in the log of " + store.url()
        : store.locate(name);
  }

  /** Reads the footer and checks its length and checksum against the log. */
  public Footer footer() throws IOException {
    String name = entry.isDirectory() ? names.footer() : names.packed();
    RowSetEntry.ByteCheck check = entry.footer();
    long offset = entry.isDirectory() ? 0 : entry.bytes() - check.length();
    String location = "The footer of " + locate(name);
    if (offset < 0 || check.length() > Footer.LIMIT) {
      throw StoreException.corruption(
          location + " cannot have " + check.length() + " bytes.", null);
    }
    if (isRemote() && !entry.isDirectory()) {
      tailStart = entry.bytes() - tailBytes();
      tail = read(name, tailStart, entry.bytes() - tailStart);
    }
    Slice data = read(name, List.of(new Extent(offset, check.length()))).get(0);
    if (data.crc32c() != check.crc32c()) {
      throw StoreException.corruption(
          location + " is damaged: its bytes do not match their checksum.", null);
    }
    Footer footer = Footer.decode(data, location);
    if (footer.rows() != entry.rows() || !Objects.equals(footer.cuts(), entry.cuts())) {
      throw StoreException.corruption(
          location + " is that of other rows than the log says.", null);
    }
    return footer;
  }

  /**
   * Returns how many bytes at the end of a packed RowSet to read with its footer, as Python does.
   * The sparse indexes lie right before the footer. Their size is not known yet, so it is estimated
   * from the columns and stretches.
   */
  private long tailBytes() {
    if (entry.bytes() <= WHOLE_BYTES) {
      return entry.bytes();
    }
    long[] boundaries = entry.cuts() == null ? null : entry.cuts().boundaries(entry.rows());
    long stretches = boundaries == null ? 1 : boundaries.length - 1;
    long columns = entry.footer().length() / COLUMN_BYTES + 1;
    long indexes = Math.min(columns * (2048 + 128 * stretches), MOST_TAIL_BYTES);
    return Math.min(entry.footer().length() + indexes, entry.bytes());
  }

  /**
   * Reads extents of an object, and joins near ones into one read. Reads that cost round trips run
   * side by side. Requires: the extents ascend.
   */
  public List<Slice> read(String name, List<Extent> extents) throws IOException {
    long gap = isRemote() ? GAP_BYTES : 0;
    Slice[] found = new Slice[extents.size()];
    List<Reads.Read> reads = new ArrayList<>();
    int first = 0;
    while (first < extents.size()) {
      long start = extents.get(first).offset();
      long end = start + extents.get(first).length();
      int next = first + 1;
      while (next < extents.size()
          && extents.get(next).offset() >= end
          && extents.get(next).offset() <= end + gap
          && extents.get(next).offset() + extents.get(next).length() - start <= JOINED_LIMIT) {
        end = extents.get(next).offset() + extents.get(next).length();
        next++;
      }
      int from = first;
      int to = next;
      long length = end - start;
      reads.add(
          () -> {
            Slice joined = read(name, start, length);
            for (int i = from; i < to; i++) {
              Extent extent = extents.get(i);
              found[i] = joined.part((int) (extent.offset() - start), (int) extent.length());
            }
          });
      first = next;
    }
    Reads.all(isRemote(), reads);
    return List.of(found);
  }

  private Slice read(String name, long offset, long length) throws IOException {
    if (entry.isInline()) {
      byte[] data = inline();
      if (offset + length > data.length) {
        throw StoreException.corruption(locate(name) + " is truncated.", null);
      }
      return new Slice(data, (int) offset, (int) length);
    }
    if (tail != null && offset >= tailStart && offset + length <= entry.bytes()) {
      return tail.part((int) (offset - tailStart), (int) length);
    }
    return read((from, count) -> store.read(name, from, count), name, offset, length);
  }

  /** Returns how many runs a process may hold open. Throws as {@link ByteSource#mostRuns}. */
  public int mostRuns() throws IOException {
    return store.mostRuns();
  }

  /** Prepares to read a part of an object in order, up to {@code end}. Does no I/O. */
  public ByteRun run(String name, long end) {
    return store.run(name, end);
  }

  /** Reads bytes of an object by a run of it. */
  public Slice read(ByteRun run, String name, long offset, long length) throws IOException {
    if (length > Integer.MAX_VALUE - 8) {
      throw StoreException.corruption(
          locate(name) + " has a block of " + length + " bytes, more than any may have.", null);
    }
    try {
      return Slice.of(run.read(offset, (int) length));
    } catch (NoSuchFileException error) {
      throw StoreException.missing(locate(name), error);
    }
  }

  private byte[] inline() throws IOException {
    if (inline == null) {
      try {
        inline = Base64.getDecoder().decode(entry.data() == null ? "" : entry.data());
      } catch (IllegalArgumentException error) {
        throw StoreException.corruption(locate("") + " is not base64.", error);
      }
      if (inline.length != entry.bytes()) {
        throw StoreException.corruption(
            locate("") + " holds " + inline.length + " bytes, not " + entry.bytes() + ".", null);
      }
    }
    return inline;
  }
}
