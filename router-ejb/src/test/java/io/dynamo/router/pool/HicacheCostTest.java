package io.dynamo.router.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.router.load.RankLoads;
import io.dynamo.router.select.CostModel;
import org.junit.jupiter.api.Test;

/** Compares costs of one idle worker with those recorded from Dynamo 1.6.1. */
class HicacheCostTest {
  private static final int BLOCK = 16;

  private static PoolHits hits(JsonNode shared, int blocks) {
    var held = new boolean[blocks];
    shared.forEach(block -> held[block.intValue()] = true);
    return PoolHits.of(held);
  }

  @Test
  void allRecordedCostsAndCountsAreOurs() {
    int compared = 0;
    for (var run : HicacheCapture.read("costs.json")) {
      double weight =
          run.path("multiplier").isNull()
              ? RouterSettings.SharedCaching.MULTIPLIER
              : run.path("multiplier").doubleValue();
      var costs = new CostModel(RouterSettings.Costs.STANDARD, weight);
      for (var request : run.path("requests")) {
        int tokens = request.path("tokens").intValue();
        int device = request.path("device").intValue();
        int blocks = tokens / BLOCK;
        var hits = hits(request.path("shared"), blocks);
        assertThat(hits.beyond(device)).isEqualTo(request.path("beyond").intValue());
        assertThat(hits.total() / (double) blocks)
            .isCloseTo(request.path("hit_rate").doubleValue(), within(1e-6));
        var terms =
            costs.weigh(
                new CostModel.Prompt(tokens, BLOCK),
                new CostModel.Overlaps(
                    new int[] {device}, new int[1], new int[1], new int[] {hits.beyond(device)}),
                new RankLoads(new long[1], new int[1], new int[] {blocks}, new int[1]));
        assertThat(terms.cost()[0])
            .as("weight %s, %s", weight, request)
            .isCloseTo(request.path("logit").doubleValue(), within(1e-9));
        assertThat(terms.sharedBy(0)).isEqualTo(weight * hits.beyond(device));
        compared++;
      }
    }
    assertThat(compared).isEqualTo(96);
  }
}
