package io.dynamo.it;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A LoRA adapter in PEFT's form for the model that ships with the server. It changes nothing. */
final class PlainAdapter {
  private static final ObjectMapper JSON = new ObjectMapper();
  static final Path MODEL =
      Path.of(System.getProperty("dynamo.it.config"), "models", Cluster.MODEL);

  private PlainAdapter() {}

  /** Writes it into a new folder. */
  static void write(Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(
        folder.resolve("adapter_config.json"),
        "{\"peft_type\":\"LORA\",\"r\":1,\"lora_alpha\":1,\"target_modules\":[\"q_proj\"]}");
    var shape = JSON.readTree(MODEL.resolve("config.json").toFile());
    int hidden = shape.get("hidden_size").intValue();
    int heads = shape.get("num_attention_heads").intValue();
    int width = heads * shape.path("head_dim").asInt(hidden / heads);
    var header = JSON.createObjectNode();
    int end = 0;
    for (int layer = 0; layer < shape.get("num_hidden_layers").intValue(); layer++) {
      var name = "base_model.model.model.layers." + layer + ".self_attn.q_proj.lora_";
      for (var down : new boolean[] {true, false}) {
        var tensor = header.putObject(name + (down ? "A" : "B") + ".weight").put("dtype", "F32");
        tensor.putArray("shape").add(down ? 1 : width).add(down ? hidden : 1);
        int begin = end;
        end += Float.BYTES * (down ? hidden : width);
        tensor.putArray("data_offsets").add(begin).add(end);
      }
    }
    var head = header.toString().getBytes(StandardCharsets.UTF_8);
    var file = ByteBuffer.allocate(Long.BYTES + head.length + end).order(ByteOrder.LITTLE_ENDIAN);
    Files.write(
        folder.resolve("adapter_model.safetensors"), file.putLong(head.length).put(head).array());
  }
}
