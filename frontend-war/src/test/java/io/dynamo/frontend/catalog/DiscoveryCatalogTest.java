package io.dynamo.frontend.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Execution;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.model.LoraAdapter;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelFile;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A catalog against a discovery that the test plays, loads running on the test's thread. */
class DiscoveryCatalogTest {
  private static final EndpointId ENDPOINT = new EndpointId("dynamo", "backend", "generate");

  private final PlayedDiscovery discovery = new PlayedDiscovery();
  private final LiveInstances live = new LiveInstances();
  private final List<Text> loaded = new ArrayList<>();
  private final Set<String> unreachable = new HashSet<>();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private @Nullable IOException broken;
  private Instant now = Instant.ofEpochSecond(1_700_000_000);
  private final AtomicLong nanos = new AtomicLong();

  private final LoadThread loads = new LoadThread();
  private final DiscoveryCatalog catalog =
      new DiscoveryCatalog(
          discovery,
          this::load,
          new DiscoveryCatalog.Scope(
              endpoint -> !endpoint.namespace().equals("hidden"), Duration.ofMinutes(11)),
          live,
          _ -> false,
          new Execution(loads, timer, () -> now),
          nanos::get,
          () -> 0);

  private int workers() {
    return catalog
        .readiness("tiny")
        .orElseThrow()
        .namespaces()
        .getFirst()
        .types()
        .getFirst()
        .workers();
  }

  private void advance(Duration time) {
    now = now.plus(time);
    nanos.addAndGet(time.toNanos());
  }

  @AfterEach
  void close() {
    catalog.close();
    timer.shutdownNow();
  }

  @Test
  void aModelIsServedFromItsFirstLiveWorkerToItsLast() {
    discovery.add(card(1, "tiny", "a"));
    assertThat(catalog.find("tiny")).isEmpty();
    assertThat(catalog.isKnown("tiny")).isTrue();
    assertThat(workers()).isZero();
    live.add(new InstanceId(1));
    assertThat(catalog.find("tiny")).isPresent();
    assertThat(catalog.readiness("tiny"))
        .contains(
            new Readiness(
                List.of(
                    new Readiness.Namespace(
                        "dynamo",
                        null,
                        List.of(new Readiness.WorkerType("aggregated", 1, List.of())),
                        List.of()))));
    assertThat(catalog.models()).extracting(ServedModel::name).containsExactly("tiny");
    discovery.lose(card(1, "tiny", "a"));
    assertThat(catalog.find("tiny")).isEmpty();
    assertThat(catalog.models()).isEmpty();
  }

  @Test
  void modelsThatAreNotServedHereAreUnknown() {
    var card = card(1, "tiny", "a");
    var elsewhere = new EndpointId("hidden", "backend", "generate");
    discovery.add(new ModelRecord(elsewhere, new InstanceId(1), card.card(), null));
    live.add(new InstanceId(1));
    assertThat(catalog.isKnown("tiny")).isFalse();
    assertThat(catalog.models()).isEmpty();
    discovery.lose(new ModelRecord(elsewhere, new InstanceId(1), card.card(), null));
    assertThat(catalog.isKnown("tiny")).as("nor missed").isFalse();
  }

  @Test
  void aNameIsKnownForAWhileAfterItsLastWorkerWent() {
    discovery.add(card(1, "tiny", "a"));
    discovery.lose(card(1, "tiny", "a"));
    advance(Duration.ofSeconds(29));
    assertThat(catalog.isKnown("tiny")).isTrue();
    advance(Duration.ofSeconds(2));
    assertThat(catalog.isKnown("tiny")).isFalse();
    assertThat(catalog.isKnown("never")).isFalse();
  }

  @Test
  void workersOfOneModelShareOneText() {
    discovery.add(card(1, "tiny", "a"));
    discovery.add(card(2, "tiny", "a"));
    discovery.lose(card(1, "tiny", "a"));
    live.add(new InstanceId(2));
    assertThat(catalog.find("tiny")).isPresent();
    assertThat(loaded).hasSize(1);
  }

