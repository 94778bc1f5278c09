package io.dynamo.worker.engine.remote;

import io.dynamo.pipeline.http.AnswerListener;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Collects an answer that is not streamed. Written by an event loop, awaited by one thread. */
final class WholeAnswer implements AnswerListener {
  private final int maxBytes;
  private final ByteArrayOutputStream body = new ByteArrayOutputStream(); // the event loop's
  private int status; // the event loop's
  private final CompletableFuture<EngineAnswer> answer = new CompletableFuture<>();

  /**
   * @param maxBytes a longer body is a failure
   */
  WholeAnswer(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  @Override
  public void begun(int ofAnswer) {
    status = ofAnswer;
  }

  @Override
  public void content(byte[] bytes) {
    if (body.size() + bytes.length > maxBytes) {
      answer.completeExceptionally(
          new IOException("the answer has more than " + maxBytes + " bytes"));
    } else {
      body.writeBytes(bytes);
    }
  }

  @Override
  public void ended() {
    answer.complete(new EngineAnswer(status, body.toByteArray()));
  }

  @Override
  public void failed(IOException cause) {
    answer.completeExceptionally(cause);
  }

  /**
   * Waits for the end of the answer.
   *
   * @throws SocketTimeoutException when it does not come in time
   */
  EngineAnswer await(Duration most) throws IOException, InterruptedException {
    try {
      return answer.get(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      var late = new SocketTimeoutException("no answer within " + most);
      late.initCause(e);
      throw late;
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
    }
  }
}
