package colonnade.write;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWriterCommitMessage;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Writes Arrow rows through the task writer without Spark: a request of JSON on each line of
 * standard input, its answer on a line of standard output.
 *
 * <p>A request names a job, the schema of the rows and an Arrow stream; rows arrive as unsafe rows, which is what Spark hands over, or as any other rows. {@code
 * hadoop} has Hadoop's settings. {@code abort} gives up instead of committing. {@code layout} is another schema to lay out unsafe rows
 * by, for values that Spark itself would not let pass. With {@code origins}, rows go to the writer of
 * row changes: each replaces the row of that handler, or is new where there is null.
 */
public final class WriteRows {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final BufferAllocator ALLOCATOR = new RootAllocator();

  private WriteRows() {}

  public static void main(String[] arguments) throws IOException {
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      JsonNode request = MAPPER.readTree(line);
      ObjectNode answer = MAPPER.createObjectNode();
      try {
        write(request, answer);
      } catch (Exception error) {
        answer.put("error", error.getMessage());
        answer.put("class", error.getClass().getName());
      }
      System.out.println(MAPPER.writeValueAsString(answer));
    }
  }

  private static void write(JsonNode request, ObjectNode answer) throws IOException {
    StructType schema = (StructType) DataType.fromJson(request.get("schema").asText());
    Numbers numbers = new Numbers(request.path("numbers"));
    DataWriter<InternalRow> task = taskWriter(request, schema, numbers);
    try {
      long start = System.nanoTime();
      feed(task, schema, request);
      if (request.path("abort").asBoolean()) {
        task.abort();
      } else {
        byte[] message = ((PythonWriterCommitMessage) task.commit()).pickledMessage();
        answer.put("entries", new String(message, StandardCharsets.UTF_8));
        answer.put("asked", numbers.asked);
        answer.put("brought", numbers.brought);
      }
      answer.put("seconds", (System.nanoTime() - start) / 1e9);
    } catch (Throwable error) {
      task.abort();
      throw error;
    } finally {
      task.close();
    }
  }

  private static DataWriter<InternalRow> taskWriter(
      JsonNode request, StructType schema, Numbers numbers) {
    String json = request.get("job").asText();
    Map<String, String> hadoop = new HashMap<>();
    JsonNode given = request.path("hadoop");
    given.fieldNames().forEachRemaining(name -> hadoop.put(name, given.get(name).asText()));
    WriteTask write = new WriteTask(json, schema, hadoop, List.of(), numbers, null, false);
    return new TaskWriterFactory(write).createWriter(0, 0);
  }

  private static void feed(DataWriter<InternalRow> task, StructType schema, JsonNode request)
      throws IOException {
    Iterator<JsonNode> origins = request.path("origins").iterator();
    boolean unsafe = request.path("unsafe").asBoolean(true);
    JsonNode layout = request.path("layout");
    UnsafeProjection projection =
        UnsafeProjection.create(
            layout.isTextual() ? (StructType) DataType.fromJson(layout.asText()) : schema);
    int times = request.path("times").asInt(1);
    try (var file = new FileInputStream(request.get("arrow").asText());
        var reader = new ArrowStreamReader(file, ALLOCATOR)) {
      VectorSchemaRoot root = reader.getVectorSchemaRoot();
      while (reader.loadNextBatch()) {
        for (int i = 0; i < times; i++) {
          Iterator<InternalRow> rows = rows(root);
          while (rows.hasNext()) {
            InternalRow row = rows.next();
            InternalRow given = unsafe ? projection.apply(row) : row;
            JsonNode origin = origins.hasNext() ? origins.next() : MissingNode.getInstance();
            if (origin.isNumber()) {
              InternalRow id = new GenericInternalRow(new Object[] {origin.longValue()});
              ((TaskWriter) task).update(null, id, given);
            } else {
              task.write(given);
            }
          }
        }
      }
    }
  }

  /** Gives values of an identity column: {@code next}, at most {@code most} at once. */
  private static final class Numbers implements IdentitySource {
    private final long step;
    private final long most;
    private long next;
    private long asked;
    private String brought;

    Numbers(JsonNode given) {
      next = given.path("next").asLong(1);
      step = given.path("step").asLong(1);
      most = given.path("most").asLong(Long.MAX_VALUE);
    }

    @Override
    public Values draw(int column, long count, Long beyond) {
      while (beyond != null && (step > 0 ? next <= beyond : next >= beyond)) {
        next += step;
      }
      long given = Math.min(count, most);
      long first = next;
      next += given * step;
      asked += given;
      return new Values(first, given);
    }

    @Override
    public void given(int column, long farthest) {
      brought = Long.toString(farthest);
    }
  }

  private static Iterator<InternalRow> rows(VectorSchemaRoot root) {
    List<ColumnVector> columns = new ArrayList<>();
    for (FieldVector vector : root.getFieldVectors()) {
      columns.add(new ArrowColumnVector(vector));
    }
    return new ColumnarBatch(columns.toArray(ColumnVector[]::new), root.getRowCount())
        .rowIterator();
  }
}
