package io.dynamo.it;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The shipped model's files as those of a model with images: of the family Qwen2-VL, with four more
 * tokens and a template that writes a placeholder for each image. It has no weights.
 */
final class VisionModel {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int FIRST = 4096; // behind the tokens of the shipped model

  private static final List<String> TOKENS =
      List.of("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>");

  private static final String TEMPLATE =
      """
      {%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\\n' }}\
      {%- if message['content'] is string %}{{- message['content'] }}{%- else %}\
      {%- for part in message['content'] %}{%- if part['type'] == 'image' or 'image_url' in part %}\
      {{- '<|vision_start|><|image_pad|><|vision_end|>' }}{%- elif part['type'] == 'text' %}\
      {{- part['text'] }}{%- else %}{{- '[' + part['type'] + ']' }}{%- endif %}{%- endfor %}\
      {%- endif %}{{- '<|im_end|>\\n' }}{%- endfor %}\
      {%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}\
      """;

  private VisionModel() {}

  /** Writes the files into {@code folder}. */
  static Path write(Path folder) throws IOException {
    var shipped = PeerProcess.model();
    Files.createDirectories(folder);
    for (var name : List.of("generation_config.json", "special_tokens_map.json")) {
      Files.copy(shipped.resolve(name), folder.resolve(name));
    }
    var tokenizer = read(shipped.resolve("tokenizer.json"));
    for (int i = 0; i < TOKENS.size(); i++) {
      tokenizer
          .withArray("added_tokens")
          .addObject()
          .put("id", FIRST + i)
          .put("content", TOKENS.get(i))
          .put("single_word", false)
          .put("lstrip", false)
          .put("rstrip", false)
          .put("normalized", false)
          .put("special", true);
    }
    write(folder, "tokenizer.json", tokenizer);
    var texts = read(shipped.resolve("tokenizer_config.json"));
    texts.remove("chat_template");
    write(folder, "tokenizer_config.json", texts);
    var config = read(shipped.resolve("config.json"));
    config.put("model_type", "qwen2_vl").put("vocab_size", FIRST + TOKENS.size());
    config.putArray("architectures").add("Qwen2VLForConditionalGeneration");
    config.put("vision_start_token_id", FIRST).put("vision_end_token_id", FIRST + 1);
    config.put("image_token_id", FIRST + 2).put("video_token_id", FIRST + 3);
    config.putObject("vision_config").put("patch_size", 14).put("spatial_merge_size", 2);
    write(folder, "config.json", config);
    var scaling = JSON.createObjectNode();
    scaling.put("image_processor_type", "Qwen2VLImageProcessor");
    scaling.put("patch_size", 14).put("merge_size", 2).put("temporal_patch_size", 2);
    scaling.put("min_pixels", 3136).put("max_pixels", 12_845_056);
    for (var name : List.of("image_mean", "image_std")) {
      scaling.putArray(name).add(0.5).add(0.5).add(0.5);
    }
    write(folder, "preprocessor_config.json", scaling);
    Files.writeString(folder.resolve("chat_template.jinja"), TEMPLATE);
    return folder;
  }

  private static ObjectNode read(Path file) throws IOException {
    return (ObjectNode) JSON.readTree(file.toFile());
  }

  private static void write(Path folder, String name, ObjectNode content) throws IOException {
    JSON.writeValue(folder.resolve(name).toFile(), content);
  }
}
