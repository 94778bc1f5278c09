package io.dynamo.frontend.pages;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The pages that clients have not read to their end, in a bounded amount of memory: when a new page
 * has no room, the oldest ones are dropped, whose clients have read the least for their time, and
 * their answers are cut off. Safe for concurrent use.
 */
final class HeldPages {
  /** Written at once; a client that does not read holds this much even of a dropped page. */
  private static final int PIECE_BYTES = 16 * 1024;

  private final long maxBytes;
  private final Set<Page> pages = new LinkedHashSet<>(); // oldest first; guarded by this
  private long bytes; // of all of them; guarded by this

  HeldPages(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** The most bytes that are held. */
  long maxBytes() {
    return maxBytes;
  }

  /** Takes a page. One that is larger than all the room is held alone. */
  synchronized Page hold(byte[] text) {
    for (var oldest = pages.iterator(); bytes + text.length > maxBytes && oldest.hasNext(); ) {
      var dropped = oldest.next();
      oldest.remove();
      bytes -= dropped.drop();
    }
    var page = new Page(text);
    pages.add(page);
    bytes += text.length;
    return page;
  }

  /** The bytes of all pages that are held. */
  synchronized long bytes() {
    return bytes;
  }

  private synchronized void release(Page page) {
    if (pages.remove(page)) {
      bytes -= page.drop();
    }
  }

  /** A page until it is closed. Written by one thread, dropped by any. */
  final class Page implements AutoCloseable {
    private byte @Nullable [] text; // null once dropped; guarded by this
    private final int length;

    private Page(byte[] text) {
      this.text = text;
      this.length = text.length;
    }

    int length() {
      return length;
    }

    private synchronized int drop() {
      text = null;
      return length;
    }

    private synchronized byte[] piece(int from) throws IOException {
      if (text == null) {
        throw new IOException("the page was dropped for newer ones, as it was not read");
      }
      return Arrays.copyOfRange(text, from, Math.min(length, from + PIECE_BYTES));
    }

    /**
     * Writes the page as fast as its client reads.
     *
     * @throws IOException when it is dropped meanwhile, or the client has left or does not read
     */
    void writeTo(OutputStream out) throws IOException {
      for (int at = 0; at < length; at += PIECE_BYTES) {
        out.write(piece(at));
      }
    }

    @Override
    public void close() {
      release(this);
    }
  }
}
