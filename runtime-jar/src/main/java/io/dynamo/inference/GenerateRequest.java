package io.dynamo.inference;

import java.util.ArrayList;
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
 * @param handoff for disaggregated serving
 * @param passedOn media, reasoning, agent context and what else only engines and routers read
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
    Map<String, Object> extraArgs,
    Handoff handoff,
    PassedOn passedOn) {
  private static final String MIGRATED = "migrated_tokens"; // in extra_args; Dynamo has no name

  public GenerateRequest {
    annotations = List.copyOf(annotations);
    extraArgs = Collections.unmodifiableMap(new LinkedHashMap<>(extraArgs)); // keeps the order
  }

  /** A text to be continued by one worker. */
  public GenerateRequest(
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
    this(
        model,
        tokenIds,
        stop,
        sampling,
        output,
        eosTokenIds,
        cardChecksum,
        annotations,
        routing,
        extraArgs,
        Handoff.NONE,
        PassedOn.NONE);
  }

  /**
   * Returns the same request as it goes on after {@code delivered} tokens: they become prompt, the
   * budget shrinks by them, and their number is passed to engines whose draws depend on it.
   */
  public GenerateRequest continuedBy(int[] delivered) {
    if (delivered.length == 0) {
      return this;
    }
    var ids = Arrays.copyOf(tokenIds, tokenIds.length + delivered.length);
    System.arraycopy(delivered, 0, ids, tokenIds.length, delivered.length);
    var extra = new LinkedHashMap<>(extraArgs);
    extra.put(MIGRATED, migratedTokens() + delivered.length);
    return with(ids, stop.reducedBy(delivered.length), routing, extra, handoff, passedOn);
  }

  /**
   * Whether another worker could carry on after {@code delivered} tokens. One that the client named
   * cannot be replaced; and the form that a text must have is followed from its first token, so a
   * worker that is given a beginning would start the form again.
   */
  public boolean mayMoveAfter(int delivered) {
    return !routing.isPinned() && (sampling.guided() == null || delivered == 0);
  }

  /** How many of the prompt's last tokens other workers generated. */
  public int migratedTokens() {
    return extraArgs.get(MIGRATED) instanceof Number count
        ? Math.clamp(count.longValue(), 0, tokenIds.length)
        : 0;
  }

  /** The same request for one data-parallel rank of the chosen worker. */
  public GenerateRequest routedTo(RoutingHints to) {
    return with(tokenIds, stop, to, extraArgs, handoff, passedOn);
  }

  /** The same request with a further field that workers read; it replaces one of that name. */
  public GenerateRequest passing(String field, Object value) {
    var fields = new LinkedHashMap<>(passedOn.fields());
    fields.put(field, value);
    return with(tokenIds, stop, routing, extraArgs, handoff, PassedOn.of(fields));
  }

  /** The same request for workers whose card has the checksum {@code sum}. */
  public GenerateRequest forCard(@Nullable String sum) {
    return with(sum, annotations);
  }

  /** The same request with {@code annotation}, or without it. */
  public GenerateRequest annotated(String annotation, boolean present) {
    if (annotations.contains(annotation) == present) {
      return this;
    }
    var kept = new ArrayList<>(annotations);
    if (present) {
      kept.add(annotation);
    } else {
      kept.removeIf(annotation::equals);
    }
    return with(cardChecksum, kept);
  }

  private GenerateRequest with(@Nullable String sum, List<String> annotations) {
    return new GenerateRequest(
        model,
        tokenIds,
        stop,
        sampling,
        output,
        eosTokenIds,
        sum,
        annotations,
        routing,
        extraArgs,
        handoff,
        passedOn);
  }

  /** The same request for one half of a disaggregated pair. */
  public GenerateRequest withHandoff(Handoff half) {
    return with(tokenIds, stop, routing, extraArgs, half, passedOn);
  }

  private GenerateRequest with(
      int[] tokenIds,
      StopConditions stop,
      RoutingHints routing,
      Map<String, Object> extraArgs,
      Handoff handoff,
      PassedOn passedOn) {
    return new GenerateRequest(
        model,
        tokenIds,
        stop,
        sampling,
        output,
        eosTokenIds,
        cardChecksum,
        annotations,
        routing,
        extraArgs,
        handoff,
        passedOn);
  }
}
