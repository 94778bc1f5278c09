package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.MessageSink;
import org.jspecify.annotations.Nullable;

/**
 * Reads the arguments of a call whose name is known, a JSON object, and passes them on as they
 * arrive. For one thread.
 */
final class ArgumentStream {
  private final String name;
  private final @Nullable String id;
  private final JsonScanner scanner;
  private final StringBuilder ready = new StringBuilder();
  private boolean begun;
  private boolean started;

  /**
   * @param compact whether space between values is left out
   */
  ArgumentStream(String name, @Nullable String id, boolean compact) {
    this.name = name;
    this.id = id;
    this.scanner = new JsonScanner(compact);
  }

  /** Whether the object was started, so that there is a call. */
  boolean isStarted() {
    return begun;
  }

  /** Reads a character; returns {@code DONE} for the last of the object. */
  CallObject.Step accept(char c) {
    if (!begun) {
      if (Character.isWhitespace(c)) {
        return CallObject.Step.MORE;
      }
      if (c != '{') {
        return CallObject.Step.BAD;
      }
      begun = true;
    }
    return switch (scanner.accept(c, ready)) {
      case MORE -> CallObject.Step.MORE;
      case DONE -> CallObject.Step.DONE;
      case ENDED, BAD -> CallObject.Step.BAD;
    };
  }

  /** Passes on the arguments that are certain by now. */
  void passOn(MessageSink sink) {
    if (!begun) {
      return;
    }
    if (!started) {
      started = true;
      sink.callStarted(name, id);
    }
    if (!ready.isEmpty()) {
      sink.callArguments(ready.toString());
      ready.setLength(0);
    }
  }

  /** Ends the call; arguments that are cut off or missing are closed. */
  void end(MessageSink sink) {
    if (!begun) {
      begun = true;
      ready.append("{}");
    } else if (!scanner.complete()) {
      scanner.close(ready);
    }
    passOn(sink);
    sink.callEnded();
  }
}
