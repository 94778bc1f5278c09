package io.dynamo.worker.engine.remote;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Flow;

/** Delivers an answer to a {@link LineExchange} in pieces, as the HTTP client does. */
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
    Queue<byte[]> left = new ArrayDeque<>(pieces);
    var exchange = new LineExchange(() -> {});
    exchange.onSubscribe(
        new Flow.Subscription() {
          @Override
          public void request(long count) {
            for (long i = 0; i < count; i++) {
              var next = left.poll();
              if (next != null) {
                exchange.onNext(List.of(ByteBuffer.wrap(next).asReadOnlyBuffer()));
              }
            }
            if (left.isEmpty()) {
              exchange.onComplete();
            }
          }

          @Override
          public void cancel() {}
        });
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
