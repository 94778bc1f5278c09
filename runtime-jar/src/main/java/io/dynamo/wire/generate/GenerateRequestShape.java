package io.dynamo.wire.generate;

import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Handoff;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes a generation request as a map: fields of our records are typed, the other fields
 * of 1.6.1 are passed on, and unknown fields are dropped.
 */
final class GenerateRequestShape {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int MODEL = 0;
    static final int TOKEN_IDS = 1;
    static final int PROMPT_EMBEDS = 2;
    static final int MULTI_MODAL_DATA = 3;
    static final int MULTI_MODAL_UUIDS = 4;
    static final int MM_ROUTING_INFO = 5;
    static final int STOP_CONDITIONS = 6;
    static final int SAMPLING_OPTIONS = 7;
    static final int OUTPUT_OPTIONS = 8;
    static final int EOS_TOKEN_IDS = 9;
    static final int MDC_SUM = 10;
    static final int ANNOTATIONS = 11;
    static final int ROUTING = 12;
    static final int ROUTER_CONFIG_OVERRIDE = 13;
    static final int PREFILL_RESULT = 14;
    static final int ENCODER_RESULT = 15;
    static final int MIGRATION_LINK = 16;
    static final int BOOTSTRAP_INFO = 17;
    static final int EXTRA_ARGS = 18;
    static final int REQUIRE_REASONING = 19;
    static final int ROUTER = 20;
    static final int AGENT_CONTEXT = 21;
    static final int IMAGE_CACHE_SCOPE = 22;
    static final int MM_PROCESSOR_KWARGS = 23;
    static final int MEDIA_IO_KWARGS = 24;
    static final int REQUEST_TIMESTAMP_MS = 25;
    static final int HEALTH_CHECK = 26;
    static final Keys KEYS =
        new Keys(
            Keys.entry(MODEL, "model"),
            Keys.entry(TOKEN_IDS, "token_ids"),
            Keys.entry(PROMPT_EMBEDS, "prompt_embeds"),
            Keys.entry(MULTI_MODAL_DATA, "multi_modal_data"),
            Keys.entry(MULTI_MODAL_UUIDS, "multi_modal_uuids"),
            Keys.entry(MM_ROUTING_INFO, "mm_routing_info"),
            Keys.entry(STOP_CONDITIONS, "stop_conditions"),
            Keys.entry(SAMPLING_OPTIONS, "sampling_options"),
            Keys.entry(OUTPUT_OPTIONS, "output_options"),
            Keys.entry(EOS_TOKEN_IDS, "eos_token_ids"),
            Keys.entry(MDC_SUM, "mdc_sum"),
            Keys.entry(ANNOTATIONS, "annotations"),
            Keys.entry(ROUTING, "routing"),
            Keys.entry(ROUTER_CONFIG_OVERRIDE, "router_config_override"),
            Keys.entry(PREFILL_RESULT, "prefill_result"),
            Keys.entry(ENCODER_RESULT, "encoder_result"),
            Keys.entry(MIGRATION_LINK, "migration_link"),
            Keys.entry(BOOTSTRAP_INFO, "bootstrap_info"),
            Keys.entry(EXTRA_ARGS, "extra_args"),
            Keys.entry(REQUIRE_REASONING, "require_reasoning"),
            Keys.entry(ROUTER, "router"),
            Keys.entry(AGENT_CONTEXT, "agent_context"),
            Keys.entry(IMAGE_CACHE_SCOPE, "image_cache_scope"),
            Keys.entry(MM_PROCESSOR_KWARGS, "mm_processor_kwargs"),
            Keys.entry(MEDIA_IO_KWARGS, "media_io_kwargs"),
            Keys.entry(REQUEST_TIMESTAMP_MS, "request_timestamp_ms"),
            Keys.entry(HEALTH_CHECK, "_HEALTH_CHECK"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class OutputField {
    static final int LOGPROBS = 0;
    static final int PROMPT_LOGPROBS = 1;
    static final int SKIP_SPECIAL_TOKENS = 2;
    static final int FORMATTED_PROMPT = 3;
    static final int RETURN_TOKENS_AS_TOKEN_IDS = 4;
    static final Keys KEYS =
        new Keys(
            Keys.entry(LOGPROBS, "logprobs"),
            Keys.entry(PROMPT_LOGPROBS, "prompt_logprobs"),
            Keys.entry(SKIP_SPECIAL_TOKENS, "skip_special_tokens"),
            Keys.entry(FORMATTED_PROMPT, "formatted_prompt"),
            Keys.entry(RETURN_TOKENS_AS_TOKEN_IDS, "return_tokens_as_token_ids"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class RoutingField {
    static final int BACKEND_INSTANCE_ID = 0;
    static final int PREFILL_WORKER_ID = 1;
    static final int DECODE_WORKER_ID = 2;
    static final int DP_RANK = 3;
    static final int PREFILL_DP_RANK = 4;
    static final int EXPECTED_OUTPUT_TOKENS = 5;
    static final int LORA_NAME = 6;
    static final int CACHE_SALT = 7;
    static final int PRIORITY_JUMP = 8;
    static final int STRICT_PRIORITY = 9;
    static final int PRIORITY = 10;
    static final int ALLOWED_WORKER_IDS = 11;
    static final int ROUTING_CONSTRAINTS = 12;
    static final Keys KEYS =
        new Keys(
            Keys.entry(BACKEND_INSTANCE_ID, "backend_instance_id"),
            Keys.entry(PREFILL_WORKER_ID, "prefill_worker_id"),
            Keys.entry(DECODE_WORKER_ID, "decode_worker_id"),
            Keys.entry(DP_RANK, "dp_rank"),
            Keys.entry(PREFILL_DP_RANK, "prefill_dp_rank"),
            Keys.entry(EXPECTED_OUTPUT_TOKENS, "expected_output_tokens"),
            Keys.entry(LORA_NAME, "lora_name"),
            Keys.entry(CACHE_SALT, "cache_salt"),
            Keys.entry(PRIORITY_JUMP, "priority_jump"),
            Keys.entry(STRICT_PRIORITY, "strict_priority"),
            Keys.entry(PRIORITY, "priority"),
            Keys.entry(ALLOWED_WORKER_IDS, "allowed_worker_ids"),
            Keys.entry(ROUTING_CONSTRAINTS, "routing_constraints"));
  }

  /** The fields that have no part of their own in a request. */
  private static final Keys PASSED =
      new Keys(
          IntStream.range(0, Field.KEYS.size())
              .filter(GenerateRequestShape::isPassedOn)
              .mapToObj(Field.KEYS::name)
              .toArray(String[]::new));

  private static final String OVERRIDE = "router_config_override";

  /** The number of fields that 1.6.1 writes in every request. */
  private static final int ALWAYS = 10;

  private GenerateRequestShape() {}

  static void write(WireWriter out, GenerateRequest request) throws IOException {
    out.beginMap(size(request));
    for (int field = 0; field < Field.KEYS.size(); field++) {
      var name = Field.KEYS.name(field);
      switch (field) {
        case Field.MODEL -> out.stringOrNil(name, request.model());
        case Field.TOKEN_IDS -> {
          out.key(name);
          out.ints(request.tokenIds());
        }
        case Field.STOP_CONDITIONS -> {
          out.key(name);
          StopShape.write(out, request.stop());
        }
        case Field.SAMPLING_OPTIONS -> {
          out.key(name);
          SamplingShape.write(out, request.sampling());
        }
        case Field.OUTPUT_OPTIONS -> {
          out.key(name);
          write(out, request.output());
        }
        case Field.EOS_TOKEN_IDS -> {
          out.key(name);
          out.ints(request.eosTokenIds());
        }
        case Field.MDC_SUM -> out.stringOrNil(name, request.cardChecksum());
        case Field.ANNOTATIONS -> {
          out.key(name);
          out.strings(request.annotations());
        }
        case Field.ROUTING -> {
          out.key(name);
          write(out, request.routing());
        }
        case Field.ROUTER_CONFIG_OVERRIDE -> out.anyOrNil(name, request.passedOn().get(OVERRIDE));
        case Field.PREFILL_RESULT -> {
          if (request.handoff().prefill() != null) {
            out.key(name);
            HandoffShape.write(out, request.handoff().prefill());
          }
        }
        case Field.BOOTSTRAP_INFO -> {
          if (request.handoff().bootstrap() != null) {
            out.key(name);
            HandoffShape.write(out, request.handoff().bootstrap());
          }
        }
        case Field.EXTRA_ARGS ->
            out.anyUnlessNull(name, request.extraArgs().isEmpty() ? null : request.extraArgs());
        default -> out.anyUnlessNull(name, request.passedOn().get(name));
      }
    }
    out.endMap();
  }

  private static int size(GenerateRequest request) {
    int passed = passed(request);
    if (request.passedOn().get(OVERRIDE) != null) {
      passed--;
    }
    return ALWAYS
        + passed
        + (request.handoff().prefill() == null ? 0 : 1)
        + (request.handoff().bootstrap() == null ? 0 : 1)
        + (request.extraArgs().isEmpty() ? 0 : 1);
  }

  private static boolean isPassedOn(int field) {
    return switch (field) {
      case Field.MODEL,
          Field.TOKEN_IDS,
          Field.STOP_CONDITIONS,
          Field.SAMPLING_OPTIONS,
          Field.OUTPUT_OPTIONS,
          Field.EOS_TOKEN_IDS,
          Field.MDC_SUM,
          Field.ANNOTATIONS,
          Field.ROUTING,
          Field.PREFILL_RESULT,
          Field.BOOTSTRAP_INFO,
          Field.EXTRA_ARGS ->
          false;
      default -> true;
    };
  }

  /** Counts the fields that are passed on, all of which must have a place. */
  private static int passed(GenerateRequest request) {
    var names = request.passedOn().fields().keySet();
    for (var name : names) {
      if (!PASSED.has(name)) {
        throw new IllegalArgumentException("requests to workers have no field " + name);
      }
    }
    return names.size();
  }

  private static void write(WireWriter out, OutputOptions output) throws IOException {
    out.beginMap(OutputField.KEYS.size());
    out.integerOrNil("logprobs", output.logprobs());
    out.integerOrNil("prompt_logprobs", output.promptLogprobs());
    out.boolOrNil("skip_special_tokens", output.skipSpecialTokens());
    out.boolOrNil("formatted_prompt", output.formattedPrompt());
    out.boolOrNil("return_tokens_as_token_ids", output.tokensAsIds());
    out.endMap();
  }

  private static void write(WireWriter out, RoutingHints routing) throws IOException {
    var others = routing.passedOn();
    out.beginMap(others.fields().size() + (routing.rank() == null ? 0 : 1));
    for (int field = 0; field < RoutingField.KEYS.size(); field++) {
      var name = RoutingField.KEYS.name(field);
      out.anyUnlessNull(name, field == RoutingField.DP_RANK ? routing.rank() : others.get(name));
    }
    out.endMap();
  }

  static GenerateRequest read(WireReader in) throws IOException {
    String model = "";
    int[] tokenIds = null;
    var stop = new StopConditions(null, List.of(), List.of(), null, false);
    var sampling = SamplingOptions.DEFAULTS;
    var output = OutputOptions.DEFAULTS;
    int[] eosTokenIds = {};
    String checksum = null;
    List<String> annotations = List.of();
    var routing = RoutingHints.NONE;
    Handoff.PrefillResult prefill = null;
    Handoff.Bootstrap bootstrap = null;
    Map<String, Object> extraArgs = Map.of();
    var others = new Passing();
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case Field.MODEL -> model = in.string();
          case Field.TOKEN_IDS -> tokenIds = in.ints();
          case Field.STOP_CONDITIONS -> stop = StopShape.read(in);
          case Field.SAMPLING_OPTIONS -> sampling = SamplingShape.read(in);
          case Field.OUTPUT_OPTIONS -> output = readOutput(in);
          case Field.EOS_TOKEN_IDS -> eosTokenIds = in.ints();
          case Field.MDC_SUM -> checksum = in.string();
          case Field.ANNOTATIONS -> annotations = in.strings();
          case Field.ROUTING -> routing = readRouting(in);
          case Field.PREFILL_RESULT -> prefill = HandoffShape.readPrefill(in);
          case Field.BOOTSTRAP_INFO -> bootstrap = HandoffShape.readBootstrap(in);
          case Field.EXTRA_ARGS -> extraArgs = readExtraArgs(in);
          default -> others.take(Field.KEYS.name(key), in);
        }
      }
    }
    if (tokenIds == null) {
      throw new IOException("token_ids is missing");
    }
    return new GenerateRequest(
        model,
        tokenIds,
        stop,
        sampling,
        output,
        eosTokenIds,
        checksum,
        annotations,
        routing,
        extraArgs,
        prefill == null && bootstrap == null ? Handoff.NONE : new Handoff(prefill, bootstrap),
        others.taken());
  }

  private static OutputOptions readOutput(WireReader in) throws IOException {
    Integer logprobs = null;
    Integer promptLogprobs = null;
    Boolean skipSpecial = null;
    Boolean formattedPrompt = null;
    Boolean tokensAsIds = null;
    in.beginMap();
    for (int key = in.nextKey(OutputField.KEYS);
        key != Keys.END;
        key = in.nextKey(OutputField.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case OutputField.LOGPROBS -> logprobs = in.smallInteger();
          case OutputField.PROMPT_LOGPROBS -> promptLogprobs = in.smallInteger();
          case OutputField.SKIP_SPECIAL_TOKENS -> skipSpecial = in.bool();
          case OutputField.FORMATTED_PROMPT -> formattedPrompt = in.bool();
          case OutputField.RETURN_TOKENS_AS_TOKEN_IDS -> tokensAsIds = in.bool();
          default -> throw new IllegalStateException("key " + key);
        }
      }
    }
    return new OutputOptions(logprobs, promptLogprobs, skipSpecial, formattedPrompt, tokensAsIds);
  }

  private static RoutingHints readRouting(WireReader in) throws IOException {
    Integer rank = null;
    var others = new Passing();
    in.beginMap();
    for (int key = in.nextKey(RoutingField.KEYS);
        key != Keys.END;
        key = in.nextKey(RoutingField.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        if (key == RoutingField.DP_RANK) {
          rank = in.smallInteger();
        } else {
          others.take(RoutingField.KEYS.name(key), in);
        }
      }
    }
    return new RoutingHints(rank, others.taken());
  }

  private static Map<String, Object> readExtraArgs(WireReader in) throws IOException {
    Map<String, Object> values = new LinkedHashMap<>();
    if (!(in.any() instanceof Map<?, ?> map)) {
      throw new IOException("extra_args is no map");
    }
    for (var entry : map.entrySet()) {
      @Nullable Object value = entry.getValue();
      if (value != null) { // absent and null mean the same
        values.put(String.valueOf(entry.getKey()), value);
      }
    }
    return values;
  }
}
