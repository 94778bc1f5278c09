package io.dynamo.frontend.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Execution;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.model.LoraAdapter;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelFile;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which sets of workers a catalog serves a model from, by what their cards say of each other. */
class WorkerSetsTest {
  private static final List<List<String>> PREFILL = List.of(List.of("prefill"));
  private static final List<List<String>> DECODE = List.of(List.of("decode"));

  private final PlayedDiscovery discovery = new PlayedDiscovery();
  private final LiveInstances live = new LiveInstances();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private int loads;
  private double point; // of the next draw
  private final Set<String> busy = new HashSet<>(); // namespaces
  private final DiscoveryCatalog catalog =
      new DiscoveryCatalog(
          discovery,
          _ -> {
            loads++;
            return new NoText();
          },
          new DiscoveryCatalog.Scope(_ -> true, Duration.ofMinutes(11)),
          live,
          workers -> busy.contains(workers.endpoint().namespace()),
          new Execution(new LoadThread(), timer, InstantSource.system()),
          System::nanoTime,
          () -> point);

  @AfterEach
  void close() {
    catalog.close();
    timer.shutdownNow();
  }

  private static TestCard tiny() {
    return tokenized("a");
  }

  private static TestCard tokenized(String tokenizer) {
    return TestCard.named("tiny").tokenizer(file("tokenizer.json", tokenizer));
  }

  private static ModelFile file(String name, String checksum) {
    return new ModelFile("/models/" + name, "blake3:" + checksum, 1L);
  }

  private static ModelCard prefill() {
    return tiny().modelTypes(Set.of()).workerType("prefill").needs(DECODE).build();
  }

  private static ModelCard decode() {
    return tiny().workerType("decode").needs(PREFILL).build();
  }

  private static ModelRecord at(String endpoint, long id, ModelCard card) {
    var names = endpoint.split("/", 2);
    return new ModelRecord(
        new EndpointId(names[0], names[1], "generate"), new InstanceId(id), card, null);
  }

  private ModelRecord live(String endpoint, long id, ModelCard card) {
    var record = at(endpoint, id, card);
    discovery.add(record);
    live.add(id);
    return record;
  }

  private List<String> sets() {
    return catalog.sets("tiny").stream().map(set -> set.workers().endpoint().namespace()).toList();
  }

  private @Nullable String reason() {
    return catalog.readiness("tiny").orElseThrow().namespaces().getFirst().reason();
  }

  private @Nullable ServedModel chosen(double at, @Nullable Long worker, @Nullable String session) {
    point = at;
    return catalog
        .choose(
            "tiny",
            new ModelCatalog.Query(
                Set.of("Chat"), worker == null ? null : new InstanceId(worker), session))
        .orElse(null);
  }

  private String namespaceAt(double point) {
    var set = chosen(point, null, null);
    return set == null ? "none" : set.workers().endpoint().namespace();
  }

  @Test
  void aPrefillWorkerThatComesFirstDoesNotHideTheModel() {
    live("ns/prefill", 1, prefill());
    assertThat(catalog.find("tiny")).as("nobody answers clients").isEmpty();
    assertThat(catalog.isKnown("tiny")).as("it is on its way").isTrue();
    live("ns/backend", 2, decode());
    assertThat(catalog.find("tiny").orElseThrow().workers().workerType()).isEqualTo("decode");
    assertThat(catalog.sets("tiny")).as("requests go to the decode worker only").hasSize(1);
    assertThat(loads).as("the prefill worker needs no text").isEqualTo(1);
  }

  @Test
  void aDecodeWorkerThatComesFirstWaitsForWhatItNeeds() {
    live("ns/backend", 2, decode());
    assertThat(catalog.find("tiny")).isEmpty();
    assertThat(catalog.isKnown("tiny")).isTrue();
    assertThat(reason()).isEqualTo("workers of type decode need one of [[prefill]] beside them");
    assertThat(catalog.readiness("tiny").orElseThrow().namespaces().getFirst().missing())
        .containsExactly("prefill");
    var prefill = live("ns/prefill", 1, prefill());
    assertThat(catalog.find("tiny")).isPresent();
    assertThat(reason()).isNull();
    discovery.lose(prefill);
    assertThat(catalog.find("tiny")).as("what it needs is gone").isEmpty();
  }

