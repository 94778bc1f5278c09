package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Dynamo's extension of a request. Its keys are a closed set: an unknown one is refused.
 *
 * @param rawPrompt whether given tokens are the whole prompt, so that no template is rendered
 * @param followUp whether a worker prefills the client's next turn once this one is answered
 * @param greedy takes {@code temperature} and {@code top_p} away
 * @param annotations events requested ahead of a stream's chunks; passed on to the worker
 * @param tokens the prompt, tokenised by the client
 * @param maxThinkingTokens tokens of reasoning at most, unsigned 32 bits
 * @param extraFields the requested fields of the answer's {@code nvext}
 * @param uploadUrl where the worker puts metadata
 * @param timestampMillis passed on to the worker
 * @param targets of latency, for a global router; as JSON has them
 */
public record Nvext(
    boolean rawPrompt,
    boolean followUp,
    boolean greedy,
    List<String> annotations,
    int @Nullable [] tokens,
    @Nullable Integer maxThinkingTokens,
    List<String> extraFields,
    @Nullable String uploadUrl,
    @Nullable Double timestampMillis,
    Map<String, Object> targets,
    RoutingOptions routing) {
  /** An extension without any field. */
  public static final Nvext NONE =
      new Nvext(
          false,
          false,
          false,
          List.of(),
          null,
          null,
          List.of(),
          null,
          null,
          Map.of(),
          RoutingOptions.NONE);

  private static final Pattern REMOTE =
      Pattern.compile("(https?|s3|gs|az)://.", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final String QUERY = "query_instance_id:";
  private static final int MAX_NAMES = 64; // annotations, or extra fields
  private static final long U32 = 0xFFFF_FFFFL;
  private static final List<String> KNOWN =
      List.of(
          "greed_sampling",
          "use_raw_prompt",
          "annotations",
          "backend_instance_id",
          "token_data",
          "max_thinking_tokens",
          "cache_salt",
          "extra_fields",
          "metadata_upload",
          "prefill_worker_id",
          "decode_worker_id",
          "dp_rank",
          "prefill_dp_rank",
          "agent_hints",
          "request_timestamp_ms",
          "routing_constraints",
          "router");

  public Nvext {
    annotations = List.copyOf(annotations);
    extraFields = List.copyOf(extraFields);
  }

  /** A copy with routing options from headers. */
  public Nvext withRouting(RoutingOptions options) {
    return new Nvext(
        rawPrompt,
        followUp,
        greedy,
        annotations,
        tokens,
        maxThinkingTokens,
        extraFields,
        uploadUrl,
        timestampMillis,
        targets,
        options);
  }

  /** Whether only the route is asked for, and no text. */
  public boolean asksForRouteOnly() {
    return annotations.stream().anyMatch(name -> name.startsWith(QUERY));
  }

  /** The members of the worker's {@code extra_args.nvext}. */
  public Map<String, Object> forWorker() {
    var map = new LinkedHashMap<String, Object>();
    if (!extraFields.isEmpty()) {
      map.put("extra_fields", extraFields);
    }
    if (uploadUrl != null) {
      map.put("metadata_upload", Map.of("url", uploadUrl));
    }
    if (tokens != null) {
      map.put("token_in", true);
    }
    if (routing.cacheSalt() != null) {
      map.put("cache_salt", routing.cacheSalt());
    }
    return map;
  }

  static Nvext read(JsonFields request) {
    var node = request.get("nvext");
    if (node == null) {
      return NONE;
    }
    var fields = JsonFields.of(node, "nvext");
    fields.onlyKnown(KNOWN);
    var annotations = names(fields, "annotations");
    var extra = names(fields, "extra_fields");
    var thinking = fields.whole("max_thinking_tokens", 0, U32);
    var timestamp = fields.decimal("request_timestamp_ms");
    return new Nvext(
        fields.bool("use_raw_prompt"),
        followUp(fields),
        fields.bool("greed_sampling"),
        annotations,
        tokens(fields),
        thinking == null ? null : (Integer) (int) Math.min(Integer.MAX_VALUE, thinking),
        extra,
        upload(fields),
        timestamp == null ? null : (Double) timestamp.doubleValue(),
        targets(fields),
        options(fields));
  }

  private static List<String> names(JsonFields fields, String name) {
    var names = fields.strings(name);
    if (names.size() > MAX_NAMES) {
      throw JsonBody.invalidBody(
          "%s: %d entries, expected at most %d"
              .formatted(fields.path(name), names.size(), MAX_NAMES));
    }
    return names;
  }

  private static int @Nullable [] tokens(JsonFields fields) {
    var node = fields.get("token_data");
    if (node == null) {
      return null;
    }
    if (!node.isArray()) {
      throw JsonFields.wrong(fields.path("token_data"), node, "a sequence");
    }
    return tokenIds(node, fields.path("token_data"));
  }

  /** The ids in an array. */
  static int[] tokenIds(JsonNode array, String path) {
    var ids = new int[array.size()];
    for (int i = 0; i < ids.length; i++) {
      if (!JsonFields.isTokenId(array.get(i))) {
        throw JsonFields.wrong(path + "[" + i + "]", array.get(i), "u32");
      }
      ids[i] = (int) array.get(i).longValue();
    }
    return ids;
  }

  private static @Nullable String upload(JsonFields fields) {
    var node = fields.get("metadata_upload");
    if (node == null) {
      return null;
    }
    var upload = JsonFields.of(node, fields.path("metadata_upload"));
    upload.onlyKnown(List.of("url"));
    var url = upload.requireString("url");
    if (url.isBlank()) {
      throw JsonBody.invalidBody("metadata_upload.url must not be empty");
    }
    if (!REMOTE.matcher(url).lookingAt()) {
      throw JsonFields.wrong(
          upload.path("url"),
          upload.require("url"),
          "a URL of `http`, `https`, `s3`, `gs` or `az`, for files of the worker's machine are"
              + " not written");
    }
    return url;
  }

  private static Map<String, Object> targets(JsonFields fields) {
    var node = fields.get("router");
    if (node == null) {
      return Map.of();
    }
    var router = JsonFields.of(node, fields.path("router"));
    router.onlyKnown(List.of("ttft_target", "itl_target"));
    var targets = new LinkedHashMap<String, Object>();
    for (var name : List.of("ttft_target", "itl_target")) {
      var value = router.decimal(name);
      if (value != null) {
        targets.put(name, value.doubleValue());
      }
    }
    return targets;
  }

  private static boolean followUp(JsonFields fields) {
    var hints = fields.get("agent_hints");
    return hints != null
        && JsonFields.of(hints, fields.path("agent_hints")).bool("speculative_prefill");
  }

  private static RoutingOptions options(JsonFields fields) {
    var node = fields.get("agent_hints");
    var hints =
        JsonFields.of(
            node == null ? JsonText.MAPPER.createObjectNode() : node, fields.path("agent_hints"));
    hints.onlyKnown(
        List.of(
            "priority", "strict_priority", "osl", "speculative_prefill", "latency_sensitivity"));
    var latency = hints.decimal("latency_sensitivity");
    return new RoutingOptions(
        fields.unsigned("backend_instance_id"),
        fields.unsigned("prefill_worker_id"),
        fields.unsigned("decode_worker_id"),
        fields.whole("dp_rank", 0, U32),
        fields.whole("prefill_dp_rank", 0, U32),
        hints.integer("priority", Integer.MIN_VALUE, Integer.MAX_VALUE),
        hints.whole("strict_priority", 0, U32),
        hints.whole("osl", 0, U32),
        latency == null ? null : (Double) latency.doubleValue(),
        fields.string("cache_salt"),
        constraints(fields));
  }

  private static Map<String, Object> constraints(JsonFields fields) {
    var node = fields.get("routing_constraints");
    if (node == null) {
      return Map.of();
    }
    var constraints = JsonFields.of(node, fields.path("routing_constraints"));
    constraints.onlyKnown(List.of("required_taints", "preferred_taints"));
    constraints.strings("required_taints");
    var preferred = constraints.get("preferred_taints");
    if (preferred != null) {
      var weights = JsonFields.of(preferred, constraints.path("preferred_taints"));
      for (var entry : preferred.properties()) {
        weights.decimal(entry.getKey());
      }
    }
    return JsonFields.plainMap(node);
  }
}
