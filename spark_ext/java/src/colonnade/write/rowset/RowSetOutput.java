package colonnade.write.rowset;

import colonnade.encodings.BlockEncoder;
import colonnade.encodings.EncodedBlock;
import colonnade.format.TableField;
import colonnade.format.rowset.BlockEntry;
import colonnade.format.rowset.ColumnSegment;
import colonnade.format.rowset.Footer;
import colonnade.format.rowset.ObjectNames;
import colonnade.format.rowset.RowSetEntry;
import colonnade.format.rowset.Statistics;
import colonnade.store.ByteSink;
import colonnade.store.ObjectOutput;
import colonnade.store.Spill;
import colonnade.write.job.WriteJob;
import colonnade.write.job.WriteOptions;
import colonnade.write.staged.Staged;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * One RowSet that is being written. Readers do not see it before the commit.
 *
 * <p>Encoded blocks stay in memory until they are too large for a packed RowSet. A RowSet that is
 * small at the end, in total or in each of its many columns, becomes one object or is stored inline
 * in the log. For a larger RowSet the store decides. Where files are cheap, every column has a file
 * of its own. Elsewhere the RowSet becomes one object, too, and its blocks wait on local disk until
 * the last one has come. The blocks of very many columns also wait there. Spec:
 * docs/spec/rowset.md#places
 */
public final class RowSetOutput {
  private final ByteSink sink;
  private final ObjectNames names;
  private final WriteOptions options;
  private final List<String> partition;
  private final BlockEncoder encoder;
  private final List<Part> parts = new ArrayList<>();
  private final List<String> written = new ArrayList<>();
  private final CutsBuilder cuts;
  private final long packedLimit;
  private final boolean oneObject;
  private boolean large;
  private Spill spill;
  private long byteCount;

  /** One column: its blocks so far, and the location of their bytes and of their Bloom filters. */
  private static final class Part {
    final TableField column;
    final boolean hasFilters;
    final List<BlockEntry> blocks = new ArrayList<>();
    final List<byte[]> waiting = new ArrayList<>();
    final List<byte[]> filters = new ArrayList<>();
    final List<Spill.Spilled> spilled = new ArrayList<>();
    final List<Spill.Spilled> spilledFilters = new ArrayList<>();
    ObjectOutput file;
    ObjectOutput indexFile;

    Part(TableField column, boolean hasFilters) {
      this.column = column;
      this.hasFilters = hasFilters;
    }

    long length() {
      return blocks.stream().mapToLong(BlockEntry::length).sum();
    }

    long filterLength() {
      return blocks.stream().mapToLong(BlockEntry::filterLength).sum();
    }
  }

  /**
   * Creates an output. {@code partition} has the values that the log will state, or is null if the
   * table has no partitions. {@code cuts} collects the cuts.
   */
  public RowSetOutput(
      ByteSink sink,
      ObjectNames names,
      WriteJob job,
      List<String> partition,
      BlockEncoder encoder,
      CutsBuilder cuts) {
    this.sink = sink;
    this.names = names;
    this.options = job.options();
    this.partition = partition;
    this.encoder = encoder;
    this.cuts = cuts;
    this.packedLimit = options.packedBytes();
    this.oneObject =
        options.oneObject() == null ? !sink.filesAreCheap() : options.oneObject();
    for (TableField column : job.columns()) {
      if (!column.isVoid()) {
        parts.add(new Part(column, options.bloomColumns().contains(column.id())));
      }
    }
  }

  /** Returns the number of rows added so far. */
  public long rows() {
    return cuts.rows();
  }

  /** Returns the number of bytes of the blocks so far. */
  public long byteCount() {
    return byteCount;
  }

  /** Appends all staged rows of all columns. The RowSet must end with a cut. */
  public void add(List<Staged> columns, int rows) throws IOException {
    for (int i = 0; i < parts.size(); i++) {
      encode(parts.get(i), columns.get(i), 0, rows);
    }
  }

  /** Ends a stretch of {@code rows} rows, which have been added since the cut before. */
  public void cut(int rows) {
    cuts.add(rows);
  }

