package io.dynamo.worker.engine.remote.blocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.kv.EngineKvEvent;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitingStoresTest {
  private static final int BLOCK = 4;

  private final WaitingStores waiting = new WaitingStores(4 * BLOCK);

  private static EngineKvEvent.Stored stored(long parent, long... hashes) {
    return new EngineKvEvent.Stored(
        hashes, parent, new int[hashes.length * BLOCK], BLOCK, "CPU", null, List.of(), null);
  }

  @Test
  void theOldestGoWhenThereAreTooManyTokens() {
    var events = List.of(stored(1, 11), stored(2, 12, 13), stored(3, 14), stored(4, 15));
    for (int i = 0; i < 4; i++) {
      waiting.add(i + 1, events.get(i));
    }
    assertThat(waiting.take(1)).isEmpty();
    for (int i = 1; i < 4; i++) {
      assertThat(waiting.take(i + 1)).containsExactly(events.get(i));
      assertThat(waiting.take(i + 1)).as("only once").isEmpty();
    }
    var large = stored(5, 16, 17, 18, 19);
    waiting.add(5, large); // there is room again
    assertThat(waiting.take(5)).containsExactly(large);
    waiting.add(6, stored(6, 20, 21, 22, 23, 24));
    assertThat(waiting.take(6)).as("larger than all room").isEmpty();
  }

  @Test
  void repeatedEventsTakeNoRoom() {
    var first = stored(1, 11);
    waiting.add(1, first);
    var longest = stored(2, 12, 13);
    for (int i = 0; i < 100; i++) {
      waiting.add(2, stored(2, 12));
      waiting.add(2, longest);
    }
    assertThat(waiting.take(2)).containsExactly(longest);
    assertThat(waiting.take(1)).containsExactly(first);
  }

  @Test
  void aClearLeavesRoomForOthers() {
    waiting.add(1, stored(1, 11, 12, 13, 14));
    waiting.clear();
    assertThat(waiting.take(1)).isEmpty();
    var next = stored(2, 15, 16, 17, 18);
    waiting.add(2, next);
    assertThat(waiting.take(2)).containsExactly(next);
  }
}
