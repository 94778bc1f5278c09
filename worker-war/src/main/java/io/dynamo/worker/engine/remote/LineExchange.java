package io.dynamo.worker.engine.remote;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * One answer of a server, received and cut into lines. Written by the HTTP client's threads, read
 * by one other thread, which never blocks here: it is notified of new data.
 *
 * <p>Invariant: at most {@value #WINDOW} deliveries of the client's are held (of 16 KiB each), and
 * at most one line beside them. The client always has some left to deliver while the reader keeps
 * up, since it would have to wake its thread for each that is asked for when it has none.
 */
public final class LineExchange
    implements HttpResponse.BodyHandler<Void>, BodySubscriber<Void>, AutoCloseable {
  private static final int MAX_LINE_BYTES = 32 << 20;
  private static final int WINDOW = 16;

  private final Runnable onNews;
  private final CompletableFuture<Void> body = new CompletableFuture<>();
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(512); // the reader's
  private volatile int status; // 0 before the answer begins
  private final Queue<List<ByteBuffer>> delivered = new ConcurrentLinkedQueue<>();
  private @Nullable List<ByteBuffer> current; // the reader's
  private int consumed; // deliveries since more were asked for; the reader's
  private volatile boolean ended; // after the last delivery
  private volatile @Nullable Throwable failure;
  private volatile Flow.@Nullable Subscription subscription;
  private volatile @Nullable CompletableFuture<HttpResponse<Void>> sending;
  private volatile boolean closed;

  /**
   * @param onNews called on any thread when there is new data
   */
  public LineExchange(Runnable onNews) {
    this.onNews = onNews;
  }

  /** Attaches the request that was sent; called once. */
  void begin(CompletableFuture<HttpResponse<Void>> sent) {
    sending = sent;
    var _ =
        sent.whenComplete(
            (_, failed) -> {
              if (failed != null) {
                fail(
                    failed instanceof CompletionException e && e.getCause() != null
                        ? e.getCause()
                        : failed);
              }
            });
  }

  private void fail(Throwable why) {
    if (failure == null) {
      failure = why;
    }
    onNews.run();
  }

  @Override
  public BodySubscriber<Void> apply(HttpResponse.ResponseInfo head) {
    status = head.statusCode();
    return this;
  }

  @Override
  public CompletionStage<Void> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription to) {
    subscription = to;
    if (closed) {
      to.cancel();
    } else {
      to.request(WINDOW);
    }
  }

  @Override
  public void onNext(List<ByteBuffer> bytes) {
    delivered.add(bytes);
    onNews.run();
  }

  @Override
  public void onError(Throwable cause) {
    body.completeExceptionally(cause);
    fail(cause);
  }

  @Override
  public void onComplete() {
    ended = true;
    body.complete(null);
    onNews.run();
  }

  /** Returns the status of the answer, 0 before it has arrived. */
  public int status() {
    return status;
  }

  /**
   * Returns the next line without its line end, or the remaining bytes at the end of the answer;
   * null while there is none. Lines that have arrived come before a failure.
   *
   * @throws IOException when the exchange failed
   */
  public byte @Nullable [] line() throws IOException {
    while (true) {
      boolean last = ended; // read before the delivery: none comes after the end
      var broken = failure;
      var bytes = current == null ? delivered.poll() : current;
      current = bytes;
      if (bytes == null) {
        if (broken != null) {
          throw broken instanceof IOException e ? e : new IOException(broken);
        }
        return last && line.size() > 0 ? take() : null;
      }
      for (var buffer : bytes) {
        if (buffer.hasRemaining() && takeTo(buffer)) {
          return take();
        }
      }
      current = null;
      var from = subscription;
      if (++consumed == WINDOW / 2 && from != null && !ended) {
        consumed = 0;
        from.request(WINDOW / 2);
      }
    }
  }

  /** Moves bytes to the line up to a line end, which is dropped; returns whether there was one. */
  private boolean takeTo(ByteBuffer from) throws IOException {
    int begin = from.position();
    int end = begin;
    while (end < from.limit() && from.get(end) != '\n') {
      end++;
    }
    if (line.size() + (end - begin) > MAX_LINE_BYTES) {
      throw new IOException("the server sent a line of more than " + MAX_LINE_BYTES + " bytes");
    }
    if (from.hasArray()) {
      line.write(from.array(), from.arrayOffset() + begin, end - begin);
    } else { // the HTTP client's buffers have no array that others may see
      var copy = new byte[end - begin];
      from.get(begin, copy);
      line.write(copy, 0, copy.length);
    }
    boolean whole = end < from.limit();
    from.position(whole ? end + 1 : end);
    return whole;
  }

  private byte[] take() {
    var taken = line.toByteArray();
    line.reset();
    return taken;
  }

  /** Whether everything was read. */
  public boolean isOver() {
    return ended && current == null && delivered.isEmpty() && line.size() == 0;
  }

  /** Closes the connection unless the answer is complete; the server then stops computing. */
  @Override
  public void close() {
    closed = true;
    var from = subscription;
    if (from != null && !ended) { // after the end its connection may serve another exchange
      from.cancel();
    }
    var sent = sending;
    if (sent != null && !ended) {
      sent.cancel(true);
    }
  }
}
