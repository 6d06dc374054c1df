package colonnade.format;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * One column of a RowSet as the footer states it: where its bytes begin, its blocks, where their
 * Bloom filters begin, and its index, which is null for a lone block.
 */
public record Segment(
    TableField column,
    long offset,
    List<BlockEntry> blocks,
    long filterOffset,
    byte[] index,
    long indexOffset) {
  public Statistics statistics() {
    return Statistics.merge(blocks);
  }

  /** Whether some of the blocks have Bloom filters. */
  boolean hasFilters() {
    return filterLength() > 0;
  }

  private long filterLength() {
    return blocks.stream().mapToLong(BlockEntry::filterLength).sum();
  }

  /** Write the JSON object that the footer holds. */
  void write(JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeNumberField("offset", offset);
    json.writeNumberField("length", blocks.stream().mapToLong(BlockEntry::length).sum());
    json.writeNumberField("decoded", blocks.stream().mapToLong(BlockEntry::decoded).sum());
    if (index == null) {
      writeBlock(json, blocks.get(0));
    } else {
      json.writeObjectFieldStart("index");
      json.writeNumberField("offset", indexOffset);
      json.writeNumberField("length", index.length);
      json.writeNumberField("crc32c", crc32c(index));
      json.writeEndObject();
    }
    if (hasFilters()) {
      json.writeObjectFieldStart("filters");
      json.writeNumberField("offset", filterOffset);
      json.writeNumberField("length", filterLength());
      if (index == null) {
        json.writeNumberField("crc32c", blocks.get(0).filterCrc32c());
      }
      json.writeEndObject();
    }
    json.writeFieldName("statistics");
    statistics().write(json);
    json.writeEndObject();
  }

  private static void writeBlock(JsonGenerator json, BlockEntry block) throws IOException {
    json.writeObjectFieldStart("block");
    json.writeNumberField("crc32c", block.crc32c());
    json.writeStringField("encoding", block.encoding());
    if (block.base() != null) {
      json.writeNumberField("base", block.base());
    }
    json.writeEndObject();
  }

  /** CRC32C (Castagnoli) of some bytes. */
  static long crc32c(byte[] bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return checksum.getValue();
  }
}
