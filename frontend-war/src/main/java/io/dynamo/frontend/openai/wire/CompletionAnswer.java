package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes completions as Dynamo does, except that {@code finish_reason} is on every chunk, null
 * while the text goes on: OpenAI's own clients read it. The constant parts of chunks are encoded
 * once.
 */
public final class CompletionAnswer implements ChunkFormat {
  private final byte[] head; // up to the choices
  private final byte[] unaryHead;
  private final byte[] tail; // after the choices

  /**
   * @param id the request's id without prefix
   * @param createdSeconds UNIX time
   */
  public CompletionAnswer(String id, long createdSeconds, String model) {
    var json = new ByteText(256);
    json.ascii("data: {\"id\":").quoted("cmpl-" + id).ascii(",\"choices\":[");
    head = json.toByteArray();
    unaryHead = Arrays.copyOfRange(head, "data: ".length(), head.length);
    json.clear();
    json.ascii("],\"created\":").number(createdSeconds).ascii(",\"model\":").quoted(model);
    json.ascii(",\"system_fingerprint\":null,\"object\":\"text_completion\",\"usage\":");
    tail = json.toByteArray();
  }

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
    choice(frames.append(head), choice, text, finish, logprobs);
    tail(frames, running, nvext);
    frames.ascii("\n\n");
  }

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
    chunk(frames, choice, delta.content(), first, finish, logprobs, running, nvext);
  }

  private static void choice(
      ByteText json,
      int index,
      String text,
      @Nullable FinishReason finish,
      @Nullable LogprobsText logprobs) {
    json.ascii("{\"text\":").quoted(text).ascii(",\"index\":").number(index);
    if (logprobs != null && !logprobs.isEmpty()) {
      logprobs.appendTo(json.ascii(",\"logprobs\":"));
    }
    if (finish == null) {
      json.ascii(",\"finish_reason\":null}");
    } else {
      json.ascii(",\"finish_reason\":\"").ascii(ChunkFormat.wireName(finish)).ascii("\"}");
    }
  }

  private void tail(ByteText json, @Nullable Usage usage, @Nullable ByteText nvext) {
    json.append(tail);
    if (usage == null) {
      json.ascii("null");
    } else {
      ChunkFormat.appendUsage(usage, json);
    }
    if (nvext != null) {
      json.ascii(",\"nvext\":").append(nvext);
    }
    json.ascii("}");
  }

  @Override
  public void usage(ByteText frames, Usage usage) {
    tail(frames.append(head), usage, null);
    frames.ascii("\n\n");
  }

  @Override
  public byte[] unary(
      List<CompletedChoice> choices, @Nullable Usage usage, @Nullable ByteText nvext) {
    var json = new ByteText(512);
    json.append(unaryHead);
    for (int i = 0; i < choices.size(); i++) {
      var whole = choices.get(i);
      json.ascii(i == 0 ? "" : ",");
      choice(json, whole.index(), whole.fullText(), whole.finish(), whole.logprobs());
    }
    tail(json, usage, nvext);
    return json.toByteArray();
  }

  @Override
  public LogprobsText logprobs(LogprobsText.Tokens tokens, int alternatives, int textOffset) {
    return new CompletionLogprobs(tokens, alternatives, textOffset);
  }
}
