package io.dynamo.router.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.pool.FakeStreams.Change;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests which blocks of the captured prompt, of three pages, a pool finds. */
class HicachePoolTest {
  private static final EndpointId ENDPOINT = new EndpointId("ns", "backend", "generate");
  private static final WorkerSet WORKERS = new WorkerSet(ENDPOINT, "m", null, null, 16);
  private static final HicacheCapture.Card PLAIN = HicacheCapture.card("plain");
  private static final String STORE = "tcp://127.0.0.1:15557"; // as in the captured cards
  private static final int[] TOKENS = HicacheCapture.tokens();
  private static final int PAGE = 16;

  private final List<Object> cards = new ArrayList<>(List.of(PLAIN.card()));
  private final FakeStreams streams = new FakeStreams();
  private final Metrics metrics = new Metrics();

  private SharedPool open(@Nullable String events) {
    return new HicachePools(endpoint -> List.copyOf(cards), streams, metrics, "r")
        .open(WORKERS, events);
  }

  private long failures() {
    return metrics.counter(RouterMetrics.SHARED_CACHE_ERRORS, new Label("router_id", "r")).value();
  }

  private static Change[] stored(int... pages) {
    var changes = new ArrayList<Change>();
    for (int page : pages) {
      PLAIN.keys().get(page).forEach(key -> changes.add(Change.stored(key)));
    }
    return changes.toArray(Change[]::new);
  }

  private static Map<Object, Object> other(String name, @Nullable Object value) {
    var card = new HashMap<Object, Object>(PLAIN.card());
    card.put(name, value);
    return card;
  }

  /** Returns how many blocks of the captured prompt are found. */
  private static int found(SharedPool pool) {
    return pool.find(TOKENS, PAGE).total();
  }

  @Test
  void storedPagesAreFoundByPromptsWithTheSamePrefix() {
    try (var pool = open(null)) {
      assertThat(streams.followed()).containsExactly(STORE);
      assertThat(found(pool)).isZero();
      streams.tell(STORE, stored(0, 2));
      var hits = pool.find(TOKENS, PAGE);
      assertThat(hits.total()).isEqualTo(2);
      assertThat(hits.beyond(1)).isEqualTo(1);
      assertThat(hits.beyond(3)).isZero();
      var longer = Arrays.copyOf(TOKENS, 200);
      assertThat(pool.find(longer, PAGE).total()).isEqualTo(2);
      var different = TOKENS.clone();
      different[0]++;
      assertThat(pool.find(different, PAGE).total()).as("the chain begins otherwise").isZero();
      assertThat(pool.find(new int[] {1, 2, 3}, PAGE).total()).isZero();
      streams.tell(STORE, Change.removed(PLAIN.keys().getFirst().getFirst()));
      assertThat(found(pool)).isEqualTo(1);
      assertThat(failures()).isZero();
    }
    assertThat(streams.followed()).as("closed").isEmpty();
  }

  @Test
  void aMissingNumberForgetsEverythingAndARepeatedOneIsNothing() {
    try (var pool = open(null)) {
      streams.tellAs(41, STORE, stored(0, 1));
      streams.tellAs(42, STORE, stored(2));
      assertThat(found(pool)).isEqualTo(3);
      streams.tellAs(42, STORE, Change.removed(PLAIN.keys().getFirst().getFirst()));
      assertThat(found(pool)).as("reported twice").isEqualTo(3);
      streams.tellAs(44, STORE, stored(1));
      assertThat(found(pool)).as("43 is missing").isEqualTo(1);
      assertThat(failures()).isEqualTo(1);
      streams.tellAs(1, STORE, stored(0, 2));
      assertThat(found(pool)).as("the master has begun anew").isEqualTo(2);
      assertThat(failures()).isEqualTo(2);
      streams.tellAs(0, STORE);
      streams.tellAs(-1, STORE, stored(0));
      streams.tellAs(0, STORE, stored(1));
      assertThat(found(pool)).as("numbers have no sign").isEqualTo(2);
    }
  }

  @Test
  void undecodableMessagesAreCountedAndLaterOnesApplied() {
    try (var pool = open(null)) {
      streams.tellAs(1, STORE, stored(0, 1));
      streams.message(STORE, new byte[7], new byte[0]);
      streams.message(STORE, new byte[8], new byte[] {(byte) 0xc1});
      assertThat(failures()).isEqualTo(2);
      streams.tellAs(2, STORE, stored(2));
      assertThat(found(pool)).as("it took no number").isEqualTo(3);
    }
  }

  @Test
  void aBrokenConnectionKeepsWhatIsKnownWhileNothingWasMissed() {
    try (var pool = open(null)) {
      streams.at(STORE).up();
      streams.tellAs(7, STORE, stored(0, 1));
      streams.at(STORE).up();
      assertThat(found(pool)).as("a short break").isEqualTo(2);
      streams.tellAs(8, STORE, stored(2));
      assertThat(found(pool)).isEqualTo(3);
      streams.at(STORE).up();
      streams.tellAs(8, STORE, stored(0));
      assertThat(found(pool)).as("another that has come to the same number").isEqualTo(1);
      assertThat(failures()).isEqualTo(1);
      streams.at(STORE).cut();
      assertThat(found(pool)).as("nobody knows what goes").isZero();
      assertThat(failures()).isEqualTo(2);
      streams.at(STORE).up();
      streams.tellAs(3, STORE, stored(1));
      assertThat(found(pool)).isEqualTo(1);
      assertThat(failures()).as("nothing was known").isEqualTo(2);
    }
  }

