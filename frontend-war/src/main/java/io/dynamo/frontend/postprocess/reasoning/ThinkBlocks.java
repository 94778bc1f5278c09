package io.dynamo.frontend.postprocess.reasoning;

import io.dynamo.frontend.postprocess.message.Markers;
import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;
import io.dynamo.frontend.postprocess.message.ReasoningParser;
import java.util.ArrayList;

/**
 * Takes the first marked thought out of a text: what stands before and behind it goes to the next
 * parser, later marks included. An opening mark at the beginning of a thought that was open already
 * is left out. For one thread.
 */
final class ThinkBlocks implements ReasoningParser {
  private enum State {
    /** The thought may still begin. */
    BEFORE,
    /** Nothing of the open thought was read. */
    OPENED,
    INSIDE,
    BEHIND
  }

  private final ThinkFormat format;
  private final MessageParser next;
  private final boolean mayBeJson;
  private final Markers before;
  private final Markers opens;
  private final Markers ends;
  private final StringBuilder in = new StringBuilder();
  private State state;
  private int first; // of the open thought's characters that may be no space

  /**
   * @param inside whether the text begins within a thought
   * @param mayBeJson whether a text that begins as JSON has no thoughts
   * @param next gets all that is no thought
   */
  ThinkBlocks(ThinkFormat format, boolean inside, boolean mayBeJson, MessageParser next) {
    this.format = format;
    this.next = next;
    this.mayBeJson = mayBeJson;
    var starts = new ArrayList<>(format.opens());
    if (format.dropsLoneClose()) {
      starts.addAll(format.closes());
    }
    this.before = new Markers(starts);
    this.opens = new Markers(format.opens());
    var all = new ArrayList<>(format.closes());
    all.addAll(format.toolOpens());
    this.ends = new Markers(all);
    this.state = inside ? State.OPENED : State.BEFORE;
  }

  @Override
  public boolean isThinking() {
    return state == State.INSIDE || state == State.OPENED;
  }

  @Override
  public void accept(String text, MessageSink sink) {
    if (state == State.BEHIND) {
      next.accept(text, sink);
      return;
    }
    in.append(text);
    run(sink, false);
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
            case BEFORE -> before(sink, last);
            case OPENED -> opened(last);
            case INSIDE -> inside(sink, last);
            case BEHIND -> behind(sink);
          };
    } while (goesOn);
  }

  private boolean before(MessageSink sink, boolean last) {
    boolean found = before.find(in, 0, last);
    pass(before.start(), sink);
    if (found) {
      in.delete(0, before.end() - before.start());
      state = before.which() < format.opens().size() ? State.INSIDE : State.BEHIND;
    }
    return found;
  }

  private boolean opened(boolean last) {
    while (first < in.length() && Character.isWhitespace(in.charAt(first))) {
      first++;
    }
    if (!last && (first == in.length() || opens.mayBeAt(in, first))) {
      return false;
    }
    if (mayBeJson && first < in.length() && "{[".indexOf(in.charAt(first)) >= 0) {
      state = State.BEHIND;
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
      state = State.BEHIND;
    }
    return found;
  }

  private boolean behind(MessageSink sink) {
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
