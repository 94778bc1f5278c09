package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.Markers;
import io.dynamo.frontend.postprocess.message.MessageSink;
import java.util.ArrayList;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Finds calls written as JSON objects. Until a call's name and the beginning of its arguments are
 * read, its text is kept; if it turns out to be no call, the text is content, markers included. For
 * one thread.
 */
final class JsonCalls extends RegionParser {
  private enum State {
    TEXT,
    BODY,
    CALL,
    BETWEEN,
    HEAD,
    HEADED_ARGUMENTS,
    CLOSE,
    GIVE_BACK
  }

  private static final int MAX_NAME_CHARS = 256;
  private static final String ARGS = "[ARGS]";
  private static final String CALL_ID = "[CALL_ID]";

  private final JsonFormat format;
  private final Markers markers;
  private State state = State.TEXT;
  private boolean fresh; // nothing but space so far, and the format may begin bare
  private String close = "";
  private boolean list;
  private boolean called; // a call was passed on since the marker
  private int strays; // space and brackets before the end marker
  private @Nullable CallObject call;
  private @Nullable ArgumentStream headed;

  JsonCalls(JsonFormat format) {
    this.format = format;
    this.fresh = format.bare();
    var all = new ArrayList<>(format.opens());
    format.closes().stream().filter(marker -> !marker.isEmpty()).forEach(all::add);
    this.markers = new Markers(all);
  }

  @Override
  boolean step(MessageSink sink, boolean last) {
    return switch (state) {
      case TEXT -> text(sink, last);
      case BODY -> body();
      case CALL -> call(sink);
      case BETWEEN -> between(last);
      case HEAD -> head(last);
      case HEADED_ARGUMENTS -> arguments(sink);
      case CLOSE -> close(last);
      case GIVE_BACK -> giveBack(sink, last);
    };
  }

  @Override
  public boolean isInCall() {
    return state == State.CALL || state == State.HEADED_ARGUMENTS;
  }

  @Override
  void end(MessageSink sink) {
    if (call != null && call.started()) {
      call.end(sink);
    } else if (headed != null && headed.isStarted()) {
      headed.end(sink);
    }
  }

  private boolean text(MessageSink sink, boolean last) {
    if (fresh) {
      int first = skipSpace(0);
      if (first == in.length()) {
        return false;
      }
      fresh = false;
      if (in.charAt(first) == '{' || in.charAt(first) == '[') {
        at = first;
        close = "";
        called = false;
        state = State.BODY;
        return true;
      }
    }
    boolean found = markers.find(in, 0, last);
    content(markers.start(), sink);
    if (!found) {
      return false;
    }
    int length = markers.end() - markers.start();
    if (markers.which() < format.opens().size()) {
      close = format.closes().get(markers.which());
      at = length;
      called = false;
      state = State.BODY;
    } else {
      drop(length); // an end without a beginning
    }
    return true;
  }

  private boolean body() {
    at = skipSpace(at);
    if (at == in.length()) {
      return false;
    }
    char c = in.charAt(at);
    list = c == '[';
    if (c == '[' || c == '{') {
      at += list ? 1 : 0;
      startCall();
    } else {
      state = format.headed() && isName(c) ? State.HEAD : State.GIVE_BACK;
    }
    return true;
  }

  private void startCall() {
    call = new CallObject(format.nameOnly(), false);
    state = State.CALL;
  }

  private boolean call(MessageSink sink) {
    var reading = Objects.requireNonNull(call);
    while (at < in.length()) {
      var step = reading.accept(in.charAt(at));
      if (step == CallObject.Step.MORE) {
        at++;
        continue;
      }
      boolean done = step == CallObject.Step.DONE;
      reading.passOn(sink); // a call before the fault stays a call
      if (done || reading.started()) {
        at += done ? 1 : 0;
        called = true;
        reading.end(sink);
        drop(at);
      }
      call = null;
      state = done ? State.BETWEEN : broken();
      return true;
    }
    reading.passOn(sink);
    if (reading.started()) {
      drop(at);
    }
    return false;
  }

