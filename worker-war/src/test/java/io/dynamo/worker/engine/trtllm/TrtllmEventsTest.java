package io.dynamo.worker.engine.trtllm;

import static io.dynamo.worker.engine.trtllm.FakeTrtllm.block;
import static io.dynamo.worker.engine.trtllm.FakeTrtllm.event;
import static io.dynamo.worker.engine.trtllm.FakeTrtllm.stored;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.HeardEvents;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.RemoteFacts;
import io.dynamo.worker.engine.remote.blocks.EngineBlocks;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TrtllmEventsTest {
  private static final RemoteFacts FACTS =
      new RemoteFacts(4096, FakeTrtllm.BLOCK, 100, 1, 8, null, List.of());

  private final HeardEvents heard = new HeardEvents();
  private FakeTrtllm server;
  private EngineHttp http;
  private TrtllmEvents events;

  @BeforeEach
  void follow() throws Exception {
    server = new FakeTrtllm();
    http =
        new EngineHttp(
            SharedLoops.LOOPS,
            "TensorRT-LLM",
            server.address(),
            "setting",
            null,
            null,
            EngineHttp.MAX_BODY);
    events =
        new TrtllmEvents(
            http, FACTS, EngineBlocks.of(0, FACTS.blockTokens(), FACTS.totalBlocks(), heard));
    events.start();
  }

  @AfterEach
  void stop() {
    events.close();
    http.close();
    server.close();
  }

  /** Waits until exactly these changes were reported. */
  private void awaitLog(String... changes) {
    long begun = System.nanoTime();
    while (heard.log().size() < changes.length
        && System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(30)) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(heard.log()).containsExactly(changes);
  }

  private static List<SequenceHash> names(long... hashes) {
    return LongStream.of(hashes).mapToObj(SequenceHash::new).toList();
  }

  @Test
  void blocksAreStoredAndRemovedByTheEnginesNames() {
    server.publish(event(0, "{\"type\":\"created\",\"num_blocks_per_cache_level\":[100,0]}"));
    server.publish(stored(1, "null", 100, 200));
    server.publish(stored(2, "200", 300));
    server.publish(event(3, "{\"type\":\"removed\",\"block_hashes\":[300]}"));
    awaitLog("stored 2 on 0", "stored 1 on 0", "removed 1 on 0");
    assertThat(heard.present()).containsExactlyInAnyOrderElementsOf(names(100, 200));
  }

  @Test
  void aGapForgetsAllBlocks() {
    server.publish(stored(1, "null", 100));
    server.publish(stored(3, "null", 200));
    awaitLog("stored 1 on 0", "cleared 0", "stored 1 on 0");
    assertThat(heard.present()).containsExactlyElementsOf(names(200));
  }

  @Test
  void aServerThatStartedAgainIsAGap() {
    server.publish(stored(5, "null", 100));
    awaitLog("stored 1 on 0");
    server.publish(stored(0, "null", 100));
    awaitLog("stored 1 on 0", "cleared 0", "stored 1 on 0");
  }

  @Test
  void aServerThatFailsIsForgottenAndFollowedAgain() {
    server.publish(stored(5, "null", 100));
    awaitLog("stored 1 on 0");
    server.eventStatus = 500;
    awaitLog("stored 1 on 0", "cleared 0");
    server.publish(stored(9, "null", 300));
    server.eventStatus = 200;
    awaitLog("stored 1 on 0", "cleared 0", "stored 1 on 0");
  }

  @Test
  void anAnswerThatIsNoListIsAFailureOfTheServer() {
    server.publish(stored(1, "null", 100));
    awaitLog("stored 1 on 0");
    server.publish("{\"event_id\":2");
    awaitLog("stored 1 on 0", "cleared 0");
  }

  @Test
  void blocksThatRoutersCannotNameAreLeftOut() {
    server.publish(
        event(
            1,
            "{\"type\":\"stored\",\"parent_hash\":null,\"blocks\":[%s,%s]}"
                .formatted(block(100, 4, 0, 0), block(200, 3, 0, 0)))); // the last is not full
    server.publish(
        event(
            2,
            "{\"type\":\"stored\",\"parent_hash\":null,\"blocks\":[%s]}"
                .formatted(block(300, 4, 2, 0)))); // in a level that no server has
    server.publish(
        event(
            3,
            "{\"type\":\"stored\",\"parent_hash\":null,\"blocks\":[%s]}"
                .formatted(block(400, 4, 0, 9)))); // with an adapter
    server.publish(stored(4, "null", 500));
    awaitLog("stored 1 on 0", "stored 1 on 0");
  }

  private static String moved(long id, long hash, int from, int to) {
    return event(
        id,
        "{\"type\":\"updated\",\"block_hash\":%d,\"cache_level\":{\"type\":\"event_diff\",\"new_value\":%d,\"old_value\":%d},\"priority\":null}"
            .formatted(hash, to, from));
  }

  @Test
  void blocksThatLeaveTheDeviceAreInHostMemoryUntilTheyAreRemoved() {
    server.publish(stored(1, "null", 100, 200));
    server.publish(moved(2, 200, 0, 1));
    server.publish(moved(3, 200, 1, 0));
    server.publish(moved(4, 200, 0, 1));
    server.publish(moved(5, 100, 0, 0)); // its priority alone has changed
    server.publish(event(6, "{\"type\":\"removed\",\"block_hashes\":[200,100]}"));
    awaitLog(
        "stored 2 on 0",
        "stored [200] after 100 in HOST_PINNED",
        "removed 1 on 0",
        "stored 1 on 0",
        "removed [200] from HOST_PINNED",
        "stored [200] after 100 in HOST_PINNED",
        "removed 1 on 0",
        "removed 1 on 0",
        "removed [200] from HOST_PINNED");
    assertThat(heard.present()).isEmpty();
  }

  @Test
  void blocksStoredInSeveralLevelsAreEachInTheirTier() {
    server.publish(
        event(
            1,
            "{\"type\":\"stored\",\"parent_hash\":null,\"blocks\":[%s,%s,%s]}"
                .formatted(block(1, 4, 0, 0), block(2, 4, 1, 0), block(3, 4, 1, 0))));
    awaitLog("stored 1 on 0", "stored [2, 3] after 1 in HOST_PINNED");
  }

  @Test
  void ofSeveralWindowsTheWidestCounts() {
    server.publish(stored(1, "null", 100));
    server.publish(stored(2, "null", 500).replace("4096", "128"));
    server.publish(stored(3, "100", 200));
    awaitLog("stored 1 on 0", "stored 1 on 0");
    assertThat(heard.present()).containsExactlyInAnyOrderElementsOf(names(100, 200));
  }

  @Test
  void aServerThatPlacesRequestsOnRanksItselfIsNotFollowed() {
    server.publish(stored(1, "null", 100));
    server.publish(stored(2, "null", 200).replaceFirst("\\{", "{\"attention_dp_rank\":1,"));
    server.publish(stored(3, "null", 300));
    awaitLog("stored 1 on 0", "cleared 0");
  }
}
