package io.dynamo.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.model.ModelCard;
import io.dynamo.net.PayloadFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ModelTraitsTest {
  private static final EndpointId ENDPOINT = new EndpointId("ns", "backend", "generate");
  private static final Instance WORKER =
      new Instance(
          ENDPOINT,
          new InstanceId(7),
          new TransportAddress.Tcp("127.0.0.1:1", "path"),
          null,
          PayloadFormat.JSON);

  /** Tells model records as the test says. */
  private static final class Records implements Discovery {
    private final List<Consumer<DiscoveryEvent<ModelRecord>>> listeners = new ArrayList<>();

    void tell(DiscoveryEvent<ModelRecord> event) {
      listeners.forEach(listener -> listener.accept(event));
    }

    @Override
    public InstanceId instanceId() {
      return new InstanceId(1);
    }

    @Override
    public Handle register(DiscoveryRecord record) {
      throw new UnsupportedOperationException("ranks are only read");
    }

    @Override
    @SuppressWarnings("unchecked") // only model records are asked for
    public <R extends DiscoveryRecord> Handle watch(
        Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
      assertThat(kind).isEqualTo(ModelRecord.class);
      var wanted = (Consumer<DiscoveryEvent<ModelRecord>>) (Consumer<?>) listener;
      listeners.add(wanted);
      return () -> listeners.remove(wanted);
    }

    @Override
    public void close() {}
  }

  private static ModelRecord card(
      @Nullable String suffix, Map<String, @Nullable Object> runtimeConfig) {
    return new ModelRecord(
        ENDPOINT,
        WORKER.id(),
        new ModelCard(
            "m",
            "m",
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            0,
            16,
            0,
            Set.of(),
            "Tokens",
            null,
            List.of(),
            runtimeConfig),
        suffix);
  }

  @Test
  void theCardSaysWhichRanksThereAre() {
    var records = new Records();
    var ranks = new ModelTraits();
    var served = new ArrayList<EndpointId>();
    try (var handle = ranks.follow(records, served::add)) {
      assertThat(handle).isNotNull();
      assertThat(ranks.apply(WORKER).ranks()).isEqualTo(RankRange.ONE);
      var card = card(null, Map.of("data_parallel_size", 4, "data_parallel_start_rank", 8));
      records.tell(new DiscoveryEvent.Added<>(card));
      assertThat(ranks.apply(WORKER).ranks()).isEqualTo(new RankRange(8, 4));
      assertThat(served).containsExactly(ENDPOINT);
      records.tell(new DiscoveryEvent.Lost<>(card));
      assertThat(ranks.apply(WORKER).ranks()).isEqualTo(RankRange.ONE);
    }
    assertThat(records.listeners).isEmpty();
  }

  @Test
  void moreRanksThanAnybodyHasAreNotBelieved() {
    var records = new Records();
    var ranks = new ModelTraits();
    try (var handle = ranks.follow(records, _ -> {})) {
      assertThat(handle).isNotNull();
      records.tell(
          new DiscoveryEvent.Added<>(card(null, Map.of("data_parallel_size", Integer.MAX_VALUE))));
      assertThat(ranks.apply(WORKER).ranks()).isEqualTo(new RankRange(0, 1024));
      records.tell(
          new DiscoveryEvent.Added<>(
              card(
                  null,
                  Map.of(
                      "data_parallel_size", 2_000_000_000, "data_parallel_start_rank", 1L << 40))));
      assertThat(ranks.apply(WORKER).ranks()).isEqualTo(new RankRange(1023, 1));
    }
  }

  @Test
  void anAdaptersCardTellsNothing() {
    var records = new Records();
    var ranks = new ModelTraits();
    try (var handle = ranks.follow(records, _ -> {})) {
      assertThat(handle).isNotNull();
      records.tell(new DiscoveryEvent.Added<>(card(null, Map.of("data_parallel_size", 2))));
      var adapter = card("lora", Map.of());
      records.tell(new DiscoveryEvent.Added<>(adapter));
      records.tell(new DiscoveryEvent.Lost<>(adapter));
      assertThat(ranks.apply(WORKER).ranks()).isEqualTo(new RankRange(0, 2));
    }
  }
}