  @Test
  void prefillAndDecodeOfDifferentNamespacesAreNoPair() {
    live("one/prefill", 1, prefill());
    live("two/backend", 2, decode());
    assertThat(catalog.find("tiny")).isEmpty();
  }

  @Test
  void aPrefillWorkerThatClaimsToChatGetsNoChats() {
    live("ns/backend", 1, tiny().workerType("prefill").build());
    assertThat(catalog.find("tiny")).isEmpty();
    live("ns/backend", 2, tiny().workerType("decode").build());
    assertThat(catalog.sets("tiny"))
        .extracting(set -> set.workers().workerType())
        .containsExactly("decode");
  }

  @Test
  void anyAlternativeOfWhatIsNeededWillDo() {
    live("ns/backend", 1, tiny().workerType("aggregated").build());
    assertThat(catalog.find("tiny")).isPresent();
    var needs = List.of(List.of("prefill", "decode"), List.of("aggregated"));
    live("ns/encode", 2, tiny().modelTypes(Set.of()).workerType("encode").needs(needs).build());
    assertThat(catalog.find("tiny")).isPresent();
    live("ns/encode2", 3, tiny().modelTypes(Set.of()).workerType("encode").needs(DECODE).build());
    assertThat(catalog.find("tiny")).isEmpty();
  }

  @Test
  void aTypeThatHasACardMustHaveALiveWorker() {
    live("ns/backend", 1, tiny().workerType("decode").build());
    discovery.add(at("ns/prefill", 2, prefill()));
    assertThat(catalog.find("tiny")).isEmpty();
    assertThat(reason()).isEqualTo("no worker of type prefill is live");
    live.add(2);
    assertThat(catalog.find("tiny")).isPresent();
  }

  @Test
  void twoSetsOfPrefillWorkersInOneNamespaceAreAmbiguous() {
    live("ns/prefill", 1, prefill());
    live("ns/backend", 2, decode());
    live("ns/prefill", 3, prefill());
    assertThat(catalog.find("tiny")).as("two workers of one set are not").isPresent();
    live("ns/prefill2", 4, prefill());
    assertThat(catalog.find("tiny")).isEmpty();
    assertThat(reason()).contains("ns/prefill/generate").contains("ns/prefill2/generate");
  }

  @Test
  void severalSetsOfAggregatedWorkersAreNot() {
    live("ns/one", 1, tiny().workerType("aggregated").build());
    live("ns/two", 2, tiny().workerType("aggregated").build());
    assertThat(catalog.sets("tiny")).hasSize(2);
  }

  @Test
  void oneCardWithoutAWorkerTypeMakesItsNamespaceReady() {
    live("ns/backend", 1, decode());
    assertThat(catalog.find("tiny")).isEmpty();
    live("ns/old", 2, tiny().build());
    assertThat(catalog.sets("tiny")).hasSize(2);
  }

  @Test
  void setsOfSeveralNamespacesServeByTheNumberOfTheirWorkers() {
    live("old/backend", 1, tiny().build());
    live("new/backend", 2, tiny().build());
    live("new/backend", 3, tiny().build());
    live("new/backend", 4, tiny().build());
    assertThat(sets()).containsExactly("old", "new");
    assertThat(catalog.models()).as("one name").hasSize(1);
    assertThat(loads).as("one text").isEqualTo(1);
    var drawn =
        IntStream.range(0, 100)
            .mapToObj(i -> namespaceAt(i / 100.0))
            .collect(
                Collectors.groupingBy(Function.identity(), TreeMap::new, Collectors.counting()));
    assertThat(drawn).isEqualTo(Map.of("old", 25L, "new", 75L));
  }

  @Test
  void workersThatAreSetAsideDrawNoRequests() {
    live("old/backend", 1, tiny().build());
    live("new/backend", 2, tiny().build());
    live.setAside(1);
    assertThat(namespaceAt(0)).isEqualTo("new");
    assertThat(namespaceAt(0.99)).isEqualTo("new");
    live.setAside(2);
    assertThat(namespaceAt(0)).as("when nobody else is left").isEqualTo("old");
  }

