package io.dynamo.frontend.postprocess.reasoning;

import io.dynamo.frontend.postprocess.message.Markers;
import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;
import io.dynamo.frontend.postprocess.message.ReasoningParser;
import java.util.ArrayList;

/**
 * Takes all marked thoughts out of a text and passes the rest to the next parser. An end mark
 * outside of a thought is left out, and so is an opening mark at the beginning of a thought that
 * was open already. Marks within the arguments of a call belong to the call. For one thread.
 */
final class ThinkBlocks implements ReasoningParser {
  private enum State {
    OUTSIDE,
    /** No text of the thought that the prompt opened was read yet. */
    OPENED,
    INSIDE,
    /** The text is JSON and has no thoughts. */
    PASSING
  }

  private final ThinkFormat format;
  private final MessageParser next;
  private final boolean mayBeJson;
  private final Markers marks; // the opening ones first
  private final Markers opens;
  private final Markers ends;
  private final StringBuilder in = new StringBuilder();
  private State state;
  private int first; // of the open thought's characters that may be no space

  /**
   * @param inside whether the text begins within a thought
   * @param mayBeJson whether a text that begins as JSON has no thoughts
   * @param next gets all text that is no thought
   */
  ThinkBlocks(ThinkFormat format, boolean inside, boolean mayBeJson, MessageParser next) {
    this.format = format;
    this.next = next;
    this.mayBeJson = mayBeJson;
    var all = new ArrayList<>(format.opens());
    all.addAll(format.closes());
    this.marks = new Markers(all);
    this.opens = new Markers(format.opens());
    var ending = new ArrayList<>(format.closes());
    ending.addAll(format.toolOpens());
    this.ends = new Markers(ending);
    this.state = inside ? State.OPENED : State.OUTSIDE;
  }

  @Override
  public boolean isThinking() {
    return state == State.INSIDE || state == State.OPENED;
  }

  @Override
  public boolean isInCall() {
    return !isThinking() && next.isInCall();
  }

  @Override
  public void accept(String text, MessageSink sink) {
    if (in.isEmpty() && isPlain(text)) {
      next.accept(text, sink);
      return;
    }
    in.append(text);
    run(sink, false);
  }

  /** Whether the text has neither a mark nor the beginning of one. */
  private boolean isPlain(String text) {
    return switch (state) {
      case PASSING -> true;
      case OUTSIDE -> !marks.find(text, 0, false) && marks.start() == text.length();
      case OPENED, INSIDE -> false;
    };
  }

  @Override
  public void finish(MessageSink sink) {
    run(sink, true);
    next.finish(sink);
  }

  private void run(MessageSink sink, boolean last) {
    boolean goesOn;
    do {
      goesOn =
          switch (state) {
            case OUTSIDE -> outside(sink, last);
            case OPENED -> opened(last);
            case INSIDE -> inside(sink, last);
            case PASSING -> passing(sink);
          };
    } while (goesOn);
  }

  private boolean outside(MessageSink sink, boolean last) {
    boolean found = marks.find(in, 0, last);
    pass(marks.start(), sink);
    if (!found) {
      return false;
    }
    int length = marks.end() - marks.start();
    if (next.isInCall()) {
      pass(length, sink);
      return true;
    }
    in.delete(0, length);
    if (marks.which() < format.opens().size()) {
      state = State.INSIDE;
    }
    return true;
  }

  private boolean opened(boolean last) {
    while (first < in.length() && Character.isWhitespace(in.charAt(first))) {
      first++;
    }
    if (!last && (first == in.length() || opens.mayBeAt(in, first))) {
      return false;
    }
    if (mayBeJson && first < in.length() && "{[".indexOf(in.charAt(first)) >= 0) {
      state = State.PASSING;
      return true;
    }
    if (opens.at(in, first, last)) {
      in.delete(first, opens.end());
    }
    state = State.INSIDE;
    return true;
  }

  private boolean inside(MessageSink sink, boolean last) {
    boolean found = ends.find(in, 0, last);
    int end = ends.start();
    if (end > 0) {
      sink.reasoning(in.substring(0, end));
      in.delete(0, end);
    }
    if (found) {
      if (ends.which() < format.closes().size()) {
        in.delete(0, ends.end() - end);
      }
      state = State.OUTSIDE;
    }
    return found;
  }

  private boolean passing(MessageSink sink) {
    pass(in.length(), sink);
    return false;
  }

  private void pass(int end, MessageSink sink) {
    if (end > 0) {
      next.accept(in.substring(0, end), sink);
      in.delete(0, end);
    }
  }
}
