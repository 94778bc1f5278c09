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
 * Reads and writes an item of a generation as a map. Reading is the hot path: no number is boxed,
 * no name becomes a string, and null fields cost a byte each.
 */
final class EngineOutputShape {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int TOKEN_IDS = 0;
    static final int TOKENS = 1;
    static final int TEXT = 2;
    static final int OUTPUT_TYPE = 3;
    static final int CONTENT_PARTS = 4;
    static final int CUM_LOG_PROBS = 5;
    static final int LOG_PROBS = 6;
    static final int TOP_LOGPROBS = 7;
    static final int FINISH_REASON = 8;
    static final int STOP_REASON = 9;
    static final int INDEX = 10;
    static final int DISAGGREGATED_PARAMS = 11;
    static final int ENCODER_RESULT = 12;
    static final int WORKER_TRACE_LINK = 13;
    static final int EXTRA_ARGS = 14;
    static final int ENGINE_DATA = 15;
    static final int COMPLETION_USAGE = 16;
    static final int ROUTING_DATA = 17;
    static final Keys KEYS =
        new Keys(
            Keys.entry(TOKEN_IDS, "token_ids"),
            Keys.entry(TOKENS, "tokens"),
            Keys.entry(TEXT, "text"),
            Keys.entry(OUTPUT_TYPE, "output_type"),
            Keys.entry(CONTENT_PARTS, "content_parts"),
            Keys.entry(CUM_LOG_PROBS, "cum_log_probs"),
            Keys.entry(LOG_PROBS, "log_probs"),
            Keys.entry(TOP_LOGPROBS, "top_logprobs"),
            Keys.entry(FINISH_REASON, "finish_reason"),
            Keys.entry(STOP_REASON, "stop_reason"),
            Keys.entry(INDEX, "index"),
            Keys.entry(DISAGGREGATED_PARAMS, "disaggregated_params"),
            Keys.entry(ENCODER_RESULT, "encoder_result"),
            Keys.entry(WORKER_TRACE_LINK, "worker_trace_link"),
            Keys.entry(EXTRA_ARGS, "extra_args"),
            Keys.entry(ENGINE_DATA, "engine_data"),
            Keys.entry(COMPLETION_USAGE, "completion_usage"),
            Keys.entry(ROUTING_DATA, "routing_data"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class OutputType {
    static final int TEXT = 0;
    static final int IMAGE = 1;
    static final int VIDEO = 2;
    static final int AUDIO = 3;
    static final Keys KEYS =
        new Keys(
            Keys.entry(TEXT, "text"),
            Keys.entry(IMAGE, "image"),
            Keys.entry(VIDEO, "video"),
            Keys.entry(AUDIO, "audio"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class FinishField {
    static final int ERROR = 0;
    static final Keys KEYS = new Keys(Keys.entry(ERROR, "error"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class UsageField {
    static final int PROMPT_TOKENS = 0;
    static final int COMPLETION_TOKENS = 1;
    static final int TOTAL_TOKENS = 2;
    static final int PROMPT_TOKENS_DETAILS = 3;
    static final Keys KEYS =
        new Keys(
            Keys.entry(PROMPT_TOKENS, "prompt_tokens"),
            Keys.entry(COMPLETION_TOKENS, "completion_tokens"),
            Keys.entry(TOTAL_TOKENS, "total_tokens"),
            Keys.entry(PROMPT_TOKENS_DETAILS, "prompt_tokens_details"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class DetailsField {
    static final int AUDIO_TOKENS = 0;
    static final int CACHED_TOKENS = 1;
    static final Keys KEYS =
        new Keys(
            Keys.entry(AUDIO_TOKENS, "audio_tokens"), Keys.entry(CACHED_TOKENS, "cached_tokens"));
  }

  private static final String ERROR_PREFIX = "error: ";
  private static final int ABSENT = -1;

  /** The number of fields that 1.6.1 writes in each item. */
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
    out.string(
        others.get("output_type") instanceof String type
            ? type
            : OutputType.KEYS.name(OutputType.TEXT));
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
      out.nil(); // an absent index means the first choice
    } else {
      out.integer(item.index());
    }
    for (int field = Field.DISAGGREGATED_PARAMS; field < Field.COMPLETION_USAGE; field++) {
      passOn(out, others, Field.KEYS.name(field));
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
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case Field.TOKEN_IDS -> tokenIds = in.ints();
          case Field.TEXT -> text = in.string();
          case Field.OUTPUT_TYPE -> {
            int type = in.word(OutputType.KEYS);
            if (type != OutputType.TEXT && type != Keys.UNKNOWN) {
              others = others == null ? new Passing() : others;
              others.put(Field.KEYS.name(key), OutputType.KEYS.name(type));
            }
          }
          case Field.CUM_LOG_PROBS -> cumulative = in.number();
          case Field.LOG_PROBS -> logprobs = LogprobsShape.readTokens(in);
          case Field.TOP_LOGPROBS -> top = LogprobsShape.readTop(in);
          case Field.FINISH_REASON -> {
            if (in.isMap()) {
              error = readFinishError(in);
              reason = FinishReason.ERROR;
            } else {
              var name = in.string();
              reason = reasonOf(name);
              error = reason == FinishReason.ERROR ? name.substring(ERROR_PREFIX.length()) : null;
            }
          }
          case Field.STOP_REASON -> stop = readStop(in);
          case Field.INDEX -> index = in.smallInteger();
          case Field.COMPLETION_USAGE -> usage = readUsage(in);
          default -> {
            others = others == null ? new Passing() : others;
            others.take(Field.KEYS.name(key), in);
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
    for (int key = in.nextKey(FinishField.KEYS);
        key != Keys.END;
        key = in.nextKey(FinishField.KEYS)) {
      if (key == FinishField.ERROR) {
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
    int cached = ABSENT;
    in.beginMap();
    for (int key = in.nextKey(UsageField.KEYS);
        key != Keys.END;
        key = in.nextKey(UsageField.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case UsageField.PROMPT_TOKENS -> prompt = in.smallInteger();
          case UsageField.COMPLETION_TOKENS -> completion = in.smallInteger();
          case UsageField.PROMPT_TOKENS_DETAILS -> cached = readCached(in);
          default -> in.skip();
        }
      }
    }
    return new Usage(prompt, completion, cached == ABSENT ? null : Integer.valueOf(cached));
  }

  private static int readCached(WireReader in) throws IOException {
    int cached = ABSENT;
    in.beginMap();
    for (int key = in.nextKey(DetailsField.KEYS);
        key != Keys.END;
        key = in.nextKey(DetailsField.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        if (key == DetailsField.CACHED_TOKENS) {
          cached = in.smallInteger();
        } else {
          in.skip();
        }
      }
    }
    return cached;
  }
}
