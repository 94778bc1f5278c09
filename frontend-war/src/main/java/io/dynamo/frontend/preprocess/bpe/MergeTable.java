package io.dynamo.frontend.preprocess.bpe;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The pairs of tokens that are merged to one, in the order of their ranks, the lowest first.
 * Immutable.
 */
final class MergeTable {
  static final int NONE = -1;
  private static final long FREE = -1;
  private static final int MAX_PAIRS = 1 << 22; // ten times those of the largest vocabularies

  private final long[] pairs; // open addressing; left above right
  private final int[] ranks; // of the pair at the same place
  private final int[] merged; // by rank

  private MergeTable(int merges, int highestRank) {
    int size = Integer.highestOneBit(Math.max(4, 3 * merges)) * 2;
    pairs = new long[size];
    ranks = new int[size];
    merged = new int[highestRank + 1];
    Arrays.fill(pairs, FREE);
  }

  /**
   * From the {@code merges} of a {@code tokenizer.json}.
   *
   * @return null when one of them is not of two known tokens that make a third
   */
  static @Nullable MergeTable of(List<?> merges, Map<String, Integer> vocabulary) {
    var table = new MergeTable(merges.size(), merges.size() - 1);
    for (int rank = 0; rank < merges.size(); rank++) {
      var pair = pair(merges.get(rank));
      if (pair == null) {
        return null;
      }
      var left = vocabulary.get(pair[0]);
      var right = vocabulary.get(pair[1]);
      var both = vocabulary.get(pair[0] + pair[1]);
      if (left == null || right == null || both == null) {
        return null;
      }
      table.put(left, right, rank, both);
    }
    return table;
  }

  /**
   * From ids that are ranks: any two tokens whose bytes are those of a third are merged to it, with
   * its id as their rank.
   *
   * @param vocabulary spelled in an alphabet of bytes
   * @throws IllegalArgumentException when there are too many such pairs
   */
  static MergeTable ofRanks(Map<String, Integer> vocabulary) {
    var pairs = new ArrayList<int[]>();
    int highest = 0;
    for (var token : vocabulary.entrySet()) {
      var both = token.getKey();
      highest = Math.max(highest, token.getValue());
      for (int cut = 1; cut < both.length(); cut++) {
        var left = vocabulary.get(both.substring(0, cut));
        var right = left == null ? null : vocabulary.get(both.substring(cut));
        if (left != null && right != null) {
          pairs.add(new int[] {left, right, token.getValue()});
        }
      }
      if (pairs.size() > MAX_PAIRS) {
        throw new IllegalArgumentException(
            "the tokens of the tiktoken vocabulary are made of more than %d pairs of others"
                .formatted(MAX_PAIRS));
      }
    }
    var table = new MergeTable(pairs.size(), highest);
    for (var pair : pairs) {
      table.put(pair[0], pair[1], pair[2], pair[2]);
    }
    return table;
  }

  private static String @Nullable [] pair(@Nullable Object merge) {
    var parts =
        switch (merge) {
          case String text -> text.split(" ", -1);
          case List<?> list -> list.stream().map(String::valueOf).toArray(String[]::new);
          case null, default -> new String[0];
        };
    return parts.length == 2 ? parts : null;
  }

  private void put(int left, int right, int rank, int both) {
    int place = place(left, right);
    pairs[place] = key(left, right);
    ranks[place] = rank; // of a pair that is named twice, the last
    merged[rank] = both;
  }

  /** The rank of a pair, or {@link #NONE}. */
  int rank(int left, int right) {
    int place = place(left, right);
    return pairs[place] == FREE ? NONE : ranks[place];
  }

  /** The token that the pair of a rank is merged to. */
  int merged(int rank) {
    return merged[rank];
  }

  private int place(int left, int right) {
    long key = key(left, right);
    int mask = pairs.length - 1;
    int at = (int) ((key * 0x9E3779B97F4A7C15L) >>> 32) & mask;
    while (pairs[at] != FREE && pairs[at] != key) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private static long key(int left, int right) {
    return ((long) left << 32) | right;
  }
}
