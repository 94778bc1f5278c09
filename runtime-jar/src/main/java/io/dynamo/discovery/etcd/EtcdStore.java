package io.dynamo.discovery.etcd;

import io.dynamo.config.plane.EtcdSettings;
import io.dynamo.config.plane.PemSource;
import io.dynamo.discovery.store.Bucket;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdException;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import io.grpc.Status;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one process to etcd, under its one lease. Each waits for its answer, at most for the
 * settings' call timeout; the client's own threads do the work. Safe for concurrent use.
 */
final class EtcdStore implements AutoCloseable {
  private static final int MAX_ANSWER_BYTES = 64 << 20; // all records of a cluster

  /** All keys below a prefix, as of one revision of the store. */
  record Snapshot(long revision, Map<String, byte[]> values) {}

  /** The keys of a bucket, as of one revision of the store. */
  record Entries(long revision, Map<String, Bucket.Entry> values) {}

  /**
   * The state of a key that a write demands.
   *
   * @param revision that it has; 0 when it must not exist
   */
  record Condition(long revision) {
    static final Condition ABSENT = new Condition(0);
  }

  /**
   * The result of a conditional write.
   *
   * @param done whether the condition was fulfilled
   * @param revision of the store after it
   * @param there the key as it is where the condition was not fulfilled; null when there is none
   */
  record Outcome(boolean done, long revision, @Nullable Owned there) {}

  /**
   * A key with its value.
   *
   * @param isOurs whether it is under the lease of this process
   */
  record Owned(Bucket.Entry entry, boolean isOurs) {
    boolean has(byte[] value) {
      return Arrays.equals(entry.value(), value);
    }
  }

  /** A running watch. */
  interface Watching extends AutoCloseable {
    @Override
    void close();
  }

  private final Client client;
  private final long leaseId;
  private final Duration leaseTtl;
  private final Duration callTimeout;

  /**
   * Makes the client; it connects with the first call.
   *
   * @param leaseId the id of the lease
   */
  EtcdStore(EtcdSettings settings, long leaseId) {
    this.leaseId = leaseId;
    this.leaseTtl = settings.leaseTtl();
    this.callTimeout = settings.callTimeout();
    var builder =
        Client.builder()
            .endpoints(settings.endpoints())
            .waitForReady(false)
            .retryMaxAttempts(1) // only to authenticate anew
            .retryDelay(50)
            .maxInboundMessageSize(MAX_ANSWER_BYTES)
            .connectTimeout(callTimeout)
            .keepaliveTime(settings.pingInterval())
            .keepaliveTimeout(settings.pingTimeout())
            .keepaliveWithoutCalls(true)
            .interceptor(new CallShaper(leaseId, callTimeout));
    var user = settings.user();
    if (user != null) {
      builder.user(bytes(user.name())).password(bytes(user.password()));
    }
    if (settings.isTls()) {
      try {
        builder.sslContext(tls -> secure(tls, settings));
      } catch (IOException | RuntimeException e) {
        throw new IllegalArgumentException(
            "cannot use the files of dynamo.discovery.etcd.tls: %s; they must be PEM, the key PKCS #8 without a password"
                .formatted(e.getMessage()),
            e);
      }
    }
    this.client = builder.build();
  }

