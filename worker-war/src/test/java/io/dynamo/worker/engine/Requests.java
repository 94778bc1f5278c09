package io.dynamo.worker.engine;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.request.RequestContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Requests for tests. */
public final class Requests {
  private Requests() {}

  public static GenerateRequest of(int[] prompt, @Nullable Integer maxTokens, Integer... stopIds) {
    var stop = new StopConditions(maxTokens, List.of(), List.of(stopIds), null, false);
    return of(prompt, stop, SamplingOptions.DEFAULTS, OutputOptions.DEFAULTS);
  }

  /** Returns a request that ignores the model's end tokens. */
  public static GenerateRequest endless(int[] prompt, int maxTokens) {
    var stop = new StopConditions(maxTokens, List.of(), List.of(), null, true);
    return of(prompt, stop, SamplingOptions.DEFAULTS, OutputOptions.DEFAULTS);
  }

  public static GenerateRequest of(
      int[] prompt, StopConditions stop, SamplingOptions sampling, OutputOptions output) {
    return new GenerateRequest(
        "m",
        prompt,
        stop,
        sampling,
        output,
        new int[0],
        null,
        List.of(),
        RoutingHints.NONE,
        Map.of());
  }

  /** Returns the ids from {@code first}, rising by one. */
  public static int[] prompt(int first, int count) {
    return IntStream.range(first, first + count).toArray();
  }

  public static RequestContext context(Duration timeout) {
    return new RequestContext("r", Map.of(), Map.of(), Deadline.after(timeout), new Cancellation());
  }

  public static RequestContext context() {
    return context(Duration.ofHours(1));
  }
}
