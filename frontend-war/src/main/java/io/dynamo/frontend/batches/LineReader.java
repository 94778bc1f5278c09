package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiException;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Reads a stored file line by line; holds one line and a few pieces, which it charges as they grow.
 * For one thread.
 */
final class LineReader {
  private static final int LOADING = 3 * FileStore.PIECE_BYTES; // the driver's copies among them
  private static final int LINE_COPIES = 3; // of a line, while the buffer grows
  private static final BitSet NONE = new BitSet();

  /** The beginning of a line: the number of its piece, and the byte in that. */
  record Place(long piece, int offset) {
    static final Place BEGINNING = new Place(0, 0);
  }

  private final FileStore files;
  private final StoredBatch batch;
  private final int maxLine;
  private final BatchLines.Memory memory;
  private final RunStop stop;
  private final Deque<byte[]> pieces = new ArrayDeque<>();
  private byte[] piece = new byte[0];
  private long pieceNumber;
  private int at;
  private int skipped; // bytes of the next piece that are not read
  private long nextPiece;
  private long number;
  private Place place;
  private boolean ended;

  /**
   * @param memory charged for what is held
   */
  LineReader(
      FileStore files,
      StoredBatch batch,
      int maxLine,
      BatchLines.Memory memory,
      RunStop stop,
      Place from) {
    this.files = files;
    this.batch = batch;
    this.maxLine = maxLine;
    this.memory = memory;
    this.stop = stop;
    this.place = from;
    this.nextPiece = from.piece();
    this.pieceNumber = from.piece() - 1;
    this.skipped = from.offset();
  }

  /** The number of the last line, counted from 1. */
  long number() {
    return number;
  }

  /** Where the last line begins. */
  Place place() {
    return place;
  }

  /** Reads the next line, as {@link #next(BitSet)} does. */
  byte @Nullable [] next()
      throws InterruptedException, MalformedLineException, RunStop.AbandonedException {
    return next(NONE);
  }

  /**
   * Reads the next line without its end; lines of white space are counted and left out.
   *
   * @param done numbers of lines that are left out, too
   * @return null behind the last line
   * @throws MalformedLineException when the line is too long; the next call reads the one behind it
   */
  byte @Nullable [] next(BitSet done)
      throws InterruptedException, MalformedLineException, RunStop.AbandonedException {
    while (!ended) {
      number++;
      boolean isKept = !done.get(Math.toIntExact(number));
      var line = new ByteArrayOutputStream(256);
      boolean isTooLong = read(line, isKept);
      if (isTooLong && isKept) {
        throw new MalformedLineException(
            "line_too_long",
            "has more than the %d bytes of dynamo.frontend.batches.max-line, or than memory holds"
                .formatted(maxLine));
      }
      if (line.size() > 0) {
        var bytes = line.toByteArray();
        if (!isBlank(bytes)) {
          hold(FileStore.PIECE_BYTES); // the line is its reader's from here on
          return bytes;
        }
      }
    }
    return null;
  }

  /** Reads to the end of a line; returns whether it has too many bytes, which are not kept. */
  private boolean read(ByteArrayOutputStream line, boolean isKept)
      throws InterruptedException, RunStop.AbandonedException {
    boolean isTooLong = false;
    boolean isFirst = true;
    while (true) {
      if (at == piece.length && !load()) {
        ended = true;
        return isTooLong;
      }
      if (isFirst) {
        place = new Place(pieceNumber, at);
        isFirst = false;
      }
      int feed = indexOfFeed();
      int length = line.size() + feed - at;
      isTooLong = isTooLong || length > maxLine || (isKept && !mayHold(length));
      if (isTooLong) {
        line.reset();
      } else if (isKept) {
        line.write(piece, at, feed - at);
      }
      boolean isWhole = feed < piece.length;
      at = isWhole ? feed + 1 : feed;
      if (isWhole) {
        return isTooLong;
      }
    }
  }

  /**
   * Charges for a line; waits for memory that others have, returns false where there is too little.
   */
  private boolean mayHold(int length) throws InterruptedException, RunStop.AbandonedException {
    try {
      hold(LOADING + LINE_COPIES * (long) length);
      return true;
    } catch (ApiException e) {
      return false;
    }
  }

  private void hold(long bytes) throws InterruptedException, RunStop.AbandonedException {
    stop.persistently(
        () -> {
          memory.hold(bytes);
          return true;
        });
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
  private boolean load() throws InterruptedException, RunStop.AbandonedException {
    while (pieces.isEmpty()) {
      var run = stop.persistently(() -> files.next(batch.inputFile(), nextPiece));
      if (run.isEmpty()) {
        return false;
      }
      hold(LOADING);
      pieces.addAll(stop.persistently(() -> files.load(run.get())));
      nextPiece = run.get().last() + 1;
    }
    piece = pieces.removeFirst();
    pieceNumber++;
    at = Math.min(skipped, piece.length);
    skipped = 0;
    return true;
  }
}
