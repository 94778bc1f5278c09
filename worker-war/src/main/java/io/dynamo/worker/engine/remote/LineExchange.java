package io.dynamo.worker.engine.remote;

import io.dynamo.pipeline.http.AnswerListener;
import io.dynamo.pipeline.http.SentRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * One answer of a server, received and cut into lines. Written by the event loop of its connection,
 * read by one thread, that or another, which never blocks here: it is notified of new data.
 *
 * <p>Invariant: at most {@value #WINDOW} deliveries of the connection are held and those of one
 * more read of its socket, and at most one line beside them. The connection always has some left to
 * deliver while the reader keeps up.
 */
public final class LineExchange implements AnswerListener, AutoCloseable {
  /** Deliveries that the connection may make before the reader takes any. */
  static final int WINDOW = 16;

  private static final int MAX_LINE_BYTES = 32 << 20;
  private static final int MAX_REFUSAL_BYTES = 64 << 10; // of a line of an answer that is an error

  private final Runnable onNews;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(0); // the reader's
  private volatile int status; // 0 before the answer begins
  private final Queue<byte[]> delivered = new ConcurrentLinkedQueue<>();
  private byte @Nullable [] current; // the reader's
  private int at; // first byte of current that was not read; the reader's
  private int consumed; // deliveries since more were asked for; the reader's
  private volatile boolean ended; // after the last delivery
  private volatile @Nullable IOException failure;
  private volatile @Nullable SentRequest sent;

  /**
   * @param onNews called on the connection's event loop when there is new data
   */
  public LineExchange(Runnable onNews) {
    this.onNews = onNews;
  }

  /** Attaches the request that was sent; called once, before the reader's first look. */
  void begin(SentRequest request) {
    sent = request;
  }

  @Override
  public void begun(int ofAnswer) {
    status = ofAnswer;
  }

  @Override
  public void content(byte[] bytes) {
    delivered.add(bytes);
    onNews.run();
  }

  @Override
  public void ended() {
    ended = true;
    onNews.run();
  }

  @Override
  public void failed(IOException cause) {
    failure = cause;
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
          throw broken;
        }
        return last && line.size() > 0 ? take() : null;
      }
      int begin = at;
      int end = lineEnd(bytes, begin);
      int most = status < 400 ? MAX_LINE_BYTES : MAX_REFUSAL_BYTES;
      if (line.size() + (end - begin) > most) {
        throw new IOException("the server sent a line of more than " + most + " bytes");
      }
      at = end + 1;
      if (at >= bytes.length) {
        current = null;
        at = 0;
        askForMore();
      }
      if (end < bytes.length) {
        return whole(bytes, begin, end);
      }
      line.write(bytes, begin, end - begin);
    }
  }

  private static int lineEnd(byte[] bytes, int from) {
    int end = from;
    while (end < bytes.length && bytes[end] != '\n') {
      end++;
    }
    return end;
  }

  private byte[] whole(byte[] bytes, int begin, int end) {
    if (line.size() == 0) {
      return Arrays.copyOfRange(bytes, begin, end);
    }
    line.write(bytes, begin, end - begin);
    return take();
  }

  private void askForMore() {
    var from = sent;
    if (++consumed == WINDOW / 2 && from != null && !ended) {
      consumed = 0;
      from.ask(WINDOW / 2);
    }
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

  /** Drops the rest of the answer, in which nothing more is said: its end is about to come. */
  public void leave() {
    var from = sent;
    if (from != null && !ended) {
      from.leave();
    }
  }

  /** Closes the connection unless the answer is complete; the server then stops computing. */
  @Override
  public void close() {
    var from = sent;
    if (from != null && !ended) {
      from.cancel();
    }
  }
}
