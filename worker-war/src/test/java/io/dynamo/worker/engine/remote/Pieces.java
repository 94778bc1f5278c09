package io.dynamo.worker.engine.remote;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Delivers an answer to a {@link LineExchange} in pieces, as a connection does. */
public final class Pieces {
  private Pieces() {}

  /** Returns the chunks that {@code reader} makes of an answer that is cut at {@code cut}. */
  public static List<Chunk> read(byte[] answer, int cut, Dialect.Reader reader) throws IOException {
    return read(
        List.of(Arrays.copyOf(answer, cut), Arrays.copyOfRange(answer, cut, answer.length)),
        reader);
  }

  /** Returns the lines of an answer that is cut at {@code cut}. */
  public static List<String> lines(byte[] answer, int cut) throws IOException {
    var lines = new ArrayList<String>();
    var _ =
        read(
            answer,
            cut,
            line -> {
              lines.add(new String(line, StandardCharsets.UTF_8));
              return null;
            });
    return lines;
  }

  private static List<Chunk> read(List<byte[]> pieces, Dialect.Reader reader) throws IOException {
    var exchange = new LineExchange(() -> {});
    exchange.begun(200);
    pieces.forEach(exchange::content);
    exchange.ended();
    var chunks = new ArrayList<Chunk>();
    while (!exchange.isOver()) {
      var line = exchange.line();
      var chunk = line == null ? null : reader.read(line);
      if (chunk != null) {
        chunks.add(chunk);
      }
    }
    return chunks;
  }

  /** Returns all tokens of {@code chunks}. */
  public static int[] tokens(List<Chunk> chunks) {
    return chunks.stream().flatMapToInt(chunk -> Arrays.stream(chunk.tokens())).toArray();
  }
}
