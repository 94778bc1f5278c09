package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.StopReason;
import io.dynamo.inference.Usage;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;

/** Writes answers of Anthropic's Messages API. For one thread. */
public final class MessagesAnswer implements BlockFormat {
  private static final Pattern SAFE_ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");
  private static final String CALL = "call-"; // ours; see MessageGrammar

  private enum Block {
    NONE,
    TEXT,
    THINKING,
    TOOL
  }

  private final byte[] id;
  private final byte[] model;
  private Block open = Block.NONE;
  private int index = -1; // of the open block, or the last

  /**
   * @param requestId a UUID
   */
  public MessagesAnswer(String requestId, String model) {
    id = ("\"msg_" + requestId.replace("-", "") + "\"").getBytes(StandardCharsets.US_ASCII);
    this.model = new ByteText(64).quoted(model).toByteArray();
  }

  @Override
  public void begin(ByteText frames, int promptTokens) {
    event(frames, "message_start").ascii(",\"message\":{\"id\":").append(id);
    frames.ascii(",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":");
    frames.append(model).ascii(",\"stop_reason\":null,\"stop_sequence\":null,\"usage\":");
    usage(frames, new Usage(promptTokens, 0, null)).ascii("}}\n\n");
  }

  @Override
  public void piece(ByteText frames, Piece piece) {
    switch (piece) {
      case Piece.Content(var text) -> {
        if (open != Block.TEXT) {
          start(frames, Block.TEXT).ascii("{\"type\":\"text\",\"text\":\"\"}}\n\n");
        }
        delta(frames, "text_delta", "text").quoted(text).ascii("}}\n\n");
      }
      case Piece.Reasoning(var text) -> {
        if (open != Block.THINKING) {
          start(frames, Block.THINKING);
          frames.ascii("{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n");
        }
        delta(frames, "thinking_delta", "thinking").quoted(text).ascii("}}\n\n");
      }
      case Piece.CallStarted(var _, var call, var name) -> {
        start(frames, Block.TOOL).ascii("{\"type\":\"tool_use\",\"id\":").quoted(toolId(call));
        frames.ascii(",\"name\":").quoted(name).ascii(",\"input\":{}}}\n\n");
      }
      case Piece.CallArguments(var _, var json) ->
          delta(frames, "input_json_delta", "partial_json").quoted(json).ascii("}}\n\n");
      case Piece.CallEnded _ -> close(frames);
    }
  }

  /** Closes the open block and appends the start of another one up to its content. */
  private ByteText start(ByteText frames, Block kind) {
    close(frames);
    open = kind;
    index++;
    event(frames, "content_block_start").ascii(",\"index\":").number(index);
    return frames.ascii(",\"content_block\":");
  }

  private ByteText delta(ByteText frames, String type, String field) {
    event(frames, "content_block_delta").ascii(",\"index\":").number(index);
    frames.ascii(",\"delta\":{\"type\":\"").ascii(type).ascii("\",\"").ascii(field);
    return frames.ascii("\":");
  }

  private void close(ByteText frames) {
    if (open == Block.NONE) {
      return;
    }
    if (open == Block.THINKING) { // the protocol ends thoughts with a signature; nothing signs them
      delta(frames, "signature_delta", "signature").ascii("\"erased\"}}\n\n");
    }
    open = Block.NONE;
    event(frames, "content_block_stop").ascii(",\"index\":").number(index).ascii("}\n\n");
  }

  @Override
  public void end(ByteText frames, Ending ending) {
    close(frames);
    event(frames, "message_delta").ascii(",\"delta\":{");
    stop(frames, ending).ascii("},\"usage\":");
    usage(frames, ending.usage()).ascii("}\n\n");
    event(frames, "message_stop").ascii("}\n\n");
  }

  @Override
  public void failure(ByteText frames, ApiError error) {
    frames.ascii("event: error\ndata: ");
    ErrorFormat.appendAnthropic(error, frames);
    frames.ascii("\n\n");
  }

  @Override
  public byte[] whole(List<MessageBlock> blocks, Ending ending) {
    var json = new ByteText(512);
    json.ascii("{\"id\":").append(id);
    json.ascii(",\"type\":\"message\",\"role\":\"assistant\",\"content\":[");
    var comma = "";
    for (var block : blocks) {
      json.ascii(comma);
      comma = ",";
      switch (block) {
        case MessageBlock.Text(var text) ->
            json.ascii("{\"type\":\"text\",\"text\":").quoted(text).ascii("}");
        case MessageBlock.Thoughts(var text) ->
            json.ascii("{\"type\":\"thinking\",\"thinking\":")
                .quoted(text)
                .ascii(",\"signature\":\"\"}");
        case MessageBlock.Call(var call, var name, var arguments) -> {
          json.ascii("{\"type\":\"tool_use\",\"id\":").quoted(toolId(call));
          json.ascii(",\"name\":").quoted(name).ascii(",\"input\":");
          json.append(JsonText.objectOrEmpty(arguments)).ascii("}");
        }
      }
    }
    json.ascii("],\"model\":").append(model).ascii(",");
    stop(json, ending).ascii(",\"usage\":");
    return usage(json, ending.usage()).ascii("}").toByteArray();
  }

  /** Appends the reason why the message ended, as two fields. */
  private static ByteText stop(ByteText json, Ending ending) {
    var stop = ending.stop() instanceof StopReason.Text(var text) ? text : null;
    json.ascii("\"stop_reason\":");
    if (ending.finish() == null) {
      json.ascii("null");
    } else {
      json.ascii("\"").ascii(reason(ending.finish(), stop != null, ending.called())).ascii("\"");
    }
    json.ascii(",\"stop_sequence\":");
    return stop == null ? json.ascii("null") : json.quoted(stop);
  }

  private static String reason(FinishReason finish, boolean stopped, boolean called) {
    return switch (finish) {
      case EOS, STOP -> stopped ? "stop_sequence" : called ? "tool_use" : "end_turn";
      case LENGTH -> "max_tokens";
      case CANCELLED, ERROR, CONTENT_FILTER -> "end_turn";
    };
  }

  /** Appends the counts. Tokens that were found in a cache are counted apart from the others. */
  private static ByteText usage(ByteText json, Usage usage) {
    var cached = usage.cachedTokens();
    int found = cached == null ? 0 : Math.min(cached, usage.promptTokens());
    json.ascii("{\"input_tokens\":").number(usage.promptTokens() - found);
    json.ascii(",\"output_tokens\":").number(usage.completionTokens());
    json.ascii(",\"cache_creation_input_tokens\":0");
    if (cached != null) {
      json.ascii(",\"cache_read_input_tokens\":").number(found);
    }
    return json.ascii("}");
  }

  /** The id of a call in the API's form. */
  private static String toolId(String call) {
    if (call.startsWith(CALL)) {
      return "toolu_" + call.substring(CALL.length()).replace("-", "");
    }
    return SAFE_ID.matcher(call).matches() // a model may number its calls in a form of its own
        ? call
        : "toolu_"
            + UUID.nameUUIDFromBytes(call.getBytes(StandardCharsets.UTF_8))
                .toString()
                .replace("-", "");
  }

  private static ByteText event(ByteText frames, String name) {
    frames.ascii("event: ").ascii(name).ascii("\ndata: {\"type\":\"").ascii(name);
    return frames.ascii("\"");
  }
}
