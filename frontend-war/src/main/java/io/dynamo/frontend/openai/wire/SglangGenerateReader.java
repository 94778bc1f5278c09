package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads requests to SGLang's {@code /generate}. */
public final class SglangGenerateReader {
  private static final Set<String> KNOWN =
      Set.of(
          "input_ids",
          "text",
          "sampling_params",
          "model",
          "rid",
          "stream",
          "priority",
          "return_logprob",
          "top_logprobs_num");

  private static final Map<String, String> OPTIONS =
      Map.ofEntries(
          Map.entry("max_new_tokens", "max_tokens"),
          Map.entry("min_new_tokens", "min_tokens"),
          Map.entry("temperature", "temperature"),
          Map.entry("top_p", "top_p"),
          Map.entry("top_k", "top_k"),
          Map.entry("min_p", "min_p"),
          Map.entry("frequency_penalty", "frequency_penalty"),
          Map.entry("presence_penalty", "presence_penalty"),
          Map.entry("repetition_penalty", "repetition_penalty"),
          Map.entry("stop", "stop"),
          Map.entry("stop_token_ids", "stop_token_ids"),
          Map.entry("ignore_eos", "ignore_eos"),
          Map.entry("skip_special_tokens", "skip_special_tokens"),
          Map.entry("no_stop_trim", "include_stop_str_in_output"),
          Map.entry("regex", "guided_regex"),
          Map.entry("ebnf", "guided_grammar"),
          Map.entry("n", "n"));

  private static final Set<String> INTERNAL =
      Set.of("data_parallel_rank", "routed_dp_rank", "data_parallel_rank_decode");

  private SglangGenerateReader() {}

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
    var text = fields.get("input_ids") == null ? fields.string("text") : null;
    var tokens = text == null ? NativeRequest.tokens(fields, "input_ids") : null;
    if (tokens != null && fields.get("text") != null) {
      throw GenerationReader.refusePlainly("text", "give either `text` or `input_ids`, not both");
    }
    var id = NativeRequest.id(fields, "rid");
    var priority = fields.integer("priority", -Integer.MAX_VALUE, Integer.MAX_VALUE);
    var translation = new NativeRequest.Translation();
    translation.put("model", fields.get("model"));
    translation.put("stream", fields.get("stream"));
    translation.options(fields.get("sampling_params"), OPTIONS);
    refuseSeveral(fields.get("sampling_params"));
    var top = fields.integer("top_logprobs_num", 0, 20);
    if (fields.bool("return_logprob")) {
      translation.put("logprobs", JsonNodeFactory.instance.numberNode(top == null ? 0 : top));
    }
    if (priority != null) {
      translation.putPriority(priority);
    }
    for (var field : body.properties()) {
      refuseInternal(field.getKey());
      EngineSources.check(field.getKey(), field.getValue());
      if (!KNOWN.contains(field.getKey())
          && !field.getKey().equals("stream_options") // which an operator's rule may add
          && !field.getValue().isNull()) {
        translation.engineOnly(field.getKey());
      }
    }
    return new NativeRequest(
        translation.fields(), text, tokens, id, envelope(body), translation.engineOnly());
  }

  private static void refuseSeveral(@Nullable JsonNode params) {
    if (params != null && params.path("n").isIntegralNumber() && params.get("n").asLong() != 1) {
      throw GenerationReader.refusePlainly(
          "sampling_params.n", "sampling_params.n must be 1; parallel sampling is not supported.");
    }
  }

  private static void refuseInternal(String field) {
    if (INTERNAL.contains(field) || field.startsWith("bootstrap_") || field.startsWith("disagg")) {
      throw GenerationReader.refusePlainly(
          JsonFields.clipped(field),
          "`%s` is internal Dynamo routing state and cannot be set by clients"
              .formatted(JsonFields.clipped(field)));
    }
  }

  private static Map<String, Object> envelope(JsonNode body) {
    var own = ((ObjectNode) body).deepCopy();
    own.remove("input_ids");
    own.remove("text");
    own.remove("model"); // SGLang serves one
    own.put("stream", true); // the worker's items are the parts of one
    if (!own.has("sampling_params")) {
      own.putObject("sampling_params");
    }
    if (!own.hasNonNull("rid")) {
      own.put("rid", "");
    }
    return JsonFields.plainMap(own);
  }
}
