package io.dynamo.frontend.sse;

import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Writes one stream on the thread that calls {@link #writeTo}, which must be its own: every write
 * to a slow client blocks. Whatever is ready leaves in one write and one flush, so that headers and
 * first token share a packet. Until the first frame, a comment leaves at once and at every
 * heartbeat, where the format has one: headers wait for no token, and writing is how a client that
 * is gone is found.
 */
public final class SseWriter<T> {
  private static final int WRITE_BYTES = 32 * 1024; // one write, when more than that is ready

  private final ItemSource<T> source;
  private final FrameEncoder<T> encoder;
  private final long heartbeatNanos;
  private final long keepAliveNanos;
  private final ClientConnection client;

  /**
   * @param heartbeat between comments until the first frame
   * @param keepAlive silence before a comment after it; zero for none
   */
  public SseWriter(
      ItemSource<T> source,
      FrameEncoder<T> encoder,
      Duration heartbeat,
      Duration keepAlive,
      ClientConnection client) {
    this.source = source;
    this.encoder = encoder;
    this.heartbeatNanos = heartbeat.toNanos();
    this.keepAliveNanos = keepAlive.isZero() ? Long.MAX_VALUE / 4 : keepAlive.toNanos();
    this.client = client;
  }

  /**
   * Writes until the end.
   *
   * @return the failure that ended the stream, after its error frame was written; null for a
   *     regular end
   * @throws IOException when the client could not be written to; the source is cancelled then
   */
  public @Nullable DynamoException writeTo(OutputStream out) throws IOException {
    var frames = new ByteText(1024);
    boolean framed = false;
    boolean beaten = false;
    try {
      while (true) {
        frames.clear();
        var failure = take(frames);
        boolean ended = failure == null && source.ended();
        if (failure instanceof CancelledException) {
          return failure; // the client has left
        }
        if (failure != null) {
          encoder.failure(failure, frames);
        } else if (ended) {
          encoder.end(frames);
        }
        if (frames.size() > 0) {
          framed = true;
          write(frames, out);
        }
        if (failure != null || ended) {
          client.end();
          return failure;
        }
        long patience = framed ? keepAliveNanos : beaten ? heartbeatNanos : 0;
        if (!source.await(patience)) {
          beaten = true;
          frames.clear();
          encoder.silence(frames);
          if (frames.size() > 0) {
            write(frames, out);
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      source.cancel();
      return new CancelledException("the writer was interrupted");
    } catch (IOException | RuntimeException | Error e) {
      source.cancel();
      throw e;
    }
  }

  /**
   * Encodes the items that are ready, as far as they fit in one write. An exception of the encoder
   * ends the stream like any failure; the frames of that item are removed.
   *
   * @return the failure of the stream, null while there is none
   */
  private @Nullable DynamoException take(ByteText frames) {
    int whole = 0;
    try {
      for (T item; frames.size() < WRITE_BYTES && (item = source.poll()) != null; ) {
        encoder.item(item, frames);
        whole = frames.size();
      }
      return null;
    } catch (DynamoException broken) {
      return broken;
    } catch (RuntimeException fault) {
      frames.backTo(whole);
      source.cancel();
      return new EngineFailedException(
          ErrorCode.UNKNOWN, "an item of the answer could not be written down", fault);
    }
  }

  private void write(ByteText frames, OutputStream out) throws IOException {
    client.beginWrite();
    try {
      frames.writeTo(out);
      out.flush();
    } finally {
      client.endWrite();
    }
  }
}
