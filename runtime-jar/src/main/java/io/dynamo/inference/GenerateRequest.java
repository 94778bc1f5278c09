package io.dynamo.inference;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One generation asked of a worker: Dynamo's {@code PreprocessedRequest}. Arrays are owned by the
 * record and never changed.
 *
 * @param tokenIds the prompt, and after a migration also the tokens delivered so far
 * @param eosTokenIds ids that end the text unless {@code ignore_eos}
 * @param cardChecksum {@code mdc_sum}
 * @param extraArgs {@code extra_args}, values as JSON has them
 */
public record GenerateRequest(
    String model,
    int[] tokenIds,
    StopConditions stop,
    SamplingOptions sampling,
    OutputOptions output,
    int[] eosTokenIds,
    @Nullable String cardChecksum,
    List<String> annotations,
    RoutingHints routing,
    Map<String, Object> extraArgs) {
  public GenerateRequest {
    annotations = List.copyOf(annotations);
    extraArgs = Collections.unmodifiableMap(new LinkedHashMap<>(extraArgs)); // keeps the order
  }

  /**
   * The same request as it goes on after {@code delivered} tokens: they become prompt, and the
   * budget shrinks by them.
   */
  public GenerateRequest continuedBy(int[] delivered) {
    if (delivered.length == 0) {
      return this;
    }
    var ids = Arrays.copyOf(tokenIds, tokenIds.length + delivered.length);
    System.arraycopy(delivered, 0, ids, tokenIds.length, delivered.length);
    return new GenerateRequest(
        model,
        ids,
        stop.reducedBy(delivered.length),
        sampling,
        output,
        eosTokenIds,
        cardChecksum,
        annotations,
        routing,
        extraArgs);
  }

  /** The same request for one data-parallel rank of the chosen worker. */
  public GenerateRequest routedTo(RoutingHints to) {
    return new GenerateRequest(
        model,
        tokenIds,
        stop,
        sampling,
        output,
        eosTokenIds,
        cardChecksum,
        annotations,
        to,
        extraArgs);
  }
}
