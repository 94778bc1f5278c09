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
import org.jspecify.annotations.Nullable;

/**
 * A generation request as a map: what our records name is typed, the other fields of 1.6.1 are
 * handed on, and what it does not know is dropped.
 */
final class GenerateRequestShape {
  private static final Keys FIELDS =
      new Keys(
          "model",
          "token_ids",
          "prompt_embeds",
          "multi_modal_data",
          "multi_modal_uuids",
          "mm_routing_info",
          "stop_conditions",
          "sampling_options",
          "output_options",
          "eos_token_ids",
          "mdc_sum",
          "annotations",
          "routing",
          "router_config_override",
          "prefill_result",
          "encoder_result",
          "migration_link",
          "bootstrap_info",
          "extra_args",
          "require_reasoning",
          "router",
          "agent_context",
          "mm_processor_kwargs",
          "media_io_kwargs",
          "request_timestamp_ms",
          "_HEALTH_CHECK");
  private static final Keys OUTPUT =
      new Keys(
          "logprobs",
          "prompt_logprobs",
          "skip_special_tokens",
          "formatted_prompt",
          "return_tokens_as_token_ids");
  private static final Keys ROUTING =
      new Keys(
          "backend_instance_id",
          "prefill_worker_id",
          "decode_worker_id",
          "dp_rank",
          "prefill_dp_rank",
          "expected_output_tokens",
          "lora_name",
          "cache_salt",
          "priority_jump",
          "strict_priority",
          "priority",
          "allowed_worker_ids",
          "routing_constraints");
  private static final String OVERRIDE = "router_config_override";

  /** Written by 1.6.1 whatever is asked. */
  private static final int ALWAYS = 10;

  private GenerateRequestShape() {}

  static void write(WireWriter out, GenerateRequest request) throws IOException {
    out.beginMap(size(request));
    for (int field = 0; field < FIELDS.size(); field++) {
      var name = FIELDS.name(field);
      switch (field) {
        case 0 -> out.stringOrNil(name, request.model());
        case 1 -> {
          out.key(name);
          out.ints(request.tokenIds());
        }
        case 6 -> {
          out.key(name);
          StopShape.write(out, request.stop());
        }
        case 7 -> {
          out.key(name);
          SamplingShape.write(out, request.sampling());
        }
        case 8 -> {
          out.key(name);
          write(out, request.output());
        }
        case 9 -> {
          out.key(name);
          out.ints(request.eosTokenIds());
        }
        case 10 -> out.stringOrNil(name, request.cardChecksum());
        case 11 -> {
          out.key(name);
          out.strings(request.annotations());
        }
        case 12 -> {
          out.key(name);
          write(out, request.routing());
        }
        case 13 -> out.anyOrNil(name, request.passedOn().get(OVERRIDE));
        case 14 -> {
          if (request.handoff().prefill() != null) {
            out.key(name);
            HandoffShape.write(out, request.handoff().prefill());
          }
        }
        case 17 -> {
          if (request.handoff().bootstrap() != null) {
            out.key(name);
            HandoffShape.write(out, request.handoff().bootstrap());
          }
        }
        case 18 ->
            out.anyUnlessNull(name, request.extraArgs().isEmpty() ? null : request.extraArgs());
        default -> out.anyUnlessNull(name, request.passedOn().get(name));
      }
    }
    out.endMap();
  }

  private static int size(GenerateRequest request) {
    int passed = request.passedOn().fields().size();
    if (request.passedOn().get(OVERRIDE) != null) {
      passed--;
    }
    return ALWAYS
        + passed
        + (request.handoff().prefill() == null ? 0 : 1)
        + (request.handoff().bootstrap() == null ? 0 : 1)
        + (request.extraArgs().isEmpty() ? 0 : 1);
  }

  private static void write(WireWriter out, OutputOptions output) throws IOException {
    out.beginMap(OUTPUT.size());
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
    for (int field = 0; field < ROUTING.size(); field++) {
      var name = ROUTING.name(field);
      out.anyUnlessNull(name, field == 3 ? routing.rank() : others.get(name));
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
    for (int key = in.nextKey(FIELDS); key != Keys.END; key = in.nextKey(FIELDS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> model = in.string();
          case 1 -> tokenIds = in.ints();
          case 6 -> stop = StopShape.read(in);
          case 7 -> sampling = SamplingShape.read(in);
          case 8 -> output = readOutput(in);
          case 9 -> eosTokenIds = in.ints();
          case 10 -> checksum = in.string();
          case 11 -> annotations = in.strings();
          case 12 -> routing = readRouting(in);
          case 14 -> prefill = HandoffShape.readPrefill(in);
          case 17 -> bootstrap = HandoffShape.readBootstrap(in);
          case 18 -> extraArgs = readExtraArgs(in);
          default -> others.take(FIELDS.name(key), in);
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
    for (int key = in.nextKey(OUTPUT); key != Keys.END; key = in.nextKey(OUTPUT)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> logprobs = in.smallInteger();
          case 1 -> promptLogprobs = in.smallInteger();
          case 2 -> skipSpecial = in.bool();
          case 3 -> formattedPrompt = in.bool();
          default -> tokensAsIds = in.bool();
        }
      }
    }
    return new OutputOptions(logprobs, promptLogprobs, skipSpecial, formattedPrompt, tokensAsIds);
  }

  private static RoutingHints readRouting(WireReader in) throws IOException {
    Integer rank = null;
    var others = new Passing();
    in.beginMap();
    for (int key = in.nextKey(ROUTING); key != Keys.END; key = in.nextKey(ROUTING)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        if (key == 3) {
          rank = in.smallInteger();
        } else {
          others.take(ROUTING.name(key), in);
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
