package io.dynamo.discovery.store;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.store.Bucket.Entry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** A store that does everything but loses one answer of each bucket. Used by one thread. */
final class UnansweredStore implements KeyValueStore {
  /** The call whose answer is lost. */
  enum Lost {
    FIRST_CREATE,
    /** Its caller is interrupted, and no call of an interrupted thread is answered. */
    FIRST_CREATE_BY_AN_INTERRUPT,
    FIRST_LOOK_AFTER_A_CREATE
  }

  private final KeyValueStore store;
  private final Lost lost;

  UnansweredStore(KeyValueStore store, Lost lost) {
    this.store = store;
    this.lost = lost;
  }

  @Override
  public Bucket bucket(BucketName name) {
    return new Unanswered(store.bucket(name), lost);
  }

  private static final class Unanswered implements Bucket {
    private final Bucket bucket;
    private final Lost lost;
    private boolean created;
    private boolean failed;

    Unanswered(Bucket bucket, Lost lost) {
      this.bucket = bucket;
      this.lost = lost;
    }

    private void fail() {
      failed = true;
      throw new UncheckedIOException(new IOException("the store does not answer"));
    }

    private void failLook() {
      if (Thread.currentThread().isInterrupted()) {
        fail();
      }
      if (lost == Lost.FIRST_LOOK_AFTER_A_CREATE && created && !failed) {
        fail();
      }
    }

    @Override
    public Optional<Entry> get(String key) {
      failLook();
      return bucket.get(key);
    }

    @Override
    public Map<String, Entry> entries() {
      failLook();
      return bucket.entries();
    }

    @Override
    public OptionalLong create(String key, byte[] value) {
      var revision = bucket.create(key, value);
      created = true;
      if (lost == Lost.FIRST_CREATE_BY_AN_INTERRUPT && !failed) {
        Thread.currentThread().interrupt();
        fail();
      }
      if (lost == Lost.FIRST_CREATE && !failed) {
        fail();
      }
      return revision;
    }

    @Override
    public OptionalLong replace(String key, byte[] value, long revision) {
      return bucket.replace(key, value, revision);
    }

    @Override
    public boolean delete(String key, long revision) {
      return bucket.delete(key, revision);
    }

    @Override
    public Discovery.Handle watch(Consumer<Map<String, Entry>> listener) {
      return bucket.watch(listener);
    }
  }
}
