package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Writes answers of OpenAI's Responses API: items in the model's order, each closed before the next
 * begins. For one thread.
 */
public final class ResponsesAnswer implements BlockFormat {
  private static final String COMPLETED = "completed";
  private static final String INCOMPLETE = "incomplete";

  private final byte[] head; // of every response object, up to its state
  private final ResponsesEcho echo;
  private final @Nullable AnswerRecorder recorder;
  private final long createdSeconds;
  private final long begunNanos = System.nanoTime();
  private final ByteText output = new ByteText(512); // the closed items, separated by commas
  private int sequence;
  private int index = -1; // of the open item, or the last
  private @Nullable OpenItem item;

  /** The item that grows. */
  private static final class OpenItem {
    private final Piece first;
    private final String id;
    private final StringBuilder text = new StringBuilder();

    OpenItem(Piece first) {
      this.first = first;
      var kind =
          switch (first) {
            case Piece.Content _ -> "msg_";
            case Piece.Reasoning _ -> "rs_";
            case Piece.CallStarted _, Piece.CallArguments _, Piece.CallEnded _ -> "fc_";
          };
      this.id = kind + UUID.randomUUID().toString().replace("-", "");
    }
  }

  /**
   * @param requestId a UUID
   * @param echo the part of the answer that repeats the request
   * @param recorder stores the answer, whose id is the recorder's then; null for none
   */
  ResponsesAnswer(
      String requestId,
      long createdSeconds,
      String model,
      ResponsesEcho echo,
      @Nullable AnswerRecorder recorder) {
    this.createdSeconds = createdSeconds;
    this.echo = echo;
    this.recorder = recorder;
    var id = recorder == null ? "resp_" + requestId.replace("-", "") : recorder.id();
    var json = new ByteText(256).ascii("{\"id\":\"").ascii(id);
    json.ascii("\",\"object\":\"response\",\"created_at\":").number(createdSeconds);
    head = json.ascii(",\"model\":").quoted(model).toByteArray();
  }

  @Override
  public boolean keepsText() {
    return true;
  }

  @Override
  public void begin(ByteText frames, int promptTokens) {
    for (var name : List.of("response.created", "response.in_progress")) {
      event(frames, name).ascii(",\"response\":");
      response(frames, "in_progress", null, null, null).ascii("}\n\n");
    }
  }

  @Override
  public void piece(ByteText frames, Piece piece) {
    switch (piece) {
      case Piece.Content(var text) -> {
        if (item == null || !(item.first instanceof Piece.Content)) {
          open(frames, piece);
        }
        delta(frames, "response.output_text.delta", text).ascii(",\"logprobs\":[]}\n\n");
      }
      case Piece.Reasoning(var text) -> {
        if (!echo.showsThoughts()) {
          return;
        }
        if (item == null || !(item.first instanceof Piece.Reasoning)) {
          open(frames, piece);
        }
        delta(frames, "response.reasoning_text.delta", text).ascii("}\n\n");
      }
      case Piece.CallStarted _ -> open(frames, piece);
      case Piece.CallArguments(var _, var json) ->
          delta(frames, "response.function_call_arguments.delta", json).ascii("}\n\n");
      case Piece.CallEnded _ -> close(frames, COMPLETED);
    }
  }

  private void open(ByteText frames, Piece first) {
    close(frames, COMPLETED);
    var opened = new OpenItem(first);
    item = opened;
    index++;
    event(frames, "response.output_item.added").ascii(",\"output_index\":").number(index);
    frames.ascii(",\"item\":");
    switch (first) {
      case Piece.Content _ -> {
        frames.ascii("{\"type\":\"message\",\"content\":[],\"id\":\"").ascii(opened.id);
        frames.ascii("\",\"role\":\"assistant\",\"status\":\"in_progress\"}}\n\n");
      }
      case Piece.Reasoning _ -> {
        frames.ascii("{\"type\":\"reasoning\",\"id\":\"").ascii(opened.id);
        frames.ascii("\",\"summary\":[],\"content\":[],\"status\":\"in_progress\"}}\n\n");
      }
      case Piece.CallStarted(var _, var call, var name) -> {
        call(frames, opened.id, call, name, "", "in_progress").ascii("}\n\n");
        return;
      }
      case Piece.CallArguments _, Piece.CallEnded _ ->
          throw new IllegalArgumentException("no item begins with " + first);
    }
    place(event(frames, "response.content_part.added")).ascii(",\"part\":");
    part(frames, first, "").ascii("}\n\n");
  }

