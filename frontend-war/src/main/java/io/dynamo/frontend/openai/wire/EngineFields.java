package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the options that only engines use: checks their types and passes them on in {@code
 * extra_args}.
 */
final class EngineFields {
  private static final int MAX_BIASES = 1024; // as OpenAI; each costs the engine work per token
  private static final BigDecimal MAX_BIAS = new BigDecimal(100);
  private static final List<String> ID_LISTS = List.of("allowed_token_ids", "logprob_token_ids");

  private final JsonFields fields;
  private final @Nullable JsonNode bias;

  EngineFields(JsonFields fields) {
    this.fields = fields;
    bias = fields.get("logit_bias");
    if (bias != null) {
      var values = JsonFields.of(bias, "logit_bias");
      for (var entry : bias.properties()) {
        values.decimal(entry.getKey());
      }
    }
  }

  void checkBias() {
    if (bias == null) {
      return;
    }
    if (bias.size() > MAX_BIASES) {
      throw GenerationReader.refuse(
          "logit_bias",
          "Logit bias may name at most %d tokens, got %d".formatted(MAX_BIASES, bias.size()));
    }
    for (var entry : bias.properties()) {
      if (!isTokenId(entry.getKey())) {
        throw GenerationReader.refuse(
            "logit_bias", "Logit bias key must be a non-negative 32-bit integer token id");
      }
      if (entry.getValue().decimalValue().abs().compareTo(MAX_BIAS) > 0) {
        throw GenerationReader.refuse(
            "logit_bias",
            "Logit bias for token '%s' must be between -100 and 100, got %s"
                .formatted(
                    entry.getKey(), GenerationReader.plain(entry.getValue().decimalValue())));
      }
    }
  }

  private static boolean isTokenId(String key) {
    if (key.isEmpty() || key.length() > 10) {
      return false;
    }
    for (int i = 0; i < key.length(); i++) {
      if (key.charAt(i) < '0' || key.charAt(i) > '9') {
        return false;
      }
    }
    return Long.parseLong(key) <= 0xFFFF_FFFFL;
  }

  void checkPassedOn() {
    var salt = fields.get("cache_salt");
    if (salt != null && !salt.isTextual()) {
      throw GenerationReader.refuse("cache_salt", "`cache_salt` must be a string");
    }
    var detokenize = fields.get("detokenize");
    if (detokenize != null && !detokenize.isBoolean()) {
      throw GenerationReader.refuse("detokenize", "`detokenize` must be a boolean");
    }
    for (var name : ID_LISTS) {
      var ids = fields.get(name);
      if (ids != null && !isIdList(ids)) {
        throw GenerationReader.refuse(name, "`" + name + "` must be an array of token IDs");
      }
    }
    var words = fields.get("bad_words_token_ids");
    if (words != null) {
      boolean valid = words.isArray();
      for (var word : words) {
        valid &= isIdList(word);
      }
      if (!valid) {
        throw GenerationReader.refuse(
            "bad_words_token_ids", "`bad_words_token_ids` must be an array of arrays of token IDs");
      }
    }
  }

  private static boolean isIdList(JsonNode list) {
    if (!list.isArray()) {
      return false;
    }
    for (var id : list) {
      if (!JsonFields.isTokenId(id)) {
        return false;
      }
    }
    return true;
  }

  @Nullable String cacheSalt() {
    return fields.string("cache_salt");
  }

  /** The members of {@code extra_args.sampling_options}. */
  Map<String, Object> options() {
    var options = new LinkedHashMap<String, Object>();
    for (var name :
        List.of("detokenize", "allowed_token_ids", "bad_words_token_ids", "logprob_token_ids")) {
      var value = fields.get(name);
      if (value != null) {
        options.put(name, JsonFields.plainValue(value));
      }
    }
    if (bias != null && !bias.isEmpty()) {
      options.put("logit_bias", JsonFields.plainValue(bias));
    }
    return options;
  }
}
