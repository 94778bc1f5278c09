package io.dynamo.discovery.etcd;

import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventSource;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.Watches;
import java.lang.System.Logger.Level;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The records of the store as of one revision. A value that is no record is logged once and
 * skipped. Written by the thread of discovery; read by any thread.
 *
 * <p>A store whose revision has gone back has lost its data, and says nothing about the owners of
 * the records that it lost: they are kept as <i>awaited</i> until their owners had time to write
 * them again.
 */
final class EtcdView {
  private static final System.Logger LOG = System.getLogger(EtcdView.class.getName());
  private static final List<String> BUCKETS =
      List.of(
          Instance.BUCKET + "/",
          ModelRecord.BUCKET + "/",
          EventChannel.BUCKET + "/",
          EventSource.BUCKET + "/");

  private final Map<String, DiscoveryRecord> records = new ConcurrentHashMap<>(); // by path
  private final Set<String> awaited = new HashSet<>(); // paths of records that the store has lost
  private final Set<String> complained = new HashSet<>(); // keys already logged
  private volatile long revision;

  /** Replaces everything but awaited records by the result of a look at the store. */
  void replace(EtcdStore.Snapshot snapshot) {
    var values = snapshot.values();
    if (snapshot.revision() < revision) {
      awaited.addAll(records.keySet());
    }
    records.keySet().removeIf(key -> !values.containsKey(key) && !awaited.contains(key));
    complained.retainAll(values.keySet());
    values.forEach(this::put);
    revision = snapshot.revision();
  }

  /** Applies one change. */
  void apply(StoreChange change) {
    switch (change) {
      case StoreChange.Put put -> put(put.key(), put.value());
      case StoreChange.Deleted deleted -> {
        awaited.remove(deleted.key());
        records.remove(deleted.key());
        complained.remove(deleted.key());
      }
    }
    revision = change.revision();
  }

  private void put(String key, byte[] value) {
    if (BUCKETS.stream().noneMatch(key::startsWith)) {
      return; // something else of Dynamo's, such as a lock
    }
    awaited.remove(key);
    var record = parse(key, value);
    if (record == null) {
      records.remove(key);
    } else {
      records.put(key, record);
    }
  }

  private @Nullable DiscoveryRecord parse(String key, byte[] value) {
    try {
      var record = DiscoveryJson.decode(value);
      if (Watches.path(record).equals(key)) {
        complained.remove(key);
        return record;
      }
      complain(key, "holds the record of " + Watches.path(record));
    } catch (RuntimeException e) {
      complain(key, String.valueOf(e.getMessage()));
    }
    return null;
  }

  private void complain(String key, String why) {
    if (complained.add(key)) {
      LOG.log(Level.WARNING, "discovery key {0} of etcd is skipped: {1}", key, why);
    }
  }

  /** Whether records are kept that the store has lost. */
  boolean hasAwaited() {
    return !awaited.isEmpty();
  }

  /** Drops the records that their owners have not written again. */
  void dropAwaited() {
    if (!awaited.isEmpty()) {
      LOG.log(
          Level.WARNING,
          "{0} discovery records that etcd has lost were not written again and are gone",
          awaited.size());
      records.keySet().removeAll(awaited);
      awaited.clear();
    }
  }

  /** Returns the records by their path; the map changes with the view. */
  Map<String, DiscoveryRecord> records() {
    return records;
  }

  /** Returns the revision of the store that this view shows. */
  long revision() {
    return revision;
  }
}
