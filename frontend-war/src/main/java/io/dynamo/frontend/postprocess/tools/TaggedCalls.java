package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.Markers;
import io.dynamo.frontend.postprocess.message.MessageSink;
import java.util.ArrayList;

/**
 * Finds calls written as tags. A call is passed on with its first parameter or its end; text values
 * are passed on as they arrive, others when they are complete. For one thread.
 */
final class TaggedCalls extends RegionParser {
  private enum State {
    TEXT,
    BLOCK,
    NAME,
    PARAMETERS,
    KEY,
    VALUE_OPEN,
    TEXT_VALUE,
    JSON_VALUE,
    JSON_ARGUMENTS,
    GIVE_BACK
  }

  private static final int MAX_TAG_CHARS = 1024;
  private static final int JSON_MARK = 4; // the place of their mark
  private static final Markers JSON_ENDS = new Markers(TaggedFormat.JSON_CLOSE);

  private final TaggedFormat format;
  private final ToolSchemas schemas;
  private final Markers text;
  private final int openings; // how many of the markers in text begin something
  private final Markers inBlock;
  private final Markers nameEnds;
  private final Markers parameters;
  private final Markers keyEnds;
  private final Markers valueOpen;
  private final TaggedCall call;
  private Markers valueEnds = new Markers();
  private State state = State.TEXT;
  private boolean block; // within a block
  private boolean called; // a call was passed on since the marker
  private Tag parameter = Tag.of("");
  private boolean lineHeld; // a line break that may be the last of the value

  TaggedCalls(TaggedFormat format, ToolSchemas schemas) {
    this.format = format;
    this.schemas = schemas;
    this.call = new TaggedCall(format.shortId());
    var all = new ArrayList<String>();
    if (!format.blockOpen().isEmpty()) {
      all.add(format.blockOpen());
    }
    if (format.blockOpen().isEmpty() || format.bareCalls()) {
      all.add(format.callOpen());
    }
    openings = all.size();
    if (!format.blockClose().isEmpty()) {
      all.add(format.blockClose());
    }
    all.add(format.callClose());
    all.addAll(format.framing());
    text = new Markers(all);
    inBlock =
        block(format)
            ? new Markers(format.callOpen(), format.blockClose())
            : new Markers(format.callOpen());
    nameEnds = new Markers(format.nameEnds());
    parameters = new Markers(format.inCall());
    keyEnds = new Markers(format.parameterEnds());
    valueOpen = format.valueOpen() == null ? new Markers() : new Markers(format.valueOpen());
  }

  private static boolean block(TaggedFormat format) {
    return !format.blockClose().isEmpty();
  }

  @Override
  boolean step(MessageSink sink, boolean last) {
    return switch (state) {
      case TEXT -> text(sink, last);
      case BLOCK -> block(last);
      case NAME -> name(last);
      case PARAMETERS -> parameters(sink, last);
      case KEY -> key(sink, last);
      case VALUE_OPEN -> valueOpen(sink, last);
      case TEXT_VALUE -> textValue(sink);
      case JSON_VALUE -> jsonValue(sink);
      case JSON_ARGUMENTS -> jsonArguments(sink);
      case GIVE_BACK -> giveBack(sink, last);
    };
  }

  @Override
  public boolean isInCall() {
    return switch (state) {
      case TEXT, BLOCK, GIVE_BACK -> false;
      case NAME, PARAMETERS, KEY, VALUE_OPEN, TEXT_VALUE, JSON_VALUE, JSON_ARGUMENTS -> true;
    };
  }

  @Override
  void end(MessageSink sink) {
    if (call.isStarted()) {
      endCut(sink);
      drop(in.length());
    } else if (called && (state == State.NAME || state == State.PARAMETERS)) {
      drop(in.length()); // the head of one more call
    }
  }

