package io.dynamo.discovery.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.store.Bucket.Entry;
import io.dynamo.testing.Recorder;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of stores, and of the lock and the barrier on them, that hold for each kind of store. */
public abstract class KeyValueStoreContract {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(20);
  private static final BucketName NAME = new BucketName("v1/shared");

  private final List<Discovery> open = new ArrayList<>();
  private KeyValueStore one;
  private KeyValueStore other;

  /** Another process of the same discovery. */
  protected abstract Discovery join(InstanceId id);

  private KeyValueStore join(long id) {
    var discovery = join(new InstanceId(id));
    open.add(discovery);
    return ((KeyValueStore.Owner) discovery).store();
  }

  @BeforeEach
  void joinTwice() {
    one = join(1);
    other = join(2);
  }

  @AfterEach
  void closeAll() {
    open.forEach(Discovery::close);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static Map<String, String> texts(Map<String, Entry> entries) {
    var texts = new HashMap<String, String>();
    entries.forEach((key, entry) -> texts.put(key, new String(entry.value(), UTF_8)));
    return texts;
  }

  @Test
  void aKeyIsCreatedOnceAndSeenByAll() {
    assertThat(one.bucket(NAME).get("a/b c")).isEmpty();
    var created = one.bucket(NAME).create("a/b c", bytes("1"));

    assertThat(created).isPresent();
    assertThat(other.bucket(NAME).create("a/b c", bytes("2"))).isEmpty();
    assertThat(other.bucket(NAME).get("a/b c"))
        .contains(new Entry(bytes("1"), created.getAsLong()));
    assertThat(texts(other.bucket(NAME).entries())).isEqualTo(Map.of("a/b c", "1"));
    assertThat(other.bucket(new BucketName("v1/share")).entries()).isEmpty();
  }

  @Test
  void aKeyIsReplacedAndDeletedOnlyAtItsRevision() {
    long first = one.bucket(NAME).create("k", bytes("1")).getAsLong();
    long second = other.bucket(NAME).replace("k", bytes("2"), first).getAsLong();

    assertThat(second).isNotEqualTo(first);
    assertThat(one.bucket(NAME).replace("k", bytes("3"), first)).isEmpty();
    assertThat(one.bucket(NAME).delete("k", first)).isFalse();
    assertThat(texts(one.bucket(NAME).entries())).isEqualTo(Map.of("k", "2"));
    assertThat(one.bucket(NAME).delete("k", second)).isTrue();
    assertThat(one.bucket(NAME).get("k")).isEmpty();
    assertThat(one.bucket(NAME).replace("k", bytes("4"), second)).isEmpty();
  }

  @Test
  void concurrentChangesOfOneKeyAreAllCounted() throws Exception {
    int each = 10;
    one.bucket(NAME).create("count", bytes("0"));
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var counting = new ArrayList<Callable<Boolean>>();
      for (var store : List.of(one, other, one, other)) {
        counting.add(
            () -> {
              for (int i = 0; i < each; i++) {
                increment(store.bucket(NAME));
              }
              return true;
            });
      }
      for (var done : threads.invokeAll(counting)) {
        assertThat(done.get()).isTrue();
      }
    }
    assertThat(texts(one.bucket(NAME).entries())).isEqualTo(Map.of("count", "40"));
  }

  private static void increment(Bucket bucket) {
    boolean written = false;
    while (!written) {
      var entry = bucket.get("count").orElseThrow();
      int next = Integer.parseInt(new String(entry.value(), UTF_8)) + 1;
      written =
          bucket.replace("count", bytes(Integer.toString(next)), entry.revision()).isPresent();
    }
  }

  @Test
  void keysVanishWithTheProcessThatWroteThemLast() throws InterruptedException {
    long first = one.bucket(NAME).create("a", bytes("1")).getAsLong();
    one.bucket(NAME).create("b", bytes("1"));
    other.bucket(NAME).replace("a", bytes("2"), first);
    var heard = new Recorder<Map<String, Entry>>();
    other.bucket(NAME).watch(heard);
    assertThat(heard.next()).containsOnlyKeys("a", "b");

    open.getFirst().close();

    assertThat(texts(heard.next())).isEqualTo(Map.of("a", "2"));
  }

  @Test
  void aWatchTellsTheStateAndEveryLaterOne() throws InterruptedException {
    var heard = new Recorder<Map<String, Entry>>();
    var watch = other.bucket(NAME).watch(heard);
    assertThat(heard.next()).isEmpty();

    long revision = one.bucket(NAME).create("a", bytes("1")).getAsLong();
    assertThat(texts(heard.next())).isEqualTo(Map.of("a", "1"));
    revision = one.bucket(NAME).replace("a", bytes("2"), revision).getAsLong();
    assertThat(texts(heard.next())).isEqualTo(Map.of("a", "2"));
    one.bucket(NAME).delete("a", revision);
    assertThat(heard.next()).isEmpty();

    watch.close();
    var second = new Recorder<Map<String, Entry>>();
    other.bucket(NAME).watch(second);
    assertThat(second.next()).isEmpty();
    one.bucket(NAME).create("b", bytes("1"));
    assertThat(second.next()).containsOnlyKeys("b");
    assertThat(heard.rest()).isEmpty();
  }

