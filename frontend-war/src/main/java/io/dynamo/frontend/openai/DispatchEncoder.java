package io.dynamo.frontend.openai;

import io.dynamo.config.frontend.DispatchEvents;
import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.FinishReason;
import org.jspecify.annotations.Nullable;

/**
 * Writes Dynamo's events that repeat a tool call or a thought as a whole as soon as it is complete,
 * so that a client can act on it before the stream ends. A call that the end of the text may have
 * cut off is not repeated: its arguments are valid JSON but may lack what the model meant to say.
 * For one thread.
 */
final class DispatchEncoder {
  private final DispatchEvents wanted;
  private final GatheredAnswer memory;
  private final Choice[] choices;

  /** The unfinished thought and call of one choice. */
  private static final class Choice {
    private final StringBuilder thoughts = new StringBuilder();
    private final StringBuilder arguments = new StringBuilder();
    private Piece.@Nullable CallStarted call;
  }

  /**
   * @param memory charged with what is gathered
   */
  DispatchEncoder(DispatchEvents wanted, int choices, GatheredAnswer memory) {
    this.wanted = wanted;
    this.memory = memory;
    this.choices = new Choice[choices];
    for (int i = 0; i < choices; i++) {
      this.choices[i] = new Choice();
    }
  }

  /** Appends the events that precede the chunk of {@code delta}. */
  void append(ChoiceDelta delta, ByteText frames) {
    var pieces = delta.pieces();
    if (pieces == null) {
      return;
    }
    var choice = choices[delta.choice()];
    for (int i = 0; i < pieces.size(); i++) {
      switch (pieces.get(i)) {
        case Piece.Reasoning(var text) -> {
          if (wanted.reasoning()) {
            memory.charge(text);
            choice.thoughts.append(text);
          }
        }
        case Piece.Content _ -> endThoughts(delta.choice(), choice, frames);
        case Piece.CallStarted it -> {
          endThoughts(delta.choice(), choice, frames);
          choice.call = it;
        }
        case Piece.CallArguments(var _, var json) -> {
          if (wanted.toolCalls()) {
            memory.charge(json);
            choice.arguments.append(json);
          }
        }
        case Piece.CallEnded _ -> {
          boolean isLast = i == pieces.size() - 1;
          endCall(delta, choice, isLast && isCutOff(delta), frames);
        }
      }
    }
    if (delta.finish() != null) {
      endThoughts(delta.choice(), choice, frames);
    }
  }

  private static void endThoughts(int index, Choice choice, ByteText frames) {
    if (!choice.thoughts.isEmpty()) {
      frames.ascii("event: reasoning_dispatch\ndata: {\"index\":").number(index);
      frames.ascii(",\"reasoning_content\":").quoted(choice.thoughts.toString());
      frames.ascii("}\n\n");
      choice.thoughts.setLength(0);
    }
  }

  private void endCall(ChoiceDelta delta, Choice choice, boolean isCutOff, ByteText frames) {
    var call = choice.call;
    choice.call = null;
    if (wanted.toolCalls() && call != null && !isCutOff) {
      frames.ascii("event: tool_call_dispatch\ndata: {\"choice_index\":").number(delta.choice());
      frames.ascii(",\"tool_call\":{\"index\":").number(call.index());
      frames.ascii(",\"id\":").quoted(call.id());
      frames.ascii(",\"type\":\"function\",\"function\":{\"name\":").quoted(call.name());
      frames.ascii(",\"arguments\":").quoted(choice.arguments.toString()).ascii("}}}\n\n");
    }
    choice.arguments.setLength(0);
  }

  /** Whether the text ended for another reason than that the model was done. */
  private static boolean isCutOff(ChoiceDelta delta) {
    var finish = delta.finish();
    return finish == null
        ? delta.item() == null // held back when the stream broke off
        : finish != FinishReason.STOP && finish != FinishReason.EOS;
  }
}
