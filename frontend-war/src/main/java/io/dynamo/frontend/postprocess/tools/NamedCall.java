package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.MessageSink;

/**
 * Reads a whole text as the arguments of one function, as guided decoding gives it when the client
 * names the function. Text that is no object is content. For one thread.
 */
final class NamedCall extends RegionParser {
  private final ArgumentStream call;
  private boolean over;

  NamedCall(String name) {
    this.call = new ArgumentStream(name, null, false);
  }

  @Override
  boolean step(MessageSink sink, boolean last) {
    if (over) {
      if (skipSpace(0) < in.length()) {
        content(in.length(), sink);
      }
      return false;
    }
    while (at < in.length()) {
      var step = call.accept(in.charAt(at));
      if (step == CallObject.Step.MORE) {
        at++;
        continue;
      }
      if (call.isStarted()) {
        drop(step == CallObject.Step.DONE ? at + 1 : at);
        call.end(sink);
      }
      over = true;
      return true;
    }
    call.passOn(sink);
    if (call.isStarted()) {
      drop(at);
    }
    return false;
  }

  @Override
  public boolean isInCall() {
    return !over;
  }

  @Override
  void end(MessageSink sink) {
    if (!over && call.isStarted()) {
      call.end(sink);
    } else if (over) {
      drop(in.length()); // space behind the arguments
    }
  }
}
