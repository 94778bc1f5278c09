package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.Markers;
import io.dynamo.frontend.postprocess.message.MessageSink;

/**
 * Finds calls as Gemma 4 writes them: {@code <|tool_call>call:f{a:<|"|>x<|"|>}<tool_call|>}. A call
 * is passed on when it is complete; one with too many end markers within its strings is content.
 * For one thread.
 */
final class GemmaCalls extends RegionParser {
  private static final String OPEN = "<|tool_call>";
  private static final String CLOSE = "<tool_call|>";
  private static final String QUOTE = "<|\"|>";
  private static final int MAX_ENDS = 32; // each means to read the call anew

  private final Markers text = new Markers(OPEN, CLOSE);
  private final Markers ends = new Markers(CLOSE);
  private boolean call; // within one
  private int triedEnds; // end markers of this call that stood within a string

  @Override
  boolean step(MessageSink sink, boolean last) {
    return call ? call(sink, last) : text(sink, last);
  }

  @Override
  public boolean isInCall() {
    return call;
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
      call = true;
      triedEnds = 0;
      at = OPEN.length();
    } else {
      drop(CLOSE.length()); // an end without a beginning
    }
    return true;
  }

  private boolean call(MessageSink sink, boolean last) {
    if (!ends.find(in, at, last)) {
      at = Math.max(OPEN.length(), ends.start());
      return false;
    }
    at = ends.end();
    try {
      var reader = new LiteralReader(in.substring(0, ends.start()), OPEN.length(), QUOTE);
      boolean prefixed = reader.name().equals("call") && reader.take(':');
      if (!prefixed) {
        throw new LiteralReader.InvalidException();
      }
      var name = reader.name();
      var json = new StringBuilder();
      reader.object(json, 0);
      sink.callStarted(name, null);
      sink.callArguments(json.toString());
      sink.callEnded();
      drop(at);
      call = false;
    } catch (LiteralReader.IncompleteException e) {
      if (++triedEnds == MAX_ENDS) {
        content(at, sink);
        call = false;
      }
      return true; // the end marker was within a string: search the next
    } catch (LiteralReader.InvalidException e) {
      content(at, sink);
      call = false;
    }
    return true;
  }
}