  /** Encodes rows as one block, or as several blocks if the rows are too large for one. */
  private void encode(Part part, Staged column, int from, int to) throws IOException {
    if (to - from > 1 && column.sizeBytes(from, to) > options.blockBytes()) {
      int middle = from + (to - from) / 2;
      encode(part, column, from, middle);
      encode(part, column, middle, to);
      return;
    }
    EncodedBlock block = encoder.encode(column, from, to);
    if (block.data() == null) {
      part.blocks.add(block.entry());
      return;
    }
    if (part.hasFilters) {
      byte[] filter = column.bloomFilter(from, to, encoder.choices().filterBits());
      part.filters.add(filter);
      byteCount += filter.length;
      part.blocks.add(block.entry().withFilter(filter));
    } else {
      part.blocks.add(block.entry());
    }
    append(part, block.data());
  }

  private void append(Part part, byte[] data) throws IOException {
    part.waiting.add(data);
    byteCount += data.length;
    if (large) {
      move(part);
    } else if (byteCount > packedLimit) {
      large = true;
      for (Part each : parts) {
        move(each);
      }
    }
  }

  /** Moves the blocks and filters of a column out of memory. */
  private void move(Part part) throws IOException {
    if (!oneObject && parts.size() <= options.openFiles()) {
      flush(part);
      return;
    }
    if (spill == null) {
      spill = Spill.create();
    }
    for (byte[] data : part.waiting) {
      part.spilled.add(spill.add(data));
    }
    part.waiting.clear();
    for (byte[] filter : part.filters) {
      part.spilledFilters.add(spill.add(filter));
    }
    part.filters.clear();
  }

  /** Writes the blocks and filters of a column to its own files. */
  private void flush(Part part) throws IOException {
    if (part.waiting.isEmpty() && part.spilled.isEmpty()) {
      return;
    }
    if (part.file == null) {
      part.file = create(names.columnSegment(part.column.id()));
    }
    copyBlocks(part, part.file::write);
    part.waiting.clear();
    part.spilled.clear();
    copyFilters(part, filter -> indexFile(part).write(filter));
    part.filters.clear();
    part.spilledFilters.clear();
  }

  /** Takes bytes. */
  private interface Target {
    void write(byte[] data) throws IOException;
  }

  private void copyBlocks(Part part, Target target) throws IOException {
    copy(part.spilled, part.waiting, target);
  }

  private void copyFilters(Part part, Target target) throws IOException {
    copy(part.spilledFilters, part.filters, target);
  }

  private void copy(List<Spill.Spilled> spilled, List<byte[]> waiting, Target target)
      throws IOException {
    for (Spill.Spilled piece : spilled) {
      target.write(spill.read(piece));
    }
    for (byte[] data : waiting) {
      target.write(data);
    }
  }

  private ObjectOutput indexFile(Part part) throws IOException {
    if (part.indexFile == null) {
      part.indexFile = create(names.index(part.column.id()));
    }
    return part.indexFile;
  }

  private ObjectOutput create(String name) throws IOException {
    ObjectOutput output = sink.create(name, options.sync());
    written.add(name);
    return output;
  }

  /** Returns the number of bytes of blocks that are held in memory. */
  public long waitingBytes() {
    return large ? 0 : byteCount;
  }

  /**
   * Writes everything that is not written yet, and releases the blocks. Requires: at least one cut.
   */
  public RowSetEntry finish() throws IOException {
    RowSetEntry entry = large && !oneObject ? finishDirectory() : finishString();
    parts.clear();
    closeSpill();
    return entry;
  }

  private void closeSpill() {
    if (spill != null) {
      spill.close();
    }
  }