  private void endCut(MessageSink sink) {
    if (state == State.TEXT_VALUE) {
      sink.callArguments("\"");
    } else if (state == State.JSON_VALUE || state == State.JSON_ARGUMENTS) {
      var read = in.substring(0, at).strip(); // without an end marker that is cut, too
      if (!read.isEmpty() && state == State.JSON_VALUE) {
        call.parameter(parameter.name(), JsonFragments.closed(read), sink);
      } else if (!read.isEmpty()) {
        call.whole(JsonFragments.closed(read), sink);
      }
    }
    call.end(sink);
  }

  private boolean text(MessageSink sink, boolean last) {
    boolean found = text.find(in, 0, last);
    content(text.start(), sink);
    if (!found) {
      return false;
    }
    int length = text.end() - text.start();
    called = false;
    if (text.which() >= openings) {
      drop(length); // an end without a beginning, or framing
    } else {
      block = text.which() == 0 && !format.blockOpen().isEmpty();
      at = length;
      state = block ? State.BLOCK : State.NAME;
    }
    return true;
  }

  private boolean block(boolean last) {
    int next = skipSpace(at);
    if (!last && (next == in.length() || inBlock.mayBeAt(in, next))) {
      return false;
    }
    if (!inBlock.at(in, next, last)) {
      if (called && isCut(inBlock, next)) {
        drop(in.length());
      }
      broken();
    } else if (inBlock.which() == 0) {
      at = inBlock.end();
      state = State.NAME;
    } else if (called) {
      drop(inBlock.end());
      state = State.TEXT;
    } else {
      state = State.GIVE_BACK;
    }
    return true;
  }

  private boolean name(boolean last) {
    boolean found = nameEnds.find(in, at, last);
    if (!found) {
      if (in.length() - at <= MAX_TAG_CHARS) {
        return false;
      }
      broken();
      return true;
    }
    var name = format.tag(in.substring(at, nameEnds.start())).name();
    boolean unread = nameEnds.which() >= format.nameEnds().size() - format.unreadNameEnds();
    at = unread ? nameEnds.start() : nameEnds.end();
    call.next(name);
    if (name.isEmpty() || name.chars().anyMatch(c -> c <= ' ' || c == '<' || c == '{')) {
      broken();
    } else {
      state = State.PARAMETERS;
    }
    return true;
  }

  private boolean parameters(MessageSink sink, boolean last) {
    int next = skipSpace(at);
    if (next == in.length() || (!last && parameters.mayBeAt(in, next))) {
      return false;
    }
    if (!parameters.at(in, next, last)) {
      if (called && isCut(parameters, next)) {
        return false; // the call ends with the text; the rest is no content
      }
      broken(sink);
      return true;
    }
    call.start(sink);
    called = true;
    at = 0;
    int which = parameters.which();
    if ((which == 0 && !call.takesParameter()) || (which == JSON_MARK && !call.takesWhole())) {
      broken(sink);
      return true;
    }
    if (which == 2) {
      call.end(sink);
      drop(parameters.start());
      state = State.BLOCK;
      return true;
    }
    drop(parameters.end());
    if (which == 0) {
      state = State.KEY;
    } else if (which == JSON_MARK) {
      state = State.JSON_ARGUMENTS;
    } else {
      call.end(sink);
      state = which == 1 && block ? State.BLOCK : State.TEXT;
    }
    return true;
  }

  private boolean key(MessageSink sink, boolean last) {
    if (!keyEnds.find(in, 0, last)) {
      if (in.length() > MAX_TAG_CHARS) {
        broken(sink);
        return true;
      }
      return false;
    }
    parameter = format.tag(in.substring(0, keyEnds.start()));
    drop(keyEnds.end());
    valueEnds = new Markers(format.parameterClose().replace("%", parameter.name()));
    if (format.valueOpen() == null) {
      startValue(sink);
    } else {
      state = State.VALUE_OPEN;
    }
    return true;
  }

