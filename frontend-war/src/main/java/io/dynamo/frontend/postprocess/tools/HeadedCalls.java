package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.Markers;
import io.dynamo.frontend.postprocess.message.MessageSink;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds calls written as a name and a JSON object between markers. A call whose arguments do not
 * begin as an object is content. For one thread.
 */
final class HeadedCalls extends RegionParser {
  private enum State {
    TEXT,
    SECTION,
    GIVE_BACK,
    HEAD,
    NAME_LINE,
    ARGUMENTS,
    TAIL
  }

  private static final Pattern KIMI_ID = Pattern.compile("(?:functions\\.)?(.+?)(?::[0-9]+)?");
  private static final int MAX_HEAD_CHARS = 1024;

  private final HeadedFormat format;
  private final Markers text;
  private final Markers inSection;
  private final Markers argumentsOpen;
  private final Markers fence = new Markers("```json", "```");
  private final Markers fenceEnd = new Markers("```");
  private final Markers callClose;
  private State state = State.TEXT;
  private boolean called; // a call was passed on since the section began
  private boolean fenced; // the opening of the arguments is read
  private @Nullable ArgumentStream call;

  HeadedCalls(HeadedFormat format) {
    this.format = format;
    var opens = new ArrayList<>(List.of(format.callOpen()));
    opens.addAll(format.sectionOpens());
    var all = new ArrayList<>(opens);
    all.addAll(format.sectionCloses());
    all.add(format.callClose());
    this.text = new Markers(all);
    var within = new ArrayList<>(List.of(format.callOpen()));
    within.addAll(format.sectionCloses());
    this.inSection = new Markers(within);
    this.argumentsOpen = new Markers(format.argumentsOpen());
    this.callClose = new Markers(format.callClose());
  }

  @Override
  boolean step(MessageSink sink, boolean last) {
    return switch (state) {
      case TEXT -> text(sink, last);
      case SECTION -> section(last);
      case GIVE_BACK -> giveBack(sink, last);
      case HEAD -> head(last);
      case NAME_LINE -> nameLine();
      case ARGUMENTS -> arguments(sink, last);
      case TAIL -> tail(last);
    };
  }

  @Override
  public boolean isInCall() {
    return state == State.ARGUMENTS;
  }

  @Override
  void end(MessageSink sink) {
    if (call != null && call.isStarted()) {
      call.end(sink);
    }
  }

  private boolean text(MessageSink sink, boolean last) {
    boolean found = text.find(in, 0, last);
    content(text.start(), sink);
    if (!found) {
      return false;
    }
    int length = text.end() - text.start();
    if (text.which() == 0) {
      called = false;
      at = length;
      state = State.HEAD;
    } else if (text.which() <= format.sectionOpens().size()) {
      called = false;
      at = length;
      state = State.SECTION;
    } else {
      drop(length); // an end without a beginning
    }
    return true;
  }

  private boolean section(boolean last) {
    int next = skipSpace(at);
    if (!last && (next == in.length() || inSection.mayBeAt(in, next))) {
      return false;
    }
    if (next < in.length() && inSection.at(in, next, last)) {
      if (inSection.which() == 0) {
        at = inSection.end();
        state = State.HEAD;
      } else if (called) {
        drop(inSection.end());
        state = State.TEXT;
      } else {
        state = State.GIVE_BACK;
      }
      return true;
    }
    if (called && isCut(inSection, next)) {
      drop(in.length());
    }
    state = broken();
    return true;
  }

  /** Passes on text that is no call as content, with its markers when no call came before it. */
  private State broken() {
    if (called) {
      at = 0;
      return State.TEXT;
    }
    return State.GIVE_BACK;
  }

  private boolean giveBack(MessageSink sink, boolean last) {
    content(at, sink);
    boolean found = text.find(in, 0, last);
    content(text.start(), sink);
    if (!found) {
      return false;
    }
    if (text.which() > format.sectionOpens().size()) {
      boolean section = text.which() < 1 + 2 * format.sectionOpens().size();
      content(text.end() - text.start(), sink);
      state = section ? State.TEXT : State.GIVE_BACK;
    } else {
      state = State.TEXT;
    }
    return true;
  }

  private boolean head(boolean last) {
    boolean found = argumentsOpen.find(in, at, last);
    if (!found && in.length() - at <= MAX_HEAD_CHARS) {
      return false;
    }
    if (!found || format.head() == HeadedFormat.Head.TYPE) {
      at = found ? argumentsOpen.end() : at;
      state = found ? State.NAME_LINE : broken();
      return true;
    }
    var head = in.substring(at, argumentsOpen.start()).strip();
    return startArguments(head, argumentsOpen.end());
  }

  /** Reads the name up to the end of its line. */
  private boolean nameLine() {
    int end = in.indexOf("\n", at);
    if (end < 0 && in.length() - at <= MAX_HEAD_CHARS) {
      return false;
    }
    if (end < 0) {
      state = broken();
      return true;
    }
    return startArguments(in.substring(at, end).strip(), end);
  }

  private boolean startArguments(String head, int from) {
    var id = format.head() == HeadedFormat.Head.ID ? KIMI_ID.matcher(head) : null;
    var name = id != null && id.matches() ? id.group(1) : head;
    if (name.isEmpty() || name.chars().anyMatch(c -> c <= ' ' || c == '<')) {
      state = broken(); // markers within the head are found again
      return true;
    }
    call = new ArgumentStream(name, id == null ? null : head, format.compact());
    at = from;
    fenced = false;
    state = State.ARGUMENTS;
    return true;
  }

  private boolean arguments(MessageSink sink, boolean last) {
    var reading = Objects.requireNonNull(call);
    if (!fenced) {
      int next = skipSpace(at);
      if (!last && (next == in.length() || fence.mayBeAt(in, next))) {
        return false;
      }
      at = fence.at(in, next, last) ? fence.end() : next;
      fenced = true;
    }
    while (at < in.length()) {
      var step = reading.accept(in.charAt(at));
      if (step == CallObject.Step.MORE) {
        at++;
        continue;
      }
      boolean done = step == CallObject.Step.DONE;
      if (done || reading.isStarted()) {
        at += done ? 1 : 0;
        called = true;
        reading.end(sink);
        drop(at);
      }
      call = null;
      state = done ? State.TAIL : broken();
      return true;
    }
    reading.passOn(sink);
    if (reading.isStarted()) {
      called = true;
      drop(at);
    }
    return false;
  }

  /** Drops the end of a call, if it is there. */
  private boolean tail(boolean last) {
    int next = skipSpace(0);
    if (!last && (next == in.length() || fenceEnd.mayBeAt(in, next))) {
      return false;
    }
    if (next < in.length() && fenceEnd.at(in, next, last)) {
      next = skipSpace(fenceEnd.end());
    }
    if (!last && (next == in.length() || callClose.mayBeAt(in, next))) {
      return false;
    }
    if (next < in.length() && callClose.at(in, next, last)) {
      drop(callClose.end());
    } else if (isCut(callClose, next) || isCut(fenceEnd, next)) {
      drop(in.length());
    }
    at = 0;
    state = State.SECTION;
    return true;
  }
}
