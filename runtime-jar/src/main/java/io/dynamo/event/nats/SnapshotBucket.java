package io.dynamo.event.nats;

import io.dynamo.event.EventHistory;
import io.dynamo.event.EventHistory.Snapshot;
import io.dynamo.event.EventSubject;
import io.dynamo.event.UnreadableSnapshotException;
import io.dynamo.nats.NatsLink;
import io.nats.client.JetStreamApiException;
import io.nats.client.KeyValue;
import io.nats.client.NUID;
import io.nats.client.ObjectStore;
import io.nats.client.api.KeyValueConfiguration;
import io.nats.client.api.ObjectMeta;
import io.nats.client.api.ObjectStoreConfiguration;
import io.nats.client.api.StorageType;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The snapshot of one subject: an object with a name of its own in an object-store bucket, and a
 * key of the key-value bucket of the same name that points to it. The key moves by compare-and-set
 * and only to later positions, so that of processes which write at once the latest one stays, and
 * an object is never changed. The server checks it against its digest, so half of an upload is
 * never read. Each call waits for the server. Safe for concurrent use.
 */
final class SnapshotBucket {
  private static final System.Logger LOG = System.getLogger(SnapshotBucket.class.getName());
  private static final String KEY = "radix-state";
  private static final Pattern OBJECT = Pattern.compile(KEY + "-(\\d{1,18})-[0-9A-Za-z]{1,64}");
  private static final int ATTEMPTS = 10; // at a key that others move
  private static final int OBJECT_NOT_FOUND = 10037; // no message on its subject
  private static final int STREAM_NOT_FOUND = 10059;
  private static final int WRONG_LAST_SEQUENCE = 10071; // the key was moved meanwhile

  /** The position of a pointer that names no object of ours: below that of every snapshot. */
  private static final long UNREADABLE = -1;

  /** The value of the key, and its revision. */
  private record Pointer(long revision, String object) {
    long position() {
      var parts = OBJECT.matcher(object);
      return parts.matches() ? Long.parseLong(parts.group(1)) : UNREADABLE;
    }
  }

  private final NatsLink link;
  private final String name;

  SnapshotBucket(NatsLink link, EventSubject subject) {
    this.link = link;
    this.name = EventStream.nameOf(subject.scope().subject() + "-radix-bucket");
  }

  private ObjectStore objects() throws IOException {
    return link.connection().objectStore(name);
  }

  private KeyValue keys() throws IOException {
    return link.connection().keyValue(name);
  }

  private @Nullable Pointer pointer() throws IOException, JetStreamApiException {
    try {
      // first: the client remembers streams, and asks those that are gone until its time is up
      var _ = link.connection().keyValueManagement().getStatus(name);
      var entry = keys().get(KEY);
      var value = entry == null ? null : entry.getValueAsString();
      return value == null ? null : new Pointer(entry.getRevision(), value);
    } catch (JetStreamApiException e) {
      if (e.getApiErrorCode() == STREAM_NOT_FOUND || e.getApiErrorCode() == OBJECT_NOT_FOUND) {
        return null;
      }
      throw e;
    }
  }

  /**
   * Returns the snapshot; null when there is none.
   *
   * @throws UnreadableSnapshotException when there is something else in its place
   */
  @Nullable Snapshot read() throws IOException {
    try {
      var pointer = pointer();
      for (int attempt = 1; pointer != null; attempt++) {
        if (pointer.position() == UNREADABLE) {
          throw new UnreadableSnapshotException(
              "key %s of bucket %s names no snapshot with a position but \"%s\""
                  .formatted(KEY, name, pointer.object()));
        }
        try {
          return new Snapshot(pointer.position(), content(pointer));
        } catch (IOException | JetStreamApiException | IllegalStateException e) {
          var now = pointer(); // the writer of the next one deletes this one
          if (pointer.equals(now) || attempt == ATTEMPTS) {
            throw e;
          }
          pointer = now;
        }
      }
      return null;
    } catch (JetStreamApiException e) {
      throw refused("read", e);
    } catch (IllegalStateException e) { // the client's word for a wrong size or digest
      throw new IOException("the snapshot in bucket %s is not read".formatted(name), e);
    }
  }