  private ByteText delta(ByteText frames, String name, String text) {
    if (item == null) {
      throw new IllegalStateException("a part of no item");
    }
    item.text.append(text);
    return place(event(frames, name)).ascii(",\"delta\":").quoted(text);
  }

  private void close(ByteText frames, String status) {
    var closing = item;
    if (closing == null) {
      return;
    }
    var text = closing.text.toString();
    switch (closing.first) {
      case Piece.CallStarted call -> {
        place(event(frames, "response.function_call_arguments.done"));
        frames.ascii(",\"name\":").quoted(call.name()).ascii(",\"arguments\":").quoted(text);
        frames.ascii("}\n\n");
      }
      case Piece.Content _, Piece.Reasoning _ -> {
        boolean said = closing.first instanceof Piece.Content;
        place(event(frames, said ? "response.output_text.done" : "response.reasoning_text.done"));
        frames.ascii(",\"text\":").quoted(text).ascii(said ? ",\"logprobs\":[]}\n\n" : "}\n\n");
        place(event(frames, "response.content_part.done")).ascii(",\"part\":");
        part(frames, closing.first, text).ascii("}\n\n");
      }
      case Piece.CallArguments _, Piece.CallEnded _ -> throw new IllegalStateException();
    }
    event(frames, "response.output_item.done").ascii(",\"output_index\":").number(index);
    var whole = new ByteText(128 + 2 * text.length());
    done(whole, closing, text, status);
    frames.ascii(",\"item\":").append(whole).ascii("}\n\n");
    output.ascii(output.size() == 0 ? "" : ",").append(whole);
    item = null;
  }

  /** Appends the place of a part of the open item. */
  private ByteText place(ByteText frames) {
    var open = item;
    if (open == null) {
      throw new IllegalStateException("a part of no item");
    }
    frames.ascii(",\"item_id\":\"").ascii(open.id).ascii("\",\"output_index\":").number(index);
    return open.first instanceof Piece.CallStarted ? frames : frames.ascii(",\"content_index\":0");
  }

