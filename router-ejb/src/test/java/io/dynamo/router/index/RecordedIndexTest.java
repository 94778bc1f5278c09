package io.dynamo.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
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

/** Replays what the single-threaded tree of Dynamo 1.6.1 was asked and compares the answers. */
class RecordedIndexTest {
  /**
   * Scenarios where we mean to differ, and from which step on. Dynamo keeps the first engine name
   * of a shared block and forgets the others; here each rank's removals use its own names. And
   * there, children of a removed block come back when the block does, if another worker kept the
   * node.
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
        if (answers.isArray()) { // those of lower tiers were recorded elsewhere
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