  @Test
  void valuesBeyondTheLimitAreRefused() {
    assertThatThrownBy(() -> one.bucket(NAME).create("k", new byte[Bucket.MAX_VALUE_BYTES + 1]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("v1/shared/k has 1048577 bytes, more than 1048576");
  }

  @Test
  void namesThatLeaveTheStoreAreRefused() {
    for (var name : List.of("", "/v1", "v1/", "v1//a", "v1/../a", ".tmp_1", "a b")) {
      assertThatThrownBy(() -> new BucketName(name))
          .as(name)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void readersShareTheLockAndAWriterHasItAlone() throws Exception {
    var ours = new SharedLock(one, "locks/a");
    var theirs = new SharedLock(other, "locks/a");
    var first = ours.read("r1", PATIENCE);
    var second = theirs.read("r2", PATIENCE);
    assertThat(ours.tryWrite()).isEmpty();
    assertThat(texts(one.bucket(new BucketName("v1/locks/a")).entries()))
        .containsOnlyKeys("readers/r1", "readers/r2")
        .allSatisfy((_, value) -> assertThat(value).startsWith("reading "));
    assertThatThrownBy(() -> theirs.read("r1", PATIENCE))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("a reader r1 has the lock locks/a already");
    first.close();
    assertThat(ours.tryWrite()).isEmpty();
    second.close();

    var writing = ours.tryWrite().orElseThrow();

    assertThat(theirs.tryWrite()).isEmpty();
    assertThat(texts(one.bucket(new BucketName("v1/locks/a")).entries()))
        .containsOnlyKeys("writer")
        .allSatisfy((_, value) -> assertThat(value).startsWith("writing "));
    assertThatThrownBy(() -> theirs.read("r2", SHORT))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContaining("somebody has been writing under the lock locks/a");
    writing.close();
    theirs.read("r2", PATIENCE).close();
  }

  @Test
  void aReaderWaitsForTheWriterToDie() throws Exception {
    assertThat(new SharedLock(one, "locks/b").tryWrite()).isPresent();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var reading = threads.submit(() -> new SharedLock(other, "locks/b").read("r", PATIENCE));
      open.getFirst().close();
      reading.get().close();
    }
  }

  @Test
  void aHolderWhoseKeyIsGoneLearnsIt() throws Exception {
    var keys = other.bucket(new BucketName("v1/locks/d"));
    var lost = new CountDownLatch(1);
    var held = new SharedLock(one, "locks/d").tryWrite().orElseThrow();
    var _ = held.whenLost(lost::countDown);
    assertThat(held.isHeld()).isTrue();

    assertThat(keys.delete("writer", keys.get("writer").orElseThrow().revision())).isTrue();

    assertThat(lost.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(held.isHeld()).isFalse();
    var next = new SharedLock(other, "locks/d").tryWrite().orElseThrow();
    held.close();
    assertThat(next.isHeld()).as("who lost the lock does not release that of another").isTrue();
    next.close();
    assertThat(next.isHeld()).isFalse();
  }

  @Test
  void aReleasedLockIsNotLost() throws Exception {
    var lost = new CountDownLatch(1);
    var held = new SharedLock(one, "locks/e").read("r", PATIENCE);
    var _ = held.whenLost(lost::countDown);
    held.close();
    var keys = one.bucket(new BucketName("v1/locks/e"));
    assertThat(BucketState.await(keys, Map::isEmpty, PATIENCE)).isPresent();

    assertThat(lost.await(SHORT.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
  }

  @Test
  void aLockThatIsTakenWithoutAnAnswerIsFreeAgain() {
    var keys = one.bucket(new BucketName("v1/locks/c"));
    for (var lost : UnansweredStore.Lost.values()) {
      var writing = new SharedLock(new UnansweredStore(one, lost), "locks/c");
      assertThatThrownBy(writing::tryWrite).as("%s", lost).isInstanceOf(UncheckedIOException.class);
      assertInterrupted(lost);
      assertThat(keys.entries()).as("%s", lost).isEmpty();

      var reading = new SharedLock(new UnansweredStore(one, lost), "locks/c");
      assertThatThrownBy(() -> reading.read("r", PATIENCE))
          .as("%s", lost)
          .isInstanceOf(UncheckedIOException.class);
      assertInterrupted(lost);
      assertThat(keys.entries()).as("%s", lost).isEmpty();
    }
  }

  /** Clears the mark, so that the next call is answered. */
  private static void assertInterrupted(UnansweredStore.Lost lost) {
    assertThat(Thread.interrupted())
        .as("%s", lost)
        .isEqualTo(lost == UnansweredStore.Lost.FIRST_CREATE_BY_AN_INTERRUPT);
  }

  /** A barrier's id of its own: a store may outlive the test. */
  private static String meeting() {
    return "m-" + Long.toHexString(ThreadLocalRandom.current().nextLong());
  }

  @Test
  void aMeetingEndsWhenAllHaveCome() throws Exception {
    var id = meeting();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var leading =
          threads.submit(() -> new WorkerBarrier(one, id).lead(bytes("{\"x\":1}"), 2, PATIENCE));
      var a = threads.submit(() -> new WorkerBarrier(other, id).join("a", bytes("1"), PATIENCE));
      var b = threads.submit(() -> new WorkerBarrier(one, id).join("b", bytes("2"), PATIENCE));

      assertThat(leading.get())
          .containsExactly(Map.entry("a", bytes("1")), Map.entry("b", bytes("2")));
      assertThat(a.get()).asString().isEqualTo("{\"x\":1}");
      assertThat(b.get()).asString().isEqualTo("{\"x\":1}");
    }
    assertThat(texts(one.bucket(new BucketName("barrier/" + id)).entries()))
        .isEqualTo(
            Map.of(
                "data",
                "{\"x\":1}",
                "worker/a",
                "1",
                "worker/b",
                "2",
                "complete",
                "[\"barrier/%1$s/worker/a\",\"barrier/%1$s/worker/b\"]".formatted(id)));
    assertThatThrownBy(() -> new WorkerBarrier(other, id).join("c", bytes("3"), PATIENCE))
        .hasMessageContaining("was complete before worker c came");
    assertThatThrownBy(() -> new WorkerBarrier(other, id).lead(bytes("{}"), 2, PATIENCE))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("barrier/" + id + "/data exists");
  }

  @Test
  void aLeaderThatGivesUpTellsTheWorkers() throws Exception {
    var id = meeting();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var joining =
          threads.submit(() -> new WorkerBarrier(other, id).join("a", bytes("1"), PATIENCE));
      assertThatThrownBy(() -> new WorkerBarrier(one, id).lead(bytes("{}"), 2, SHORT))
          .isInstanceOf(TimeoutException.class)
          .hasMessageContaining("of 2 workers have come to barrier/" + id);
      assertThatThrownBy(joining::get)
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining("the leader has given up barrier/" + id);
    }
  }

  @Test
  void workersLearnThatTheirLeaderIsGone() throws Exception {
    var id = meeting();
    one.bucket(new BucketName("barrier/" + id)).create("data", bytes("{}"));
    var keys = other.bucket(new BucketName("barrier/" + id));
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var joining =
          threads.submit(() -> new WorkerBarrier(other, id).join("a", bytes("1"), PATIENCE));
      assertThat(BucketState.await(keys, it -> it.containsKey("worker/a"), PATIENCE)).isPresent();

      open.getFirst().close();

      assertThatThrownBy(joining::get)
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining("the leader of barrier/" + id + " is gone");
    }
    assertThat(keys.entries()).isEmpty();
  }

  @Test
  void aWorkerWhoseComingIsNotAnsweredIsNotCounted() {
    for (var lost :
        List.of(
            UnansweredStore.Lost.FIRST_CREATE, UnansweredStore.Lost.FIRST_CREATE_BY_AN_INTERRUPT)) {
      var id = meeting();
      var keys = one.bucket(new BucketName("barrier/" + id));
      keys.create("data", bytes("{}"));
      var barrier = new WorkerBarrier(new UnansweredStore(other, lost), id);
      assertThatThrownBy(() -> barrier.join("a", bytes("1"), PATIENCE))
          .as("%s", lost)
          .isInstanceOf(UncheckedIOException.class);
      assertInterrupted(lost);
      assertThat(texts(keys.entries())).as("%s", lost).isEqualTo(Map.of("data", "{}"));
    }
  }

  @Test
  void aWorkerThatGivesUpIsNotCounted() throws Exception {
    var id = meeting();
    var keys = one.bucket(new BucketName("barrier/" + id));
    keys.create("data", bytes("{}"));
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var joining =
          threads.submit(() -> new WorkerBarrier(other, id).join("a", bytes("1"), PATIENCE));
      assertThat(BucketState.await(keys, it -> it.containsKey("worker/a"), PATIENCE)).isPresent();

      joining.cancel(true);

      assertThat(BucketState.await(keys, it -> !it.containsKey("worker/a"), PATIENCE)).isPresent();
    }
    assertThat(texts(keys.entries())).isEqualTo(Map.of("data", "{}"));
  }

  @Test
  void aWorkerDoesNotWaitForeverForALeader() {
    assertThatThrownBy(() -> new WorkerBarrier(one, meeting()).join("a", bytes("1"), SHORT))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContaining("was not complete within");
  }
}
