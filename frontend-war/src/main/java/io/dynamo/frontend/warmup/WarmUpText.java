package io.dynamo.frontend.warmup;

import io.dynamo.frontend.preprocess.HuggingFaceText;
import io.dynamo.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The text side of the model that warm-ups use: a byte-level tokenizer that joins no bytes, and a
 * chat template with a loop and a condition, as those of most models have.
 */
final class WarmUpText {
  private static final int BYTES = 256;
  private static final String END = "<|end|>";
  private static final String TEMPLATE =
      "{% for message in messages %}{% if message['role'] == 'system' %}System: {% else %}"
          + "{{ message['role'] }}: {% endif %}{{ message['content'] | trim }}\n{% endfor %}"
          + "{% if add_generation_prompt %}assistant: {% endif %}";

  private WarmUpText() {}

  static HuggingFaceText open() {
    return HuggingFaceText.of(
        Map.of(
            "tokenizer.json",
            json(tokenizer()),
            "tokenizer_config.json",
            json(Map.of("eos_token", END, "chat_template", TEMPLATE))));
  }

  private static String json(Map<String, Object> object) {
    return new String(Json.write(object), StandardCharsets.UTF_8);
  }

  /** Returns the id of the token of one printable ASCII character. */
  static int id(char character) {
    return character;
  }

  private static Map<String, Object> tokenizer() {
    var vocabulary = new LinkedHashMap<String, Object>();
    int unprintable = 0;
    for (int value = 0; value < BYTES; value++) {
      boolean shown =
          (value >= '!' && value <= '~')
              || (value >= 0xa1 && value <= 0xac)
              || (value >= 0xae && value <= 0xff);
      vocabulary.put(String.valueOf((char) (shown ? value : BYTES + unprintable++)), value);
    }
    var byteLevel =
        Map.of(
            "type",
            "ByteLevel",
            "add_prefix_space",
            false,
            "trim_offsets",
            true,
            "use_regex",
            true);
    var end =
        Map.of(
            "id",
            BYTES,
            "content",
            END,
            "special",
            true,
            "single_word",
            false,
            "lstrip",
            false,
            "rstrip",
            false,
            "normalized",
            false);
    return Map.of(
        "version",
        "1.0",
        "added_tokens",
        List.of(end),
        "pre_tokenizer",
        byteLevel,
        "decoder",
        byteLevel,
        "model",
        Map.of("type", "BPE", "vocab", vocabulary, "merges", List.of()));
  }
}
