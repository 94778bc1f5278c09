package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.it.RoutedChat.Rank;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Three servers with the engine that computes: a frontend and two workers, each of which is another
 * frontend, too. What the workers tell of their KV blocks goes through a proxy that harms it. Texts
 * are those of an unbroken run, whatever happens; after each fault the router believes what the
 * workers hold. Any test can run alone; those that cost a worker come last.
 */
@ManyServers
@Sampled
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LlamaClusterIT {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final long SEED = 20_26;
  private static final int STREAMS = 8;
  private static final int LONG_TOKENS = 1000;
  private static final int SHORT_TOKENS = 40;
  private static final int RANKS = 4; // of both workers
  private static final String WRITTEN_BYTES = "dynamo_transfer_written_bytes_total";
  private static final String SAVED_TOKENS = "dynamo_worker_migration_saved_tokens_total";
  private static final Map<String, String> WORKER =
      Map.of(
          "DYNAMO_WORKER_ENGINE", "llama",
          "DYN_ENDPOINT_TYPES", "chat,completions", // one endpoint for each worker
          "DYNAMO_WORKER_RANKS", "2",
          // two long texts at a time; short ones evict each other
          "DYNAMO_WORKER_LLAMA_BLOCKS_PER_RANK", "160",
          // long texts outlast a drain, so that they are handed over
          "DYNAMO_RUNTIME_HANDOVER_AFTER", "0s",
          "DYNAMO_RUNTIME_DRAIN_TIMEOUT", "2s",
          "DYN_EVENT_PLANE_HOST", EventProxy.HOST);

  private static Cluster cluster;
  private static EventProxy proxy;
  private static List<String> unbroken;

  @BeforeAll
  static void recordTheUnbrokenTexts() throws Exception {
    cluster = Cluster.Plan.of("llama", 2).worker(WORKER).workerRole("all").start();
    proxy = new EventProxy(cluster.store(), SEED);
    Polling.until("the frontend sees all ranks", LIMIT, () -> ranks(ours()).size() == RANKS);
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, longBodies())) {
      unbroken = texts(crowd);
    }
    assertThat(unbroken).as("long texts").allMatch(text -> text.length() > LONG_TOKENS / 2);
    assertThat(new HashSet<>(unbroken)).hasSizeGreaterThan(STREAMS / 2);
  }

  @AfterAll
  static void stop() throws IOException {
    if (proxy != null) {
      proxy.close();
    }
    if (cluster != null) {
      cluster.close();
    }
  }

  @BeforeEach
  void bothWorkersServe() throws Exception {
    proxy.inflict(EventProxy.Faults.NONE);
    proxy.restore();
    if (cluster.registered() < 2) {
      cluster.replaceWorker(0);
      Polling.until("the frontend sees all ranks", LIMIT, () -> ranks(ours()).size() == RANKS);
    }
  }

  private static URI ours() {
    return cluster.frontend().uri("/");
  }

  /** The other frontend, in a worker's server. */
  private static URI others() {
    return cluster.worker(1).uri("/");
  }

  /** Greedy ones, and drawn ones: a small model repeats itself, a draw depends on its place. */
  private static List<String> longBodies() {
    return IntStream.range(0, STREAMS)
        .mapToObj(
            i ->
                body("Tell the story of number " + i, LONG_TOKENS, true)
                    .replace("\"temperature\":0", "\"temperature\":" + i % 2))
        .toList();
  }

  /** Of a text that ends at its length and not before. */
  private static String body(String prompt, int tokens, boolean stream) {
    return ChatClient.body(Cluster.MODEL, prompt, tokens, stream)
        .replaceFirst("\\{", "{\"ignore_eos\":true,");
  }

  private static List<String> texts(Crowd crowd) throws Exception {
    return crowd.unbroken().stream().map(Crowd.Outcome::text).toList();
  }

  /** The ranks that a frontend may choose from. */
  private static Set<Rank> ranks(URI frontend) throws IOException, InterruptedException {
    return RoutedChat.probe(frontend, body("Who is there", 1, false)).overlaps().keySet();
  }

  private static List<String> shortBodies(String subject, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> body(LongPrompts.prompt(subject, i), SHORT_TOKENS, false))
        .toList();
  }

  @Test
  @Order(1)
  void aPrefixWarmedThroughAnotherFrontendIsFound() throws Exception {
    for (var way : List.of(List.of(others(), ours()), List.of(ours(), others()))) {
      var asked = shortBodies("Warmth " + way.getFirst().getPort(), 1).getFirst();
      var warming = RoutedChat.ask(way.getFirst(), asked);
      assertThat(warming.cachedTokens()).isZero();
      assertThat(warming.overlaps())
          .hasSize(RANKS)
          .allSatisfy((_, held) -> assertThat(held).isZero());
      awaitHeld(way.getLast(), asked, Set.of(warming.chosen()));

      var found = RoutedChat.ask(way.getLast(), asked);

      assertThat(found.chosen()).isEqualTo(warming.chosen());
      assertThat(found.decision().get("reason").asText()).isEqualTo("least_cost");
      assertThat(found.cachedTokens()).isGreaterThan(64).isEqualTo(found.believedTokens());
      assertThat(found.text()).isEqualTo(warming.text());
    }
  }

  /** Waits until {@code frontend} believes that these ranks hold the whole prompt. */
  private static void awaitHeld(URI frontend, String body, Set<Rank> by) {
    Polling.until(
        "the router knows who holds the prompt",
        LIMIT,
        () -> {
          var seen = RoutedChat.probe(frontend, body);
          int blocks =
              seen.decision().get("prompt_tokens").intValue()
                  / seen.decision().get("block_tokens").intValue();
          return by.stream().allMatch(rank -> seen.overlaps().getOrDefault(rank, 0) == blocks);
        });
  }

  @Test
  @Order(2)
  void afterEventsWereLostDoubledAndOvertakenTheRouterBelievesWhatTheWorkersHold()
      throws Exception {
    var bodies = shortBodies("Storm", 32);
    var calm = askAll(bodies);
    long gaps = ServerFacts.metric(cluster.frontend(), "dynamo_router_event_gaps_total", "");
    long doubles = duplicates();
    proxy.inflict(new EventProxy.Faults(0.3, 0.2, 0.2));

    for (int round = 0; round < 2; round++) {
      assertThat(askAll(bodies)).isEqualTo(calm);
      assertThat(askAll(shortBodies("Others " + round, 16))).hasSize(16); // evicting some
    }
    Polling.until(
        "events were lost and doubled",
        LIMIT,
        () ->
            ServerFacts.metric(cluster.frontend(), "dynamo_router_event_gaps_total", "") > gaps
                && duplicates() > doubles);
    proxy.inflict(EventProxy.Faults.NONE);

    for (var frontend : List.of(ours(), others())) {
      awaitHeard(frontend);
      believesWhatTheyHold(frontend, bodies.subList(0, 8));
    }
  }

  private static long duplicates() throws IOException, InterruptedException {
    return ServerFacts.metric(
        cluster.frontend(), "dynamo_router_events_dropped_total", "reason=\"duplicate\"");
  }

  /** Asks all at once, half of them through each frontend; their texts by body. */
  private static Map<String, String> askAll(List<String> bodies) throws Exception {
    var texts = new ConcurrentHashMap<String, String>();
    try (var threads = Executors.newFixedThreadPool(STREAMS, Thread.ofVirtual().factory())) {
      var asked =
          IntStream.range(0, bodies.size())
              .<Future<?>>mapToObj(
                  i ->
                      threads.submit(
                          () ->
                              texts.put(
                                  bodies.get(i),
                                  RoutedChat.ask(i % 2 == 0 ? ours() : others(), bodies.get(i))
                                      .text())))
              .toList();
      for (var one : asked) {
        one.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
      }
    }
    return texts;
  }

  /** Has each rank say something new, which shows what was lost before, and waits for it. */
  private static void awaitHeard(URI frontend) throws Exception {
    for (var rank : ranks(frontend)) {
      var news = shortBodies("News of " + rank + " for " + frontend.getPort(), 1).getFirst();
      RoutedChat.ask(frontend, news, rank);
      awaitHeld(frontend, news, Set.of(rank));
    }
  }

  /** Each rank is asked each prompt: it finds cached what the router believed. */
  private static void believesWhatTheyHold(URI frontend, List<String> bodies) throws Exception {
    var all = ranks(frontend);
    int found = 0;
    for (var body : bodies) {
      for (var rank : all) {
        var asked = RoutedChat.ask(frontend, body, rank);
        assertThat(asked.chosen()).isEqualTo(rank);
        assertThat(asked.believedTokens()).as("%s", rank).isEqualTo(asked.cachedTokens());
        found += asked.cachedTokens() > 0 ? 1 : 0;
      }
      awaitHeld(frontend, body, all); // and heard what had to go for it
    }
    assertThat(found).as("prefixes found").isPositive();
  }

  @Test
  @Order(3)
  void withTheEventPlaneCutNothingCountsAsCachedAndLoadDecidesUntilItIsBack() throws Exception {
    var warm = shortBodies("Before the cut", 1).getFirst();
    var first = RoutedChat.ask(ours(), warm);
    awaitHeld(ours(), warm, Set.of(first.chosen()));

    proxy.cut();

    for (var frontend : List.of(cluster.frontend(), cluster.worker(1))) {
      Polling.until(
          "nothing is believed to be cached",
          LIMIT,
          () -> ServerFacts.metric(frontend, "dynamo_router_index_blocks", "") == 0);
    }
    var again = RoutedChat.ask(ours(), warm);
    assertThat(again.text()).isEqualTo(first.text());
    assertThat(again.overlaps()).hasSize(RANKS).allSatisfy((_, held) -> assertThat(held).isZero());
    assertThat(again.decision().get("reason").asText()).startsWith("tie_");
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, longBodies())) {
      crowd.awaitFlowing();
      var busy = RoutedChat.probe(ours(), warm).decision().get("candidates");
      assertThat(busy)
          .as("streams of each rank: two of eight")
          .allMatch(rank -> rank.at("/load/requests").intValue() == STREAMS / RANKS);
      assertThat(texts(crowd)).isEqualTo(unbroken);
    }

    proxy.restore();

    // nobody says anything new: that they can be heard is enough
    var holders = new HashSet<>(List.of(first.chosen(), again.chosen()));
    for (var frontend : List.of(ours(), others())) {
      awaitHeld(frontend, warm, holders);
      believesWhatTheyHold(frontend, List.of(warm));
    }
  }

  @Test
  @Order(4)
  void aWorkerThatHangsIsPassedOverAndComesBackWithWhatItHolds() throws Exception {
    var hanging = cluster.worker(0);
    var warm = shortBodies("Before the pause", 1).getFirst();
    for (var rank : ranks(ours())) {
      RoutedChat.ask(ours(), warm, rank);
    }
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, longBodies())) {
      crowd.awaitFlowing();
      assertThat(ServerFacts.worker(hanging).running()).isPositive();
      hanging.pause();
      try {
        Polling.until("it has left", LIMIT, () -> ranks(ours()).size() == RANKS / 2);
        try (var later = Crowd.ask(cluster.frontend().port(), 0, longBodies().subList(0, 2))) {
          assertThat(texts(later)).isEqualTo(unbroken.subList(0, 2));
        }
      } finally {
        hanging.resume();
      }
      assertThat(texts(crowd)).isEqualTo(unbroken);
    }
    Polling.until("it is back", LIMIT, () -> ranks(ours()).size() == RANKS);
    awaitHeard(ours());
    believesWhatTheyHold(ours(), List.of(warm));
  }

  @Test
  @Order(5)
  void streamsOfADrainedWorkerLoseNothingAndTakeTheirBlocksAlong() throws Exception {
    long spared = ServerFacts.metric(cluster.worker(1), SAVED_TOKENS, "");
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, longBodies())) {
      crowd.awaitFlowing();
      assertThat(ServerFacts.worker(cluster.worker(0)).running()).isPositive();

      assertThat(ServerFacts.drain(cluster.worker(0))).isEqualTo(202);

      Polling.until("it has left", LIMIT, () -> cluster.registered() == 1);
      try (var later = Crowd.ask(cluster.frontend().port(), 0, longBodies().subList(0, 2))) {
        assertThat(texts(later)).isEqualTo(unbroken.subList(0, 2));
      }
      assertThat(texts(crowd)).isEqualTo(unbroken);
    }
    Polling.until(
        "tokens were not computed again",
        LIMIT,
        () -> ServerFacts.metric(cluster.worker(1), SAVED_TOKENS, "") > spared);
    Polling.until(
        "blocks went by shared memory",
        LIMIT,
        () -> ServerFacts.metric(cluster.worker(0), WRITTEN_BYTES, "path=\"shm\"") > 0);
    assertThat(ServerFacts.metric(cluster.worker(0), WRITTEN_BYTES, "path=\"tcp\"")).isZero();
  }

  @Test
  @Order(6)
  void streamsOfAKilledWorkerGoOnElsewhereTokenForToken() throws Exception {
    var before = ranks(ours());
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, longBodies())) {
      crowd.awaitFlowing();
      long moved = migrations();
      long lost = ServerFacts.worker(cluster.worker(0)).running();
      assertThat(lost).as("streams of the worker").isBetween(1L, STREAMS - 1L);

      cluster.worker(0).kill();

      assertThat(texts(crowd)).isEqualTo(unbroken);
      Polling.until("all of them moved", LIMIT, () -> migrations() == moved + lost);
    }
    Polling.until("it is gone", LIMIT, () -> ranks(ours()).size() == RANKS / 2);
    var left = ranks(ours());
    assertThat(before).containsAll(left);
    var body = shortBodies("After the kill", 1).getFirst();
    var asked = RoutedChat.ask(ours(), body);
    awaitHeld(ours(), body, Set.of(asked.chosen()));
    believesWhatTheyHold(ours(), List.of(body));
    assertThat(left).contains(asked.chosen());
  }

  private static long migrations() throws IOException, InterruptedException {
    return ServerFacts.metric(
        cluster.frontend(),
        "dynamo_frontend_model_migration_total",
        "migration_type=\"ongoing_request\"");
  }
}
