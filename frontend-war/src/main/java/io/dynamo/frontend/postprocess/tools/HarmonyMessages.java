package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.Markers;
import io.dynamo.frontend.postprocess.message.MessageSink;
import io.dynamo.frontend.postprocess.message.ReasoningParser;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses OpenAI's Harmony format: messages in channels, {@code analysis} for thoughts, {@code
 * final} for the answer, and a recipient where a message is a call. Text outside of messages is
 * content. For one thread.
 */
public final class HarmonyMessages extends RegionParser implements ReasoningParser {
  private enum State {
    OUTSIDE,
    HEADER,
    REASONING,
    CONTENT,
    CALL
  }

  private static final String START = "<|start|>";
  private static final String CHANNEL = "<|channel|>";
  private static final String MESSAGE = "<|message|>";
  private static final String CONSTRAIN = "<|constrain|>";
  private static final List<String> ENDS = List.of("<|end|>", "<|return|>", "<|call|>");

  /** All markers of the format. */
  public static final List<String> MARKERS =
      List.of(START, CHANNEL, MESSAGE, CONSTRAIN, ENDS.get(0), ENDS.get(1), ENDS.get(2));

  private static final Pattern CHANNEL_NAME = Pattern.compile("<\\|channel\\|>\\s*(\\w+)");
  private static final Pattern RECIPIENT = Pattern.compile("\\bto=(?:functions\\.)?([^\\s<]+)");
  private static final int MAX_HEADER_CHARS = 1024;

  private final boolean reasoning;
  private final boolean tools;
  private final Markers outside = new Markers(MARKERS);
  private final Markers headerEnds =
      new Markers(MESSAGE, START, ENDS.get(0), ENDS.get(1), ENDS.get(2));
  private final Markers bodyEnds =
      new Markers(START, CHANNEL, ENDS.get(0), ENDS.get(1), ENDS.get(2));
  private State state = State.OUTSIDE;
  private @Nullable ArgumentStream call;

  /**
   * @param reasoning whether thoughts are separated; else they are content
   * @param tools whether calls are; else their text is content
   */
  public HarmonyMessages(boolean reasoning, boolean tools) {
    this.reasoning = reasoning;
    this.tools = tools;
  }

  @Override
  public boolean isThinking() {
    return state == State.REASONING;
  }

  @Override
  boolean step(MessageSink sink, boolean last) {
    return switch (state) {
      case OUTSIDE -> outside(sink, last);
      case HEADER -> header(sink, last);
      case REASONING, CONTENT -> body(sink, last);
      case CALL -> call(sink, last);
    };
  }

  @Override
  public boolean isInCall() {
    return state == State.CALL;
  }

  @Override
  void end(MessageSink sink) {
    if (call != null && call.isStarted()) {
      call.end(sink);
    } else if (state == State.HEADER) {
      drop(in.length()); // markup only, and not all of it
    }
  }

  private boolean outside(MessageSink sink, boolean last) {
    boolean found = outside.find(in, 0, last);
    content(outside.start(), sink);
    if (!found) {
      return false;
    }
    int length = outside.end() - outside.start();
    switch (outside.which()) {
      case 0, 1 -> {
        at = length;
        state = State.HEADER;
      }
      case 2 -> {
        drop(length);
        state = State.CONTENT;
      }
      default -> drop(length);
    }
    return true;
  }

  private boolean header(MessageSink sink, boolean last) {
    if (!headerEnds.find(in, at, last)) {
      if (in.length() <= MAX_HEADER_CHARS) {
        return false;
      }
      content(in.length(), sink);
      state = State.OUTSIDE;
      return true;
    }
    var header = in.substring(0, headerEnds.start());
    if (headerEnds.which() != 0) {
      drop(headerEnds.which() == 1 ? headerEnds.start() : headerEnds.end());
      at = 0;
      state = State.OUTSIDE;
      return true;
    }
    drop(headerEnds.end());
    at = 0;
    var recipient = RECIPIENT.matcher(header);
    var channel = CHANNEL_NAME.matcher(header);
    if (recipient.find()) {
      call = tools ? new ArgumentStream(recipient.group(1), null, false) : null;
      state = tools ? State.CALL : State.CONTENT;
    } else {
      boolean thought = channel.find() && channel.group(1).equals("analysis");
      state = thought && reasoning ? State.REASONING : State.CONTENT;
    }
    return true;
  }

  private boolean body(MessageSink sink, boolean last) {
    boolean found = bodyEnds.find(in, 0, last);
    int end = bodyEnds.start();
    if (state == State.REASONING && end > 0) {
      sink.reasoning(in.substring(0, end));
      drop(end);
    } else {
      content(end, sink);
    }
    if (found) {
      endBody();
    }
    return found;
  }

  private boolean call(MessageSink sink, boolean last) {
    var reading = Objects.requireNonNull(call);
    int first = skipSpace(0);
    if (!reading.isStarted() && (first == in.length() || (!last && bodyEnds.mayBeAt(in, first)))) {
      return false;
    }
    if (!reading.isStarted() && bodyEnds.at(in, first, last)) { // without arguments
      drop(first);
      reading.end(sink);
      call = null;
      endBody();
      return true;
    }
    while (at < in.length()) {
      var step = reading.accept(in.charAt(at));
      if (step == CallObject.Step.MORE) {
        at++;
        continue;
      }
      if (reading.isStarted()) {
        drop(step == CallObject.Step.DONE ? at + 1 : at);
        reading.end(sink);
      }
      call = null;
      at = 0;
      state = State.CONTENT; // text behind the arguments, or that is no arguments
      return true;
    }
    reading.passOn(sink);
    if (reading.isStarted()) {
      drop(at);
    }
    return false;
  }

  /** Reads the end of a body, with which the text begins. */
  private void endBody() {
    bodyEnds.at(in, 0, true);
    if (bodyEnds.which() >= 2) {
      drop(bodyEnds.end());
    }
    at = 0;
    state = State.OUTSIDE;
  }
}
