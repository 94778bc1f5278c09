package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.Markers;
import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;
import java.util.Arrays;

/**
 * Base of parsers that hold text back until its kind is certain: from the start of a region that
 * may be a call, or of a possible marker. For one thread.
 */
abstract class RegionParser implements MessageParser {
  /** The text whose kind is not certain yet. */
  final StringBuilder in = new StringBuilder();

  /** The number of characters of {@link #in} that are read. */
  int at;

  private final int[] spaces = {-1, -1, -1, -1}; // begin and end of the last two that were skipped
  private int older; // of the two

  @Override
  public final void accept(String text, MessageSink sink) {
    in.append(text);
    run(sink, false);
  }

  @Override
  public final void finish(MessageSink sink) {
    run(sink, true);
    end(sink);
    content(in.length(), sink);
  }

  /**
   * Parses the next part.
   *
   * @param last whether no more text comes
   * @return whether more may be parsed at once; false until more text arrives
   */
  abstract boolean step(MessageSink sink, boolean last);

  /** Ends a call that is cut off and drops its text; other text stays as content. */
  abstract void end(MessageSink sink);

  private void run(MessageSink sink, boolean last) {
    boolean goesOn;
    do {
      goesOn = step(sink, last);
    } while (goesOn);
  }

  /** Passes on the first {@code end} characters as content. */
  final void content(int end, MessageSink sink) {
    if (end > 0) {
      sink.content(in.substring(0, end));
      drop(end);
    }
  }

  /** Drops the first {@code end} characters and continues behind them. */
  final void drop(int end) {
    in.delete(0, end);
    at = Math.max(0, at - end);
    Arrays.fill(spaces, -1);
  }

  /**
   * The next character at or after {@code from} that is no space, or the end. Space that was
   * skipped before is not read again.
   */
  final int skipSpace(int from) {
    int space = spaces[0] == from ? 0 : spaces[2] == from ? 2 : older;
    int next = spaces[space] == from ? spaces[space + 1] : from;
    while (next < in.length() && Character.isWhitespace(in.charAt(next))) {
      next++;
    }
    spaces[space] = from;
    spaces[space + 1] = next;
    older = 2 - space;
    return next;
  }

  /** Whether a marker begins at {@code from} that the end of the text cuts off. */
  final boolean isCut(Markers markers, int from) {
    return from < in.length() && markers.mayBeAt(in, from);
  }
}
