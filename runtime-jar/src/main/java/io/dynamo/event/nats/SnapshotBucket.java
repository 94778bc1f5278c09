package io.dynamo.event.nats;

import io.dynamo.event.EventHistory;
import io.dynamo.event.EventHistory.Snapshot;
import io.dynamo.event.StoredPosition;
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
 * The snapshot of one stream: an object with a name of its own in an object-store bucket, and a key
 * of the key-value bucket of the same name that points to it. The key moves by compare-and-set and
 * only to later positions of the stream that there is now, so that of processes which write at once
 * the latest one stays, and an object is never changed. The server checks it against its digest, so
 * half of an upload is never read. Each call waits for the server. Safe for concurrent use.
 */
final class SnapshotBucket {
  private static final System.Logger LOG = System.getLogger(SnapshotBucket.class.getName());
  private static final String KEY = "radix-state";
  private static final Pattern OBJECT =
      Pattern.compile(KEY + "-([0-9a-f]{16})-(\\d{1,18})-[0-9A-Za-z]{1,64}");

  /** Objects of earlier forms: without a life of the stream, and without a position. */
  private static final Pattern FORMER_OBJECT =
      Pattern.compile(KEY + "(-\\d{1,18}-[0-9A-Za-z]{1,64})?");

  private static final int ATTEMPTS = 10; // at a key that others move
  private static final int OBJECT_NOT_FOUND = 10037; // no message on its subject
  private static final int STREAM_NOT_FOUND = 10059;
  private static final int WRONG_LAST_SEQUENCE = 10071; // the key was moved meanwhile

  /** The value of the key, and its revision. */
  private record Pointer(long revision, String object) {
    @Nullable StoredPosition position() {
      return positionOf(object);
    }
  }

  private final NatsLink link;
  private final EventStream stream;
  private final String name;

  SnapshotBucket(NatsLink link, EventStream stream) {
    this.link = link;
    this.stream = stream;
    this.name = EventStream.nameOf(stream.subject().scope().subject() + "-radix-bucket");
  }

  /** Returns the position that the name of an object says; null for one that is none of ours. */
  private static @Nullable StoredPosition positionOf(String object) {
    var parts = OBJECT.matcher(object);
    return parts.matches()
        ? new StoredPosition(
            Long.parseUnsignedLong(parts.group(1), 16), Long.parseLong(parts.group(2)))
        : null;
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
        var position = pointer.position();
        if (position == null) {
          throw new UnreadableSnapshotException(
              "key %s of bucket %s names no snapshot with a position but \"%s\""
                  .formatted(KEY, name, pointer.object()));
        }
        try {
          return new Snapshot(position, content(pointer));
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

  /**
   * Returns whether it was written: false when the stored one includes as many events, or when the
   * stream has lost events that it includes.
   */
  boolean write(Snapshot snapshot) throws IOException {
    if (!isOfTheStream(snapshot.position())) {
      return false;
    }
    try {
      ensure();
      var pointer = pointer();
      if (isCovered(snapshot, pointer)) {
        return false;
      }
      var at = snapshot.position();
      var object = "%s-%016x-%d-%s".formatted(KEY, at.life(), at.number(), NUID.nextGlobal());
      var _ = objects().put(ObjectMeta.objectName(object), content(snapshot));
      // the stream may be made anew while a large snapshot is uploaded
      for (int attempt = 0; isOfTheStream(at) && !isCovered(snapshot, pointer); attempt++) {
        if (attempt == ATTEMPTS) {
          throw new IOException(
              "key %s of bucket %s was moved %d times meanwhile".formatted(KEY, name, attempt));
        }
        if (isMoved(pointer, object)) {
          if (pointer != null) {
            removeReplaced(pointer.object());
          }
          sweep(at, object);
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

  /** Whether the stream that there is now has, or had, the event at {@code position}. */
  private boolean isOfTheStream(StoredPosition position) throws IOException {
    var span = stream.span();
    return position.life() == span.life() && position.number() <= span.last();
  }

  /** Whether the pointer, which was read before, names a snapshot that includes as many events. */
  private boolean isCovered(Snapshot snapshot, @Nullable Pointer pointer) throws IOException {
    var known = pointer == null ? null : pointer.position();
    return known != null
        && known.life() == snapshot.position().life()
        && known.number() >= snapshot.position().number()
        && isOfTheStream(known);
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
   * replaced, and those of writers that came too late or died. A writer of a later position, or of
   * a stream that was made later, may still point to its own.
   */
  private void sweep(StoredPosition position, String current) {
    try {
      for (var info : objects().getList()) {
        var object = info.getObjectName();
        var at = positionOf(object);
        boolean isPassed =
            at == null
                ? FORMER_OBJECT.matcher(object).matches()
                : at.life() < position.life()
                    || (at.life() == position.life() && at.number() <= position.number());
        if (isPassed && !object.equals(current)) {
          remove(object);
        }
      }
    } catch (IOException | JetStreamApiException | IllegalStateException e) {
      LOG.log(Level.DEBUG, "older snapshots stay in bucket " + name, e);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** Removes the object that the key pointed to before, also one of another stream. */
  private void removeReplaced(String object) {
    if (positionOf(object) != null) {
      remove(object);
    }
  }

  private void remove(String object) {
    try {
      var _ = objects().delete(object);
    } catch (IllegalArgumentException _) { // the client's word for one that is not there
      LOG.log(Level.DEBUG, "object {0} of bucket {1} was removed by another process", object, name);
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
