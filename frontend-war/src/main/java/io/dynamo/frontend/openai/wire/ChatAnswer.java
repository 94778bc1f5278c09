package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes chat completions. The constant parts of chunks are encoded once. */
public final class ChatAnswer implements ChunkFormat {
  private static final byte[] ROLE = ascii("\"role\":\"assistant\"");

  private final byte[] head; // up to the choices
  private final byte[] chunkTail; // after the choices
  private final byte[] unaryHead;
  private final byte[] unaryTail;
  private final byte[] reasoning; // the field's name

  /**
   * @param id the request's id without prefix
   * @param createdSeconds UNIX time
   * @param reasoningField the name of the field for a message's thoughts
   */
  public ChatAnswer(String id, long createdSeconds, String model, String reasoningField) {
    reasoning = ascii("\"" + reasoningField + "\":");
    var json = new ByteText(256);
    json.ascii("data: {\"id\":").quoted("chatcmpl-" + id).ascii(",\"choices\":[");
    head = json.toByteArray();
    unaryHead = Arrays.copyOfRange(head, "data: ".length(), head.length);
    json.clear();
    json.ascii("],\"created\":").number(createdSeconds).ascii(",\"model\":").quoted(model);
    unaryTail = json.ascii(",\"object\":\"chat.completion").toByteArray();
    chunkTail = json.ascii(".chunk\"").toByteArray();
  }

  /** {@inheritDoc} Empty text leaves {@code content} out; the first chunk carries the role. */
  @Override
  public void chunk(
      ByteText frames,
      int choice,
      String text,
      boolean first,
      @Nullable FinishReason finish,
      @Nullable LogprobsText logprobs,
      @Nullable Usage running,
      @Nullable ByteText nvext) {
    frames.append(head).ascii("{\"index\":").number(choice).ascii(",\"delta\":{");
    if (!text.isEmpty()) {
      frames.ascii("\"content\":").quoted(text);
    }
    if (first) {
      frames.ascii(text.isEmpty() ? "" : ",").append(ROLE);
    }
    frames.ascii("}");
    ending(finish, false, logprobs, frames);
    tail(frames, running, nvext);
  }

  /** {@inheritDoc} A chunk with calls has content too, possibly empty. */
  @Override
  public void chunk(
      ByteText frames,
      int choice,
      MessageDelta delta,
      boolean first,
      @Nullable FinishReason finish,
      @Nullable LogprobsText logprobs,
      @Nullable Usage running,
      @Nullable ByteText nvext) {
    frames.append(head).ascii("{\"index\":").number(choice).ascii(",\"delta\":{");
    var comma = "";
    if (!delta.content().isEmpty() || !delta.calls().isEmpty()) {
      frames.ascii("\"content\":").quoted(delta.content());
      comma = ",";
    }
    if (!delta.calls().isEmpty()) {
      ToolCallsText.append(delta.calls(), true, frames.ascii(","));
    }
    if (first) {
      frames.ascii(comma).append(ROLE);
      comma = ",";
    }
    if (!delta.reasoning().isEmpty()) {
      frames.ascii(comma).append(reasoning).quoted(delta.reasoning());
    }
    frames.ascii("}");
    ending(finish, delta.called(), logprobs, frames);
    tail(frames, running, nvext);
  }

  /** The finish reason in the API. A regular end after a tool call is {@code tool_calls}. */
  private static String finishName(FinishReason finish, boolean called) {
    boolean regular = finish == FinishReason.STOP || finish == FinishReason.EOS;
    return called && regular ? "tool_calls" : ChunkFormat.wireName(finish);
  }

  private static void ending(
      @Nullable FinishReason finish,
      boolean called,
      @Nullable LogprobsText logprobs,
      ByteText json) {
    if (finish == null) {
      json.ascii(",\"finish_reason\":null,\"logprobs\":");
    } else {
      json.ascii(",\"finish_reason\":\"").ascii(finishName(finish, called));
      json.ascii("\",\"logprobs\":");
    }
    if (logprobs == null || logprobs.isEmpty()) {
      json.ascii("null}");
    } else {
      logprobs.appendTo(json);
      json.ascii("}");
    }
  }

  @Override
  public void usage(ByteText frames, Usage usage) {
    frames.append(head);
    tail(frames, usage, null);
  }

  private void tail(ByteText frames, @Nullable Usage usage, @Nullable ByteText nvext) {
    frames.append(chunkTail);
    if (usage != null) {
      ChunkFormat.appendUsage(usage, frames.ascii(",\"usage\":"));
    }
    if (nvext != null) {
      frames.ascii(",\"nvext\":").append(nvext);
    }
    frames.ascii("}\n\n");
  }

  @Override
  public byte[] unary(
      List<CompletedChoice> choices, @Nullable Usage usage, @Nullable ByteText nvext) {
    var json = new ByteText(512);
    json.append(unaryHead);
    for (int i = 0; i < choices.size(); i++) {
      var choice = choices.get(i);
      json.ascii(i == 0 ? "" : ",").ascii("{\"index\":").number(choice.index());
      json.ascii(",\"message\":{\"content\":");
      var message = choice.message();
      var content = message == null ? choice.fullText() : message.content();
      if (content.isEmpty()) {
        json.ascii("null");
      } else {
        json.quoted(content);
      }
      json.ascii(",\"refusal\":null,");
      if (message != null && !message.calls().isEmpty()) {
        ToolCallsText.append(message.calls(), false, json);
        json.ascii(",");
      }
      json.append(ROLE);
      if (message != null && !message.reasoning().isEmpty()) {
        json.ascii(",").append(reasoning).quoted(message.reasoning());
      }
      json.ascii("}");
      ending(choice.finish(), message != null && message.called(), choice.logprobs(), json);
    }
    json.append(unaryTail).ascii("\"");
    if (usage != null) {
      ChunkFormat.appendUsage(usage, json.ascii(",\"usage\":"));
    }
    if (nvext != null) {
      json.ascii(",\"nvext\":").append(nvext);
    }
    return json.ascii("}").toByteArray();
  }

  @Override
  public LogprobsText logprobs(LogprobsText.Tokens tokens, int alternatives, int textOffset) {
    return new ChatLogprobs(tokens, alternatives);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
