package io.dynamo.frontend.record;

import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.Usage;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The record of a finished generation, in the form of Dynamo's request traces ({@code
 * dynamo.request.trace.v1}, event {@code request_end}). It has no text of a prompt or an answer: of
 * the prompt it has hashes of its blocks, by which traces are replayed.
 *
 * @param externalId of the client's header {@code x-request-id}; null for none
 * @param agent the session that the request belongs to: texts and truth values; empty for none
 * @param firstTokenNanos after the arrival; negative without a token
 */
public record RequestRecord(
    String requestId,
    @Nullable String externalId,
    String model,
    Map<String, Object> agent,
    Moments moments,
    long firstTokenNanos,
    Usage usage,
    Placement placement)
    implements TraceRecord {
  private static final double NANOS_PER_MILLI = 1e6;
  private static final int BYTES = 512; // of memory, without the hashes

  /**
   * When the request arrived and ended, by {@link System#nanoTime()}.
   *
   * @param endMillis UNIX time of the end
   */
  public record Moments(long arrivalNanos, long endNanos, long endMillis) {
    private long nanos() {
      return endNanos - arrivalNanos;
    }

    private long arrivalMillis() {
      return endMillis - TimeUnit.NANOSECONDS.toMillis(nanos());
    }
  }

  @Override
  public long bytes() {
    long bytes = BYTES + (long) Long.BYTES * placement.prompt().sequences().length;
    for (var value : agent.values()) {
      bytes += value instanceof String text ? 2L * text.length() : 0;
    }
    return bytes;
  }

  @Override
  public String eventType() {
    return "request_end";
  }

  @Override
  public long eventMillis() {
    return moments.endMillis();
  }

  @Override
  public void appendTo(ByteText json) {
    json.ascii("{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"request_end\",");
    json.ascii("\"event_time_unix_ms\":").number(moments.endMillis());
    json.ascii(",\"event_source\":\"dynamo\"");
    if (!agent.isEmpty()) {
      RecordText.object(json.ascii(",\"agent_context\":"), agent);
    }
    json.ascii(",\"request\":{\"request_id\":").quoted(requestId);
    if (externalId != null) {
      json.ascii(",\"x_request_id\":").quoted(externalId);
    }
    json.ascii(",\"model\":").quoted(model);
    json.ascii(",\"input_tokens\":").number(usage.promptTokens());
    json.ascii(",\"output_tokens\":").number(usage.completionTokens());
    var cached = usage.cachedTokens();
    if (cached != null) {
      json.ascii(",\"cached_tokens\":").number(cached);
    }
    json.ascii(",\"request_received_ms\":").number(moments.arrivalMillis());
    long routed = placement.routedNanos() - moments.arrivalNanos();
    millis(json, "prefill_wait_time_ms", routed);
    if (firstTokenNanos >= 0) {
      millis(json, "prefill_time_ms", firstTokenNanos - routed);
      millis(json, "ttft_ms", firstTokenNanos);
    }
    millis(json, "total_time_ms", moments.nanos());
    if (firstTokenNanos >= 0 && usage.completionTokens() > 1) {
      long rest = moments.nanos() - firstTokenNanos;
      millis(json, "avg_itl_ms", rest / (usage.completionTokens() - 1));
    }
    int blocks = placement.prompt().sequences().length;
    double rate = blocks == 0 ? 0 : Math.min(1.0, (double) placement.overlapBlocks() / blocks);
    json.ascii(",\"kv_hit_rate\":").ascii(Double.toString(rate));
    json.ascii(",\"queue_depth\":").number(placement.queued());
    worker(json.ascii(",\"worker\":{"), "prefill", placement.prefill());
    worker(json.ascii(","), "decode", placement.decode());
    replay(json.ascii("},\"replay\":{")).ascii("}}}");
  }

  private static void worker(ByteText json, String stage, Placement.Worker worker) {
    json.ascii("\"").ascii(stage).ascii("_worker_id\":");
    json.ascii(Long.toUnsignedString(worker.id())).ascii(",\"").ascii(stage).ascii("_dp_rank\":");
    json.number(worker.rank());
  }

  /** Appends the hashes of the prompt's blocks. */
  private ByteText replay(ByteText json) {
    var prompt = placement.prompt();
    json.ascii("\"trace_block_size\":").number(prompt.blockTokens());
    json.ascii(",\"input_length\":").number(prompt.tokens());
    json.ascii(",\"input_sequence_hashes\":[");
    var sequences = prompt.sequences();
    for (int i = 0; i < sequences.length; i++) {
      json.ascii(i == 0 ? "" : ",").ascii(Long.toUnsignedString(sequences[i]));
    }
    return json.ascii("]");
  }

  private static void millis(ByteText json, String name, long nanos) {
    json.ascii(",\"").ascii(name).ascii("\":");
    json.ascii(Double.toString(Math.max(0, nanos) / NANOS_PER_MILLI));
  }
}
