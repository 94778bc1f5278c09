package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.batches.FileStore;
import io.dynamo.frontend.batches.StoredFile;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Writes a stored file to a client, some pieces at a time. While a slow client takes them, the
 * memory of the pieces may go to other requests: the file breaks off then. For one thread; another
 * may take the memory away.
 */
final class FileDownload {
  private static final int COPIES = 3; // of pieces, while the database's driver reads them
  private static final int CHUNK = 8 * 1024; // held by a thread that waits for its client

  /** The slowest pace at which a file leaves, in bytes per second, beside the time of a request. */
  static final int SLOWEST_PACE = 64 * 1024;

  private final FileStore files;
  private final StoredFile file;
  private final BodyBudget.Share share;
  private final Deadline deadline;
  private List<byte[]> pieces = List.of(); // guarded by this
  private boolean emptied; // by another thread; guarded by this

  /**
   * @param time for a small file; large ones have more by their size
   */
  FileDownload(FileStore files, StoredFile file, BodyBudget.Share share, Duration time) {
    this.files = files;
    this.file = file;
    this.share = share;
    this.deadline = Deadline.after(time.plusSeconds(file.bytes() / SLOWEST_PACE));
  }

  /**
   * Loads the first pieces.
   *
   * @return the number of the next piece; empty for an empty file
   * @throws ApiException with 503 when there is no memory, or the database is down
   */
  Optional<Long> open() throws InterruptedException {
    share.onYield(this::clear);
    return load(0);
  }

  /**
   * Writes the whole file.
   *
   * @param opened as {@link #open} returned it
   * @throws IOException when it breaks off
   */
  void writeTo(OutputStream out, Optional<Long> opened) throws IOException {
    var chunk = new byte[CHUNK];
    try {
      for (var next = opened; next.isPresent(); next = load(next.get())) {
        writePieces(out, chunk);
      }
    } catch (ApiException e) {
      throw new IOException("the file breaks off: " + e.error().message(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("the server stops", e);
    }
  }

  /** Loads pieces; returns the number of the one behind them, or empty behind the last. */
  private Optional<Long> load(long from) throws InterruptedException {
    var run = files.next(file.id(), from);
    if (run.isEmpty()) {
      return Optional.empty();
    }
    long bytes = run.get().bytes();
    share.chargeArrived(COPIES * bytes);
    hold(files.load(run.get()));
    share.chargeArrived(bytes);
    return Optional.of(run.get().last() + 1);
  }

  private synchronized void hold(List<byte[]> loaded) {
    if (!emptied) {
      pieces = loaded;
    }
  }

  private synchronized void clear() {
    emptied = true;
    pieces = List.of();
  }

  private void writePieces(OutputStream out, byte[] chunk) throws IOException {
    int index = 0;
    int at = 0;
    while (true) {
      if (deadline.isExpired()) {
        throw new IOException("the client takes the file too slowly");
      }
      int count;
      synchronized (this) {
        if (emptied) {
          throw new IOException("the file breaks off: its memory went to other requests");
        }
        if (index == pieces.size()) {
          pieces = List.of();
          return;
        }
        var piece = pieces.get(index);
        count = Math.min(chunk.length, piece.length - at);
        System.arraycopy(piece, at, chunk, 0, count);
        at += count;
        if (at == piece.length) {
          index++;
          at = 0;
        }
      }
      out.write(chunk, 0, count);
    }
  }
}
