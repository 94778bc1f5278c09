package io.dynamo.request.codec;

import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A generation request as a map. Fields that our records do not hold are written as null where
 * 1.6.1 always writes them, and dropped when read.
 */
final class GenerateRequestShape {
  private static final Keys FIELDS =
      new Keys(
          "model",
          "token_ids",
          "stop_conditions",
          "sampling_options",
          "output_options",
          "eos_token_ids",
          "mdc_sum",
          "annotations",
          "routing",
          "router_config_override",
          "extra_args");
  private static final Keys STOP =
      new Keys(
          "max_tokens",
          "stop",
          "stop_token_ids",
          "stop_token_ids_visible",
          "stop_token_ids_hidden",
          "min_tokens",
          "ignore_eos",
          "max_thinking_tokens");
  private static final Keys SAMPLING =
      new Keys(
          "n",
          "best_of",
          "presence_penalty",
          "frequency_penalty",
          "repetition_penalty",
          "temperature",
          "top_p",
          "top_k",
          "min_p",
          "use_beam_search",
          "length_penalty",
          "seed",
          "include_stop_str_in_output",
          "guided_decoding");
  private static final Keys OUTPUT =
      new Keys(
          "logprobs",
          "prompt_logprobs",
          "skip_special_tokens",
          "formatted_prompt",
          "return_tokens_as_token_ids");
  private static final Keys ROUTING = new Keys("dp_rank");

  private GenerateRequestShape() {}

  static void write(WireWriter out, GenerateRequest request) throws IOException {
    boolean extra = !request.extraArgs().isEmpty();
    out.beginMap(extra ? 11 : 10);
    out.key("model");
    out.string(request.model());
    out.key("token_ids");
    out.ints(request.tokenIds());
    out.key("stop_conditions");
    write(out, request.stop());
    out.key("sampling_options");
    write(out, request.sampling());
    out.key("output_options");
    write(out, request.output());
    out.key("eos_token_ids");
    out.ints(request.eosTokenIds());
    out.stringOrNil("mdc_sum", request.cardChecksum());
    out.key("annotations");
    out.strings(request.annotations());
    out.key("routing");
    var rank = request.routing().rank();
    out.beginMap(rank == null ? 0 : 1);
    if (rank != null) {
      out.integerOrNil("dp_rank", rank);
    }
    out.endMap();
    out.nil("router_config_override");
    if (extra) {
      out.key("extra_args");
      out.any(request.extraArgs());
    }
    out.endMap();
  }

  private static void write(WireWriter out, StopConditions stop) throws IOException {
    out.beginMap(8);
    out.integerOrNil("max_tokens", stop.maxTokens());
    out.key("stop");
    if (stop.stop().isEmpty()) {
      out.nil();
    } else {
      out.strings(stop.stop());
    }
    out.nil("stop_token_ids");
    out.nil("stop_token_ids_visible");
    out.key("stop_token_ids_hidden");
    if (stop.stopTokenIds().isEmpty()) {
      out.nil();
    } else {
      out.beginArray(stop.stopTokenIds().size());
      for (int id : stop.stopTokenIds()) {
        out.integer(id);
      }
      out.endArray();
    }
    out.integerOrNil("min_tokens", stop.minTokens());
    out.boolOrNil("ignore_eos", stop.ignoreEos() ? Boolean.TRUE : null);
    out.nil("max_thinking_tokens");
    out.endMap();
  }

  private static void write(WireWriter out, SamplingOptions sampling) throws IOException {
    out.beginMap(14);
    out.integerOrNil("n", sampling.n());
    out.nil("best_of");
    out.float32OrNil("presence_penalty", sampling.presencePenalty());
    out.float32OrNil("frequency_penalty", sampling.frequencyPenalty());
    out.float32OrNil("repetition_penalty", sampling.repetitionPenalty());
    out.float32OrNil("temperature", sampling.temperature());
    out.float32OrNil("top_p", sampling.topP());
    out.integerOrNil("top_k", sampling.topK());
    out.float32OrNil("min_p", sampling.minP());
    out.nil("use_beam_search");
    out.nil("length_penalty");
    out.integerOrNil("seed", sampling.seed());
    out.nil("include_stop_str_in_output");
    out.nil("guided_decoding");
    out.endMap();
  }

