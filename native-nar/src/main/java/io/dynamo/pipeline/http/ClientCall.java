package io.dynamo.pipeline.http;

import io.netty.channel.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One request and its answer. All state belongs to the event loop; others start tasks there. */
final class ClientCall implements SentRequest {
  private static final Duration END = Duration.ofSeconds(1); // of an answer that was left

  private final HttpClient client;
  private final EventLoop loop;
  private final ClientRequest request;
  private final AnswerListener listener;
  private int asked; // deliveries that the listener takes
  private @Nullable ClientConnection at;
  private boolean begun; // the head of the answer has come
  private boolean again; // it was sent before, on a stale connection
  private boolean over;
  private @Nullable Future<?> patience; // for an end that nobody waits for

  /**
   * @param window deliveries that the listener takes from the start
   */
  ClientCall(
      HttpClient client,
      EventLoop loop,
      ClientRequest request,
      int window,
      AnswerListener listener) {
    this.client = client;
    this.loop = loop;
    this.request = request;
    this.asked = window;
    this.listener = listener;
  }

  EventLoop loop() {
    return loop;
  }

  ClientRequest request() {
    return request;
  }

  boolean isOver() {
    return over;
  }

  /** Whether more of the body may be read. */
  boolean isAsked() {
    return asked > 0;
  }

  /** Runs {@code task} on the loop; immediately when called there. */
  void run(Runnable task) {
    if (loop.inEventLoop()) {
      task.run();
    } else {
      loop.execute(task);
    }
  }

  void start() {
    if (!over) {
      client.serve(this);
    }
  }

  /** Sends the request on {@code connection}, which serves nothing else now. */
  void take(ClientConnection connection) {
    at = connection;
    connection.serve(this);
  }

  void begun(int status) {
    begun = true;
    if (!over) {
      listener.begun(status);
    }
  }

  void content(byte[] bytes) {
    if (!over) {
      asked--;
      listener.content(bytes);
    }
  }

  void ended() {
    at = null;
    if (patience != null) {
      patience.cancel(false);
    }
    if (!over) {
      over = true;
      listener.ended();
    }
  }

  /**
   * Ends the call, unless it can be sent once more.
   *
   * @param stale whether the connection had served another call before
   */
  void lost(IOException cause, boolean stale) {
    at = null;
    if (patience != null) {
      patience.cancel(false);
    }
    if (over) {
      return;
    }
    if (stale && !begun && !again && request.isRepeatable()) {
      again = true;
      client.serve(this);
      return;
    }
    over = true;
    listener.failed(cause);
  }

  @Override
  public void ask(int deliveries) {
    run(
        () -> {
          asked += deliveries;
          if (at != null && isAsked()) {
            at.readOn();
          }
        });
  }

  @Override
  public void leave() {
    run(
        () -> {
          over = true;
          if (at != null) {
            asked = Integer.MAX_VALUE;
            at.readOn();
            patience = loop.schedule(this::drop, END.toNanos(), TimeUnit.NANOSECONDS);
          }
        });
  }

  @Override
  public void cancel() {
    run(
        () -> {
          over = true;
          drop();
        });
  }

  private void drop() {
    if (at != null) {
      at.drop();
      at = null;
    }
  }
}
