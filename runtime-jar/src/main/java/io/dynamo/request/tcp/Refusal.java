package io.dynamo.request.tcp;

import io.dynamo.error.DynamoException;
import io.dynamo.pipeline.CallHomeListener;
import io.dynamo.pipeline.SentStream;
import io.dynamo.pipeline.TwoPartFrame;
import io.dynamo.wire.request.Prologue;

/**
 * Sends the requester the reason why its request is not served, on the answer stream it waits for:
 * a prologue with the error, then the sentinel. Called on the stream's event loop.
 *
 * @param after run once, when everything is sent or cannot be sent
 */
record Refusal(DynamoException cause, Runnable after) implements CallHomeListener {
  @Override
  public void connected(SentStream stream) {
    stream.finish(TwoPartFrame.ofHeader(stream.allocator(), Prologue.refused(cause)), () -> {});
  }

  @Override
  public void written(int items) {}

  @Override
  public void failed(Throwable failure) {
    after.run();
  }

  @Override
  public void stop() {}

  @Override
  public void kill() {}

  @Override
  public void stalled() {}

  @Override
  public void closed() {
    after.run();
  }
}
