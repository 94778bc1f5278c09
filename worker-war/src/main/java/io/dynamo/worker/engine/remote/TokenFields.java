package io.dynamo.worker.engine.remote;

import io.dynamo.inference.StopReason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads token ids, stops and log probabilities of servers' messages. Stateless. */
public final class TokenFields {
  private TokenFields() {}

  /**
   * Returns the token ids of a list.
   *
   * @param name of the list, for messages
   * @throws IllegalArgumentException when an element is no id
   */
  public static int[] ids(String name, List<@Nullable Object> list) {
    var ids = new int[list.size()];
    for (int i = 0; i < ids.length; i++) {
      if (!(list.get(i) instanceof Integer id)) {
        throw new IllegalArgumentException("member \"%s\" is not a list of ids".formatted(name));
      }
      ids[i] = id;
    }
    return ids;
  }

  /**
   * Returns the client's stop that ended the text; null for the model's own end.
   *
   * @param clientStops ids that the client made end the text
   * @param matched what the server says that it matched
   */
  public static StopReason.@Nullable Token stop(int[] clientStops, @Nullable Object matched) {
    if (matched instanceof Integer id) {
      for (int stop : clientStops) {
        if (stop == id) {
          return new StopReason.Token(id);
        }
      }
    }
    return null;
  }

  /** Returns a log probability; servers write null for that of an impossible token. */
  public static double logprob(@Nullable Object value) {
    return value instanceof Number number ? number.doubleValue() : Double.NEGATIVE_INFINITY;
  }
}
