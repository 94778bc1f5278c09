package io.dynamo.worker.engine.remote;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.worker.engine.sampling.SamplingPlan;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The options that requests to all kinds of servers have in common. */
public final class Options {
  private static final long SEED_MIX = 0x9E3779B97F4A7C15L;
  private static final List<String> BEAM = List.of("best_of", "length_penalty");

  private Options() {}

  /**
   * Adds the options that {@code request} sets, under the names that vLLM, SGLang and TensorRT-LLM
   * share. An option that it leaves out is left to the server, which reads the model's {@code
   * generation_config.json} as this worker would.
   *
   * @throws InvalidRequestException when an option is out of bounds, or needs beam search
   */
  public static void addSampling(
      Map<String, @Nullable Object> to, GenerateRequest request, int vocabulary) {
    var asked = request.sampling();
    var checked = SamplingPlan.of(request, SamplingPlan.Defaults.GREEDY, vocabulary, 0);
    refuseBeams(request);
    put(to, "temperature", asked.temperature());
    put(to, "top_p", asked.topP());
    put(to, "top_k", asked.topK() == null ? null : checked.topK() == 0 ? -1 : checked.topK());
    put(to, "min_p", asked.minP());
    put(to, "frequency_penalty", asked.frequencyPenalty());
    put(to, "presence_penalty", asked.presencePenalty());
    put(to, "repetition_penalty", asked.repetitionPenalty());
  }

  private static void refuseBeams(GenerateRequest request) {
    var others = request.sampling().passedOn();
    if (Boolean.TRUE.equals(others.get("use_beam_search"))) {
      throw new InvalidRequestException("use_beam_search is true; this engine has no beam search");
    }
    for (var name : BEAM) {
      if (others.get(name) instanceof Number value && value.doubleValue() != 1) {
        throw new InvalidRequestException(
            "%s is %s; this engine makes one choice without beam search, so leave it out or send 1"
                .formatted(name, value));
      }
    }
  }

  /** Puts {@code value} unless it is null. */
  public static void put(Map<String, @Nullable Object> to, String name, @Nullable Object value) {
    if (value != null) {
      to.put(name, value);
    }
  }

  /**
   * Returns the request's seed, or null when it has none. A text that goes on here gets another
   * seed, since a server starts its draws anew with each request and would repeat them.
   */
  public static @Nullable Long seed(GenerateRequest request) {
    var asked = request.sampling().seed();
    int made = request.migratedTokens();
    if (asked == null || made == 0) {
      return asked;
    }
    long mixed = (asked + made) * SEED_MIX;
    return (mixed ^ mixed >>> 32) & Long.MAX_VALUE;
  }

  /** Returns the token biases of the request, by token id. */
  public static Map<Integer, Float> bias(GenerateRequest request, int vocabulary) {
    return SamplingPlan.of(request, SamplingPlan.Defaults.GREEDY, vocabulary, 0).bias();
  }

  /** Returns the ids that the client made end the text; its text is kept or dropped elsewhere. */
  public static int[] clientStops(GenerateRequest request) {
    var stop = request.stop();
    return Stream.of(stop.stopTokenIds(), stop.visibleStopTokenIds())
        .flatMapToInt(ids -> ids.stream().mapToInt(Integer::intValue))
        .distinct()
        .toArray();
  }

  /** Returns every id at which the server shall end: the client's, and the model's own. */
  public static int[] stops(GenerateRequest request) {
    var client = Arrays.stream(clientStops(request));
    if (request.stop().ignoreEos()) {
      return client.toArray();
    }
    var model =
        IntStream.concat(
            Arrays.stream(request.eosTokenIds()),
            request.stop().hiddenStopTokenIds().stream().mapToInt(Integer::intValue));
    return IntStream.concat(client, model).distinct().toArray();
  }

  /** Returns a hint of the router's under {@code name}, when it is a text. */
  public static @Nullable String hint(GenerateRequest request, String name) {
    return request.routing().passedOn().get(name) instanceof String text && !text.isEmpty()
        ? text
        : null;
  }
}
