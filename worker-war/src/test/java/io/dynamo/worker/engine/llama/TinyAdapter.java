package io.dynamo.worker.engine.llama;

import io.dynamo.worker.engine.llama.math.Kernels;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Adapters of the model that ships with the server, of rank 1. */
final class TinyAdapter {
  private TinyAdapter() {}

  /**
   * Writes an adapter that adds {@code 2 * by} to one number of each layer's query projection.
   *
   * @param out the number's row
   * @param in the number's column
   */
  static Path write(Path folder, int out, int in, float by) throws IOException {
    return write(folder, out, in, by, "");
  }

  /**
   * @param more members of its configuration, each followed by a comma
   */
  static Path write(Path folder, int out, int in, float by, String more) throws IOException {
    var shape = TinyModel.weights(Kernels.best()).shape();
    var header = new StringBuilder("{");
    var data = new ByteArrayOutputStream();
    for (int layer = 0; layer < shape.layers(); layer++) {
      var name = "base_model.model.model.layers." + layer + ".self_attn.q_proj.lora_";
      tensor(header, data, name + "A", 1, shape.hidden(), in, 1f);
      tensor(header, data, name + "B", shape.queryWidth(), 1, out, by);
    }
    header.setCharAt(header.length() - 1, '}');
    var head = header.toString().getBytes(StandardCharsets.UTF_8);
    var file = new ByteArrayOutputStream();
    file.write(
        ByteBuffer.allocate(Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(head.length)
            .array());
    file.write(head);
    file.write(data.toByteArray());
    Files.write(folder.resolve("adapter_model.safetensors"), file.toByteArray());
    Files.writeString(
        folder.resolve("adapter_config.json"),
        "{" + more + "\"r\":1,\"lora_alpha\":2,\"target_modules\":[\"q_proj\"]}");
    return folder;
  }

  private static void tensor(
      StringBuilder header,
      ByteArrayOutputStream data,
      String name,
      int rows,
      int columns,
      int one,
      float value) {
    int begin = data.size();
    var numbers = ByteBuffer.allocate(rows * columns * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    numbers.putFloat(one * Float.BYTES, value);
    data.writeBytes(numbers.array());
    header.append(
        "\"%s.weight\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[%d,%d]},"
            .formatted(name, rows, columns, begin, data.size()));
  }
}
