package io.dynamo.wire.generate;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.StopReason;
import io.dynamo.inference.Usage;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An item of a generation as a map. Reading is the hot path: no number is boxed, no name becomes a
 * string, and null fields cost a byte each.
 */
final class EngineOutputShape {
  private static final Keys FIELDS =
      new Keys(
          "token_ids",
          "tokens",
          "text",
          "output_type",
          "content_parts",
          "cum_log_probs",
          "log_probs",
          "top_logprobs",
          "finish_reason",
          "stop_reason",
          "index",
          "disaggregated_params",
          "encoder_result",
          "worker_trace_link",
          "extra_args",
          "engine_data",
          "completion_usage",
          "routing_data");
  private static final Keys TYPES = new Keys("text", "image", "video", "audio");
  private static final Keys FINISH = new Keys("error");
  private static final Keys USAGE =
      new Keys("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details");
  private static final Keys DETAILS = new Keys("audio_tokens", "cached_tokens");
  private static final String ERROR_PREFIX = "error: ";
  private static final int NOT_TOLD = -1;
  private static final int DISAGGREGATED = 11;
  private static final int USAGE_FIELD = 16;

  /** Written by 1.6.1 in each item. */
  private static final int ALWAYS = 9;

  private EngineOutputShape() {}

  static void write(WireWriter out, EngineOutput item) throws IOException {
    var logprobs = item.logprobs();
    var others = item.passedOn();
    out.beginMap(size(item));
    out.key("token_ids");
    out.ints(item.tokenIds());
    out.anyOrNil("tokens", others.get("tokens"));
    out.stringOrNil("text", item.text());
    out.key("output_type");
    out.string(others.get("output_type") instanceof String type ? type : TYPES.name(0));
    passOn(out, others, "content_parts");
    out.anyOrNil("cum_log_probs", logprobs == null ? null : logprobs.cumulative());
    out.key("log_probs");
    LogprobsShape.writeTokens(out, logprobs == null ? null : logprobs.tokens());
    out.key("top_logprobs");
    LogprobsShape.writeTop(out, logprobs == null ? List.of() : logprobs.top());
    out.key("finish_reason");
    writeFinish(out, item.finishReason(), item.errorMessage());
    if (item.stopReason() != null) {
      out.key("stop_reason");
      switch (item.stopReason()) {
        case StopReason.Text(var stop) -> out.string(stop);
        case StopReason.Token(int id) -> out.integer(id);
      }
    }
    out.key("index");
    if (item.index() == 0) {
      out.nil(); // absent is the first choice
    } else {
      out.integer(item.index());
    }
    for (int field = DISAGGREGATED; field < USAGE_FIELD; field++) {
      passOn(out, others, FIELDS.name(field));
    }
    if (item.usage() != null) {
      out.key("completion_usage");
      writeUsage(out, item.usage());
    }
    passOn(out, others, "routing_data");
    out.endMap();
  }

  private static void passOn(WireWriter out, PassedOn others, String name) throws IOException {
    if (!others.isEmpty()) {
      out.anyUnlessNull(name, others.get(name));
    }
  }

  private static int size(EngineOutput item) {
    int size = ALWAYS + (item.usage() == null ? 0 : 1) + (item.stopReason() == null ? 0 : 1);
    if (item.passedOn().isEmpty()) {
      return size;
    }
    for (var name : item.passedOn().fields().keySet()) {
      size += name.equals("tokens") || name.equals("output_type") ? 0 : 1;
    }
    return size;
  }

  private static void writeFinish(
      WireWriter out, @Nullable FinishReason reason, @Nullable String message) throws IOException {
    if (reason == null) {
      out.nil();
    } else if (reason == FinishReason.ERROR) { // Dynamo refuses a bare "error"
      out.beginMap(1);
      out.key("error");
      out.string(message == null ? "" : message);
      out.endMap();
    } else {
      out.string(reason.wireName());
    }
  }

  private static void writeUsage(WireWriter out, Usage usage) throws IOException {
    var cached = usage.cachedTokens();
    out.beginMap(cached == null ? 3 : 4);
    out.key("prompt_tokens");
    out.integer(usage.promptTokens());
    out.key("completion_tokens");
    out.integer(usage.completionTokens());
    out.key("total_tokens");
    out.integer(usage.totalTokens());
    if (cached != null) {
      out.key("prompt_tokens_details");
      out.beginMap(2);
      out.nil("audio_tokens");
      out.key("cached_tokens");
      out.integer(cached);
      out.endMap();
    }
    out.endMap();
  }

