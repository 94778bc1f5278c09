package io.dynamo.worker.engine.remote;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads one line of a stream of server-sent events. */
public final class SseLine {
  private static final byte[] DATA = {'d', 'a', 't', 'a', ':'};
  private static final byte[] DONE = {'[', 'D', 'O', 'N', 'E', ']'};

  private SseLine() {}

  /**
   * Returns the data of {@code line}; the line itself when it begins a JSON object, as an answer
   * that is not streamed does; null when it carries none.
   *
   * @throws IllegalArgumentException when the line is of no such stream
   */
  public static byte @Nullable [] data(byte[] line) {
    int end = line.length;
    if (end > 0 && line[end - 1] == '\r') {
      end--;
    }
    if (end == 0 || line[0] == ':') { // a comment keeps the connection open
      return null;
    }
    if (line[0] == '{') {
      return Arrays.copyOf(line, end);
    }
    if (end >= DATA.length && Arrays.equals(line, 0, DATA.length, DATA, 0, DATA.length)) {
      int from = DATA.length;
      if (from < end && line[from] == ' ') {
        from++;
      }
      return Arrays.copyOfRange(line, from, end);
    }
    for (var field : new String[] {"event:", "id:", "retry:"}) {
      if (startsWith(line, end, field)) {
        return null;
      }
    }
    throw new IllegalArgumentException("\"%s\" is no event".formatted(EngineHttp.shown(line)));
  }

  private static boolean startsWith(byte[] line, int end, String with) {
    if (end < with.length()) {
      return false;
    }
    for (int i = 0; i < with.length(); i++) {
      if (line[i] != with.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Whether {@code data} is the mark after the last message. */
  public static boolean isEnd(byte[] data) {
    return Arrays.equals(data, DONE);
  }
}