  @Test
  void objectsOfOtherTenantsAreNotOurs() {
    try (var pool = open(null)) {
      var changes = stored(0);
      for (int i = 0; i < changes.length; i++) {
        changes[i] = new Change("stored", changes[i].key(), "another", "cpu");
      }
      streams.tell(STORE, changes);
      assertThat(found(pool)).isZero();
      for (int i = 0; i < changes.length; i++) {
        changes[i] = new Change("stored", changes[i].key(), i == 0 ? "" : null, null);
      }
      streams.tell(STORE, changes);
      assertThat(found(pool)).as("no tenant is the default one").isEqualTo(1);
    }
  }

  @Test
  void pagesMovedToDiskRemainIndexed() {
    try (var pool = open(null)) {
      streams.tell(STORE, stored(0));
      for (var key : PLAIN.keys().getFirst()) {
        streams.tell(STORE, new Change("stored", key, "default", "disk"), Change.removed(key));
      }
      assertThat(found(pool)).isEqualTo(1);
      streams.tell(STORE, new Change("cleared", null, "default", null));
      assertThat(found(pool)).isZero();
    }
  }

  @Test
  void theRoutersOwnSettingSaysWhereToHear() {
    try (var pool = open("tcp://mine:1")) {
      assertThat(pool).isNotNull();
      assertThat(streams.followed()).containsExactly("tcp://mine:1");
    }
    cards.set(0, HicacheCapture.card("noendpoint").card());
    try (var pool = open("tcp://mine:1")) {
      assertThat(pool).isNotNull();
      assertThat(streams.followed()).containsExactly("tcp://mine:1");
    }
    try (var pool = open(null)) {
      assertThat(found(pool)).isZero();
      assertThat(streams.followed()).as("nobody names a place").isEmpty();
    }
  }

  @Test
  void cardsThatDifferAreWarnedOfOnceAndNothingCounts() {
    var warnings = new ArrayList<String>();
    var log = Logger.getLogger(HicachePool.class.getName());
    var handler =
        new Handler() {
          @Override
          public void publish(LogRecord record) {
            if (record.getLevel().getName().equals("WARNING")) {
              warnings.add(record.getMessage() + List.of(record.getParameters()));
            }
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    log.addHandler(handler);
    try (var pool = open(null)) {
      streams.tell(STORE, stored(0));
      cards.add(other("tp_size", 2));
      pool.cardsChanged();
      pool.cardsChanged();
      assertThat(streams.followed()).isEmpty();
      assertThat(found(pool)).isZero();
      assertThat(warnings).singleElement().asString().contains("differ", ENDPOINT.toString());
      cards.removeLast();
      pool.cardsChanged();
      assertThat(streams.followed()).containsExactly(STORE);
      assertThat(found(pool)).as("it is heard from the beginning").isZero();

      cards.add(other("kv_events_endpoint", "tcp://elsewhere:1"));
      pool.cardsChanged();
      assertThat(streams.followed()).isEmpty();
      assertThat(warnings).hasSize(2).last().asString().contains(STORE, "tcp://elsewhere:1");
      cards.set(1, other("kv_events_endpoint", null));
      pool.cardsChanged();
      assertThat(streams.followed()).as("one that names none agrees").containsExactly(STORE);

      cards.set(1, other("backend", "nixl"));
      pool.cardsChanged();
      assertThat(streams.followed()).as("one of them keeps it elsewhere").isEmpty();
      assertThat(warnings).as("as before").hasSize(3).last().asString().contains("differ");
      cards.set(1, other("page_size", null));
      cards.add("nonsense");
      pool.cardsChanged();
      pool.cardsChanged();
      assertThat(streams.followed()).as("the others agree").containsExactly(STORE);
      assertThat(warnings.subList(3, warnings.size()))
          .hasSize(2)
          .anySatisfy(it -> assertThat(it).contains("page_size is null"))
          .anySatisfy(it -> assertThat(it).contains("no map"));
      cards.clear();
      cards.add(HicacheCapture.card("otherbackend").card());
      pool.cardsChanged();
      assertThat(streams.followed()).as("all keep it elsewhere").isEmpty();
      assertThat(warnings).hasSize(5);
    } finally {
      log.removeHandler(handler);
    }
  }

  @Test
  void cardsThatSayTheSameLeaveWhatIsKnown() {
    try (var pool = open(null)) {
      streams.tell(STORE, stored(0, 1));
      cards.add(other("extra_backend_tag", ""));
      pool.cardsChanged();
      assertThat(found(pool)).isEqualTo(2);
      cards.removeFirst();
      pool.cardsChanged();
      assertThat(found(pool)).isEqualTo(2);
    }
  }

  @Test
  void pagesThatAreNoBlocksAreNotLookedFor() {
    try (var pool = open(null)) {
      streams.tell(STORE, stored(0, 1, 2));
      assertThat(pool.find(TOKENS, 32).total()).isZero();
      assertThat(pool.find(TOKENS, 8).total()).isZero();
      assertThat(found(pool)).isEqualTo(3);
    }
  }

  @Test
  void aClosedPoolHearsNoMoreCards() {
    var pool = open(null);
    pool.close();
    pool.cardsChanged();
    pool.close();
    assertThat(streams.followed()).isEmpty();
    assertThat(found(pool)).isZero();
  }
}