  /** After a call: another, or the end of them. */
  private boolean between(boolean last) {
    int next = skipSpace(0);
    if (next < in.length() && list) {
      at = next + 1;
      if (in.charAt(next) == ',') {
        startCall();
      } else {
        if (in.charAt(next) == ']') {
          drop(at);
        }
        state = State.CLOSE;
      }
      return true;
    }
    if (next < in.length() && (in.charAt(next) == ';' || in.charAt(next) == ',')) {
      next = skipSpace(next + 1);
    }
    if (next == in.length()) {
      if (last) {
        state = State.CLOSE;
      }
      return last;
    }
    if (in.charAt(next) == '{') {
      at = next;
      startCall();
    } else {
      state = State.CLOSE;
    }
    return true;
  }

  private boolean head(boolean last) {
    int end = at;
    while (end < in.length() && isName(in.charAt(end))) {
      end++;
    }
    int next = skipSpace(end);
    if (end - at > MAX_NAME_CHARS) {
      state = State.GIVE_BACK;
      return true;
    }
    if (next == in.length()) {
      return false;
    }
    var name = in.substring(at, end);
    var tail = new Markers(ARGS, CALL_ID);
    if (in.charAt(next) == '{') {
      return startArguments(name, null, next);
    }
    if (tail.mayBeAt(in, next) && !last) {
      return false;
    }
    if (tail.at(in, next, last)) {
      if (tail.which() == 0) {
        return startArguments(name, null, tail.end());
      }
      int id = tail.end();
      int args = in.indexOf(ARGS, id);
      if (args >= 0) {
        return startArguments(name, in.substring(id, args), args + ARGS.length());
      }
      if (in.length() - id < 128) {
        return false;
      }
    }
    state = State.GIVE_BACK;
    return true;
  }

  private boolean startArguments(String name, @Nullable String id, int from) {
    headed = new ArgumentStream(name, id, false);
    at = from;
    state = State.HEADED_ARGUMENTS;
    return true;
  }

  private boolean arguments(MessageSink sink) {
    var reading = Objects.requireNonNull(headed);
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
      headed = null;
      state = done ? State.CLOSE : broken();
      return true;
    }
    reading.passOn(sink);
    if (reading.isStarted()) {
      drop(at);
    }
    return false;
  }

  /**
   * The state after text that is no call: the region is closed when it had calls, else its text is
   * given back as content.
   */
  private State broken() {
    return called ? State.CLOSE : State.GIVE_BACK;
  }

  /** Drops the end marker, if it is there, with stray brackets before it. */
  private boolean close(boolean last) {
    if (!close.isEmpty()) {
      while (strays < in.length() && " \n\r\t}]".indexOf(in.charAt(strays)) >= 0) {
        strays++;
      }
      var end = new Markers(close);
      if (!last && (strays == in.length() || end.mayBeAt(in, strays))) {
        return false;
      }
      if (end.at(in, strays, last)) {
        drop(end.end());
      } else if (isCut(end, strays)) {
        drop(in.length());
      }
    }
    strays = 0;
    at = 0;
    state = State.TEXT;
    return true;
  }

  /** Passes on text that is no call as content, up to and including its end marker. */
  private boolean giveBack(MessageSink sink, boolean last) {
    content(at, sink);
    at = 0;
    if (close.isEmpty()) {
      state = State.TEXT;
      return true;
    }
    boolean found = markers.find(in, 0, last);
    content(markers.start(), sink);
    if (!found) {
      return false;
    }
    if (markers.which() >= format.opens().size()) {
      content(markers.end() - markers.start(), sink);
    }
    state = State.TEXT;
    return true;
  }

  private static boolean isName(char c) {
    return (c >= '0' && c <= '9')
        || (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || c == '_'
        || c == '-'
        || c == '.';
  }
}
