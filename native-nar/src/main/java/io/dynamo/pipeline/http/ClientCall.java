package io.dynamo.pipeline.http;

import io.netty.channel.EventLoop;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** One request and its answer. All state belongs to the event loop; others start tasks there. */
final class ClientCall implements SentRequest {
  private final HttpClient client;
  private final EventLoop loop;
  private final ClientRequest request;
  private final AnswerListener listener;
  private int asked; // deliveries that the listener takes
  private @Nullable ClientConnection at;
  private boolean begun; // the head of the answer has come
  private boolean again; // it was sent before, on a stale connection
  private boolean over;

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
    listener.begun(status);
  }

  void content(byte[] bytes) {
    asked--;
    listener.content(bytes);
  }

  void ended() {
    over = true;
    at = null;
    listener.ended();
  }

  /**
   * Ends the call, unless it can be sent once more.
   *
   * @param stale whether the connection had served another call before
   */
  void lost(IOException cause, boolean stale) {
    if (over) {
      return;
    }
    at = null;
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
          if (at != null) {
            at.readOn();
          }
        });
  }

  @Override
  public void cancel() {
    run(
        () -> {
          over = true;
          if (at != null) {
            at.drop();
            at = null;
          }
        });
  }
}