  private static ByteText part(ByteText json, Piece kind, String text) {
    return kind instanceof Piece.Content
        ? json.ascii("{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":")
            .quoted(text)
            .ascii("}")
        : json.ascii("{\"type\":\"reasoning_text\",\"text\":").quoted(text).ascii("}");
  }

  private static void done(ByteText json, OpenItem item, String text, String status) {
    switch (item.first) {
      case Piece.Content _ -> {
        part(json.ascii("{\"type\":\"message\",\"content\":["), item.first, text);
        json.ascii("],\"id\":\"").ascii(item.id).ascii("\",\"role\":\"assistant\",\"status\":\"");
        json.ascii(status).ascii("\"}");
      }
      case Piece.Reasoning _ -> {
        json.ascii("{\"type\":\"reasoning\",\"id\":\"").ascii(item.id);
        part(json.ascii("\",\"summary\":[],\"content\":["), item.first, text);
        json.ascii("],\"status\":\"").ascii(status).ascii("\"}");
      }
      case Piece.CallStarted call -> call(json, item.id, call.id(), call.name(), text, status);
      case Piece.CallArguments _, Piece.CallEnded _ -> throw new IllegalStateException();
    }
  }

  private static ByteText call(
      ByteText json, String id, String call, String name, String arguments, String status) {
    json.ascii("{\"type\":\"function_call\",\"arguments\":").quoted(arguments);
    json.ascii(",\"call_id\":").quoted(call).ascii(",\"name\":").quoted(name);
    json.ascii(",\"id\":\"").ascii(id).ascii("\",\"status\":\"").ascii(status);
    return json.ascii("\"}");
  }

  @Override
  public void end(ByteText frames, Ending ending) {
    var status = status(ending);
    close(frames, status);
    event(frames, "response." + status).ascii(",\"response\":");
    if (recorder == null) {
      response(frames, status, ending.finish(), ending.usage(), null);
    } else {
      var whole = new ByteText(1024 + output.size());
      response(whole, status, ending.finish(), ending.usage(), null);
      recorder.record(whole.toByteArray(), output.toByteArray());
      frames.append(whole);
    }
    frames.ascii("}\n\n");
  }

  @Override
  public void failure(ByteText frames, ApiError error) {
    close(frames, INCOMPLETE);
    event(frames, "response.failed").ascii(",\"response\":");
    response(frames, "failed", null, null, error).ascii("}\n\n");
  }

  @Override
  public byte[] whole(List<MessageBlock> blocks, Ending ending) {
    var status = status(ending);
    for (int i = 0; i < blocks.size(); i++) {
      var last = i == blocks.size() - 1;
      switch (blocks.get(i)) {
        case MessageBlock.Text(var text) -> add(new Piece.Content(text), text, last, status);
        case MessageBlock.Thoughts(var text) -> {
          if (echo.showsThoughts()) {
            add(new Piece.Reasoning(text), text, last, status);
          }
        }
        case MessageBlock.Call(var id, var name, var arguments) ->
            add(new Piece.CallStarted(0, id, name), arguments, last, status);
      }
    }
    var json = new ByteText(1024 + output.size());
    var answer = response(json, status, ending.finish(), ending.usage(), null).toByteArray();
    if (recorder != null) {
      recorder.record(answer, output.toByteArray());
    }
    return answer;
  }

  private void add(Piece first, String text, boolean last, String status) {
    done(
        output.ascii(output.size() == 0 ? "" : ","),
        new OpenItem(first),
        text,
        last ? status : COMPLETED);
  }

  private static String status(Ending ending) {
    var finish = ending.finish();
    return finish == null || finish == FinishReason.LENGTH || finish == FinishReason.CONTENT_FILTER
        ? INCOMPLETE
        : COMPLETED;
  }

  /**
   * Appends the response object.
   *
   * @param usage null while the response is under way, or has failed
   */
  private ByteText response(
      ByteText json,
      String status,
      @Nullable FinishReason finish,
      @Nullable Usage usage,
      @Nullable ApiError error) {
    json.append(head).ascii(",\"completed_at\":");
    if (status.equals(COMPLETED)) {
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begunNanos);
      json.number(createdSeconds + seconds);
    } else {
      json.ascii("null");
    }
    json.ascii(",\"status\":\"").ascii(status).ascii("\",\"error\":");
    if (error == null) {
      json.ascii("null");
    } else {
      json.ascii("{\"code\":\"")
          .ascii(error.status() == 429 ? "rate_limit_exceeded" : "server_error");
      json.ascii("\",\"message\":").quoted(error.message()).ascii("}");
    }
    json.ascii(",\"incomplete_details\":");
    switch (finish) {
      case LENGTH -> json.ascii("{\"reason\":\"max_output_tokens\"}");
      case CONTENT_FILTER -> json.ascii("{\"reason\":\"content_filter\"}");
      case null, default -> json.ascii("null");
    }
    json.ascii(",\"output\":[").append(output).ascii("],\"usage\":");
    if (usage == null) {
      json.ascii("null");
    } else {
      usage(json, usage);
    }
    return json.append(echo.json()).ascii("}");
  }

  private static void usage(ByteText json, Usage usage) {
    var cached = usage.cachedTokens();
    var reasoning = usage.reasoningTokens();
    json.ascii("{\"input_tokens\":").number(usage.promptTokens());
    json.ascii(",\"input_tokens_details\":{\"cached_tokens\":").number(cached == null ? 0 : cached);
    json.ascii("},\"output_tokens\":").number(usage.completionTokens());
    json.ascii(",\"output_tokens_details\":{\"reasoning_tokens\":");
    json.number(reasoning == null ? 0 : reasoning).ascii("},\"total_tokens\":");
    json.number(usage.totalTokens()).ascii("}");
  }

  private ByteText event(ByteText frames, String name) {
    frames.ascii("event: ").ascii(name).ascii("\ndata: {\"type\":\"").ascii(name);
    return frames.ascii("\",\"sequence_number\":").number(sequence++);
  }
}
