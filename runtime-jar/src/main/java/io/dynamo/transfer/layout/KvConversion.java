package io.dynamo.transfer.layout;

import io.dynamo.transfer.BlockPermutation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Moves blocks from one layout into another one: permutations for the memory that has the regions.
 * Runs that are contiguous in both layouts go in one piece, up to whole blocks. Immutable.
 */
public final class KvConversion {
  /**
   * A permutation between one region of either layout.
   *
   * @param source number of the region in the layout that is read
   * @param target number of the region in the layout that is written
   */
  public record Step(int source, int target, BlockPermutation permutation) {}

  private final KvLayout from;
  private final KvLayout to;

  /**
   * @throws IllegalArgumentException when blocks of the two have not the same dimensions
   */
  public KvConversion(KvLayout from, KvLayout to) {
    if (!from.geometry().hasBlocksLike(to.geometry())) {
      throw new IllegalArgumentException(
          "blocks of %s do not become blocks of %s".formatted(from.geometry(), to.geometry()));
    }
    this.from = from;
    this.to = to;
  }

  /**
   * Plans the move of blocks in all layers.
   *
   * @param sources blocks to read
   * @param targets blocks to write, each once
   * @throws IndexOutOfBoundsException when a layout has no such block
   */
  public List<Step> plan(int[] sources, int[] targets) {
    return plan(sources, targets, 0, from.geometry().layers());
  }

  /** Plans the move of blocks in some layers only, from {@code firstLayer} to before the last. */
  public List<Step> plan(int[] sources, int[] targets, int firstLayer, int endLayer) {
    if (sources.length != targets.length) {
      throw new IllegalArgumentException(
          "%d blocks to read and %d to write".formatted(sources.length, targets.length));
    }
    if (firstLayer < 0 || firstLayer > endLayer || endLayer > from.geometry().layers()) {
      throw new IndexOutOfBoundsException(
          "layers from %d to %d are not within %d"
              .formatted(firstLayer, endLayer, from.geometry().layers()));
    }
    requireOnce(targets);
    var steps = new ArrayList<Step>();
    if (sources.length == 0 || firstLayer == endLayer) {
      return steps;
    }
    if (from.regions() == 1 && to.regions() == 1) {
      steps.add(step(sources, targets, firstLayer, endLayer));
      return steps;
    }
    for (int layer = firstLayer; layer < endLayer; layer++) {
      steps.add(step(sources, targets, layer, layer + 1));
    }
    return steps;
  }

  private static void requireOnce(int... targets) {
    var sorted = targets.clone();
    Arrays.sort(sorted);
    for (int i = 1; i < sorted.length; i++) {
      if (sorted[i] == sorted[i - 1]) {
        throw new IllegalArgumentException("block " + sorted[i] + " would be written twice");
      }
    }
  }

  private Step step(int[] sources, int[] targets, int firstLayer, int endLayer) {
    var geometry = from.geometry();
    long[] sizes = {endLayer - firstLayer, geometry.outer(), geometry.heads(), geometry.tokens()};
    long[] sourceStrides = from.strides();
    long[] targetStrides = to.strides();
    long run = geometry.headBytes();
    for (int joined = 0; joined >= 0; ) {
      joined = contiguous(run, sizes, sourceStrides, targetStrides);
      if (joined >= 0) {
        run *= sizes[joined];
        sizes[joined] = 1;
      }
    }
    int parts = 1;
    if (areInterleaved()) { // keys and values of a block are then two blocks that lie apart
      parts = (int) sizes[1];
      sizes[1] = 1;
    }
    long[] pairs = new long[2 * parts * sources.length];
    for (int i = 0; i < pairs.length / 2; i++) {
      int block = i / parts;
      int outer = i % parts;
      pairs[2 * i] = from.blockOffset(sources[block], firstLayer) + outer * sourceStrides[1];
      pairs[2 * i + 1] = to.blockOffset(targets[block], firstLayer) + outer * targetStrides[1];
    }
    return new Step(
        from.region(firstLayer),
        to.region(firstLayer),
        new BlockPermutation(run, sizes, sourceStrides, targetStrides, pairs));
  }

  private boolean areInterleaved() {
    return from.arrangement() == KvLayout.Arrangement.LAYERS_OUTER_FIRST
        || to.arrangement() == KvLayout.Arrangement.LAYERS_OUTER_FIRST;
  }

  /** Returns a dimension whose steps are runs that follow each other on both sides, or -1. */
  private static int contiguous(long run, long[] sizes, long[] sources, long[] targets) {
    for (int i = 0; i < sizes.length; i++) {
      if (sizes[i] > 1 && sources[i] == run && targets[i] == run) {
        return i;
      }
    }
    return -1;
  }
}
