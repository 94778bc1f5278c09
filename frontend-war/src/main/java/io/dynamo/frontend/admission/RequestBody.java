package io.dynamo.frontend.admission;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The bytes of a request body, in pieces: nothing is copied while it grows. Filled and read by one
 * thread; another may empty it, even while the first one waits for more.
 */
public final class RequestBody {
  private static final int READ_BYTES = 8 * 1024; // at once; held by a thread that waits for more
  private static final int LARGEST_PIECE = 1 << 20;

  /**
   * How much is read, and for how long.
   *
   * @param bytes at most
   * @param bytesKey the setting, or the path, that sets this bound
   * @param time for the whole body, {@code dynamo.frontend.upload-timeout}
   */
  public record Bounds(int bytes, String bytesKey, Duration time) {}

  private final List<byte[]> pieces = new ArrayList<>(); // guarded by this; all full but the last
  private int room; // in the last piece; guarded by this
  private boolean emptied; // by another thread; guarded by this
  private int length;

  private RequestBody() {}

  /**
   * Reads a whole body, within the request's deadline and {@code bounds}. One read waits as long as
   * the server's read timeout lets it.
   *
   * @param declaredBytes {@code Content-Length}, negative when unknown
   * @param share charged for the body as it grows
   * @throws ApiException with 413 when the body is longer, 408 when it takes too long, 503 when the
   *     budget is spent, 400 when it breaks off
   */
  public static RequestBody read(
      InputStream in,
      long declaredBytes,
      Bounds bounds,
      Deadline deadline,
      BodyBudget.Share share) {
    if (declaredBytes > bounds.bytes) {
      throw new ApiException(
          413,
          "Request body of %d bytes exceeds the limit of %d bytes set by %s"
              .formatted(declaredBytes, bounds.bytes, bounds.bytesKey));
    }
    var body = new RequestBody();
    share.onYield(body::clear);
    body.fill(in, bounds, deadline.within(bounds.time), share);
    return body;
  }

  private void fill(InputStream in, Bounds bounds, Deadline until, BodyBudget.Share share) {
    var read = new byte[READ_BYTES];
    int held = 0;
    while (true) {
      int count = read(in, read, bounds, until);
      if (count < 0) {
        share.chargeComplete(held); // from here on no other request empties it
        return;
      }
      length += count;
      if (length > bounds.bytes) {
        throw new ApiException(
            413,
            "Request body of more than %d bytes exceeds the limit of %d bytes set by %s"
                .formatted(bounds.bytes, bounds.bytes, bounds.bytesKey));
      }
      int at = append(read, 0, count);
      while (at < count) {
        int size = Math.clamp(held, READ_BYTES, LARGEST_PIECE);
        held += size;
        share.chargeArrived((long) held + READ_BYTES); // fails when it had to yield meanwhile
        add(new byte[size]);
        at = append(read, at, count);
      }
    }
  }

  private static int read(InputStream in, byte[] into, Bounds bounds, Deadline until) {
    if (until.isExpired()) {
      throw tooSlow(bounds);
    }
    try {
      return in.read(into);
    } catch (SocketTimeoutException e) {
      throw tooSlow(bounds);
    } catch (IOException e) {
      throw until.isExpired()
          ? tooSlow(bounds)
          : new ApiException(400, "The request's body could not be read to its end");
    }
  }

  private static ApiException tooSlow(Bounds bounds) {
    return new ApiException(
        408,
        ("The request's body did not arrive within the request's deadline and the %d ms of"
                + " dynamo.frontend.upload-timeout; send it faster")
            .formatted(bounds.time.toMillis()));
  }

  /**
   * Copies as much as the last piece has room for. Returns the index after the last byte copied.
   */
  private synchronized int append(byte[] from, int start, int end) {
    int count = Math.min(room, end - start);
    if (count > 0) {
      var piece = pieces.getLast();
      System.arraycopy(from, start, piece, piece.length - room, count);
      room -= count;
    }
    return start + count;
  }

  private synchronized void add(byte[] piece) {
    if (!emptied) { // else its reader is about to notice
      pieces.add(piece);
      room = piece.length;
    }
  }

  private synchronized void clear() {
    emptied = true;
    pieces.clear();
    room = 0;
  }

  /** The number of bytes. */
  public int length() {
    return length;
  }

  /** Estimates the memory that the body takes once it is parsed as JSON. */
  public JsonCost jsonCost() {
    return jsonCost(Integer.MAX_VALUE);
  }

  /**
   * Estimates the memory that the beginning of the body takes once it is parsed as JSON.
   *
   * @param most its bytes; bytes behind them are no JSON
   */
  public synchronized JsonCost jsonCost(int most) {
    var cost = new JsonCost();
    int left = Math.min(length, most);
    for (var piece : pieces) {
      int count = Math.min(left, piece.length);
      cost.add(piece, count);
      left -= count;
    }
    return cost;
  }

  /** Reads the bytes and leaves them here. */
  public synchronized InputStream stream() {
    var streams = new ArrayList<InputStream>(pieces.size());
    int left = length;
    for (var piece : pieces) {
      int count = Math.min(left, piece.length);
      streams.add(new ByteArrayInputStream(piece, 0, count));
      left -= count;
    }
    return new SequenceInputStream(Collections.enumeration(streams));
  }

  /** Takes the bytes out, in one array. */
  public synchronized byte[] drain() {
    var all = new byte[length];
    int at = 0;
    for (int i = 0; i < pieces.size(); i++) {
      var piece = pieces.get(i);
      int count = Math.min(length - at, piece.length);
      System.arraycopy(piece, 0, all, at, count);
      at += count;
    }
    clear();
    return all;
  }
}
