package io.dynamo.frontend.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.catalog.PlayedDiscovery;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class WorkerRosterTest {
  private final PlayedDiscovery discovery = new PlayedDiscovery();
  private Instant now = Instant.ofEpochSecond(100);
  private final WorkerRoster roster =
      new WorkerRoster(endpoint -> endpoint.namespace().equals("ns"), () -> now);

  private static ModelRecord record(long worker, String model) {
    return new ModelRecord(
        new EndpointId("ns", model, "generate"),
        new InstanceId(worker),
        TestCard.named(model).build(),
        null);
  }

  @Test
  void aWorkerIsListedFromItsFirstRecordToItsLast() {
    roster.follow(discovery);
    discovery.add(record(1, "a"));
    now = now.plusSeconds(5);
    discovery.add(record(1, "b"));
    assertThat(roster.members())
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.since()).isEqualTo(Instant.ofEpochSecond(100));
              assertThat(it.records()).hasSize(2);
            });
    discovery.lose(record(1, "a"));
    assertThat(roster.departed()).isEmpty();
    discovery.lose(record(1, "b"));
    assertThat(roster.members()).isEmpty();
    assertThat(roster.departed())
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.id()).isEqualTo(new InstanceId(1));
              assertThat(it.at()).isEqualTo(now);
            });
  }

  @Test
  void aWorkerThatHasComeBackIsNoLongerMissing() {
    roster.follow(discovery);
    discovery.add(record(1, "a"));
    discovery.lose(record(1, "a"));
    discovery.add(record(1, "a"));
    assertThat(roster.departed()).isEmpty();
  }

  @Test
  void workersOfOtherNamespacesAreNotListed() {
    roster.follow(discovery);
    var record =
        new ModelRecord(
            new EndpointId("other", "backend", "generate"),
            new InstanceId(2),
            TestCard.named("a").build(),
            null);
    discovery.add(record);
    discovery.lose(record);
    assertThat(roster.members()).isEmpty();
    assertThat(roster.departed()).isEmpty();
  }

  @Test
  void onlyTheLastDeparturesAreKept() {
    roster.follow(discovery);
    for (int i = 1; i <= 100; i++) {
      discovery.add(record(i, "a"));
      discovery.lose(record(i, "a"));
    }
    assertThat(roster.departed()).hasSize(32);
    assertThat(roster.departed().getFirst().id()).isEqualTo(new InstanceId(100));
    roster.close();
    assertThat(discovery.isFollowed()).isFalse();
  }
}
