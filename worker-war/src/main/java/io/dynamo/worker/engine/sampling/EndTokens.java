package io.dynamo.worker.engine.sampling;

import io.dynamo.inference.GenerateRequest;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The ids at which a text ends, other than by its length. Immutable.
 *
 * @param endOfText the model's own ids; empty when they are to be ignored
 * @param stops the client's ids
 * @param leastTokens tokens to generate before an id counts
 */
public record EndTokens(int[] endOfText, int[] stops, int leastTokens) {
  /**
   * @param modelEnds the ids that the model's own files name
   */
  public static EndTokens of(GenerateRequest request, int[] modelEnds, int vocabulary) {
    var stop = request.stop();
    var ends =
        IntStream.concat(
            IntStream.concat(Arrays.stream(modelEnds), Arrays.stream(request.eosTokenIds())),
            stop.hiddenStopTokenIds().stream().mapToInt(Integer::intValue));
    var stops =
        IntStream.concat(
            stop.stopTokenIds().stream().mapToInt(Integer::intValue),
            stop.visibleStopTokenIds().stream().mapToInt(Integer::intValue));
    var least = stop.minTokens();
    return new EndTokens(
        stop.ignoreEos() ? new int[0] : known(ends, vocabulary),
        known(stops, vocabulary),
        least == null ? 0 : least);
  }

  private static int[] known(IntStream ids, int vocabulary) { // no other id can ever be drawn
    return ids.filter(id -> id >= 0 && id < vocabulary).distinct().toArray();
  }

  public boolean isEndOfText(int token) {
    return contains(endOfText, token);
  }

  public boolean isStop(int token) {
    return contains(stops, token);
  }

  /** Returns all ids. */
  public int[] ids() {
    return IntStream.concat(Arrays.stream(endOfText), Arrays.stream(stops)).distinct().toArray();
  }

  private static boolean contains(int[] ids, int token) {
    for (int id : ids) {
      if (id == token) {
        return true;
      }
    }
    return false;
  }
}
