package io.dynamo.router.select;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.Booking;
import io.dynamo.router.load.RankLoads;
import io.dynamo.router.load.Work;
import io.dynamo.token.BlockHashes;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Replays the decisions of Dynamo 1.6.1's select service and compares costs and choices: all tiers,
 * requests that do not count as prefill load or share no blocks, and generated blocks.
 */
class RecordedSelectionTest {
  private static final CostModel COSTS = new CostModel(RouterSettings.Costs.STANDARD, 0);

  private int costsCompared;
  private int choicesCompared;

  @Test
  void costsAndChoicesAgreeWithTheRecordedRelease() throws IOException {
    try (var in = getClass().getResourceAsStream("/golden/router/selection.json")) {
      for (var scenario : new ObjectMapper().readTree(in).path("scenarios")) {
        new Replay(scenario).run();
      }
    }
    assertThat(costsCompared).as("the recording covers the cost").isEqualTo(960);
    assertThat(choicesCompared).as("the recording covers the choice").isEqualTo(240);
  }

  private final class Replay {
    private final JsonNode scenario;
    private final int blockTokens;
    private final List<WorkerRank> ranks = new ArrayList<>();
    private final ActiveSequences active = new ActiveSequences(Duration.ofHours(1), () -> 0);
    private final Map<String, Booking> bookings = new HashMap<>();
    private final Random fresh = new Random(1);

    Replay(JsonNode scenario) {
      this.scenario = scenario;
      this.blockTokens = scenario.path("block_size").intValue();
      for (var cache : scenario.path("cache")) {
        ranks.add(new WorkerRank(new InstanceId(cache.path("worker_id").longValue()), 0));
      }
    }

    void run() {
      for (var step : scenario.path("steps")) {
        take(step);
        for (var after : step.path("after")) {
          var booking = Objects.requireNonNull(bookings.get(after.path("reservation").asText()));
          switch (after.path("op").asText()) {
            case "prefill_complete" -> booking.prefillDone();
            case "free" -> booking.close();
            case "output_block" -> booking.generated(blockTokens);
            default -> throw new IllegalStateException("unknown operation " + after);
          }
        }
      }
    }

    private void take(JsonNode step) {
      var tokens = tokens(step.path("prompt_tokens"));
      boolean tracked = step.path("override").path("track_prefill_tokens").asBoolean(true);
      boolean reused = step.path("override").path("assume_kv_reuse").asBoolean(true);
      var prompt = new CostModel.Prompt(tokens.length, blockTokens, tracked, !tracked);
      var hashes = BlockHashes.of(tokens, blockTokens);
      var booked = reused ? hashes : BlockHashes.ofBlocks(fresh.longs(hashes.length()).toArray());
      var overlaps = overlaps(tokens);
      var id = step.path("reservation").asText();
      // The service books output blocks whole, so the prompt's last block counts as full here.
      var work = new Work(id, booked, blockTokens * hashes.length(), blockTokens, true, null);
      var booking =
          active.book(
              ranks,
              work,
              loads -> {
                compare(step, prompt, overlaps, loads);
                int reserved = index(step.path("reserved_on").longValue());
                long toPrefill = COSTS.tokensToPrefill(prompt, overlaps, reserved);
                if (tracked) {
                  assertThat(toPrefill)
                      .as("scenario %s, %s", scenario.path("scenario"), id)
                      .isEqualTo(
                          step.path("response").path("effective_prefill_tokens").longValue());
                }
                return new ActiveSequences.RankChoice(reserved, toPrefill);
              });
      bookings.put(id, Objects.requireNonNull(booking).booking());
    }

    private CostModel.Overlaps overlaps(int[] tokens) {
      int n = ranks.size();
      var overlaps = new CostModel.Overlaps(new int[n]);
      for (int i = 0; i < n; i++) {
        var cache = scenario.path("cache").get(i);
        int device = held(cache, tokens, "device_blocks");
        int host = Math.max(device, held(cache, tokens, "host_pinned_blocks"));
        int disk = Math.max(host, held(cache, tokens, "disk_blocks"));
        overlaps.device()[i] = device;
        overlaps.host()[i] = host - device;
        overlaps.disk()[i] = disk - host;
      }
      return overlaps;
    }

    private void compare(
        JsonNode step, CostModel.Prompt prompt, CostModel.Overlaps overlaps, RankLoads loads) {
      var costs = COSTS.weigh(prompt, overlaps, loads).cost();
      for (int i = 0; i < ranks.size(); i++) {
        assertThat(costs[i])
            .as(
                "scenario %s, %s, worker %s",
                scenario.path("scenario"), step.path("reservation"), i)
            .isEqualTo(step.path("logits").path(ranks.get(i).worker().value() + "").doubleValue());
        costsCompared++;
      }
      var selector = new RankSelector(RouterSettings.Costs.STANDARD, 0, fresh::nextDouble);
      var choice = selector.choose(prompt, overlaps, loads, null);
      assertThat(step.path("best").toString())
          .contains("\"" + ranks.get(choice.candidate()).worker().value() + "\"");
      choicesCompared++;
    }

    private int index(long worker) {
      return ranks.indexOf(new WorkerRank(new InstanceId(worker), 0));
    }

    /**
     * Returns the number of leading blocks of {@code tokens} up to the end of those in the tier.
     */
    private int held(JsonNode cache, int[] tokens, String tier) {
      var cached = tokens(cache.path("prompt_tokens"));
      int end = cache.path(tier).get(1).intValue() * blockTokens;
      int same = 0;
      while (same < Math.min(end, Math.min(cached.length, tokens.length))
          && cached[same] == tokens[same]) {
        same++;
      }
      return same / blockTokens;
    }
  }

  private static int[] tokens(JsonNode array) {
    var tokens = new int[array.size()];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = array.get(i).intValue();
    }
    return tokens;
  }
}