  @Test
  void anAdapterIsAModelBesideItsBaseAndSharesItsText() {
    live.add(new InstanceId(1));
    var base = card(1, "tiny", "a");
    discovery.add(base);
    var card = base.card().of(LoraAdapter.of("ad", 4));
    var adapter = new ModelRecord(base.endpoint(), base.id(), card, card.slug());
    discovery.add(adapter);
    assertThat(catalog.models()).extracting(ServedModel::name).containsExactly("ad", "tiny");
    assertThat(catalog.find("ad").orElseThrow().adapter()).isEqualTo("ad");
    assertThat(catalog.find("tiny").orElseThrow().adapter()).isNull();
    assertThat(loaded).hasSize(1);
    discovery.lose(adapter);
    assertThat(catalog.models()).extracting(ServedModel::name).containsExactly("tiny");
  }

  @Test
  void aCardThatChangesInWhatItSaysOfItsWorkerStaysTheModelItWas() {
    live.add(new InstanceId(1));
    var card = card(1, "tiny", "a");
    discovery.add(card);
    var before = catalog.find("tiny").orElseThrow();
    advance(Duration.ofSeconds(60));
    var tainted =
        new ModelRecord(
            card.endpoint(), card.id(), card.card().withTaints(List.of("fast")), card.suffix());
    discovery.add(tainted);
    var after = catalog.find("tiny").orElseThrow();
    assertThat(after.card().runtimeConfig()).containsEntry("taints", List.of("fast"));
    assertThat(after.createdAtSeconds()).isEqualTo(before.createdAtSeconds());
    assertThat(after.text()).isSameAs(before.text());
    discovery.lose(tainted);
    assertThat(catalog.find("tiny")).isEmpty();
  }

  @Test
  void aModelThatComesBackIsNotLoadedAgain() {
    discovery.add(card(1, "tiny", "a"));
    discovery.lose(card(1, "tiny", "a"));
    discovery.add(card(2, "tiny", "a"));
    live.add(new InstanceId(2));
    assertThat(catalog.find("tiny")).isPresent();
    assertThat(loaded).hasSize(1);
  }

  @Test
  void theIncumbentGoesOnServingWhenAnotherCardClaimsItsName() {
    discovery.add(card(1, "tiny", "a"));
    live.add(new InstanceId(1));
    live.add(new InstanceId(2));
    var incumbent = catalog.find("tiny").orElseThrow();
    discovery.add(card(2, "tiny", "b"));
    assertThat(catalog.find("tiny")).contains(incumbent);
    discovery.lose(card(1, "tiny", "a"));
    assertThat(catalog.find("tiny").orElseThrow().text()).isNotSameAs(incumbent.text());
  }

  @Test
  void aModelWhoseFilesAreMissingIsTriedAgain() throws Exception {
    broken = new IOException("tokenizer.json is missing");
    discovery.add(card(1, "tiny", "a"));
    live.add(new InstanceId(1));
    assertThat(catalog.find("tiny")).isEmpty();
    broken = null;
    timer.schedule(() -> {}, 1500, TimeUnit.MILLISECONDS).get(10, TimeUnit.SECONDS);
    assertThat(catalog.find("tiny")).isPresent();
  }

  @Test
  void whereOneWorkersFilesAreOutOfReachAnothersAreRead() throws Exception {
    unreachable.add("/first/tokenizer.json");
    live.add(new InstanceId(1));
    live.add(new InstanceId(2));
    discovery.add(card(1, "tiny", "a", "/first/tokenizer.json"));
    discovery.add(card(2, "tiny", "a", "/second/tokenizer.json"));
    timer.schedule(() -> {}, 1500, TimeUnit.MILLISECONDS).get(10, TimeUnit.SECONDS);
    assertThat(catalog.find("tiny")).isPresent();
  }

  @Test
  void namesThatLoadOneTextAtATimeAreAllServedByIt() {
    loads.waiting = new ArrayList<>();
    discovery.add(card(1, "tiny", "a"));
    discovery.add(card(2, "alias", "a"));
    live.add(new InstanceId(1));
    live.add(new InstanceId(2));
    assertThat(loads.waiting).as("both begin before either has ended").hasSize(2);

    loads.waiting.forEach(Runnable::run);

    assertThat(catalog.find("alias").orElseThrow().text())
        .isSameAs(catalog.find("tiny").orElseThrow().text());
    assertThat(loaded).extracting(text -> text.closed).containsExactly(false, true);
  }

