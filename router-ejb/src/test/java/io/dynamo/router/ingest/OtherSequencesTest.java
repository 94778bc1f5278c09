package io.dynamo.router.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.SequenceAdded;
import io.dynamo.kv.SequenceFreed;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.token.BlockHashes;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OtherSequencesTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);
  private static final InstanceId TELLER = new InstanceId(9);
  private final ActiveSequences load = new ActiveSequences(Duration.ofHours(1), () -> 0);
  private final OtherSequences others = new OtherSequences(10, 5);

  private boolean add(String id, long... blocks) {
    var prompt = BlockHashes.ofSequences(blocks);
    return others.add(7, new SequenceAdded(id, RANK, TELLER, prompt, 0), load);
  }

  @Test
  void allPromptsTogetherAreBounded() {
    assertThat(add("a", 1, 2, 3)).isTrue();
    assertThat(add("b", 4, 5, 6)).isFalse();
    assertThat(add("c", 4, 5)).isTrue();
    assertThat(add("a", 6, 7, 8)).as("in place of its former self").isTrue();
    others.free(new SequenceFreed("c", RANK, TELLER));
    assertThat(add("d", 9, 10)).isTrue();
    assertThat(load.blocks(RANK)).isEqualTo(5);
    others.freePublisher(7);
    assertThat(add("e", 1, 2, 3, 4, 5)).isTrue();
    others.keepWorkers(Set.of());
    assertThat(add("f", 1, 2, 3, 4, 5)).isTrue();
    assertThat(load.active()).isEqualTo(1);
  }
}
