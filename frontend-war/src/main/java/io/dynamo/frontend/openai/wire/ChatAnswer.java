package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Writes the answers to one chat completion, byte by byte as Dynamo orders their keys. What is the
 * same in every chunk is made once. Safe for concurrent use.
 */
public final class ChatAnswer {
  private static final byte[] ROLE = ascii("\"role\":\"assistant\"");
  private static final byte[] DELTA = ascii("{\"index\":0,\"delta\":{");
  private static final byte[] NOT_FINISHED = ascii("},\"finish_reason\":null,\"logprobs\":null}");
  private static final byte[] DONE = ascii("data: [DONE]\n\n");

  private final byte[] head; // up to the choices
  private final byte[] chunkTail; // after the choices
  private final byte[] unaryHead;
  private final byte[] unaryTail;

  /**
   * @param id the request's id without prefix
   * @param createdSeconds UNIX time
   */
  public ChatAnswer(String id, long createdSeconds, String model) {
    var json = new ByteText(256);
    json.ascii("data: {\"id\":").quoted("chatcmpl-" + id).ascii(",\"choices\":[");
    head = json.toByteArray();
    unaryHead = Arrays.copyOfRange(head, "data: ".length(), head.length);
    json.clear();
    json.ascii("],\"created\":").number(createdSeconds).ascii(",\"model\":").quoted(model);
    unaryTail = json.ascii(",\"object\":\"chat.completion").toByteArray();
    chunkTail = json.ascii(".chunk\"").toByteArray();
  }

  /**
   * Appends a chunk with a choice.
   *
   * @param text empty leaves {@code content} out
   * @param first whether it carries the role
   * @param running told beside it, when asked for on every chunk
   */
  public void chunk(
      ByteText frames,
      String text,
      boolean first,
      @Nullable FinishReason finish,
      @Nullable Usage running) {
    frames.append(head).append(DELTA);
    if (!text.isEmpty()) {
      frames.ascii("\"content\":").quoted(text);
    }
    if (first) {
      frames.ascii(text.isEmpty() ? "" : ",").append(ROLE);
    }
    if (finish == null) {
      frames.append(NOT_FINISHED);
    } else {
      frames.ascii("},\"finish_reason\":\"").ascii(wireName(finish));
      frames.ascii("\",\"logprobs\":null}");
    }
    tail(frames, running);
  }

  /** Appends the chunk without choices that tells the usage. */
  public void usage(ByteText frames, Usage usage) {
    frames.append(head);
    tail(frames, usage);
  }

  private void tail(ByteText frames, @Nullable Usage usage) {
    frames.append(chunkTail);
    if (usage != null) {
      usage(usage, frames.ascii(",\"usage\":"));
    }
    frames.ascii("}\n\n");
  }

  /** Appends the terminator of every stream. */
  public static void done(ByteText frames) {
    frames.append(DONE);
  }

  /** A whole answer. */
  public byte[] unary(String text, FinishReason finish, Usage usage) {
    var json = new ByteText(512 + text.length());
    json.append(unaryHead).ascii("{\"index\":0,\"message\":{\"content\":");
    if (text.isEmpty()) {
      json.ascii("null");
    } else {
      json.quoted(text);
    }
    json.ascii(",\"refusal\":null,").append(ROLE).ascii("},\"finish_reason\":\"");
    json.ascii(wireName(finish)).ascii("\",\"logprobs\":null}");
    json.append(unaryTail).ascii("\",\"usage\":");
    usage(usage, json);
    return json.ascii("}").toByteArray();
  }

  private static void usage(Usage usage, ByteText json) {
    json.ascii("{\"prompt_tokens\":").number(usage.promptTokens());
    json.ascii(",\"completion_tokens\":").number(usage.completionTokens());
    json.ascii(",\"total_tokens\":").number(usage.totalTokens());
    var cached = usage.cachedTokens();
    if (cached != null) {
      json.ascii(",\"prompt_tokens_details\":{\"cached_tokens\":").number(cached).ascii("}");
    }
    json.ascii("}");
  }

  private static String wireName(FinishReason finish) {
    return switch (finish) {
      case EOS, STOP, CANCELLED, ERROR -> "stop";
      case LENGTH -> "length";
      case CONTENT_FILTER -> "content_filter";
    };
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
