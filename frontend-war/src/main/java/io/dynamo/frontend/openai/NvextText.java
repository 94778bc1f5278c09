package io.dynamo.frontend.openai;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.dynamo.frontend.dispatch.RouteTrace;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.frontend.openai.wire.Nvext;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.StopReason;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes the {@code nvext} object of an answer, with the fields that the client requested. For one
 * thread.
 */
final class NvextText {
  private final boolean workerId;
  private final boolean timing;
  private final boolean stopReason;
  private final boolean tokenIds;
  private final boolean engineData;
  private final boolean routedExperts;
  private final boolean promptLogprobs;
  private final RouteTrace trace;
  private final RequestTiming times;
  private final ByteText json = new ByteText(256);
  private final ByteText ids = new ByteText(128); // completion_token_ids so far
  private final Map<Integer, Object> engines = new HashMap<>(); // by choice
  private @Nullable StopReason stop;
  private @Nullable Object engine;

  private NvextText(Nvext requested, RouteTrace trace, RequestTiming times) {
    this.workerId = requested.extraFields().contains("worker_id");
    this.timing = requested.extraFields().contains("timing");
    this.stopReason = requested.extraFields().contains("stop_reason");
    this.tokenIds = requested.extraFields().contains("completion_token_ids");
    this.engineData = requested.extraFields().contains("engine_data");
    this.routedExperts = requested.extraFields().contains("routed_experts");
    this.promptLogprobs = requested.extraFields().contains("prompt_logprobs");
    this.trace = trace;
    this.times = times;
  }

  /** Returns null when the client requested no field. */
  static @Nullable NvextText of(Nvext requested, RouteTrace trace, RequestTiming times) {
    var text = new NvextText(requested, trace, times);
    return text.workerId
            || text.timing
            || text.stopReason
            || text.tokenIds
            || text.engineData
            || text.routedExperts
            || text.promptLogprobs
        ? text
        : null;
  }

  /** The object that answers a request for a route without text. */
  static ByteText route(RouteTrace trace, int[] prompt) {
    var json = new ByteText(256).ascii("{");
    appendWorker(json, trace);
    json.ascii(json.size() == 1 ? "\"token_ids\":[" : ",\"token_ids\":[");
    for (int i = 0; i < prompt.length; i++) {
      json.ascii(i == 0 ? "" : ",").number(Integer.toUnsignedLong(prompt[i]));
    }
    return json.ascii("]}");
  }

  /** Adds the values of a delta to the object of a unary answer. */
  void add(ChoiceDelta delta) {
    times.delta(delta);
    var item = delta.item();
    if (delta.stop() != null) {
      stop = delta.stop();
    }
    if (item == null) {
      return;
    }
    if (tokenIds) {
      for (int i = 0; i < delta.tokens(); i++) {
        ids.ascii(ids.size() == 0 ? "" : ",").number(Integer.toUnsignedLong(item.tokenIds()[i]));
      }
    }
    var data = item.passedOn().get("engine_data");
    if (data != null) {
      engine = data;
    }
  }

  /** Whether a delta without text needs a chunk for its values. */
  boolean isWorthAChunk(ChoiceDelta delta) {
    return tokenIds && delta.tokens() > 0;
  }

  /** The object for one chunk, null when it would be empty; valid until the next call. */
  @Nullable ByteText chunk(ChoiceDelta delta) {
    ids.clear();
    stop = null; // another choice's
    engine = engines.get(delta.choice());
    add(delta);
    if (engine != null) {
      engines.put(delta.choice(), engine);
    }
    return text(delta.finish() != null);
  }

  /** The object for the whole answer, null when it would be empty. */
  @Nullable ByteText whole() {
    return text(true);
  }

  private @Nullable ByteText text(boolean last) {
    json.clear();
    json.ascii("{");
    if (workerId && trace.latest() != null) {
      appendWorker(json, trace);
    }
    if (last && timing) {
      times.appendTo(name("timing"));
    }
    if (tokenIds && ids.size() > 0) {
      name("completion_token_ids").ascii("[").append(ids).ascii("]");
    }
    if (last) {
      ending();
    }
    return json.size() == 1 ? null : json.ascii("}");
  }

  private void ending() {
    if (routedExperts && part("routed_experts") != null) {
      value("routed_experts", part("routed_experts"));
    }
    if (engineData && engine != null) {
      value("engine_data", engine);
    }
    if (stopReason && stop != null) {
      switch (stop) {
        case StopReason.Text(var text) -> name("stop_reason").quoted(text);
        case StopReason.Token(var id) -> name("stop_reason").number(Integer.toUnsignedLong(id));
      }
    }
    if (promptLogprobs && part("prompt_logprobs") != null) {
      value("prompt_logprobs", part("prompt_logprobs"));
    }
  }

  private @Nullable Object part(String name) {
    return engine instanceof Map<?, ?> map ? map.get(name) : null;
  }

  private ByteText name(String name) {
    return json.ascii(json.size() == 1 ? "" : ",").quoted(name).ascii(":");
  }

  private void value(String name, @Nullable Object value) {
    try {
      name(name).append(JsonBody.write(value));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a worker's JSON value cannot be parsed", e);
    }
  }

  private static void appendWorker(ByteText json, RouteTrace trace) {
    var prefill = trace.prefill();
    var latest = trace.latest();
    if (prefill == null || latest == null) {
      return;
    }
    json.ascii("\"worker_id\":{\"prefill_worker_id\":");
    json.ascii(Long.toUnsignedString(prefill.worker().value()));
    json.ascii(",\"prefill_dp_rank\":").number(prefill.rank());
    json.ascii(",\"decode_worker_id\":").ascii(Long.toUnsignedString(latest.worker().value()));
    json.ascii(",\"decode_dp_rank\":").number(latest.rank()).ascii("}");
  }
}
