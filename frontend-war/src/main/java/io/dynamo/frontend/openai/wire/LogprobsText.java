package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.Logprobs;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the log probabilities of one choice. For one thread; kept across chunks, as a token's
 * offset depends on those before it.
 */
public abstract class LogprobsText {
  /** The number for a probability of zero, which has no logarithm in JSON; as OpenAI does. */
  private static final double IMPOSSIBLE = -9999.0;

  /**
   * The texts and bytes of tokens in log probabilities.
   *
   * @param asIds {@code token_id:44} in the place of a token's text
   */
  public record Tokens(Bytes bytes, boolean asIds) {
    /** The raw bytes of a token, empty for one that is unknown; not to be changed. */
    @FunctionalInterface
    public interface Bytes {
      byte[] of(int id);
    }

    String text(int id) {
      return asIds
          ? "token_id:" + Integer.toUnsignedString(id)
          : new String(bytes.of(id), StandardCharsets.UTF_8);
    }

    byte[] raw(int id) {
      return asIds ? text(id).getBytes(StandardCharsets.UTF_8) : bytes.of(id);
    }

    /** The number of characters that begin in the token. */
    int characters(int id) {
      int count = 0;
      for (byte b : bytes.of(id)) {
        if ((b & 0xC0) != 0x80) {
          count++;
        }
      }
      return count;
    }
  }

  /** Opens the storage of each choice. */
  @FunctionalInterface
  public interface Factory {
    LogprobsText open(Tokens tokens, int alternatives, int textOffset);
  }

  final Tokens tokens;
  final int alternatives;

  LogprobsText(Tokens tokens, int alternatives) {
    this.tokens = tokens;
    this.alternatives = alternatives;
  }

  /**
   * Adds the first {@code count} tokens of an item.
   *
   * @param given the worker's log probabilities
   */
  public final void add(int[] ids, int count, Logprobs given) {
    var values = given.tokens();
    for (int i = 0; i < count; i++) {
      var top = i < given.top().size() ? given.top().get(i) : List.<Logprobs.Top>of();
      if (values != null && i < values.length) {
        add(ids[i], values[i], top);
      } else {
        var own = find(top, ids[i]);
        add(ids[i], own == null ? IMPOSSIBLE : own.logprob(), top);
      }
    }
  }

  private static Logprobs.@Nullable Top find(List<Logprobs.Top> top, int id) {
    for (var each : top) {
      if (each.tokenId() == id) {
        return each;
      }
    }
    return null;
  }

  abstract void add(int id, double logprob, List<Logprobs.Top> top);

  /** Whether nothing was added since the last {@link #clear}. */
  public abstract boolean isEmpty();

  abstract void appendTo(ByteText json);

  /** Removes the entries, and keeps the offset in the text. */
  public abstract void clear();

  /** The alternatives to write: the likeliest, and the token itself if it is not among them. */
  final boolean has(List<Logprobs.Top> top, int id) {
    for (int i = 0; i < Math.min(alternatives, top.size()); i++) {
      if (top.get(i).tokenId() == id) {
        return true;
      }
    }
    return false;
  }

  static void number(ByteText json, double value) {
    json.ascii(Double.toString(Double.isFinite(value) ? value : value > 0 ? 0.0 : IMPOSSIBLE));
  }
}
