package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.Markers;
import io.dynamo.frontend.postprocess.message.MessageSink;
import java.util.List;

/**
 * Finds calls written as a Python list: {@code [f(a=1), g(b="x")]}. A call is passed on when it is
 * complete and the list goes on or ends behind it. For one thread.
 */
final class PythonicCalls extends RegionParser {
  private static final List<String> FRAMING = List.of("<|python_start|>", "<|python_end|>");
  private static final int SMALL_CHARS = 256;

  private final Markers text = new Markers("[", FRAMING.get(0), FRAMING.get(1));
  private boolean list; // within one
  private int triedChars; // how long the text was when it was last tried in vain

  @Override
  boolean step(MessageSink sink, boolean last) {
    return list ? call(sink, last) : text(sink, last);
  }

  @Override
  public boolean isInCall() {
    return list;
  }

  @Override
  void end(MessageSink sink) {}

  private boolean text(MessageSink sink, boolean last) {
    boolean found = text.find(in, 0, last);
    content(text.start(), sink);
    if (!found) {
      return false;
    }
    if (text.which() == 0) {
      list = true;
      triedChars = 0;
    } else {
      drop(text.end() - text.start());
    }
    return true;
  }

  /** Reads a call behind the bracket or comma that the text begins with. */
  private boolean call(MessageSink sink, boolean last) {
    boolean worth = in.length() < SMALL_CHARS || in.length() >= triedChars + triedChars / 8;
    if (!worth && !last) {
      return false; // trying at every character of a long call would be quadratic
    }
    triedChars = in.length();
    try {
      var reader = new LiteralReader(in, 1, "");
      var name = reader.name();
      reader.expect('(');
      var json = new StringBuilder("{");
      while (!reader.take(')')) {
        if (json.length() > 1) {
          reader.expect(',');
          if (reader.take(')')) {
            break;
          }
          json.append(',');
        }
        json.append(JsonFragments.quoted(reader.name())).append(':');
        reader.expect('=');
        reader.value(json, 0);
      }
      boolean more = reader.peek() == ',';
      if (!more) {
        reader.expect(']');
      }
      sink.callStarted(name, null);
      sink.callArguments(json.append('}').toString());
      sink.callEnded();
      triedChars = 0;
      drop(reader.at());
      list = more;
      return true;
    } catch (LiteralReader.IncompleteException e) {
      return false;
    } catch (LiteralReader.InvalidException e) {
      list = false;
      content(1, sink); // no list of calls: the search goes on behind the bracket
      return true;
    }
  }
}
