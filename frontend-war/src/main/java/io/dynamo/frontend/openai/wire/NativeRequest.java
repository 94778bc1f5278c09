package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.inference.PassedOn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A checked request in the native form of an engine: token ids in, token ids out.
 *
 * @param text the prompt as text; null when it is given as tokens
 * @param tokens the prompt as tokens, owned by the record; null when it is given as text
 * @param requestId the client's own name for the request; null for none
 * @param envelope the request without its prompt, for workers that take the engine's own requests
 * @param engineOnly the fields, by path, that only such workers understand
 */
public record NativeRequest(
    GenerationFields fields,
    @Nullable String text,
    int @Nullable [] tokens,
    @Nullable String requestId,
    Map<String, Object> envelope,
    List<String> engineOnly) {
  /** The most characters of a client's id, which is repeated in every chunk. */
  public static final int MAX_ID = 128;

  public NativeRequest {
    engineOnly = List.copyOf(engineOnly);
  }

  /** A copy with other fields. */
  public NativeRequest with(GenerationFields other) {
    return new NativeRequest(other, text, tokens, requestId, envelope, engineOnly);
  }

  /** A copy under another id, that of a header. */
  public NativeRequest named(String id) {
    var renamed = new LinkedHashMap<>(envelope);
    for (var name : List.of("request_id", "rid")) {
      if (renamed.containsKey(name)) {
        renamed.put(name, id);
      }
    }
    return new NativeRequest(fields, text, tokens, id, renamed, engineOnly);
  }

  /**
   * Refuses fields that the workers of the model would not see.
   *
   * @throws ApiException with 400
   */
  public void refuseEngineFields(String engine) {
    if (!engineOnly.isEmpty()) {
      var field = engineOnly.getFirst();
      throw new ApiException(
          new ApiError(
              400,
              ("`%s` is not understood here, and the workers of this model do not take %s's own"
                      + " requests; leave it out")
                  .formatted(JsonFields.clipped(field), engine),
              "unsupported_parameter",
              JsonFields.clipped(field),
              null));
    }
  }

  /** The client's name for a request, or null. */
  static @Nullable String id(JsonFields fields, String name) {
    var id = fields.string(name);
    if (id != null && id.length() > MAX_ID) {
      throw GenerationReader.refusePlainly(
          name, "%s has %d characters, at most %d".formatted(name, id.length(), MAX_ID));
    }
    return id;
  }

  /** Token ids in an array that has one at least. */
  static int[] tokens(JsonFields fields, String name) {
    var ids = fields.require(name);
    if (!ids.isArray()) {
      throw JsonFields.wrong(name, ids, "a list of token ids");
    }
    if (ids.isEmpty()) {
      throw GenerationReader.refusePlainly(name, name + " must contain at least one token ID.");
    }
    return Nvext.tokenIds(ids, name);
  }

  /** Gathers the fields of an engine's request under the names that completions have. */
  static final class Translation {
    private final ObjectNode common = JsonNodeFactory.instance.objectNode();
    private final List<String> engineOnly = new ArrayList<>();

    void put(String name, @Nullable JsonNode value) {
      if (value != null && !value.isNull()) {
        common.set(name, value);
      }
    }

    /** Sets the priority; higher is sooner. */
    void putPriority(int priority) {
      common.putObject("nvext").putObject("agent_hints").put("priority", priority);
    }

    /**
     * Takes over the options of {@code params}.
     *
     * @param names ours by the engine's; an option that is not among them is the engine's alone
     */
    void options(@Nullable JsonNode params, Map<String, String> names) {
      if (params == null) {
        return;
      }
      JsonFields.of(params, "sampling_params");
      for (var option : params.properties()) {
        var ours = names.get(option.getKey());
        if (ours != null) {
          put(ours, option.getValue());
        } else if (!option.getValue().isNull()) {
          engineOnly.add("sampling_params." + option.getKey());
        }
      }
    }

    void engineOnly(String field) {
      engineOnly.add(field);
    }

    List<String> engineOnly() {
      return engineOnly;
    }

    void refuseShortBudget() {
      var least = common.path("min_tokens");
      var most = common.path("max_tokens");
      if (least.isIntegralNumber()
          && most.isIntegralNumber()
          && least.longValue() > most.longValue()) {
        throw GenerationReader.refusePlainly(
            "sampling_params.min_tokens",
            "min_tokens %d is more than max_tokens %d"
                .formatted(least.longValue(), most.longValue()));
      }
    }

    /** Reads and checks the gathered fields. */
    GenerationFields fields() {
      var fields = JsonFields.of(common, "");
      var reader = new GenerationReader(fields, false);
      var logprobs = fields.integer("logprobs", 0, 20);
      reader.checkStreamOptions();
      reader.checkValues();
      refuseShortBudget();
      return reader.build(logprobs, reader.promptLogprobs(), Map.of(), PassedOn.NONE, null);
    }
  }
}
