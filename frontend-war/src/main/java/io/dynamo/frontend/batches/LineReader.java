package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiException;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Reads a stored file line by line; holds one line and a few pieces. For one thread. */
final class LineReader {
  private final FileStore files;
  private final String file;
  private final int maxLine;
  private final Deque<byte[]> pieces = new ArrayDeque<>();
  private byte[] piece = new byte[0];
  private int at;
  private long nextPiece;
  private long number;
  private boolean ended;

  LineReader(FileStore files, String file, int maxLine) {
    this.files = files;
    this.file = file;
    this.maxLine = maxLine;
  }

  /** The number of the last line, counted from 1. */
  long number() {
    return number;
  }

  /**
   * Reads the next line without its end; lines of white space are counted and left out.
   *
   * @return null behind the last line
   * @throws MalformedLineException when the line is too long; the reader stays behind the bound
   * @throws ApiException with 503 when the database is down; call again
   */
  byte @Nullable [] next() throws InterruptedException, MalformedLineException {
    while (!ended) {
      var line = new ByteArrayOutputStream(256);
      number++;
      while (true) {
        if (at == piece.length && !load()) {
          ended = true;
          break;
        }
        int feed = indexOfFeed();
        line.write(piece, at, feed - at);
        boolean isWhole = feed < piece.length;
        at = isWhole ? feed + 1 : feed;
        if (line.size() > maxLine) {
          throw new MalformedLineException(
              "line_too_long",
              "has more than the %d bytes of dynamo.frontend.batches.max-line".formatted(maxLine));
        }
        if (isWhole) {
          break;
        }
      }
      var bytes = line.toByteArray();
      if (!isBlank(bytes)) {
        return bytes;
      }
    }
    return null;
  }

  private int indexOfFeed() {
    for (int i = at; i < piece.length; i++) {
      if (piece[i] == '\n') {
        return i;
      }
    }
    return piece.length;
  }

  private static boolean isBlank(byte[] line) {
    for (byte b : line) {
      if (b != ' ' && b != '\t' && b != '\r') {
        return false;
      }
    }
    return true;
  }

  /** Goes to the next piece; waits for the database. */
  private boolean load() throws InterruptedException {
    while (pieces.isEmpty()) {
      var run = BatchRun.persistently(() -> files.next(file, nextPiece));
      if (run.isEmpty()) {
        return false;
      }
      pieces.addAll(BatchRun.persistently(() -> files.load(run.get())));
      nextPiece = run.get().last() + 1;
    }
    piece = pieces.removeFirst();
    at = 0;
    return true;
  }
}
