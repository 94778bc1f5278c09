package io.dynamo.discovery.kubernetes;

import io.dynamo.discovery.DiscoveryRecord;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The records of the objects of others: those of an object are visible while its pod is ready. An
 * object that is no longer readable keeps the records that it had; a value that is no record is
 * logged once and skipped. Confined to one thread.
 */
final class ObjectsView {
  private static final System.Logger LOG = System.getLogger(ObjectsView.class.getName());

  /**
   * @param understood whether the records are those of this version, not of one before it
   */
  private record Parsed(
      String uid, String version, Map<String, DiscoveryRecord> records, boolean understood) {}

  private final Map<String, Parsed> parsed = new HashMap<>(); // by the object's name
  private final Set<String> complaints = new HashSet<>(); // of the objects that are there

  /** Returns the records of the ready objects by their path. */
  Map<String, DiscoveryRecord> of(List<WorkerObjects.WorkerObject> objects, Set<String> ready) {
    var records = new HashMap<String, DiscoveryRecord>();
    var names = new HashSet<String>();
    for (var object : objects) {
      names.add(object.name());
      if (ready.contains(object.name())) {
        records.putAll(records(object));
      }
    }
    parsed.keySet().retainAll(names);
    complaints.removeIf(complaint -> !names.contains(complaint.split(" ", 2)[0]));
    return records;
  }

  /** Returns the records of one object by their path. */
  Map<String, DiscoveryRecord> records(WorkerObjects.WorkerObject object) {
    var known = parsed.get(object.name());
    if (known != null && known.uid.equals(object.uid()) && known.version.equals(object.version())) {
      return known.records;
    }
    var records = parse(object);
    boolean understood = records != null;
    if (records == null) {
      records = known != null && known.uid.equals(object.uid()) ? known.records : Map.of();
    }
    parsed.put(object.name(), new Parsed(object.uid(), object.version(), records, understood));
    return records;
  }

  /** Whether the object is readable, so that {@link #records} are its own and none of before. */
  boolean isUnderstood(WorkerObjects.WorkerObject object) {
    var _ = records(object);
    return Objects.requireNonNull(parsed.get(object.name())).understood;
  }

  private @Nullable Map<String, DiscoveryRecord> parse(WorkerObjects.WorkerObject object) {
    try {
      var data = object.data();
      if (data == null) {
        throw new IllegalArgumentException("it has no spec.data");
      }
      var members = new HashMap<String, @Nullable Object>();
      data.forEach((key, value) -> members.put(Objects.toString(key), value));
      return WorkerMetadata.read(
          members, (path, why) -> complain(object.name(), path + " is skipped: " + why));
    } catch (IllegalArgumentException e) {
      complain(object.name(), "keeps what it said before: " + e.getMessage());
      return null;
    }
  }

  private void complain(String object, String text) {
    if (complaints.add(object + " " + text)) {
      LOG.log(Level.WARNING, "discovery object {0}: {1}", object, text);
    }
  }
}
