package io.dynamo.discovery.load;

import io.dynamo.config.plane.EtcdSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.etcd.EtcdDiscovery;
import io.dynamo.discovery.store.Bucket;
import io.dynamo.discovery.store.BucketName;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Measures one call to etcd after the other, of our key-value store beside those of its own client,
 * in turn: {@code EtcdRoundTrips http://127.0.0.1:2379 [rounds] [calls]}.
 */
final class EtcdRoundTrips {
  private static final int VALUE_BYTES = 300; // about those of a record of discovery
  private static final int WARM_UP = 500;
  private static final long SECONDS = 10; // for one call

  private EtcdRoundTrips() {}

  /** A call to etcd. */
  private interface Call {
    void run() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    var endpoint = arguments[0];
    int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 3;
    int calls = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 2000;
    var id = new Random().nextLong(1, Long.MAX_VALUE);
    try (var client = Client.builder().endpoints(endpoint).build();
        var discovery =
            EtcdDiscovery.open(
                settings(endpoint), new InstanceId(id), Runnable::run, new Random())) {
      var bucket = discovery.store().bucket(new BucketName("bench"));
      var value = new byte[VALUE_BYTES];
      long revision = bucket.create("key", value).orElseThrow();
      var bare = new Bare(client.getKVClient(), value);
      var ours = new Ours(bucket, value, revision);
      for (int i = 0; i < WARM_UP; i++) {
        bare.read();
        ours.read();
        bare.write();
        ours.write();
      }
      System.out.println("| call | round | jetcd, p50 / p99 µs | ours, p50 / p99 µs | ratio |");
      for (int round = 1; round <= rounds; round++) {
        print("get", round, time(calls, bare::read), time(calls, ours::read));
        print("replace", round, time(calls / 4, bare::write), time(calls / 4, ours::write));
      }
      bucket.delete("key", ours.revision);
      bare.kv.delete(Bare.KEY).get(SECONDS, TimeUnit.SECONDS);
    }
  }

  private static EtcdSettings settings(String endpoint) {
    var seconds = Duration.ofSeconds(SECONDS);
    return new EtcdSettings(
        List.of(URI.create(endpoint)),
        Duration.ofSeconds(30),
        null,
        null,
        null,
        null,
        seconds,
        seconds,
        seconds,
        seconds);
  }

  /** Times of the calls in nanoseconds, sorted. */
  private static long[] time(int calls, Call call) throws Exception {
    var times = new long[calls];
    for (int i = 0; i < calls; i++) {
      long start = System.nanoTime();
      call.run();
      times[i] = System.nanoTime() - start;
    }
    Arrays.sort(times);
    return times;
  }

  private static void print(String call, int round, long[] bare, long[] ours) {
    System.out.printf(
        "| %s | %d | %d / %d | %d / %d | %.2f |%n",
        call,
        round,
        bare[bare.length / 2] / 1000,
        bare[bare.length * 99 / 100] / 1000,
        ours[ours.length / 2] / 1000,
        ours[ours.length * 99 / 100] / 1000,
        (double) ours[ours.length / 2] / bare[bare.length / 2]);
  }

  /** The calls of etcd's own client: a read, and a write on the condition of a revision. */
  private static final class Bare {
    static final ByteSequence KEY =
        ByteSequence.from("bench/bare".getBytes(StandardCharsets.US_ASCII));

    final KV kv;
    private final ByteSequence value;
    private long revision;

    Bare(KV kv, byte[] value) throws Exception {
      this.kv = kv;
      this.value = ByteSequence.from(value);
      revision = kv.put(KEY, this.value).get(SECONDS, TimeUnit.SECONDS).getHeader().getRevision();
    }

    void read() throws Exception {
      if (kv.get(KEY, GetOption.DEFAULT).get(SECONDS, TimeUnit.SECONDS).getCount() != 1) {
        throw new IllegalStateException("the key is gone");
      }
    }

    void write() throws Exception {
      var answer =
          kv.txn()
              .If(new Cmp(KEY, Cmp.Op.EQUAL, CmpTarget.modRevision(revision)))
              .Then(Op.put(KEY, value, PutOption.DEFAULT))
              .commit()
              .get(SECONDS, TimeUnit.SECONDS);
      if (!answer.isSucceeded()) {
        throw new IllegalStateException("somebody else writes the key");
      }
      revision = answer.getHeader().getRevision();
    }
  }

  /** The same of our store. */
  private static final class Ours {
    private final Bucket bucket;
    private final byte[] value;
    private long revision;

    Ours(Bucket bucket, byte[] value, long revision) {
      this.bucket = bucket;
      this.value = value;
      this.revision = revision;
    }

    void read() {
      bucket.get("key").orElseThrow();
    }

    void write() {
      revision = bucket.replace("key", value, revision).orElseThrow();
    }
  }
}
