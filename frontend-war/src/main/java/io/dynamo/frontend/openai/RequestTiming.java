package io.dynamo.frontend.openai;

import io.dynamo.frontend.dispatch.RouteTrace;
import io.dynamo.frontend.sse.ByteText;
import org.jspecify.annotations.Nullable;

/** Writes the times of a request's phases in milliseconds, as Dynamo does. For one thread. */
final class RequestTiming {
  private final long receivedMillis;
  private final long receivedNanos;
  private final RouteTrace trace;
  private final int promptTokens;
  private final int blockTokens;
  private long firstTokenNanos;
  private boolean hasFirstToken;

  /**
   * @param receivedMillis UNIX time
   * @param receivedNanos the same moment by {@link System#nanoTime()}
   * @param promptTokens of the first prompt
   */
  RequestTiming(
      long receivedMillis,
      long receivedNanos,
      RouteTrace trace,
      int promptTokens,
      int blockTokens) {
    this.receivedMillis = receivedMillis;
    this.receivedNanos = receivedNanos;
    this.trace = trace;
    this.promptTokens = promptTokens;
    this.blockTokens = blockTokens;
  }

  void delta(ChoiceDelta delta) {
    if (!hasFirstToken && delta.tokens() > 0) {
      hasFirstToken = true;
      firstTokenNanos = System.nanoTime();
    }
  }

  /** Appends the times so far as a JSON object. */
  void appendTo(ByteText json) {
    json.ascii("{\"request_received_ms\":").number(receivedMillis);
    RouteTrace.@Nullable Place place = trace.first();
    if (place != null) {
      millis(json, "prefill_wait_time_ms", place.routedNanos() - receivedNanos);
      if (hasFirstToken) {
        millis(json, "prefill_time_ms", firstTokenNanos - place.routedNanos());
      }
    }
    if (hasFirstToken) {
      millis(json, "ttft_ms", firstTokenNanos - receivedNanos);
    }
    millis(json, "total_time_ms", System.nanoTime() - receivedNanos);
    if (place != null && promptTokens > 0 && blockTokens > 0) {
      int blocks = Math.ceilDiv(promptTokens, blockTokens); // the last one need not be full
      double rate = Math.min(1.0, (double) place.overlapBlocks() / blocks);
      json.ascii(",\"kv_hit_rate\":").ascii(Double.toString(rate));
    }
    if (place != null) {
      json.ascii(",\"router_queue_depth\":").number(place.queued());
    }
    json.ascii("}");
  }

  private static void millis(ByteText json, String name, long nanos) {
    json.ascii(",").quoted(name).ascii(":").ascii(Double.toString(Math.max(0, nanos) / 1e6));
  }
}