  private byte[] content(Pointer pointer) throws IOException, JetStreamApiException {
    try {
      var info = objects().getInfo(pointer.object());
      if (info == null) {
        throw gone(pointer);
      }
      if (info.getSize() > EventHistory.MAX_SNAPSHOT_BYTES) {
        throw new UnreadableSnapshotException(
            "the snapshot in bucket %s has %d bytes, more than %d"
                .formatted(name, info.getSize(), EventHistory.MAX_SNAPSHOT_BYTES));
      }
      var content = new ByteArrayOutputStream();
      var _ = objects().get(pointer.object(), content);
      return content.toByteArray();
    } catch (JetStreamApiException e) {
      if (e.getApiErrorCode() == STREAM_NOT_FOUND || e.getApiErrorCode() == OBJECT_NOT_FOUND) {
        throw gone(pointer);
      }
      throw e;
    } catch (NoSuchAlgorithmException e) {
      throw new IOException("the JVM has no SHA-256", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the snapshot was read", e);
    }
  }

  private UnreadableSnapshotException gone(Pointer pointer) {
    return new UnreadableSnapshotException(
        "key %s of bucket %s names the object %s, which is not there"
            .formatted(KEY, name, pointer.object()));
  }

  /** Returns whether it was written: false when the stored one includes as many events. */
  boolean write(Snapshot snapshot) throws IOException {
    try {
      ensure();
      var pointer = pointer();
      if (isCovered(snapshot, pointer)) {
        return false;
      }
      var object = "%s-%d-%s".formatted(KEY, snapshot.position(), NUID.nextGlobal());
      var _ = objects().put(ObjectMeta.objectName(object), content(snapshot));
      for (int attempt = 0; !isCovered(snapshot, pointer); attempt++) {
        if (attempt == ATTEMPTS) {
          throw new IOException(
              "key %s of bucket %s was moved %d times meanwhile".formatted(KEY, name, attempt));
        }
        if (isMoved(pointer, object)) {
          sweep(snapshot.position(), object);
          return true;
        }
        pointer = pointer();
      }
      remove(object);
      return false;
    } catch (JetStreamApiException e) {
      throw refused("written", e);
    } catch (NoSuchAlgorithmException e) {
      throw new IOException("the JVM has no SHA-256", e);
    }
  }

  private static ByteArrayInputStream content(Snapshot snapshot) {
    return new ByteArrayInputStream(snapshot.content());
  }

  private static boolean isCovered(Snapshot snapshot, @Nullable Pointer pointer) {
    return pointer != null && pointer.position() >= snapshot.position();
  }

  /** Points to {@code object} unless somebody has moved the key since it was read. */
  private boolean isMoved(@Nullable Pointer from, String object)
      throws IOException, JetStreamApiException {
    var value = object.getBytes(StandardCharsets.UTF_8);
    try {
      var _ = from == null ? keys().create(KEY, value) : keys().update(KEY, value, from.revision());
      return true;
    } catch (JetStreamApiException e) {
      if (e.getApiErrorCode() == WRONG_LAST_SEQUENCE) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Removes the objects up to {@code position} that nothing can point to any more: those that were
   * replaced, and those of writers that came too late or died. A writer of a later position may
   * still point to its own.
   */
  private void sweep(long position, String current) {
    try {
      for (var info : objects().getList()) {
        var parts = OBJECT.matcher(info.getObjectName());
        if (parts.matches()
            && !info.getObjectName().equals(current)
            && Long.parseLong(parts.group(1)) <= position) {
          remove(info.getObjectName());
        }
      }
    } catch (IOException | JetStreamApiException | IllegalStateException e) {
      LOG.log(Level.DEBUG, "older snapshots stay in bucket " + name, e);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void remove(String object) {
    try {
      var _ = objects().delete(object);
    } catch (IOException | JetStreamApiException | IllegalStateException e) {
      LOG.log(Level.DEBUG, "object " + object + " stays in bucket " + name, e);
    }
  }

  private void ensure() throws IOException, JetStreamApiException {
    var buckets = link.connection().objectStoreManagement();
    try {
      var _ = buckets.getStatus(name);
    } catch (JetStreamApiException e) {
      requireMissing(e);
      var _ =
          buckets.create(
              ObjectStoreConfiguration.builder(name).storageType(StorageType.File).build());
    }
    var pointers = link.connection().keyValueManagement();
    try {
      var _ = pointers.getStatus(name);
    } catch (JetStreamApiException e) {
      requireMissing(e);
      var _ =
          pointers.create(
              KeyValueConfiguration.builder(name).storageType(StorageType.File).build());
    }
  }

  private static void requireMissing(JetStreamApiException e) throws JetStreamApiException {
    if (e.getApiErrorCode() != STREAM_NOT_FOUND) {
      throw e;
    }
  }

  void delete() throws IOException {
    try {
      try {
        link.connection().keyValueManagement().delete(name);
      } catch (JetStreamApiException e) {
        requireMissing(e);
      }
      try {
        link.connection().objectStoreManagement().delete(name);
      } catch (JetStreamApiException e) {
        requireMissing(e);
      }
    } catch (JetStreamApiException e) {
      throw refused("deleted", e);
    }
  }

  private IOException refused(String what, JetStreamApiException cause) {
    return new IOException(
        "the snapshot in bucket %s is not %s: %s"
            .formatted(name, what, cause.getErrorDescription()),
        cause);
  }
}
