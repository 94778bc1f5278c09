package io.dynamo.request.tcp;

import io.dynamo.pipeline.CallHomeListener;
import io.dynamo.pipeline.SentStream;
import io.netty.buffer.ByteBuf;
import java.util.function.Function;

/**
 * Sends the requester the reason why its request is not served, on the answer stream it waits for.
 * Called on the stream's event loop.
 *
 * @param frames makes all frames of the stream but the sentinel
 * @param after run once, when everything is sent or cannot be sent
 */
record RefusalAnswer(Function<SentStream, ByteBuf> frames, Runnable after)
    implements CallHomeListener {
  @Override
  public void connected(SentStream stream) {
    stream.finish(frames.apply(stream), () -> {});
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
