package io.dynamo.frontend.console;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The workers in discovery with their cards, and those that left last. Safe for concurrent use. */
public final class WorkerRoster implements AutoCloseable {
  private static final int MOST_DEPARTED = 32;

  /**
   * A worker with the records of its models and adapters, at least one.
   *
   * @param since when this server first saw it
   */
  record Member(InstanceId id, Instant since, List<ModelRecord> records) {
    Member {
      records = List.copyOf(records);
    }
  }

  /** A worker that has left discovery, by its last record. */
  record Departed(InstanceId id, EndpointId endpoint, String model, Instant at) {}

  private final Predicate<EndpointId> serves;
  private final InstantSource clock;
  private final TreeMap<InstanceId, Instant> since = new TreeMap<>(); // guarded by this
  private final TreeMap<InstanceId, SequencedMap<String, ModelRecord>> records = // by record's key
      new TreeMap<>(); // guarded by this
  private final Deque<Departed> departed = new ArrayDeque<>(); // newest first, guarded by this
  private Discovery.@Nullable Handle watch; // guarded by this

  /**
   * @param serves whether workers of an endpoint are listed
   */
  public WorkerRoster(Predicate<EndpointId> serves, InstantSource clock) {
    this.serves = serves;
    this.clock = clock;
  }

  /** Follows the workers in {@code discovery} until it is closed. To be called once. */
  public void follow(Discovery discovery) {
    var handle = discovery.watch(ModelRecord.class, this::onEvent);
    synchronized (this) {
      watch = handle;
    }
  }

  private synchronized void onEvent(DiscoveryEvent<ModelRecord> event) {
    switch (event) {
      case DiscoveryEvent.Added<ModelRecord>(var record) -> {
        if (serves.test(record.endpoint())) {
          since.putIfAbsent(record.id(), clock.instant());
          records
              .computeIfAbsent(record.id(), _ -> new LinkedHashMap<>())
              .put(record.key(), record);
        }
      }
      case DiscoveryEvent.Lost<ModelRecord>(var record) -> {
        var left = records.get(record.id());
        if (left != null && left.remove(record.key()) != null && left.isEmpty()) {
          records.remove(record.id());
          since.remove(record.id());
          depart(record);
        }
      }
    }
  }

  /** Called with the lock. */
  private void depart(ModelRecord record) {
    departed.addFirst(
        new Departed(record.id(), record.endpoint(), record.card().displayName(), clock.instant()));
    if (departed.size() > MOST_DEPARTED) {
      departed.removeLast();
    }
  }

  /** Returns the present workers, in the order of their ids. */
  synchronized List<Member> members() {
    var members = new ArrayList<Member>();
    records.forEach(
        (id, ofWorker) ->
            members.add(
                new Member(
                    id,
                    since.getOrDefault(id, Instant.EPOCH),
                    List.copyOf(ofWorker.sequencedValues()))));
    return members;
  }

  /** Returns the workers that left last and have not come back, newest first. */
  synchronized List<Departed> departed() {
    return departed.stream().filter(it -> !records.containsKey(it.id())).toList();
  }

  /** Stops following. Idempotent. */
  @Override
  public synchronized void close() {
    if (watch != null) {
      watch.close();
      watch = null;
    }
  }
}
