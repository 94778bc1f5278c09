package io.dynamo.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Replays the recorded operations of the single-threaded tree of Dynamo 1.6.1 and compares the
 * answers.
 */
class RecordedIndexTest {
  /**
   * Scenarios where this index differs on purpose, and the step from which on it does. Dynamo keeps
   * the first engine name of a shared block and forgets the others; here each rank's removals use
   * its own names. In Dynamo, children of a removed block come back when the block does, if another
   * worker kept the node.
   */
  private static final Map<String, Integer> DIFFERS_FROM =
      Map.of(
          "same content, other external hash", 3,
          "remove in the middle while another worker keeps the node", 9);

  record Scenario(String name, JsonNode steps, JsonNode answers) {
    @Override
    public String toString() {
      return name;
    }
  }

  static List<Scenario> scenarios() throws IOException {
    try (var in = RecordedIndexTest.class.getResourceAsStream("/golden/router/index.json")) {
      var scenarios = new ArrayList<Scenario>();
      for (var it : new ObjectMapper().readTree(in).path("scenarios")) {
        var answers = it.path("answers").path("radix_tree");
        if (answers.isArray()) { // answers of lower tiers were recorded elsewhere
          scenarios.add(new Scenario(it.path("name").asText(), it.path("steps"), answers));
        }
      }
      return scenarios;
    }
  }

  @Test
  void theRecordingHoldsScenariosOfTheDeviceTier() throws IOException {
    assertThat(scenarios()).hasSize(47);
    assertThat(scenarios()).extracting(Scenario::name).containsAll(DIFFERS_FROM.keySet());
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  void answersAsRecorded(Scenario scenario) {
    var indexer = new PrefixTableIndexer();
    int until = DIFFERS_FROM.getOrDefault(scenario.name, scenario.steps.size());
    for (int i = 0; i < until; i++) {
      var step = scenario.steps.get(i);
      var worker = new InstanceId(unsigned(step.path("worker_id")));
      switch (step.path("op").asText()) {
        case "event" -> {
          var event = step.path("event");
          indexer.apply(
              new WorkerRank(worker, event.path("dp_rank").intValue()),
              event(event.path("event_id").longValue(), event.path("data")));
        }
        case "query" -> {
          var scores =
              indexer.match(
                  BlockHashes.ofBlocks(
                      elements(step.path("hashes"))
                          .mapToLong(RecordedIndexTest::unsigned)
                          .toArray()));
          if (!step.path("early_exit").booleanValue()) {
            assertThat(scores)
                .as("step %d: %s", i, step)
                .isEqualTo(recorded(scenario.answers.get(i).path("scores")));
          }
        }
        case "remove_worker", "clear_all_blocks" -> indexer.forget(worker);
        case "dump" -> {} // this index has no dump
        default -> throw new IllegalStateException("unknown step " + step);
      }
    }
  }

  static List<Scenario> tierScenarios() throws IOException {
    try (var in = RecordedIndexTest.class.getResourceAsStream("/golden/router/index.json")) {
      var scenarios = new ArrayList<Scenario>();
      for (var it : new ObjectMapper().readTree(in).path("scenarios")) {
        if (it.path("name").asText().startsWith("tiers: ")) {
          scenarios.add(
              new Scenario(
                  it.path("name").asText(), it.path("steps"), it.path("answers").path("crtc")));
        }
      }
      return scenarios;
    }
  }

  @Test
  void theRecordingHoldsScenariosOfLowerTiers() throws IOException {
    assertThat(tierScenarios()).hasSize(10);
  }

  @ParameterizedTest
  @MethodSource("tierScenarios")
  void lowerTiersAnswerAsRecorded(Scenario scenario) {
    var indexer = new TieredIndexer();
    var ranks = new ArrayList<WorkerRank>();
    for (int worker = 1; worker <= 2; worker++) {
      for (int rank = 0; rank < 2; rank++) {
        ranks.add(new WorkerRank(new InstanceId(worker), rank));
      }
    }
    for (int i = 0; i < scenario.steps.size(); i++) {
      var step = scenario.steps.get(i);
      if (step.path("op").asText().equals("event")) {
        var rank =
            new WorkerRank(
                new InstanceId(unsigned(step.path("worker_id"))),
                step.path("event").path("dp_rank").intValue());
        var event =
            event(step.path("event").path("event_id").longValue(), step.path("event").path("data"));
        switch (step.path("tier").asText("device")) {
          case "device" -> indexer.apply(rank, event);
          case "host_pinned" -> indexer.apply(rank, StorageTier.HOST_PINNED, event);
          case "disk" -> indexer.apply(rank, StorageTier.DISK, event);
          case "external" -> indexer.apply(rank, StorageTier.EXTERNAL, event);
          default -> throw new IllegalStateException("unknown tier in " + step);
        }
      } else {
        var hashes =
            BlockHashes.ofBlocks(
                elements(step.path("hashes")).mapToLong(RecordedIndexTest::unsigned).toArray());
        var answer = scenario.answers.get(i);
        var scores = indexer.match(hashes);
        var host = new int[ranks.size()];
        var disk = new int[ranks.size()];
        indexer.extend(hashes, scores, ranks, host, disk);
        assertThat(scores).isEqualTo(recorded(answer.path("scores")));
        for (int r = 0; r < ranks.size(); r++) {
          assertThat(host[r])
              .as("step %d, host blocks of %s", i, ranks.get(r))
              .isEqualTo(extension(answer.path("host_pinned"), ranks.get(r)));
          assertThat(disk[r])
              .as("step %d, disk and external blocks of %s", i, ranks.get(r))
              .isEqualTo(
                  extension(answer.path("disk"), ranks.get(r))
                      + extension(answer.path("external"), ranks.get(r)));
        }
      }
    }
  }

  private static int extension(JsonNode counts, WorkerRank rank) {
    for (var count : counts) {
      if (unsigned(count.get(0)) == rank.worker().value()
          && unsigned(count.get(1)) == rank.rank()) {
        return count.get(2).intValue();
      }
    }
    return 0;
  }

  private static OverlapScores recorded(JsonNode scores) {
    var builder = new OverlapScores.Builder(scores.size());
    for (var score : scores) {
      builder.add(
          new WorkerRank(new InstanceId(unsigned(score.get(0))), (int) unsigned(score.get(1))),
          score.get(2).intValue());
    }
    return builder.build();
  }

  private static KvEvent event(long id, JsonNode data) {
    if (data.has("stored")) {
      var stored = data.path("stored");
      var parent = stored.path("parent_hash");
      return new KvEvent.Stored(
          id,
          parent.isNull() ? null : new SequenceHash(unsigned(parent)),
          elements(stored.path("blocks"))
              .map(
                  it ->
                      new StoredBlock(
                          new SequenceHash(unsigned(it.path("block_hash"))),
                          new BlockHash(unsigned(it.path("tokens_hash")))))
              .toList());
    }
    if (data.has("removed")) {
      return new KvEvent.Removed(
          id,
          elements(data.path("removed").path("block_hashes"))
              .map(it -> new SequenceHash(unsigned(it)))
              .toList());
    }
    assertThat(data.asText()).isEqualTo("cleared");
    return new KvEvent.Cleared(id);
  }

  private static Stream<JsonNode> elements(JsonNode array) {
    return array.valueStream();
  }

  private static long unsigned(JsonNode number) {
    return number.isMissingNode() ? 0 : Long.parseUnsignedLong(number.asText());
  }
}
