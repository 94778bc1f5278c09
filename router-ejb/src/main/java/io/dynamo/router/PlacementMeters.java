package io.dynamo.router;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import java.util.Arrays;

/** What was cached where requests went, and what was passed over. */
final class PlacementMeters {
  private final Metrics.Counter promptBlocks;
  private final Metrics.Counter overlapBlocks;
  private final Metrics.Counter passedOver;
  private final Metrics.Timer blocksLost;

  /**
   * @param labels of what has Dynamo's names
   */
  PlacementMeters(Metrics metrics, Label... labels) {
    promptBlocks = metrics.counter(RouterMetrics.PROMPT_BLOCKS);
    overlapBlocks = metrics.counter(RouterMetrics.OVERLAP_BLOCKS);
    var typed = Arrays.copyOf(labels, labels.length + 1);
    typed[labels.length] = new Label("worker_type", "decode");
    passedOver = metrics.counter(RouterMetrics.NON_MAX_OVERLAP_SELECTIONS, typed);
    blocksLost = metrics.timer(RouterMetrics.OVERLAP_BLOCKS_LOST, typed);
  }

  /**
   * @param blocks of the prompt, complete ones
   * @param held of them by the chosen rank
   * @param most of them by any rank
   */
  void placed(int blocks, int held, int most) {
    promptBlocks.add(blocks);
    overlapBlocks.add(held);
    if (held < most) {
      passedOver.increment();
      blocksLost.record(most - held, 1);
    }
  }
}
