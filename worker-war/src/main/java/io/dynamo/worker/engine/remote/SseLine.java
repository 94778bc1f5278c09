package io.dynamo.worker.engine.remote;

import java.util.Arrays;

/** Reads one line of a stream of server-sent events. */
final class SseLine {
  private static final byte[] DATA = {'d', 'a', 't', 'a', ':'};
  private static final byte[] DONE = {'[', 'D', 'O', 'N', 'E', ']'};
  private static final int NONE = -1;

  private SseLine() {}

  /**
   * Returns where the data of {@code line} begins: at 0 when the line itself begins a JSON object,
   * as an answer that is not streamed does; -1 when it carries none.
   *
   * @throws IllegalArgumentException when the line is of no such stream
   */
  static int dataFrom(byte[] line) {
    int end = end(line);
    if (end == 0 || line[0] == ':') { // a comment keeps the connection open
      return NONE;
    }
    if (line[0] == '{') {
      return 0;
    }
    if (end >= DATA.length && Arrays.equals(line, 0, DATA.length, DATA, 0, DATA.length)) {
      return DATA.length < end && line[DATA.length] == ' ' ? DATA.length + 1 : DATA.length;
    }
    for (var field : new String[] {"event:", "id:", "retry:"}) {
      if (startsWith(line, end, field)) {
        return NONE;
      }
    }
    throw new IllegalArgumentException("\"%s\" is no event".formatted(EngineHttp.shown(line)));
  }

  /** Returns where the line ends, without the first half of a line end of two bytes. */
  static int end(byte[] line) {
    return line.length > 0 && line[line.length - 1] == '\r' ? line.length - 1 : line.length;
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

  /** Whether the data from {@code from} to {@code to} is the mark after the last message. */
  static boolean isEnd(byte[] line, int from, int to) {
    return Arrays.equals(line, from, to, DONE, 0, DONE.length);
  }
}
