package io.dynamo.worker.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.net.PayloadFormat;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.worker.TestCards;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SuccessorsTest {
  private static final EndpointId ENDPOINT = new EndpointId("n", "c", "generate");
  private static final InstanceId SELF = new InstanceId(1);
  private static final InstanceId OTHER = new InstanceId(2);

  private List<Instance> live = List.of();

  private final EndpointInstances instances =
      new EndpointInstances() {
        @Override
        public List<Instance> live() {
          return live;
        }

        @Override
        public Set<InstanceId> inhibited() {
          return Set.of();
        }

        @Override
        public void inhibit(InstanceId id) {}

        @Override
        public Cancellation.Registration onChange(Runnable listener) {
          return () -> {};
        }
      };

  private static Instance instance(InstanceId id) {
    return new Instance(
        ENDPOINT, id, new TransportAddress.Tcp("127.0.0.1:1", "p"), null, PayloadFormat.JSON);
  }

  private static ModelRecord card(InstanceId id, String model) {
    return new ModelRecord(ENDPOINT, id, TestCards.card(model, 100, 16), null);
  }

  /** A discovery whose card events the test sends. */
  private static final class Cards implements Discovery {
    private @Nullable Consumer<DiscoveryEvent<ModelRecord>> listener;

    void tell(DiscoveryEvent<ModelRecord> event) {
      requireNonNull(listener).accept(event);
    }

    @Override
    public InstanceId instanceId() {
      return SELF;
    }

    @Override
    public Handle register(DiscoveryRecord record) {
      throw new UnsupportedOperationException("cards are only read");
    }

    @Override
    public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
      throw new UnsupportedOperationException("cards are only read");
    }

    @Override
    @SuppressWarnings("unchecked") // only model records are watched
    public <R extends DiscoveryRecord> Handle watch(
        Class<R> kind, Consumer<DiscoveryEvent<R>> watching) {
      assertThat(kind).isEqualTo(ModelRecord.class);
      listener = (Consumer<DiscoveryEvent<ModelRecord>>) (Consumer<?>) watching;
      return () -> listener = null;
    }

    @Override
    public void close() {}
  }

  @Test
  void onlyLiveWorkersOfTheSameModelTakeOver() {
    var cards = new Cards();
    try (var successors = new Successors(ENDPOINT, instances, cards)) {
      live = List.of(instance(SELF), instance(OTHER));
      assertThat(successors.areThere()).as("before the card is made").isFalse();
      successors.serve(WorkerSet.of(card(SELF, "m")));
      cards.tell(new DiscoveryEvent.Added<>(card(SELF, "m")));
      assertThat(successors.areThere()).as("an instance without a card").isFalse();
      cards.tell(new DiscoveryEvent.Added<>(card(OTHER, "other")));
      assertThat(successors.areThere()).as("a worker of another model").isFalse();
      cards.tell(new DiscoveryEvent.Added<>(card(OTHER, "m")));
      assertThat(successors.areThere()).isTrue();
      cards.tell(new DiscoveryEvent.Lost<>(card(OTHER, "m")));
      assertThat(successors.areThere()).as("its card is gone").isFalse();
      cards.tell(new DiscoveryEvent.Added<>(card(OTHER, "m")));
      live = List.of(instance(SELF));
      assertThat(successors.areThere()).as("its instance is gone").isFalse();
    }
    assertThat(cards.listener).isNull();
  }
}
