package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.MessageSink;
import java.util.UUID;

/** Passes calls on one after the other, each with its arguments as they come. For one thread. */
final class TaggedCall {
  private final boolean shortId;
  private String name = "";
  private boolean started;
  private boolean first = true; // no parameter was passed on yet
  private boolean whole; // the arguments came as one

  /**
   * @param shortId as in {@link TaggedFormat}
   */
  TaggedCall(boolean shortId) {
    this.shortId = shortId;
  }

  /** Turns to the next call, of which nothing is passed on before {@link #start}. */
  void next(String name) {
    this.name = name;
    started = false;
    first = true;
    whole = false;
  }

  String name() {
    return name;
  }

  boolean isStarted() {
    return started;
  }

  /** Whether one more parameter makes sense. */
  boolean takesParameter() {
    return !whole;
  }

  /** Whether arguments as one JSON text make sense. */
  boolean takesWhole() {
    return !whole && first;
  }

  void start(MessageSink sink) {
    if (!started) {
      started = true;
      sink.callStarted(
          name,
          shortId
              ? "call_" + UUID.randomUUID().toString().replace("-", "").substring(0, 24)
              : null);
    }
  }

  /**
   * Passes on a parameter.
   *
   * @param value JSON or its beginning
   */
  void parameter(String key, String value, MessageSink sink) {
    sink.callArguments((first ? "{" : ",") + JsonFragments.quoted(key) + ":" + value);
    first = false;
  }

  /** Passes on all arguments. */
  void whole(String json, MessageSink sink) {
    sink.callArguments(json);
    whole = true;
  }

  void end(MessageSink sink) {
    if (!whole) {
      sink.callArguments(first ? "{}" : "}");
    }
    sink.callEnded();
    started = false;
  }
}
