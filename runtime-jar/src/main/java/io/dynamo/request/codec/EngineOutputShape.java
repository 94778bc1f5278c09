package io.dynamo.request.codec;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import java.io.IOException;
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
          "cum_log_probs",
          "log_probs",
          "top_logprobs",
          "finish_reason",
          "index",
          "completion_usage");
  private static final Keys FINISH = new Keys("error");
  private static final Keys USAGE =
      new Keys("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details");
  private static final Keys DETAILS = new Keys("audio_tokens", "cached_tokens");
  private static final String ERROR_PREFIX = "error: ";
  private static final int NOT_TOLD = -1;

  private EngineOutputShape() {}

  static void write(WireWriter out, EngineOutput item) throws IOException {
    var usage = item.usage();
    out.beginMap(usage == null ? 9 : 10);
    out.key("token_ids");
    out.ints(item.tokenIds());
    out.nil("tokens");
    out.stringOrNil("text", item.text());
    out.key("output_type");
    out.string("text");
    out.nil("cum_log_probs");
    out.nil("log_probs");
    out.nil("top_logprobs");
    out.key("finish_reason");
    writeFinish(out, item.finishReason(), item.errorMessage());
    out.key("index");
    if (item.index() == 0) {
      out.nil(); // absent is the first choice
    } else {
      out.integer(item.index());
    }
    if (usage != null) {
      out.key("completion_usage");
      writeUsage(out, usage);
    }
    out.endMap();
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
    in.beginMap();
    for (int key = in.nextKey(FIELDS); key != Keys.END; key = in.nextKey(FIELDS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> tokenIds = in.ints();
          case 2 -> text = in.string();
          case 7 -> {
            if (in.isMap()) {
              error = readFinishError(in);
              reason = FinishReason.ERROR;
            } else {
              var name = in.string();
              reason = reasonOf(name);
              error = reason == FinishReason.ERROR ? name.substring(ERROR_PREFIX.length()) : null;
            }
          }
          case 8 -> index = in.smallInteger();
          case 9 -> usage = readUsage(in);
          default -> in.skip();
        }
      }
    }
    if (tokenIds == null) {
      throw new IOException("token_ids is missing");
    }
    return new EngineOutput(tokenIds, text, reason, error, index, usage);
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