  @Test
  void modelsAreListedByName() {
    for (var name : List.of("zeta", "alpha", "mid")) {
      discovery.add(card(1, name, name));
    }
    live.add(new InstanceId(1));
    assertThat(catalog.models())
        .extracting(ServedModel::name)
        .containsExactly("alpha", "mid", "zeta");
  }

  @Test
  void aStepOfTheWallClockFreesNoText() {
    discovery.add(card(1, "tiny", "a"));
    discovery.lose(card(1, "tiny", "a"));
    now = now.plus(Duration.ofHours(1));
    discovery.add(card(2, "other", "b"));
    assertThat(loaded).extracting(text -> text.closed).containsExactly(false, false);
    assertThat(catalog.isKnown("tiny")).isTrue();

    now = now.minus(Duration.ofHours(2));
    advance(Duration.ofMinutes(12));
    discovery.add(card(3, "other", "b"));
    assertThat(loaded).extracting(text -> text.closed).containsExactly(true, false);
    assertThat(catalog.isKnown("tiny")).isFalse();
  }

  @Test
  void aTextIsFreedOnceNoRequestCanUseIt() {
    discovery.add(card(1, "tiny", "a"));
    discovery.lose(card(1, "tiny", "a"));
    advance(Duration.ofMinutes(10));
    discovery.add(card(2, "other", "b"));
    assertThat(loaded).extracting(text -> text.closed).containsExactly(false, false);

    advance(Duration.ofMinutes(1));
    discovery.add(card(3, "other", "b"));
    assertThat(loaded).extracting(text -> text.closed).containsExactly(true, false);

    live.add(new InstanceId(1));
    discovery.add(card(1, "tiny", "a"));
    assertThat(catalog.find("tiny").orElseThrow().text()).isSameAs(loaded.getLast());
    assertThat(loaded.getLast().closed).isFalse();
  }

  @Test
  void aModelThatComesBackKeepsItsText() {
    discovery.add(card(1, "tiny", "a"));
    discovery.lose(card(1, "tiny", "a"));
    advance(Duration.ofMinutes(10));
    discovery.add(card(2, "tiny", "a"));
    advance(Duration.ofMinutes(10));
    discovery.add(card(3, "other", "b"));

    assertThat(loaded).extracting(text -> text.closed).containsExactly(false, false);
  }

  @Test
  void asManyModelsAreLoadedAsThereAreLetInAndNoMore() {
    for (int i = 0; i < 300; i++) {
      discovery.add(card(i, "m" + i, "t" + i));
      live.add(new InstanceId(i));
    }
    assertThat(loaded).hasSize(256);
    assertThat(catalog.find("m299")).isEmpty();
    assertThat(catalog.isKnown("m299")).isTrue();
    assertThat(catalog.find("m0")).isPresent();
  }

  @Test
  void cardsThatThisFrontendCannotServeAreNotListed() {
    live.add(new InstanceId(1));
    var file = new ModelFile("/models/tokenizer.json", "blake3:a", 1L);
    for (var card :
        List.of(
            TestCard.named("tiny").modelInput("Text").modelTypes(Set.of("Chat", "Embedding")),
            TestCard.named("tiny").tokenizer(file).modelInput("Tensor"),
            TestCard.named("tiny").tokenizer(file).blockTokens(0),
            TestCard.named("tiny").tokenizer(file).modelTypes(Set.of("Chat", "Telepathy")),
            TestCard.named("tiny").tokenizer(file).modelTypes(Set.of("chat")),
            TestCard.named("tiny").tokenizer(file).modelTypes(Set.of()))) {
      var record = new ModelRecord(ENDPOINT, new InstanceId(1), card.build(), null);
      discovery.add(record);
      assertThat(catalog.models()).as("%s", record.card()).isEmpty();
      assertThat(catalog.isKnown("tiny")).isFalse();
      discovery.lose(record);
    }
    assertThat(loaded).isEmpty();
    discovery.add(card(1, "tiny", "a"));
    assertThat(catalog.find("tiny")).isPresent();
    discovery.add(
        new ModelRecord(
            ENDPOINT,
            new InstanceId(1),
            TestCard.named("tiny").tokenizer(file).modelInput("Tensor").build(),
            null));
    assertThat(catalog.find("tiny")).as("its worker takes no tokens any more").isEmpty();
  }