  static EngineOutput read(WireReader in) throws IOException {
    int[] tokenIds = null;
    String text = null;
    FinishReason reason = null;
    String error = null;
    int index = 0;
    Usage usage = null;
    Double cumulative = null;
    double[] logprobs = null;
    List<List<Logprobs.Top>> top = List.of();
    StopReason stop = null;
    Passing others = null;
    in.beginMap();
    for (int key = in.nextKey(FIELDS); key != Keys.END; key = in.nextKey(FIELDS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> tokenIds = in.ints();
          case 2 -> text = in.string();
          case 3 -> {
            int type = in.word(TYPES);
            if (type > 0) {
              others = others == null ? new Passing() : others;
              others.put(FIELDS.name(key), TYPES.name(type));
            }
          }
          case 5 -> cumulative = in.number();
          case 6 -> logprobs = LogprobsShape.readTokens(in);
          case 7 -> top = LogprobsShape.readTop(in);
          case 8 -> {
            if (in.isMap()) {
              error = readFinishError(in);
              reason = FinishReason.ERROR;
            } else {
              var name = in.string();
              reason = reasonOf(name);
              error = reason == FinishReason.ERROR ? name.substring(ERROR_PREFIX.length()) : null;
            }
          }
          case 9 -> stop = readStop(in);
          case 10 -> index = in.smallInteger();
          case USAGE_FIELD -> usage = readUsage(in);
          default -> {
            others = others == null ? new Passing() : others;
            others.take(FIELDS.name(key), in);
          }
        }
      }
    }
    if (tokenIds == null) {
      throw new IOException("token_ids is missing");
    }
    boolean likely = cumulative != null || logprobs != null || !top.isEmpty();
    return new EngineOutput(
        tokenIds,
        text,
        reason,
        error,
        index,
        usage,
        likely ? new Logprobs(cumulative, logprobs, top) : null,
        stop,
        others == null ? PassedOn.NONE : others.taken());
  }

  private static StopReason readStop(WireReader in) throws IOException {
    return switch (in.any()) {
      case String stop -> new StopReason.Text(stop);
      case Integer id -> new StopReason.Token(id);
      case Long id when id == (int) (long) id -> new StopReason.Token((int) (long) id);
      case null, default -> throw new IOException("stop_reason is no string and no token id");
    };
  }

  private static FinishReason reasonOf(String name) throws IOException {
    return switch (name) {
      case "eos" -> FinishReason.EOS;
      case "length" -> FinishReason.LENGTH;
      case "stop" -> FinishReason.STOP;
      case "cancelled", "abort" -> FinishReason.CANCELLED;
      case "content_filter" -> FinishReason.CONTENT_FILTER;
      default -> {
        if (name.startsWith(ERROR_PREFIX)) {
          yield FinishReason.ERROR;
        }
        throw new IOException("unknown finish_reason");
      }
    };
  }

  private static String readFinishError(WireReader in) throws IOException {
    String message = "";
    in.beginMap();
    for (int key = in.nextKey(FINISH); key != Keys.END; key = in.nextKey(FINISH)) {
      if (key == 0) {
        message = in.string();
      } else {
        in.skip();
      }
    }
    return message;
  }

  private static Usage readUsage(WireReader in) throws IOException {
    int prompt = 0;
    int completion = 0;
    int cached = NOT_TOLD;
    in.beginMap();
    for (int key = in.nextKey(USAGE); key != Keys.END; key = in.nextKey(USAGE)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> prompt = in.smallInteger();
          case 1 -> completion = in.smallInteger();
          case 3 -> cached = readCached(in);
          default -> in.skip();
        }
      }
    }
    return new Usage(prompt, completion, cached == NOT_TOLD ? null : Integer.valueOf(cached));
  }

  private static int readCached(WireReader in) throws IOException {
    int cached = NOT_TOLD;
    in.beginMap();
    for (int key = in.nextKey(DETAILS); key != Keys.END; key = in.nextKey(DETAILS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        if (key == 1) {
          cached = in.smallInteger();
        } else {
          in.skip();
        }
      }
    }
    return cached;
  }
}