  private static void secure(SslContextBuilder tls, EtcdSettings settings) {
    try {
      if (settings.authorities() != null) {
        tls.trustManager(open(settings.authorities()));
      }
      if (settings.certificate() != null && settings.key() != null) {
        tls.keyManager(open(settings.certificate()), open(settings.key()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e.toString(), e);
    }
  }

  private static InputStream open(PemSource source) throws IOException {
    return new ByteArrayInputStream(source.bytes());
  }

  /** Asks for the lease. Succeeds as well when it exists. */
  void grant() {
    try {
      var _ =
          answer(
              "grant a lease",
              () -> client.getLeaseClient().grant(Math.max(1, leaseTtl.toSeconds())));
    } catch (StoreUnavailableException e) {
      if (!isLeaseThere(e)) {
        throw e;
      }
    }
  }

  /**
   * Renews the lease.
   *
   * @return the revision of the store
   * @throws LeaseLostException when it does not exist any more
   */
  long renew() {
    var answer = answer("renew the lease", () -> client.getLeaseClient().keepAliveOnce(leaseId));
    return answer.getHeader().getRevision();
  }

  /** Ends the lease, and with it all keys under it. */
  void revoke() {
    var _ = answer("end the lease", () -> client.getLeaseClient().revoke(leaseId));
  }

  /**
   * Writes a key that does not exist, under the lease.
   *
   * @return null when it was written, else the value that the key has
   * @throws LeaseLostException when the lease does not exist any more
   */
  byte @Nullable [] create(String key, byte[] value) {
    var at = bytes(key);
    var put = Op.put(at, ByteSequence.from(value), underLease());
    var get = Op.get(at, GetOption.DEFAULT);
    var answer =
        answer(
            "write " + key,
            () ->
                client
                    .getKVClient()
                    .txn()
                    .If(new Cmp(at, Cmp.Op.EQUAL, CmpTarget.version(0)))
                    .Then(put)
                    .Else(get)
                    .commit());
    if (answer.isSucceeded()) {
      return null;
    }
    return answer.getGetResponses().getFirst().getKvs().getFirst().getValue().getBytes();
  }

  /**
   * Writes a key under the lease and replaces the value that it had.
   *
   * @throws LeaseLostException when the lease does not exist any more
   */
  void put(String key, byte[] value) {
    var _ =
        answer(
            "write " + key,
            () -> client.getKVClient().put(bytes(key), ByteSequence.from(value), underLease()));
  }

  /**
   * Writes a key under the lease if it fulfils {@code condition}.
   *
   * @throws LeaseLostException when the lease does not exist any more
   */
  Outcome write(String key, byte[] value, Condition condition) {
    return commit(
        "write " + key, key, condition, Op.put(bytes(key), ByteSequence.from(value), underLease()));
  }

  /** Deletes a key if it fulfils {@code condition}. */
  Outcome delete(String key, Condition condition) {
    return commit("delete " + key, key, condition, Op.delete(bytes(key), DeleteOption.DEFAULT));
  }

  private Outcome commit(String what, String key, Condition condition, Op change) {
    var at = bytes(key);
    var target = CmpTarget.modRevision(condition.revision()); // that of an absent key is 0
    var answer =
        answer(
            what,
            () ->
                client
                    .getKVClient()
                    .txn()
                    .If(new Cmp(at, Cmp.Op.EQUAL, target))
                    .Then(change)
                    .Else(Op.get(at, GetOption.DEFAULT))
                    .commit());
    Owned there = null;
    if (!answer.isSucceeded()) {
      for (var found : answer.getGetResponses().getFirst().getKvs()) {
        there = new Owned(entry(found), found.getLease() == leaseId);
      }
    }
    return new Outcome(answer.isSucceeded(), answer.getHeader().getRevision(), there);
  }

  private static Bucket.Entry entry(KeyValue found) {
    return new Bucket.Entry(found.getValue().getBytes(), found.getModRevision());
  }

  /** Returns a key's value; null when there is none. */
  Bucket.@Nullable Entry readEntry(String key) {
    var answer = answer("read " + key, () -> client.getKVClient().get(bytes(key)));
    return answer.getKvs().isEmpty() ? null : entry(answer.getKvs().getFirst());
  }

  /** Returns all keys that begin with {@code prefix}, by the part after it. */
  Entries readEntries(String prefix) {
    var all = GetOption.builder().isPrefix(true).build();
    var answer = answer("read " + prefix, () -> client.getKVClient().get(bytes(prefix), all));
    var values = new HashMap<String, Bucket.Entry>();
    for (var found : answer.getKvs()) {
      values.put(key(found).substring(prefix.length()), entry(found));
    }
    return new Entries(answer.getHeader().getRevision(), values);
  }

  private PutOption underLease() {
    return PutOption.builder().withLeaseId(leaseId).build();
  }

  /** Deletes a key. */
  void delete(String key) {
    var _ = answer("delete " + key, () -> client.getKVClient().delete(bytes(key)));
  }

  /** Returns all keys that begin with {@code prefix}. */
  Snapshot read(String prefix) {
    var all = GetOption.builder().isPrefix(true).build();
    var answer = answer("read " + prefix, () -> client.getKVClient().get(bytes(prefix), all));
    var values = new HashMap<String, byte[]>();
    for (var found : answer.getKvs()) {
      values.put(key(found), found.getValue().getBytes());
    }
    return new Snapshot(answer.getHeader().getRevision(), values);
  }

  /**
   * Puts every change of the keys that begin with {@code prefix} into {@code changes}, beginning
   * with revision {@code from}. When the watch ends, for whatever reason, it breaks the queue off.
   */
  Watching watch(String prefix, long from, ChangeQueue changes) {
    var option =
        WatchOption.builder().isPrefix(true).withRevision(from).withRequireLeader(true).build();
    var watcher =
        client
            .getWatchClient()
            .watch(
                bytes(prefix),
                option,
                Watch.listener(
                    response -> hand(response, changes),
                    failure -> changes.breakOff("etcd's watch failed: " + failure.getMessage()),
                    () -> changes.breakOff("etcd's watch ended")));
    return watcher::close;
  }

  private static void hand(WatchResponse response, ChangeQueue changes) {
    var all = new ArrayList<StoreChange>(response.getEvents().size());
    for (var event : response.getEvents()) {
      var at = event.getKeyValue();
      all.add(
          event.getEventType() == WatchEvent.EventType.DELETE
              ? new StoreChange.Deleted(at.getModRevision(), key(at))
              : new StoreChange.Put(at.getModRevision(), key(at), at.getValue().getBytes()));
    }
    if (!all.isEmpty()) {
      changes.add(all);
    }
  }

  private <T> T answer(String what, Supplier<CompletableFuture<T>> call) {
    try {
      return call.get().get(callTimeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new StoreUnavailableException(
          "etcd did not answer within %s: %s".formatted(callTimeout, what), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException("interrupted while waiting for etcd: " + what, e);
    } catch (ExecutionException | RuntimeException e) {
      if (isLeaseLost(e)) {
        throw new LeaseLostException(e);
      }
      throw new StoreUnavailableException("etcd failed: %s: %s".formatted(what, reason(e)), e);
    }
  }

  private static String reason(Throwable failure) {
    var cause = failure.getCause();
    return String.valueOf(cause == null ? failure.getMessage() : cause.getMessage());
  }

  private static boolean isLeaseLost(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof EtcdException etcd && etcd.getErrorCode() == ErrorCode.NOT_FOUND) {
        return true;
      }
    }
    return Status.fromThrowable(failure).getCode() == Status.Code.NOT_FOUND;
  }

  private static boolean isLeaseThere(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (String.valueOf(cause.getMessage()).contains("lease already exists")) {
        return true;
      }
    }
    return false;
  }

  private static String key(KeyValue found) {
    return found.getKey().toString(StandardCharsets.UTF_8);
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }

  /** Ends all connections; the lease stays. */
  @Override
  public void close() {
    client.close();
  }
}