  @Test
  void modelsOfTensorsAreListedWithoutFiles() {
    live.add(new InstanceId(1));
    discovery.add(
        new ModelRecord(
            ENDPOINT,
            new InstanceId(1),
            TestCard.named("tensors")
                .modelInput("Tensor")
                .modelTypes(Set.of("TensorBased"))
                .blockTokens(0)
                .aliases("other")
                .build(),
            null));

    assertThat(catalog.find("other")).isPresent();
    assertThat(loaded).isEmpty();
    assertThat(catalog.waiting()).isEmpty();
    live.remove(1);
    assertThat(catalog.find("tensors")).isEmpty();
    assertThat(catalog.waiting())
        .containsExactly(
            Map.entry("other", Set.of("TensorBased")), Map.entry("tensors", Set.of("TensorBased")));
  }

  private static ModelRecord aliased(long id, String name, String... aliases) {
    var file = new ModelFile("/models/tokenizer.json", "blake3:" + name, 1L);
    return new ModelRecord(
        ENDPOINT,
        new InstanceId(id),
        TestCard.named(name).tokenizer(file).aliases(aliases).build(),
        null);
  }

  @Test
  void anAliasFindsItsModelUntilItIsGone() {
    live.add(new InstanceId(1));
    var model = aliased(1, "org/aliased", "ali-1", "ali-2");
    discovery.add(model);
    assertThat(catalog.find("ali-1")).contains(catalog.find("org/aliased").orElseThrow());
    assertThat(catalog.find("ali-2").orElseThrow().name()).isEqualTo("org/aliased");
    assertThat(catalog.readiness("ali-1")).isEqualTo(catalog.readiness("org/aliased"));
    assertThat(catalog.models()).extracting(ServedModel::name).containsExactly("org/aliased");
    assertThat(ListedNames.of(catalog).sequencedKeySet())
        .containsExactly("org/aliased", "ali-1", "ali-2");
    discovery.lose(model);
    assertThat(catalog.find("ali-1")).isEmpty();
    assertThat(catalog.isKnown("ali-1")).as("for a while").isTrue();
    advance(Duration.ofSeconds(31));
    assertThat(catalog.isKnown("ali-1")).isFalse();
  }

  @Test
  void aNameIsItsOwnModelsBeforeItIsAnAlias() {
    live.add(new InstanceId(1));
    live.add(new InstanceId(2));
    live.add(new InstanceId(3));
    discovery.add(aliased(1, "b", "shared", "c"));
    discovery.add(aliased(2, "a", "shared"));
    discovery.add(aliased(3, "c"));
    assertThat(catalog.find("c").orElseThrow().name()).isEqualTo("c");
    assertThat(catalog.find("shared").orElseThrow().name()).as("who came first").isEqualTo("b");
    assertThat(ListedNames.of(catalog).sequencedKeySet()).containsExactly("a", "b", "shared", "c");
    discovery.lose(aliased(1, "b", "shared", "c"));
    assertThat(catalog.find("shared").orElseThrow().name()).isEqualTo("a");
  }

  @Test
  void closingFreesEveryText() {
    discovery.add(card(1, "tiny", "a"));
    catalog.close();
    assertThat(loaded).allMatch(text -> text.closed);
    assertThat(discovery.isFollowed()).isFalse();
  }

  private ModelText load(ModelCard card) throws IOException {
    var file = card.tokenizer();
    if (file != null && unreachable.contains(file.path())) {
      throw new IOException(file.path() + " cannot be fetched");
    }
    if (broken != null) {
      throw broken;
    }
    var text = new Text();
    loaded.add(text);
    return text;
  }

  private static ModelRecord card(long id, String name, String tokenizer) {
    return card(id, name, tokenizer, "/models/tokenizer.json");
  }

  private static ModelRecord card(long id, String name, String tokenizer, String path) {
    var file = new ModelFile(path, "blake3:" + tokenizer, 1L);
    var card = TestCard.named(name).tokenizer(file).build();
    return new ModelRecord(ENDPOINT, new InstanceId(id), card, null);
  }

  private static final class Text extends NoText {
    boolean closed;

    @Override
    public void close() {
      closed = true;
    }
  }
}