  @Test
  void aSetWhoseWorkersAreAllBusyDrawsNoRequestsBesideAnother() {
    live("blue/backend", 1, tiny().build());
    live("green/backend", 2, tiny().build());
    busy.add("blue");
    for (double at : new double[] {0, 0.3, 0.6, 0.9}) {
      assertThat(namespace(chosen(at, null, null))).isEqualTo("green");
    }
    assertThat(namespace(chosen(0, 1L, null))).as("a named worker").isEqualTo("blue");
    busy.add("green");
    assertThat(namespace(chosen(0, null, null))).isEqualTo("blue");
    assertThat(namespace(chosen(0.9, null, null))).isEqualTo("green");
  }

  private static String namespace(@Nullable ServedModel model) {
    return Objects.requireNonNull(model).workers().endpoint().namespace();
  }

  @Test
  void aNamespaceThatIsNotReadyGetsNoRequests() {
    live("old/backend", 1, decode());
    live("new/backend", 2, tiny().build());
    assertThat(sets()).containsExactly("new");
    assertThat(namespaceAt(0)).isEqualTo("new");
  }

  @Test
  void whenOneNamespaceIsGoneTheOtherServes() {
    var old = live("old/backend", 1, tiny().build());
    live("new/backend", 2, tiny().build());
    live.remove(1);
    assertThat(namespaceAt(0)).isEqualTo("new");
    discovery.lose(old);
    assertThat(namespaceAt(0)).isEqualTo("new");
  }

  @Test
  void aRequestForOneWorkerGoesToItsSet() {
    live("old/backend", 1, tiny().build());
    live("new/backend", 2, tiny().build());
    for (double at : new double[] {0, 0.99}) {
      var old = chosen(at, 1L, null);
      var other = chosen(at, 2L, null);
      assertThat(old == null ? "" : old.workers().endpoint().namespace()).isEqualTo("old");
      assertThat(other == null ? "" : other.workers().endpoint().namespace()).isEqualTo("new");
    }
    assertThat(chosen(0, 9L, null)).as("the router will say that it is not there").isNotNull();
  }

  @Test
  void aSessionStaysWithItsSet() {
    live("old/backend", 1, tiny().build());
    live("new/backend", 2, tiny().build());
    var perSet = new TreeMap<String, Integer>();
    for (int i = 0; i < 200; i++) {
      var first = chosen(0, null, "session-" + i);
      var second = chosen(0.99, null, "session-" + i);
      assertThat(second).isEqualTo(first);
      perSet.merge(
          first == null ? "none" : first.workers().endpoint().namespace(), 1, Integer::sum);
    }
    assertThat(perSet).hasSize(2).allSatisfy((_, count) -> assertThat(count).isGreaterThan(60));
  }

  @Test
  void prefillWorkersOfTheNamespaceComputePromptsForItsDecodeWorkers() {
    var endpoint = Map.of("bootstrap_host", "h", "bootstrap_port", 5000);
    var meeting = Map.<String, @Nullable Object>of("disaggregated_endpoint", endpoint);
    live("ns/backend", 1, decode());
    live("ns/prefill", 2, prefill());
    discovery.add(
        at(
            "ns/prefill",
            3,
            tiny()
                .modelTypes(Set.of())
                .workerType("prefill")
                .needs(DECODE)
                .runtimeConfig(meeting)
                .build()));
    live("other/prefill", 4, prefill());
    var decoder = catalog.find("tiny").orElseThrow();
    var prefillers = catalog.prefill(decoder).orElseThrow();
    assertThat(prefillers.workers().endpoint())
        .isEqualTo(new EndpointId("ns", "prefill", "generate"));
    assertThat(prefillers.rendezvous())
        .containsOnly(Map.entry(new InstanceId(3), new PrefillSet.Rendezvous("h", 5000, 1)));
    live.remove(2);
    assertThat(catalog.prefill(decoder)).as("no live worker").isEmpty();
  }

  @Test
  void workersThatDoBothNeedNoPrefillWorkers() {
    live("ns/backend", 1, tiny().build());
    live("ns/prefill", 2, tiny().modelTypes(Set.of()).workerType("prefill").build());
    assertThat(catalog.prefill(catalog.find("tiny").orElseThrow())).isEmpty();
  }

