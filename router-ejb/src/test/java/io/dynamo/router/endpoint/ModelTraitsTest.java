package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.model.ModelCard;
import io.dynamo.model.UnreportedCache;
import io.dynamo.net.PayloadFormat;
import io.dynamo.router.pool.HicacheCards;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ModelTraitsTest {
  private static final EndpointId ENDPOINT = new EndpointId("ns", "backend", "generate");
  private static final WorkerSet WORKERS = new WorkerSet(ENDPOINT, "m", null, null, 16);
  private static final Instance WORKER =
      new Instance(
          ENDPOINT,
          new InstanceId(7),
          new TransportAddress.Tcp("127.0.0.1:1", "path"),
          null,
          PayloadFormat.JSON);

  private static ModelRecord card(
      @Nullable String suffix, Map<String, @Nullable Object> runtimeConfig) {
    return card(WORKER.id(), suffix, runtimeConfig, Map.of());
  }

  private static ModelRecord card(
      InstanceId id,
      @Nullable String suffix,
      Map<String, @Nullable Object> runtimeConfig,
      Map<String, @Nullable Object> routing) {
    return new ModelRecord(
        ENDPOINT,
        id,
        new ModelCard(
            "m",
            "m",
            null,
            null,
            null,
            null,
            null,
            null,
            List.of(),
            null,
            0,
            16,
            0,
            Set.of(),
            "Tokens",
            null,
            List.of(),
            runtimeConfig,
            routing,
            null),
        suffix);
  }

  @Test
  void theCardSaysWhichRanksThereAre() {
    var records = new FakeModelRecords();
    var ranks = new ModelTraits();
    var served = new ArrayList<EndpointId>();
    try (var handle = ranks.follow(records, served::add)) {
      assertThat(handle).isNotNull();
      assertThat(ranks.traits(WORKER).ranks()).isEqualTo(RankRange.ONE);
      var card = card(null, Map.of("data_parallel_size", 4, "data_parallel_start_rank", 8));
      records.tell(new DiscoveryEvent.Added<>(card));
      assertThat(ranks.traits(WORKER).ranks()).isEqualTo(new RankRange(8, 4));
      assertThat(served).containsExactly(ENDPOINT);
      records.tell(new DiscoveryEvent.Lost<>(card));
      assertThat(ranks.traits(WORKER).ranks()).isEqualTo(RankRange.ONE);
    }
    assertThat(records.listeners()).isEmpty();
  }

  @Test
  void moreRanksThanAnybodyHasAreNotBelieved() {
    var records = new FakeModelRecords();
    var ranks = new ModelTraits();
    try (var handle = ranks.follow(records, _ -> {})) {
      assertThat(handle).isNotNull();
      records.tell(
          new DiscoveryEvent.Added<>(card(null, Map.of("data_parallel_size", Integer.MAX_VALUE))));
      assertThat(ranks.traits(WORKER).ranks()).isEqualTo(new RankRange(0, 1024));
      records.tell(
          new DiscoveryEvent.Added<>(
              card(
                  null,
                  Map.of(
                      "data_parallel_size", 2_000_000_000, "data_parallel_start_rank", 1L << 40))));
      assertThat(ranks.traits(WORKER).ranks()).isEqualTo(new RankRange(1023, 1));
    }
  }

  @Test
  void anAdaptersCardTellsNothing() {
    var records = new FakeModelRecords();
    var ranks = new ModelTraits();
    try (var handle = ranks.follow(records, _ -> {})) {
      assertThat(handle).isNotNull();
      records.tell(new DiscoveryEvent.Added<>(card(null, Map.of("data_parallel_size", 2))));
      var adapter = card("lora", Map.of());
      records.tell(new DiscoveryEvent.Added<>(adapter));
      records.tell(new DiscoveryEvent.Lost<>(adapter));
      assertThat(ranks.traits(WORKER).ranks()).isEqualTo(new RankRange(0, 2));
    }
  }

  @Test
  void theLongestKnownCardDescribesItsSet() {
    var records = new FakeModelRecords();
    var cards = new ModelTraits();
    var served = new ArrayList<EndpointId>();
    try (var handle = cards.follow(records, served::add)) {
      assertThat(handle).isNotNull();
      assertThat(cards.profile(WORKERS)).isEqualTo(EndpointProfile.UNKNOWN);
      var first = card(WORKER.id(), null, Map.of("enable_eagle", true), Map.of());
      var second = card(new InstanceId(8), null, Map.of(), Map.of());
      var adapter = card(WORKER.id(), "lora", Map.of(), Map.of());
      records.tell(new DiscoveryEvent.Added<>(first));
      records.tell(new DiscoveryEvent.Added<>(second));
      records.tell(new DiscoveryEvent.Added<>(adapter));
      assertThat(cards.profile(WORKERS)).isEqualTo(new EndpointProfile("m", true, Map.of()));
      served.clear();
      records.tell(new DiscoveryEvent.Lost<>(first));
      assertThat(served).as("another card describes the set now").containsExactly(ENDPOINT);
      assertThat(cards.profile(WORKERS)).isEqualTo(new EndpointProfile("m", false, Map.of()));
      records.tell(new DiscoveryEvent.Lost<>(second));
      assertThat(cards.profile(WORKERS)).isEqualTo(EndpointProfile.UNKNOWN);
      assertThat(served).as("its router may go").containsExactly(ENDPOINT, ENDPOINT);
    }
  }

  @Test
  void cardsThatAskForDifferentRoutingAreDifferentSets() {
    var records = new FakeModelRecords();
    var cards = new ModelTraits();
    try (var handle = cards.follow(records, _ -> {})) {
      assertThat(handle).isNotNull();
      var asking = card(WORKER.id(), null, Map.of(), Map.of("router_mode", "random"));
      records.tell(new DiscoveryEvent.Added<>(asking));
      records.tell(new DiscoveryEvent.Added<>(card(new InstanceId(8), null, Map.of(), Map.of())));
      assertThat(cards.sets(ENDPOINT)).containsExactly(WorkerSet.of(asking), WORKERS);
      assertThat(cards.profile(WorkerSet.of(asking)))
          .isEqualTo(new EndpointProfile("m", false, Map.of("router_mode", "random")));
      assertThat(cards.profile(WORKERS)).isEqualTo(new EndpointProfile("m", false, Map.of()));
    }
  }

  @Test
  void aCardSaysThatItsWorkerKeepsPrefixesWithoutEvents() {
    var records = new FakeModelRecords();
    var cards = new ModelTraits();
    try (var handle = cards.follow(records, _ -> {})) {
      assertThat(handle).isNotNull();
      records.tell(
          new DiscoveryEvent.Added<>(
              card(null, Map.of("kv_event_publishing_enabled", false, "runtime_data", Map.of()))));
      assertThat(cards.traits(WORKER).hasUnreportedCache()).as("it may keep none").isFalse();
      records.tell(
          new DiscoveryEvent.Added<>(
              card(null, Map.of("runtime_data", UnreportedCache.runtimeData()))));
      assertThat(cards.traits(WORKER).hasUnreportedCache()).isTrue();
    }
  }

  @Test
  void sharedCacheDataIsKeptPerWorker() {
    var records = new FakeModelRecords();
    var cards = new ModelTraits();
    var served = new ArrayList<EndpointId>();
    Map<String, Object> store = Map.of("backend", "mooncake");
    Map<String, @Nullable Object> data = Map.of("runtime_data", Map.of(HicacheCards.NAME, store));
    try (var handle = cards.follow(records, served::add)) {
      assertThat(handle).isNotNull();
      var silent = card(null, Map.of("runtime_data", Map.of("other", 1)));
      var sharing = card(new InstanceId(8), null, data, Map.of());
      records.tell(new DiscoveryEvent.Added<>(silent));
      records.tell(new DiscoveryEvent.Added<>(card("lora", data)));
      assertThat(cards.hicache(WORKERS)).isEmpty();
      records.tell(new DiscoveryEvent.Added<>(sharing));
      assertThat(cards.hicache(WORKERS)).containsExactly(store);
      assertThat(
              cards.hicache(
                  new WorkerSet(new EndpointId("ns", "other", "generate"), "m", null, null, 16)))
          .isEmpty();
      served.clear();
      records.tell(new DiscoveryEvent.Lost<>(sharing));
      assertThat(cards.hicache(WORKERS)).isEmpty();
      assertThat(served).as("less is said").containsExactly(ENDPOINT);
    }
  }

  @Test
  void nothingIsKeptOfAWorkerWhoseCardsAreGone() {
    var records = new FakeModelRecords();
    var traits = new ModelTraits();
    try (var handle = traits.follow(records, _ -> {})) {
      assertThat(handle).isNotNull();
      records.tell(new DiscoveryEvent.Added<>(card(null, Map.of())));
      records.tell(new DiscoveryEvent.Added<>(card("m", Map.of())));
      records.tell(new DiscoveryEvent.Lost<>(card(null, Map.of())));
      assertThat(traits.workers()).isEqualTo(1);
      records.tell(new DiscoveryEvent.Lost<>(card("m", Map.of())));
      assertThat(traits.workers()).isZero();
    }
  }

  private static ModelRecord of(InstanceId id, String model, @Nullable String suffix) {
    return FakeModelRecords.record(ENDPOINT, id, model, suffix);
  }

  private static WorkerSet set(String model) {
    return WorkerSet.of(of(WORKER.id(), model, null));
  }

  @Test
  void workersOfOneEndpointBelongToTheSetOfTheirModel() {
    var records = new FakeModelRecords();
    var cards = new ModelTraits();
    var changed = new ArrayList<EndpointId>();
    try (var handle = cards.follow(records, _ -> {})) {
      assertThat(handle).isNotNull();
      assertThat(cards.set(WORKER)).as("without a card").isNull();
      var registration = cards.onChange(changed::add);
      records.add(of(WORKER.id(), "a", null));
      records.add(of(new InstanceId(8), "b", null));
      assertThat(cards.set(WORKER)).isEqualTo(set("a"));
      assertThat(cards.sets(ENDPOINT)).containsExactly(set("a"), set("b"));
      assertThat(cards.serving(set("b"))).isEqualTo(set("b"));
      assertThat(cards.serving(set("c"))).isNull();
      records.add(of(WORKER.id(), "b", null));
      assertThat(cards.sets(ENDPOINT)).as("its card is another now").containsExactly(set("b"));
      records.lose(of(WORKER.id(), "b", null));
      assertThat(cards.set(WORKER)).isNull();
      assertThat(cards.serving(set("b"))).isEqualTo(set("b"));
      assertThat(changed).containsExactly(ENDPOINT, ENDPOINT, ENDPOINT, ENDPOINT);
      registration.close();
      records.lose(of(new InstanceId(8), "b", null));
      assertThat(cards.serving(set("b"))).isNull();
      assertThat(cards.sets(ENDPOINT)).isEmpty();
      assertThat(changed).hasSize(4);
    }
  }

  @Test
  void workersWhoseCardsDisagreeOnTokensAreNoOneSet() {
    var records = new FakeModelRecords();
    var cards = new ModelTraits();
    try (var handle = cards.follow(records, _ -> {})) {
      assertThat(handle).isNotNull();
      records.add(of(WORKER.id(), "a", null));
      var other = new WorkerSet(ENDPOINT, "a", "blake3:1", null, 16);
      assertThat(cards.serving(other)).isNull();
      assertThat(cards.serving(new WorkerSet(ENDPOINT, "a", null, null, 32))).isNull();
    }
  }

  @Test
  void anAdapterIsServedByTheModelThatItIsLoadedOn() {
    var records = new FakeModelRecords();
    var cards = new ModelTraits();
    try (var handle = cards.follow(records, _ -> {})) {
      assertThat(handle).isNotNull();
      records.add(of(WORKER.id(), "a", null));
      var adapter = of(new InstanceId(8), "lora", "lora");
      records.add(adapter);
      assertThat(cards.serving(set("lora"))).as("its model has no card yet").isNull();
      records.add(of(new InstanceId(8), "b", null));
      assertThat(cards.serving(set("lora"))).isEqualTo(set("b"));
      records.lose(adapter);
      assertThat(cards.serving(set("lora"))).isNull();
    }
  }
}
