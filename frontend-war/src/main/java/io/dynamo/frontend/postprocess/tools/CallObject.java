package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.MessageSink;
import org.jspecify.annotations.Nullable;

/**
 * Reads one call written as a JSON object with a name and arguments, in either order, also as
 * OpenAI nests them in {@code function}. Arguments are passed on as they arrive once the name is
 * known. For one thread.
 */
final class CallObject {
  /** The result of reading a character. */
  enum Step {
    MORE,
    /** Taken; the object is complete. */
    DONE,
    /** Not taken: it is invalid here, or the object is no call. */
    BAD
  }

  private enum State {
    START,
    FIRST_KEY,
    NEXT_KEY,
    KEY,
    COLON,
    VALUE,
    IN_VALUE,
    AFTER
  }

  private final boolean nameOnly;
  private final boolean compact;
  private final String argumentsKey;
  private final StringBuilder text = new StringBuilder(); // the key or value being read
  private final StringBuilder arguments = new StringBuilder(); // not passed on yet
  private JsonScanner scanner;
  private State state = State.START;
  private String key = "";
  private int level;
  private boolean inArguments; // the value being read is their object
  private boolean hasArguments;
  private boolean started;
  private @Nullable String name;

  /**
   * @param nameOnly whether an object without arguments is a call
   * @param compact whether space between values is left out of the arguments
   */
  CallObject(boolean nameOnly, boolean compact) {
    this(nameOnly, compact, "arguments");
  }

  /**
   * @param argumentsKey a further name of the arguments
   */
  CallObject(boolean nameOnly, boolean compact, String argumentsKey) {
    this.nameOnly = nameOnly;
    this.compact = compact;
    this.argumentsKey = argumentsKey;
    this.scanner = new JsonScanner(compact);
  }

  /** Whether the call was passed to a sink. */
  boolean started() {
    return started;
  }

  Step accept(char c) {
    if (state == State.KEY || state == State.IN_VALUE) {
      return value(c);
    }
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      return Step.MORE;
    }
    return switch (state) {
      case START -> expect(c, '{', State.FIRST_KEY);
      case FIRST_KEY, NEXT_KEY -> c == '"' ? startKey() : c == '}' ? shut() : Step.BAD;
      case COLON -> expect(c, ':', State.VALUE);
      case VALUE -> startValue(c);
      case AFTER -> c == '}' ? shut() : expect(c, ',', State.NEXT_KEY);
      default -> Step.BAD;
    };
  }

  /** Passes on the parts that are certain by now. */
  void passOn(MessageSink sink) {
    if (name == null || !hasArguments) {
      return;
    }
    if (!started) {
      started = true;
      sink.callStarted(name, null);
    }
    if (!arguments.isEmpty()) {
      sink.callArguments(arguments.toString());
      arguments.setLength(0);
    }
  }

  /** Ends a call; the arguments of one that is cut off are closed. */
  void end(MessageSink sink) {
    if (inArguments && state == State.IN_VALUE) {
      scanner.close(arguments);
    }
    passOn(sink);
    if (started) {
      sink.callEnded();
    }
  }

  private Step expect(char c, char expected, State next) {
    if (c != expected) {
      return Step.BAD;
    }
    state = next;
    return Step.MORE;
  }

  private Step startKey() {
    state = State.KEY;
    text.setLength(0);
    scanner = new JsonScanner(false);
    scanner.accept('"', text);
    return Step.MORE;
  }

  private Step startValue(char c) {
    if (c == '{' && key.equals("function")) {
      level++;
      state = State.FIRST_KEY;
      return Step.MORE;
    }
    inArguments = c == '{' && isArguments() && !hasArguments;
    hasArguments |= inArguments;
    scanner = new JsonScanner(compact);
    text.setLength(0);
    state = State.IN_VALUE;
    return value(c);
  }

  private Step value(char c) {
    var step = scanner.accept(c, inArguments && state == State.IN_VALUE ? arguments : text);
    return switch (step) {
      case MORE -> Step.MORE;
      case BAD -> Step.BAD;
      case DONE -> valueRead() ? Step.MORE : Step.BAD;
      case ENDED -> valueRead() ? accept(c) : Step.BAD;
    };
  }

  private boolean valueRead() {
    if (state == State.KEY) {
      key = JsonFragments.decode(text);
      state = State.COLON;
      return true;
    }
    state = State.AFTER;
    if (inArguments) {
      inArguments = false;
      return true;
    }
    if (key.equals("name") || (key.equals("function") && name == null)) {
      if (text.charAt(0) == '"') {
        name = JsonFragments.decode(text);
      }
      return name != null && !name.isEmpty();
    }
    return !isArguments() || hasArguments || otherArguments();
  }

  /** Takes arguments that are null or an object within a string. */
  private boolean otherArguments() {
    var object =
        text.charAt(0) == '"'
            ? JsonFragments.object(JsonFragments.decode(text), compact)
            : text.toString().equals("null") ? "{}" : null;
    if (object == null) {
      return false;
    }
    hasArguments = true;
    arguments.append(object);
    return true;
  }

  private Step shut() {
    if (level > 0) {
      level--;
      state = State.AFTER;
      return Step.MORE;
    }
    if (nameOnly && name != null && !hasArguments) {
      hasArguments = true;
      arguments.append("{}");
    }
    return name != null && hasArguments ? Step.DONE : Step.BAD;
  }

  private boolean isArguments() {
    return key.equals("arguments") || key.equals("parameters") || key.equals(argumentsKey);
  }
}