  @Test
  void onlySetsThatHaveTheApiAreChosen() {
    live("old/backend", 1, tiny().modelTypes(Set.of("Completions")).build());
    live("new/backend", 2, tiny().build());
    assertThat(namespaceAt(0)).isEqualTo("new");
    assertThat(catalog.choose("tiny", new ModelCatalog.Query(Set.of("Embedding"), null, null)))
        .isEmpty();
  }

  @Test
  void generationsMoveToSetsOfTheSameTokenizerOnly() {
    live("old/backend", 1, tiny().build());
    live("new/backend", 2, tiny().build());
    live("other/backend", 3, tokenized("b").build());
    var old = catalog.find("tiny").orElseThrow();
    assertThat(catalog.successors(old))
        .extracting(set -> set.workers().endpoint().namespace())
        .containsExactly("new");
    live.remove(2);
    assertThat(catalog.successors(old)).isEmpty();
  }

  @Test
  void generationsDoNotMoveToWorkersThatEmbed() {
    live("ns/embedder", 1, tiny().modelTypes(Set.of("Embedding")).build());
    live("ns/backend", 1, tiny().build());
    var embedding =
        catalog
            .choose("tiny", new ModelCatalog.Query(Set.of("Embedding"), null, null))
            .orElseThrow();
    var chat =
        catalog.choose("tiny", new ModelCatalog.Query(Set.of("Chat"), null, null)).orElseThrow();
    assertThat(embedding.workers().endpoint().component()).isEqualTo("embedder");
    assertThat(chat.workers().endpoint().component()).isEqualTo("backend");
    assertThat(catalog.successors(chat)).isEmpty();
    assertThat(catalog.models()).as("the one that generates").containsExactly(chat);
  }

  @Test
  void generationsMoveToWorkersThatWaitForThePlaceOfTheirs() {
    live("ns/backend", 1, tiny().build());
    live("ns/backend", 2, tiny().template(file("chat_template.jinja", "t")).build());
    var incumbent = catalog.find("tiny").orElseThrow();
    assertThat(catalog.sets("tiny")).as("new requests do not").containsExactly(incumbent);
    assertThat(catalog.successors(incumbent))
        .extracting(set -> set.workers().template())
        .containsExactly("blake3:t");
  }

  @Test
  void aSetWithoutLiveWorkersHoldsNoPlace() {
    live("ns/backend", 1, tiny().build());
    live("ns/backend", 2, tokenized("b").build());
    assertThat(catalog.find("tiny").orElseThrow().workers().tokenizer()).isEqualTo("blake3:a");
    live.remove(1); // its card stays
    assertThat(catalog.find("tiny").orElseThrow().workers().tokenizer()).isEqualTo("blake3:b");
  }

  @Test
  void anAdapterNeedsThePrefillWorkersOfItsModel() {
    live("ns/backend", 1, decode());
    var adapter = decode().of(LoraAdapter.of("ad", 4));
    discovery.add(
        new ModelRecord(
            new EndpointId("ns", "backend", "generate"), new InstanceId(1), adapter, "ad"));
    assertThat(catalog.find("ad")).isEmpty();
    live("ns/prefill", 2, prefill());
    assertThat(catalog.find("ad").orElseThrow().adapter()).isEqualTo("ad");
    assertThat(catalog.sets("ad")).hasSize(1);
  }

  @Test
  void anAliasFindsEverySetOfItsModel() {
    live("old/backend", 1, tiny().build());
    live("new/backend", 2, tiny().aliases("small").build());
    assertThat(catalog.sets("small")).isEqualTo(catalog.sets("tiny"));
    assertThat(ListedNames.of(catalog).sequencedKeySet()).containsExactly("tiny", "small");
  }

  @Test
  void readinessNamesEveryNamespaceAndType() {
    live("one/prefill", 1, prefill());
    live("one/backend", 2, decode());
    live("one/backend", 3, decode());
    live("two/backend", 4, decode());
    var readiness = catalog.readiness("tiny").orElseThrow();
    assertThat(readiness.ready()).isTrue();
    assertThat(readiness.namespaces())
        .isSortedAccordingTo(Comparator.comparing(Readiness.Namespace::name))
        .extracting(Readiness.Namespace::ready)
        .containsExactly(true, false);
    assertThat(readiness.namespaces().getFirst().types())
        .containsExactly(
            new Readiness.WorkerType("prefill", 1, DECODE),
            new Readiness.WorkerType("decode", 2, PREFILL));
  }
}
