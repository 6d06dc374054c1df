package colonnade.format.arrow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Collects the arrays of a record batch or dictionary before they are written to a stream. Nodes
 * and buffers are in Arrow's order: parents before children. The memory is reused from batch to
 * batch.
 */
public final class ArrowBatch {
  private final List<byte[]> pool = new ArrayList<>();
  private byte[][] sources = new byte[8][];
  private int[] starts = new int[8];
  private int[] lengths = new int[8];
  private int bufferCount;
  private long[] nodes = new long[8];
  private int nodeCount;

  public void clear() {
    bufferCount = 0;
    nodeCount = 0;
  }

  /** Begins an array. */
  public void node(int rows, int nullCount) {
    if (2 * nodeCount == nodes.length) {
      nodes = Arrays.copyOf(nodes, 2 * nodes.length);
    }
    nodes[2 * nodeCount] = rows;
    nodes[2 * nodeCount + 1] = nullCount;
    nodeCount++;
  }

  /**
   * Adds a buffer of {@code length} bytes and returns an array that begins with it. The caller must
   * fill the first {@code length} bytes, because their content is arbitrary.
   */
  public byte[] buffer(int length) {
    while (bufferCount >= pool.size()) {
      pool.add(new byte[0]);
    }
    byte[] buffer = pool.get(bufferCount);
    if (buffer.length < length) {
      buffer = new byte[Math.max(length, (int) Math.min(2L * buffer.length, 1 << 20))];
      pool.set(bufferCount, buffer);
    }
    lend(buffer, 0, length);
    return buffer;
  }

  /**
   * Adds a part of {@code source} as a buffer without copying it. The part must stay unchanged
   * until the batch is written.
   */
  public void lend(byte[] source, int start, int length) {
    if (bufferCount == lengths.length) {
      sources = Arrays.copyOf(sources, 2 * bufferCount);
      starts = Arrays.copyOf(starts, 2 * bufferCount);
      lengths = Arrays.copyOf(lengths, 2 * bufferCount);
    }
    sources[bufferCount] = source;
    starts[bufferCount] = start;
    lengths[bufferCount++] = length;
  }

  /** Adds a buffer without bytes, such as the validity of an array without NULL. */
  public void emptyBuffer() {
    buffer(0);
  }

  int bufferCount() {
    return bufferCount;
  }

  byte[] bytes(int index) {
    return sources[index];
  }

  /** Returns the position in {@link #bytes} at which a buffer begins. */
  int start(int index) {
    return starts[index];
  }

  int length(int index) {
    return lengths[index];
  }

  int nodeCount() {
    return nodeCount;
  }

  long rows(int node) {
    return nodes[2 * node];
  }

  long nullCount(int node) {
    return nodes[2 * node + 1];
  }

  /** Returns the size of all buffers in bytes, without padding. */
  public long size() {
    long size = 0;
    for (int i = 0; i < bufferCount; i++) {
      size += lengths[i];
    }
    return size;
  }
}