  private RowSetEntry finishDirectory() throws IOException {
    Map<Integer, ColumnSegment> segments = new LinkedHashMap<>();
    long bytes = byteCount;
    int step = Math.max(1, options.openFiles() / 2);
    for (int from = 0; from < parts.size(); from += step) {
      List<ObjectOutput> files = new ArrayList<>();
      for (Part part : parts.subList(from, Math.min(parts.size(), from + step))) {
        flush(part);
        byte[] index = index(part);
        if (index != null) {
          indexFile(part).write(index);
          bytes += index.length;
        }
        Stream.of(part.file, part.indexFile).filter(Objects::nonNull).forEach(files::add);
        segments.put(
            part.column.id(),
            ColumnSegment.of(part.column, part.blocks, 0, 0, index, part.filterLength()));
      }
      sink.closeAll(files);
    }
    byte[] footer = new Footer(rows(), cuts.build(), segments).encode();
    try (ObjectOutput output = create(names.footer())) {
      output.write(footer);
    }
    return entry("directory", footer, bytes + footer.length, null);
  }

  private RowSetEntry finishString() throws IOException {
    Map<Integer, ColumnSegment> segments = new LinkedHashMap<>();
    List<byte[]> indexes = new ArrayList<>();
    long offset = 0;
    long filterOffset = parts.stream().mapToLong(Part::length).sum();
    long indexOffset = byteCount;
    for (Part part : parts) {
      byte[] index = index(part);
      segments.put(
          part.column.id(),
          ColumnSegment.of(part.column, part.blocks, offset, filterOffset, index, indexOffset));
      offset += part.length();
      filterOffset += part.filterLength();
      if (index != null) {
        indexes.add(index);
        indexOffset += index.length;
      }
    }
    byte[] footer = new Footer(rows(), cuts.build(), segments).encode();
    indexes.add(footer);
    long size = indexOffset + footer.length;
    if (size <= options.inlineBytes()) {
      ByteArrayOutputStream whole = new ByteArrayOutputStream((int) size);
      copyAll(indexes, whole::writeBytes);
      String data = Base64.getEncoder().encodeToString(whole.toByteArray());
      return entry("inline", footer, size, data);
    }
    ObjectOutput output = create(names.packed());
    try {
      copyAll(indexes, output::write);
      output.close();
    } catch (IOException | RuntimeException error) {
      output.abort();
      throw error;
    }
    return entry("packed", footer, size, null);
  }

  /** Copies all blocks, then all filters, each column after column, and then the end. */
  private void copyAll(List<byte[]> end, Target target) throws IOException {
    for (Part part : parts) {
      copyBlocks(part, target);
    }
    for (Part part : parts) {
      copyFilters(part, target);
    }
    for (byte[] data : end) {
      target.write(data);
    }
  }

  private byte[] index(Part part) {
    return part.blocks.size() == 1
        ? null
        : SparseIndexWriter.encode(part.blocks, part.column.order(), encoder);
  }

  private RowSetEntry entry(String place, byte[] footer, long bytes, String data) {
    Map<Integer, Statistics.Texts> statistics = new LinkedHashMap<>();
    for (Part part : parts) {
      if (options.indexedColumns().contains(part.column.id())) {
        Statistics found = Statistics.merge(part.blocks).forLog();
        statistics.put(part.column.id(), found.prefixed(part.column.prefix()));
      }
    }
    return new RowSetEntry(
        names.object(),
        place,
        rows(),
        bytes,
        cuts.build(),
        RowSetEntry.ByteCheck.of(footer),
        statistics,
        partition,
        data,
        !options.sync() && data == null);
  }

  /**
   * Removes the objects that were written. Vacuum removes any object that cannot be removed now.
   */
  public void abort() {
    for (Part part : parts) {
      for (ObjectOutput file : new ObjectOutput[] {part.file, part.indexFile}) {
        if (file != null) {
          file.abort();
        }
      }
      part.waiting.clear();
      part.filters.clear();
    }
    closeSpill();
    for (String name : written) {
      remove(() -> sink.delete(name));
    }
    written.clear();
    // The folder name contains a random id, so the folder belongs to this RowSet alone.
    remove(() -> sink.removeFolder(names.folder()));
  }

  /** One step of the removal. */
  private interface Cleanup {
    void run() throws IOException;
  }

  private static void remove(Cleanup step) {
    try {
      step.run();
    } catch (IOException error) {
      // The error that caused the abort matters more to users than this one.
      return;
    }
  }
}