  private boolean valueOpen(MessageSink sink, boolean last) {
    int next = skipSpace(0);
    if (next == in.length() || (!last && valueOpen.mayBeAt(in, next))) {
      return false;
    }
    if (valueOpen.at(in, next, last)) {
      drop(valueOpen.end());
      startValue(sink);
    } else if (isCut(valueOpen, next)) {
      return false;
    } else {
      broken(sink);
    }
    return true;
  }

  private void startValue(MessageSink sink) {
    var declared = parameter.isText();
    boolean isText =
        declared == null
            ? schemas.isText(call.name(), parameter.name(), format.untypedIsText())
            : declared;
    if (isText) {
      call.parameter(parameter.name(), "\"", sink);
    }
    lineHeld = false;
    at = -1; // nothing of the value was read
    state = isText ? State.TEXT_VALUE : State.JSON_VALUE;
  }

  private boolean textValue(MessageSink sink) {
    if (at < 0) {
      if (in.isEmpty()) {
        return false;
      }
      if (format.linedValues() && in.charAt(0) == '\n') {
        drop(1);
      }
      at = 0;
    }
    boolean found = valueEnds.find(in, 0, false);
    int end = valueEnds.start();
    if (end > 0) {
      var ready = new StringBuilder();
      if (lineHeld) {
        ready.append("\\n");
      }
      lineHeld = format.linedValues() && in.charAt(end - 1) == '\n';
      JsonFragments.escape(in.substring(0, lineHeld ? end - 1 : end), ready);
      if (!ready.isEmpty()) {
        sink.callArguments(ready.toString());
      }
    }
    if (!found) {
      drop(end);
      return false;
    }
    sink.callArguments("\"");
    at = 0;
    drop(valueEnds.end());
    state = State.PARAMETERS;
    return true;
  }

  private boolean jsonValue(MessageSink sink) {
    at = Math.max(0, at);
    boolean found = valueEnds.find(in, at, false);
    if (!found) {
      at = valueEnds.start();
      return false;
    }
    var value = in.substring(0, valueEnds.start());
    drop(valueEnds.end());
    at = 0;
    if (format.linedValues()) {
      value = value.startsWith("\n") ? value.substring(1) : value;
      value = value.endsWith("\n") ? value.substring(0, value.length() - 1) : value;
    }
    if (parameter.isText() == null) {
      call.parameter(
          parameter.name(),
          schemas.json(call.name(), parameter.name(), value, format.untypedIsText()),
          sink);
    } else {
      var json = JsonFragments.value(value, true);
      call.parameter(parameter.name(), json == null ? JsonFragments.quoted(value) : json, sink);
    }
    state = State.PARAMETERS;
    return true;
  }

  private boolean jsonArguments(MessageSink sink) {
    boolean found = JSON_ENDS.find(in, at, false);
    if (!found) {
      at = JSON_ENDS.start();
      return false;
    }
    var value = in.substring(0, JSON_ENDS.start()).strip();
    drop(JSON_ENDS.end());
    at = 0;
    if (!value.isEmpty()) {
      var json = JsonFragments.object(value, true);
      call.whole(json == null ? value : json, sink);
    }
    state = State.PARAMETERS;
    return true;
  }

  /** Ends the call under way; the text after it is content. */
  private void broken(MessageSink sink) {
    if (call.isStarted()) {
      call.end(sink);
    }
    broken();
  }

  private void broken() {
    if (called) {
      at = 0;
      state = State.TEXT;
    } else {
      state = State.GIVE_BACK;
    }
  }

  /** Passes on text that is no call as content, up to and including its last end marker. */
  private boolean giveBack(MessageSink sink, boolean last) {
    content(at, sink);
    boolean found = text.find(in, 0, last);
    content(text.start(), sink);
    if (!found) {
      return false;
    }
    if (text.which() >= openings) {
      content(text.end() - text.start(), sink);
      state = block && text.which() != openings ? State.GIVE_BACK : State.TEXT;
    } else {
      state = State.TEXT;
    }
    return true;
  }
}
