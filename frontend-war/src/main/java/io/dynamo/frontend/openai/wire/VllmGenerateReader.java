package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Reads requests to vLLM's {@code /inference/v1/generate}. */
public final class VllmGenerateReader {
  private static final Set<String> KNOWN =
      Set.of(
          "token_ids",
          "sampling_params",
          "model",
          "request_id",
          "stream",
          "stream_options",
          "cache_salt",
          "priority",
          "kv_transfer_params");

  private static final Map<String, String> OPTIONS = options();

  private VllmGenerateReader() {}

  private static Map<String, String> options() {
    var names = new LinkedHashMap<String, String>();
    for (var name :
        Set.of(
            "n",
            "max_tokens",
            "min_tokens",
            "temperature",
            "top_p",
            "top_k",
            "min_p",
            "frequency_penalty",
            "presence_penalty",
            "repetition_penalty",
            "seed",
            "stop",
            "stop_token_ids",
            "ignore_eos",
            "include_stop_str_in_output",
            "skip_special_tokens",
            "logprobs",
            "prompt_logprobs",
            "logit_bias",
            "allowed_token_ids",
            "detokenize")) {
      names.put(name, name);
    }
    return names;
  }

  /** The top-level fields of the API. */
  public static Set<String> names() {
    return new TreeSet<>(KNOWN);
  }

  /**
   * Reads and checks.
   *
   * @throws io.dynamo.frontend.ApiException with 400
   */
  public static NativeRequest read(JsonNode body) {
    var fields = JsonFields.of(body, "");
    var tokens = NativeRequest.tokens(fields, "token_ids");
    var id = NativeRequest.id(fields, "request_id");
    var priority = fields.integer("priority", -Integer.MAX_VALUE, Integer.MAX_VALUE);
    var translation = new NativeRequest.Translation();
    for (var name : Set.of("model", "stream", "stream_options", "cache_salt")) {
      translation.put(name, fields.get(name));
    }
    translation.options(fields.get("sampling_params"), OPTIONS);
    translation.put("return_tokens_as_token_ids", JsonNodeFactory.instance.booleanNode(true));
    if (priority != null) {
      translation.putPriority(-priority); // in vLLM, less is sooner
    }
    for (var field : body.properties()) {
      EngineSources.check(field.getKey(), field.getValue());
      boolean passed = field.getKey().equals("kv_transfer_params");
      if ((passed || !KNOWN.contains(field.getKey())) && !field.getValue().isNull()) {
        translation.engineOnly(field.getKey());
      }
    }
    return new NativeRequest(
        translation.fields(), null, tokens, id, envelope(body), translation.engineOnly());
  }

  private static Map<String, Object> envelope(JsonNode body) {
    var own = ((ObjectNode) body).deepCopy();
    own.remove("token_ids");
    own.put("stream", false); // workers refuse a stream, and give one in any case
    own.remove("stream_options");
    if (!own.has("sampling_params")) {
      own.putObject("sampling_params");
    }
    if (!own.has("priority")) {
      own.put("priority", 0);
    }
    if (!own.hasNonNull("request_id")) {
      own.put("request_id", "");
    }
    return JsonFields.plainMap(own);
  }
}