  private static void write(WireWriter out, OutputOptions output) throws IOException {
    out.beginMap(5);
    out.integerOrNil("logprobs", output.logprobs());
    out.nil("prompt_logprobs");
    out.boolOrNil("skip_special_tokens", output.skipSpecialTokens());
    out.nil("formatted_prompt");
    out.nil("return_tokens_as_token_ids");
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
    Map<String, Object> extraArgs = Map.of();
    in.beginMap();
    for (int key = in.nextKey(FIELDS); key != Keys.END; key = in.nextKey(FIELDS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> model = in.string();
          case 1 -> tokenIds = in.ints();
          case 2 -> stop = readStop(in);
          case 3 -> sampling = readSampling(in);
          case 4 -> output = readOutput(in);
          case 5 -> eosTokenIds = in.ints();
          case 6 -> checksum = in.string();
          case 7 -> annotations = in.strings();
          case 8 -> routing = readRouting(in);
          case 10 -> extraArgs = readExtraArgs(in);
          default -> in.skip();
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
        extraArgs);
  }

  /**
   * All lists of stop ids end the generation here; which of them show their text, a frontend minds.
   */
  private static StopConditions readStop(WireReader in) throws IOException {
    Integer maxTokens = null;
    List<String> strings = List.of();
    List<Integer> ids = new ArrayList<>();
    Integer minTokens = null;
    boolean ignoreEos = false;
    in.beginMap();
    for (int key = in.nextKey(STOP); key != Keys.END; key = in.nextKey(STOP)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> maxTokens = in.smallInteger();
          case 1 -> strings = in.strings();
          case 2, 3, 4 -> addMissing(ids, in.ints());
          case 5 -> minTokens = in.smallInteger();
          case 6 -> ignoreEos = in.bool();
          default -> in.skip();
        }
      }
    }
    return new StopConditions(maxTokens, strings, ids, minTokens, ignoreEos);
  }

  private static void addMissing(List<Integer> ids, int[] more) {
    for (int id : more) {
      if (!ids.contains(id)) {
        ids.add(id);
      }
    }
  }

  private static SamplingOptions readSampling(WireReader in) throws IOException {
    Integer n = null;
    Float presence = null;
    Float frequency = null;
    Float repetition = null;
    Float temperature = null;
    Float topP = null;
    Integer topK = null;
    Float minP = null;
    Long seed = null;
    in.beginMap();
    for (int key = in.nextKey(SAMPLING); key != Keys.END; key = in.nextKey(SAMPLING)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> n = in.smallInteger();
          case 2 -> presence = (float) in.number();
          case 3 -> frequency = (float) in.number();
          case 4 -> repetition = (float) in.number();
          case 5 -> temperature = (float) in.number();
          case 6 -> topP = (float) in.number();
          case 7 -> topK = in.smallInteger();
          case 8 -> minP = (float) in.number();
          case 11 -> seed = in.integer();
          default -> in.skip();
        }
      }
    }
    return new SamplingOptions(
        n, temperature, topP, topK, minP, frequency, presence, repetition, seed);
  }

  private static OutputOptions readOutput(WireReader in) throws IOException {
    Integer logprobs = null;
    Boolean skipSpecial = null;
    in.beginMap();
    for (int key = in.nextKey(OUTPUT); key != Keys.END; key = in.nextKey(OUTPUT)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> logprobs = in.smallInteger();
          case 2 -> skipSpecial = in.bool();
          default -> in.skip();
        }
      }
    }
    return new OutputOptions(logprobs, skipSpecial);
  }

  private static RoutingHints readRouting(WireReader in) throws IOException {
    Integer rank = null;
    in.beginMap();
    for (int key = in.nextKey(ROUTING); key != Keys.END; key = in.nextKey(ROUTING)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        rank = in.smallInteger();
      }
    }
    return rank == null ? RoutingHints.NONE : new RoutingHints(rank);
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
