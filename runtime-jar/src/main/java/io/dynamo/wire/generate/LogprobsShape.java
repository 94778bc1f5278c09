package io.dynamo.wire.generate;

import io.dynamo.inference.Logprobs;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads and writes {@code log_probs} and {@code top_logprobs} of an item. */
final class LogprobsShape {
  private LogprobsShape() {}

  static void writeTokens(WireWriter out, double @Nullable [] tokens) throws IOException {
    if (tokens == null) {
      out.nil();
      return;
    }
    out.beginArray(tokens.length);
    for (double token : tokens) {
      out.float64(token);
    }
    out.endArray();
  }

  static void writeTop(WireWriter out, List<List<Logprobs.Top>> top) throws IOException {
    if (top.isEmpty()) {
      out.nil();
      return;
    }
    out.beginArray(top.size());
    for (var position : top) {
      out.beginArray(position.size());
      for (var token : position) {
        write(out, token);
      }
      out.endArray();
    }
    out.endArray();
  }

  private static void write(WireWriter out, Logprobs.Top token) throws IOException {
    out.beginMap(token.bytes() == null ? 4 : 5);
    out.key("rank");
    out.integer(token.rank());
    out.key("token_id");
    out.integer(token.tokenId());
    out.stringOrNil("token", token.token());
    out.key("logprob");
    out.float64(token.logprob());
    if (token.bytes() != null) {
      out.key("bytes");
      out.ints(token.bytes());
    }
    out.endMap();
  }

  static double[] readTokens(WireReader in) throws IOException {
    var values = list(in.any());
    var tokens = new double[values.size()];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = number(values.get(i)).doubleValue();
    }
    return tokens;
  }

  static List<List<Logprobs.Top>> readTop(WireReader in) throws IOException {
    List<List<Logprobs.Top>> positions = new ArrayList<>();
    for (var each : list(in.any())) {
      List<Logprobs.Top> position = new ArrayList<>();
      for (var token : list(each)) {
        position.add(top(token));
      }
      positions.add(position);
    }
    return positions;
  }

  private static Logprobs.Top top(@Nullable Object value) throws IOException {
    if (!(value instanceof Map<?, ?> map)) {
      throw new IOException("a token of top_logprobs is no map");
    }
    return new Logprobs.Top(
        number(map.get("rank")).intValue(),
        number(map.get("token_id")).intValue(),
        map.get("token") instanceof String text ? text : null,
        number(map.get("logprob")).doubleValue(),
        map.get("bytes") == null ? null : bytes(map.get("bytes")));
  }

  private static int[] bytes(@Nullable Object value) throws IOException {
    var values = list(value);
    var bytes = new int[values.size()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = number(values.get(i)).intValue();
    }
    return bytes;
  }

  private static List<?> list(@Nullable Object value) throws IOException {
    if (value instanceof List<?> list) {
      return list;
    }
    throw new IOException("log probabilities are no list");
  }

  private static Number number(@Nullable Object value) throws IOException {
    if (value instanceof Number number) {
      return number;
    }
    throw new IOException("a log probability lacks a number");
  }
}
